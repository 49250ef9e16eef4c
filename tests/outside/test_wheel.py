"""The wheel outside the repository: complete, and used without what its extras install."""

import json
import os
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXTRAS = ("matplotlib", "cvxpy", "flint", "jinja2", "pandas", "hypothesis", "pytest")
# tells Python that these packages are not there
WITHOUT = "import sys; sys.modules.update(dict.fromkeys({names}))\n"
COMMAND = "import sys; from fwlab.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the files of the wheel."""
    if int(version("setuptools").partition(".")[0]) < 77:
        pytest.skip("setuptools 77, which builds the wheel, is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-index"]
    source = folder / "source"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(source)], check=True)
    subprocess.run([*pip, "--no-build-isolation", "-w", folder, source], check=True)
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


def test_it_holds_every_module_and_nothing_else(installed):
    tracked = subprocess.run(
        ["git", "ls-files", "fwlab"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    expected = {file for file in tracked if not file.startswith("fwlab/docs")}
    files = {str(file.relative_to(installed)) for file in installed.rglob("*") if file.is_file()}
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
