"""Who may import whom, read from the sources, and what `import fwlab` loads."""

import ast
import pickle
import subprocess
import sys
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

import fwlab

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "fwlab" / "docs"
# the site's sources document the whole repository and are no part of the library
FWLAB = [file for file in sorted((ROOT / "fwlab").rglob("*.py")) if DOCS not in file.parents]
REFERENCE = sorted((ROOT / "reference").rglob("*.py"))
SOURCES = [
    file
    for folder in ("fwlab", "reference", "tests", "figures", "paper_checks")
    for file in sorted((ROOT / folder).rglob("*.py"))
]
MOST_LINES = 400
# by folder, the longest that matches: whose code, of this repository, its modules may import
ARROWS = {
    "fwlab": {"fwlab"},
    "fwlab/docs": {"fwlab"},
    "fwlab/docs/examples": {"fwlab", "paper_checks"},  # what a visitor writes
    "reference": {"reference"},
    "figures": {"fwlab", "figures"},
    "paper_checks": {"fwlab", "reference", "figures", "paper_checks"},
    "tests": {"fwlab", "reference", "figures", "paper_checks", "tests"},
}
OURS = {"fwlab", "reference", "figures", "paper_checks", "tests"}

# Kernels at the bottom, people at the top: a module reaches only layers below its own. Every module
# of fwlab stands in exactly one layer.
LAYERS = (
    (
        "fwlab.arrays",
        "fwlab.bytecode",
        "fwlab.command",
        "fwlab.files",
        "fwlab.identity",
        "fwlab.opaque",
        "fwlab.launch",
        "fwlab.npz",
        "fwlab.say",
        "fwlab.streams",
        "fwlab.text",
        "fwlab.threads",
        "fwlab.toml_text",
        "fwlab.versions",
        "fwlab.provenance",
        "fwlab.release",
        "fwlab.kernels*",
    ),
    ("fwlab.checks*", "fwlab.plot"),
    ("fwlab.operators*", "fwlab.weights", "fwlab.metrics"),
    ("fwlab.proved", "fwlab.trace"),
    ("fwlab.result",),
    (
        "fwlab.losses",
        "fwlab.cross_entropy",
        "fwlab.topk_entropy",
        "fwlab.polytope_loss",
        "fwlab.lp_norm",
        "fwlab.projections",
        "fwlab.bounds",
    ),
    ("fwlab.primal_dual", "fwlab.problem", "fwlab.problem_input"),
    ("fwlab.rounding", "fwlab.parts", "fwlab.certificate", "fwlab.balls", "fwlab.entropy_balls"),
    ("fwlab.tensor_certificate",),
    ("fwlab.enclosing_ball", "fwlab.other_constant"),
    ("fwlab.solvers*",),
    ("fwlab.ranking*",),
    (
        "fwlab.verify",
        "fwlab.excess",
        "fwlab.bounded_inverse",
        "fwlab.ellipsoid",
        "fwlab.certification",
        "fwlab.choice*",
    ),
    ("fwlab.testing*",),
    ("fwlab.datasets*",),
    ("fwlab.torch_projection", "fwlab.torch_losses"),
    ("fwlab.model",),
    ("fwlab.experiments*", "fwlab.estimators*", "fwlab.distributed*"),
    ("fwlab.public", "fwlab.cli*", "fwlab.__main__", "fwlab"),
)
FORBIDDEN = {
    "cvxpy",
    "hypothesis",
    "pytest",
    "reference",
    "figures",
    "paper_checks",
    "tests",
}
DRAWS = {"fwlab.plot", "fwlab.experiments.figure"}
LOADED_ON_DEMAND = {
    "matplotlib",
    "pandas",
    "sklearn",
    "joblib",
    "pooch",
    "tqdm",
    "cvxpy",
    "flint",
    "filelock",
    "array_api_compat",
    "torch",
}
# together a third of what remains of the time of `import fwlab`
SLOW = {
    "scipy.linalg",
    "scipy.optimize",
    "scipy.special",
    "scipy.sparse.linalg",
    "fwlab.testing",
    "fwlab.distributed",
}


def module_name(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> frozenset[str]:
    return frozenset(map(module_name, FWLAB))


@cache
def imports(file: Path) -> frozenset[str]:
    """Return the full names of all imports, in functions and for type checkers too."""
    return frozenset(name for node in ast.walk(tree(file)) for name in names_in(node))


@cache
def imports_at_run_time(file: Path) -> frozenset[str]:
    """Return the full names of all imports, except for type checkers only."""
    unread = {
        name
        for node in ast.walk(tree(file))
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
        for name in names_in(inner)
    }
    return imports(file) - unread


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def names_in(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "relative import"
        submodules = [f"{node.module}.{alias.name}" for alias in node.names]
        found = [name for name in submodules if name in modules()]
        # `from fwlab import problem` reads the module, not the package's names
        return found if len(found) == len(submodules) else [*found, str(node.module)]
    return []


def packages(file: Path) -> set[str]:
    return {name.split(".")[0] for name in imports(file)}


@cache
def reached(module: str) -> frozenset[str]:
    """Return all modules of fwlab that a module imports, directly or through others."""
    files = {module_name(file): file for file in FWLAB}
    seen, open_ = set(), [module]
    while open_:
        new = {name for name in imports_at_run_time(files[open_.pop()]) if name in files} - seen
        seen |= new
        open_ += new
    return frozenset(seen)


def members(patterns: tuple[str, ...]) -> list[str]:
    return [m for m in sorted(modules()) if any(fnmatch(m, pattern) for pattern in patterns)]


def test_every_module_stands_in_one_layer():
    layers = [module for patterns in LAYERS for module in members(patterns)]
    assert sorted(layers) == sorted(modules())


@pytest.mark.parametrize("level", range(len(LAYERS)), ids=lambda level: LAYERS[level][0])
def test_arrows_point_down(level):
    above = {m for patterns in LAYERS[level + 1 :] for m in members(patterns)}
    assert members(LAYERS[level])
    for module in members(LAYERS[level]):
        assert not reached(module) & above, module


@pytest.mark.parametrize("module", sorted(modules()))
def test_no_module_imports_itself_through_others(module):
    assert module not in reached(module)


def allowed(file: Path) -> set[str]:
    """Return the packages of this repository that a file may import."""
    path = file.relative_to(ROOT).as_posix()
    return ARROWS[max((folder for folder in ARROWS if path.startswith(f"{folder}/")), key=len)]


def loaded_by_name(file: Path) -> set[str]:
    """Return the packages that a file imports by their names in texts."""
    calls = [node for node in ast.walk(tree(file)) if isinstance(node, ast.Call) and node.args]
    texts = [part for call in calls if "import" in ast.unparse(call.func) for part in call.args]
    names = (node.value for text in texts for node in ast.walk(text) if is_text(node))
    return {name.split(".")[0] for name in names}


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_module_imports_only_what_stands_below_it(file):
    assert (packages(file) | loaded_by_name(file)) & OURS <= allowed(file)


@pytest.mark.parametrize("file", FWLAB, ids=module_name)
def test_the_library_does_not_know_its_site(file):
    assert not any(name.startswith("fwlab.docs") for name in imports(file))


def test_kernels_need_numba_alone():
    allowed = {"numpy", "numba", "llvmlite", *sys.stdlib_module_names}
    for file in (ROOT / "fwlab" / "kernels").rglob("*.py"):
        for name in imports(file):
            inside = name == "fwlab.kernels" or name.startswith("fwlab.kernels.")
            assert inside or name.split(".")[0] in allowed, f"{file.name} imports {name}"
            if not file.name.startswith("_"):
                assert inside or name in {"numpy", "math", "typing"}, f"{file.name} imports {name}"


@pytest.mark.parametrize("file", FWLAB, ids=module_name)
def test_the_library_stands_without_its_judges(file):
    assert not packages(file) & FORBIDDEN
    if module_name(file) not in DRAWS:
        assert "matplotlib" not in packages(file)
    at_import = [part for part in tree(file).body if not isinstance(part, ast.FunctionDef | ast.If)]
    names = {name for part in at_import for node in ast.walk(part) for name in names_in(node)}
    assert not any(name.startswith("matplotlib") for name in names)


@pytest.mark.parametrize("file", REFERENCE, ids=module_name)
def test_the_reference_stands_alone(file):
    allowed = {"numpy", "scipy", "cvxpy", "reference", *sys.stdlib_module_names}
    assert packages(file) <= allowed


def test_files_are_short():
    long = {str(f.relative_to(ROOT)): len(f.read_text().splitlines()) for f in SOURCES}
    assert {name: lines for name, lines in long.items() if lines > MOST_LINES} == {}
    assert len(long) > 30


def loaded_after(code: str) -> set[str]:
    """Return the names of all modules that a program has loaded at its end."""
    run = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(run.stdout.splitlines()[-1].split())


def test_import_is_light():
    modules = loaded_after("import fwlab; fwlab.solve")
    assert not modules & SLOW
    loaded = {name.split(".")[0] for name in modules}
    assert {"fwlab", "numba", "numpy"} <= loaded
    assert not loaded & (LOADED_ON_DEMAND | FORBIDDEN)


HELP = """
import contextlib, io, runpy, sys
sys.argv = ["fwlab", {!r}]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    runpy.run_module("fwlab", run_name="__main__")
print(end="")"""


@pytest.mark.parametrize(
    "code", ["import fwlab; print(fwlab.__version__)", *map(HELP.format, ("--version", "--help"))]
)
def test_versions_and_help_wait_for_no_numbers(code):
    """numpy takes a tenth of a second, numba half of one."""
    loaded = {name.split(".")[0] for name in loaded_after(code)}
    assert "fwlab" in loaded and not loaded & {"numpy", "scipy", "numba", *LOADED_ON_DEMAND}


@pytest.mark.parametrize(
    "first", ["import fwlab.verify", "from fwlab.solvers import ascent", "from fwlab import balls"]
)
def test_a_part_brings_the_whole_package(first):
    """A program's changes count as its own code (fwlab.versions), and functions hide modules."""
    check = "from fwlab.versions import SEEN; assert {'fwlab.verify', 'fwlab.losses'} <= {*SEEN}"
    assert "fwlab.public" in loaded_after(f"{first}; {check}; import fwlab; fwlab.verify.__code__")


def test_the_package_is_sent_to_other_processes_by_its_name():
    assert pickle.loads(pickle.dumps(fwlab)) is fwlab


def test_what_is_loaded_on_demand_is_there():
    code = "import fwlab; fwlab.testing.check_loss; fwlab.distributed.DaskProblem; fwlab.nothing"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    last = run.stderr.splitlines()[-1]
    assert last == "AttributeError: module 'fwlab' has no attribute 'nothing'"


def test_what_is_imported_on_demand_is_completed_and_suggested():
    assert set(fwlab.__all__) <= set(dir(fwlab))
    with pytest.raises(AttributeError, match="no attribute 'Topk'") as caught:
        fwlab.Topk  # noqa: B018
    assert (caught.value.name, caught.value.obj) == ("Topk", fwlab)
