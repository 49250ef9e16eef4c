"""The sdist and the wheel outside the repository: complete, and used without the extras.

The wheel is built from the unpacked sdist, as installers do it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from importlib.metadata import version
from pathlib import Path

import pytest

import fwlab

ROOT = Path(__file__).parents[2]
EXTRAS = ("matplotlib", "cvxpy", "flint", "jinja2", "pandas", "hypothesis", "pytest")
# tells Python that these packages are not there
WITHOUT = "import sys; sys.modules.update(dict.fromkeys({names}))\n"
COMMAND = "import sys; from fwlab.cli import main; sys.exit(main(sys.argv[1:]))"


# what setuptools adds to an sdist
ADDED = ("PKG-INFO", "setup.cfg", "fwlab.egg-info")
# top folders in which people and their tools work
WORK = (".venv", "build", "dist", "site", "results")
CACHES = ("__pycache__", ".pytest_cache", ".hypothesis", ".mypy_cache", ".ruff_cache")
BUILD = "import sys; from setuptools import build_meta; build_meta.build_{}(sys.argv[1])"


def sources():
    """Return the files of the repository, also where it was unpacked from an sdist."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True
        )
        return {name for name in listed.stdout.decode().split("\0") if name}
    found = {f.relative_to(ROOT) for f in ROOT.rglob("*") if f.is_file()}
    kept = {file for file in found if file.parts[0] not in (*ADDED, *WORK)}
    return {file.as_posix() for file in kept if not {*file.parts} & {*CACHES}}


def built(kind, source, folder):
    subprocess.run(
        [sys.executable, "-c", BUILD.format(kind), str(folder)],
        cwd=source,
        check=True,
        capture_output=True,
    )


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """The folder that the sdist unpacks to."""
    if int(version("setuptools").partition(".")[0]) < 77:
        pytest.skip("setuptools 77, which builds the wheel, is not installed")
    folder = tmp_path_factory.mktemp("sdist")
    for file in sources():
        (folder / "source" / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, folder / "source" / file)
    built("sdist", folder / "source", folder)
    [archive] = folder.glob("fwlab-*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def installed(sdist, tmp_path_factory):
    """A folder with the files of the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    built("wheel", sdist, folder)
    [wheel] = folder.glob("fwlab-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def ran(installed, code, *arguments, without=EXTRAS):
    """Run a program beside the wheel; return its exit code, stdout and stderr."""
    program = WITHOUT.format(names=without) + code
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "FWLAB"))}
    process = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, *arguments],
        cwd=installed.parent,
        capture_output=True,
        text=True,
        # no bytecode: another test lists the files of the wheel
        env={
            **environment,
            "PYTHONPATH": str(installed),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_DISABLE_JIT": "1",
        },
    )
    return process.returncode, process.stdout, process.stderr


def test_the_sdist_holds_the_repository_and_nothing_else(sdist):
    files = {f.relative_to(sdist).as_posix() for f in sdist.rglob("*") if f.is_file()}
    assert {file for file in files if Path(file).parts[0] not in (*ADDED, "build")} == sources()


def test_the_version_has_one_place(sdist, installed):
    for metadata in (sdist / "PKG-INFO", *installed.glob("*.dist-info/METADATA")):
        assert Parser().parsestr(metadata.read_text("utf-8"))["Version"] == fwlab.__version__
    elsewhere = re.escape(fwlab.__version__)
    typed = [f for f in sorted(sources()) if f.endswith((".py", ".toml", ".cfg", ".yml"))]
    assert [f for f in typed if re.search(rf"""["']{elsewhere}["']""", (ROOT / f).read_text())] == [
        "fwlab/release.py"
    ]


def test_the_readme_cites_this_version_and_the_changelog_begins_with_it():
    assert f"version = {{{fwlab.__version__}}}" in (ROOT / "README.md").read_text("utf-8")
    changelog = (ROOT / "fwlab" / "docs" / "pages" / "changelog.md").read_text("utf-8")
    assert re.findall(r"^## (\S+)", changelog, re.MULTILINE)[0] == fwlab.__version__


def test_the_wheel_holds_every_module_and_nothing_else(installed):
    library = {file for file in sources() if file.startswith("fwlab/")}
    expected = {file for file in library if not file.startswith("fwlab/docs")}
    files = {f.relative_to(installed).as_posix() for f in installed.rglob("*") if f.is_file()}
    assert {file for file in files if ".dist-info/" not in file} == expected
    data = {file for file in expected if Path(file).suffix not in (".py", ".typed")}
    assert data == {"fwlab/experiments/rates.json"}


@pytest.mark.turns
def test_it_solves_and_compares_without_the_extras(installed):
    (installed.parent / "tiny.csv").write_text("1,0,a\n0,1,b\n2,1,a\n1,2,b\n")
    options = ["--data", "tiny.csv", "-k", "1", "--max-iter", "3", "--tol", "0"]
    code, out, err = ran(installed, COMMAND, "solve", *options, "--json")
    assert code == 0, err
    assert json.loads(out)["result"]["iterations"] == 3
    code, out, err = ran(installed, COMMAND, "compare", *options, "--methods", "fw")
    assert code == 0 and "results/table.txt" in out
    assert err.splitlines()[-1] == (
        "No figure was drawn because matplotlib is not installed: pip install 'fwlab[plot]'."
    )


@pytest.mark.turns
@pytest.mark.parametrize("use", ["from fwlab import TopKSVC", "import fwlab; fwlab.TopKSVC()"])
def test_estimators_without_scikit_learn_are_refused_in_one_sentence(installed, use):
    code, _, err = ran(installed, use, without=("sklearn", "sklearn.base"))
    assert code == 1
    assert err.splitlines()[-1] == (
        "ImportError: fwlab.TopKSVC needs scikit-learn: pip install scikit-learn."
    )
    assert ran(installed, "import fwlab; print(fwlab.methods()['fw'])")[0] == 0
