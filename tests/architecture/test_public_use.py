"""The figures and the claims use fwlab through its public packages."""

import ast
import importlib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# a package is public by what its __init__ names, a module by all names without an underscore
PUBLIC = {
    "fwlab",
    "fwlab.bounds",
    "fwlab.command",
    "fwlab.datasets",
    "fwlab.distributed",
    "fwlab.experiments",
    "fwlab.experiments.store",  # the one store, which the records of claims share
    "fwlab.files",
    "fwlab.identity",
    "fwlab.losses",  # for its base class, until there is fwlab.Loss
    "fwlab.metrics",
    "fwlab.plot",
    "fwlab.provenance",
    "fwlab.ranking",
    "fwlab.say",
    "fwlab.text",
    "fwlab.weights",
}
# who may look inside, and why
INSIDE = {
    "figures/benchmarks/*": "measure kernels and single iterations of solvers",
    "figures/own/bent_path.py": "runs a solver with other step rules than its own",
    "figures/macha2020/program.py": "makes steps of a method with another delta than its own",
    "paper_checks/report/page.py": "shows formulas as the site does",
    "paper_checks/macha2020/*": "compares single steps and thresholds of a method with the paper's",
}
FILES = sorted(
    str(file.relative_to(ROOT))
    for folder in ("figures", "paper_checks")
    for file in (ROOT / folder).rglob("*.py")
)
MODULES = {
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for file in (ROOT / "fwlab").rglob("*.py")
}


def internal_use(source: str) -> set[str]:
    """Return the full names inside fwlab that a source uses and that are not public."""
    tree = ast.parse(source)
    used, modules = set(), {"fwlab": "fwlab"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            used |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {alias.asname or alias.name: alias.name for alias in node.names}
            full = {name: f"{node.module}.{real}" for name, real in names.items()}
            used |= set(full.values())
            modules |= {name: real for name, real in full.items() if real in MODULES}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            first, *rest = ast.unparse(node).split(".")
            if first in modules and all(part.isidentifier() for part in rest):
                used.add(".".join([modules[first], *rest]))
    return {name for name in used if name.split(".")[0] == "fwlab" and not is_public(name)}


def is_public(name: str) -> bool:
    """Say whether a name is a public module, or in one, or an attribute of what is in one."""
    owner, _, last = name.rpartition(".")
    if name in PUBLIC or owner not in MODULES:
        return name in PUBLIC or is_public(owner)
    offered = getattr(importlib.import_module(owner), "__all__", None)
    if offered is None:
        return owner in PUBLIC and not last.startswith("_")
    return owner in PUBLIC and last in offered


def allowed(file: str) -> bool:
    return any(fnmatch(file, pattern) for pattern in INSIDE)


@pytest.mark.parametrize("file", FILES)
def test_figures_and_claims_use_public_names(file):
    assert allowed(file) or internal_use((ROOT / file).read_text()) == set()


@pytest.mark.parametrize("pattern", INSIDE)
def test_those_who_look_inside_need_to(pattern):
    assert any(internal_use((ROOT / f).read_text()) for f in FILES if fnmatch(f, pattern))


def test_public_modules_are_there():
    assert PUBLIC <= MODULES


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import fwlab.kernels.steps.block", "fwlab.kernels.steps.block"),
        ("from fwlab.solvers import loop", "fwlab.solvers.loop"),
        ("from fwlab.checks.arguments import as_integer", "fwlab.checks.arguments.as_integer"),
        ("from fwlab.experiments import plain", "fwlab.experiments.plain"),
        ("from fwlab.experiments import cells", "fwlab.experiments.cells"),
        ("from fwlab.files import _temporary", "fwlab.files._temporary"),
        ("import fwlab\nfwlab.result.Trace", "fwlab.result.Trace"),
        ("from fwlab import ranking as r\nr.state.State()", "fwlab.ranking.state.State"),
    ],
)
def test_internal_names_are_seen(source, found):
    assert found in internal_use(source)


@pytest.mark.parametrize(
    "source",
    [
        "import fwlab\nfwlab.TopK(2).value.__doc__\nfwlab.metrics.topk_accuracy",
        "from fwlab import ranking\nranking.solve",
        "from fwlab.experiments import Cell, sweep_cells",
        "from fwlab.losses import Loss\nfrom fwlab.text import format_table",
    ],
)
def test_public_names_are_not(source):
    assert internal_use(source) == set()
