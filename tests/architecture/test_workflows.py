"""The workflows for public hosts, as far as any machine can check them.

Their shell lines are steps of .ci/run, or commands of the README, whose blocks .ci/run runs.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import fwlab

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
STEP = re.compile(r"bash \.ci/step (\w+)")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SCHEMAS = {
    "vendor.github-workflows": "workflows/*.yml",
    "vendor.github-issue-forms": "ISSUE_TEMPLATE/[!c]*.yml",
    "vendor.github-issue-config": "ISSUE_TEMPLATE/config.yml",
    "vendor.dependabot": "dependabot.yml",
}


def jobs():
    for file in WORKFLOWS:
        for name, job in yaml.safe_load(file.read_text("utf-8"))["jobs"].items():
            yield f"{file.stem}.{name}", job


def commands(job):
    """Yield the shell lines of a job, once for each entry of a matrix of steps."""
    for step in job["steps"]:
        for line in step.get("run", "").splitlines():
            for name in job.get("strategy", {}).get("matrix", {}).get("step", [""]):
                yield line.replace("${{ matrix.step }}", name).strip()


def of_the_readme():
    """Return the commands of the README's shell blocks, as they are without its environment."""
    blocks = re.findall(r"^```\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)
    lines = [one for block in blocks for line in block.splitlines() for one in line.split(" && ")]
    return {line.replace(".venv/bin/", "").strip() for line in lines}


RUN = {name: list(commands(job)) for name, job in jobs()}


def test_every_shell_line_is_one_that_the_checks_of_a_commit_run():
    here = set(STEP.findall((ROOT / ".ci" / "run").read_text("utf-8")))
    assert {"style", "oldest", "package", "site"} <= here
    known = of_the_readme() | {f"bash .ci/step {name}" for name in here}
    lines = [line for job in RUN.values() for line in job]
    assert len(lines) > 8
    assert [line for line in lines if line not in known] == []


def test_every_step_of_a_commit_is_a_step_of_a_workflow():
    script = (ROOT / ".ci" / "step").read_text("utf-8")
    (names,) = re.findall(r'^([\w | ]+)\) "\$1" ;;$', script, re.M)
    for file in (ROOT / ".ci" / "run", *WORKFLOWS):
        assert set(STEP.findall(file.read_text("utf-8"))) <= set(names.split(" | ")), file
    used = {name for job in RUN.values() for line in job for name in STEP.findall(line)}
    assert used == set(names.split(" | "))


def step(name, **environment):
    """Run a step in the top folder with the Python of this process."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["bash", ".ci/step", name],
        cwd=ROOT,
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_an_unknown_step_is_one_sentence():
    done = step("stile")
    assert done.returncode == 2
    assert done.stderr == "usage: bash .ci/step style | oldest | package | site; got stile.\n"


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_nothing_is_built_for_a_tag_that_is_not_the_version():
    done = step("package", GITHUB_REF_TYPE="tag", GITHUB_REF_NAME="v0.0.1")
    assert done.returncode == 1
    assert done.stderr == f"the tag is v0.0.1, but fwlab.__version__ is {fwlab.__version__}\n"


def test_the_matrix_is_what_the_metadata_say():
    matrix = dict(jobs())["tests.tests"]["strategy"]["matrix"]
    assert {name.partition("-")[0] for name in matrix["system"]} == {"ubuntu", "macos", "windows"}
    assert f">={matrix['python'][0]}" == PROJECT["requires-python"]
    said = [
        text.rpartition(" ")[2]
        for text in PROJECT["classifiers"]
        if re.search(r"Python :: 3\.\d+$", text)
    ]
    assert said == matrix["python"]


def test_jobs_end_and_have_no_more_rights_than_they_need():
    for file in WORKFLOWS:
        assert yaml.safe_load(file.read_text("utf-8"))["permissions"] == {"contents": "read"}
    for name, job in jobs():
        assert 0 < job["timeout-minutes"] <= 180, name
        rights = job.get("permissions", {})
        assert "contents" not in rights, name
        # what may write runs no code of a package that it installed
        assert not rights or not RUN[name], name
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"] == {"persist-credentials": False}, name


def test_actions_have_a_version():
    used = [step["uses"] for _, job in jobs() for step in job["steps"] if "uses" in step]
    version = re.compile(r"(actions/[\w-]+@v\d+|[\w./-]+@[0-9a-f]{40})")
    assert used and [action for action in used if not version.fullmatch(action)] == []


@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_have_the_form_that_the_host_reads(schema):
    pytest.importorskip("check_jsonschema")
    files = sorted(GITHUB.glob(SCHEMAS[schema]))
    assert files
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
