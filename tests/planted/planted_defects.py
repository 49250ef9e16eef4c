"""The table of planted defects, read from defects/*.toml, and the dozen that a commit draws."""

import random
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOZEN = 12


@dataclass(frozen=True)
class Defect:
    """A passage of a module that is replaced, and the test that must see it.

    module: the name of a module of fwlab, without "fwlab.", or of figures.
    compiled: whether the defect also belongs to the sample that runs with the JIT.
    """

    name: str
    module: str
    old: str
    new: str
    test: str
    compiled: bool = False


def full_name(module: str) -> str:
    """Return the name by which Python imports a module."""
    return module if module.startswith("figures.") else f"fwlab.{module}"


def file_of(module: str) -> Path:
    """Return the file of a module."""
    return ROOT / f"{full_name(module).replace('.', '/')}.py"


def read_defects(root: Path = ROOT) -> list[Defect]:
    """Return all defects of a checkout, file by file."""
    return [
        Defect(**entry)
        for file in sorted(root.glob("tests/planted/defects/*.toml"))
        for entry in tomllib.loads(file.read_text())["defect"]
    ]


def drawn(defects: list[Defect], seed: int) -> set[str]:
    """Return the names of the dozen defects that a commit tries."""
    names = sorted(defect.name for defect in defects)
    return set(random.Random(seed).sample(names, DOZEN))
