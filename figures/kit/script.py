"""Scripts by name: each makes one figure or one table.

A module of a paper's folder, or of `own`, is a script if it has `SECONDS`, `cells` and `plot`;
with `ALONE = True` its cells are computed one after the other, because their times are compared.
A module that makes several figures or tables in one way has them all in `SCRIPTS` instead,
{name: Script}. A script's name begins with its folder, except in `own`: kato2019_figure3, rates.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import figures
from figures.kit.study import Study
from fwlab.experiments import Cell

OWN = "own"
PARTS = ("SECONDS", "cells", "plot")
NO_SCRIPTS = ("kit", "benchmarks")


@dataclass(frozen=True)
class Script:
    """How to make a figure or a table.

    Parameters
    ----------
    shows
        One sentence for the list.
    seconds
        Estimated run time on two cores for each size.
    cells
        Function of the size, returns the cells to compute.
    plot
        Function of the study, draws the stored values and returns the written files.
    alone
        Whether to compute one cell after the other in this process, because times are compared.
    """

    shows: str
    seconds: Mapping[str, float]
    cells: Callable[[str], Sequence[Cell]]
    plot: Callable[[Study], list[Path]]
    alone: bool = False

    def compute(self, study: Study) -> None:
        """Compute the cells of the study's size and store what `plot` reads."""
        study.compute(self.cells(study.size), self.alone)


def script_names() -> list[str]:
    """Return the names of all figures and tables, sorted."""
    return sorted(_scripts())


def script(name: str) -> Script:
    """Return the script that makes a figure or a table."""
    return _scripts()[name]


def script_of(module: ModuleType) -> Script:
    """Return the script that a module is."""
    shows = (module.__doc__ or "").split("\n")[0]
    alone = getattr(module, "ALONE", False)
    return Script(shows, module.SECONDS, module.cells, module.plot, alone)


@cache
def _scripts() -> dict[str, Script]:
    """Return {name: script} for all folders."""
    found = {}
    for folder in pkgutil.iter_modules(figures.__path__):
        if folder.ispkg and folder.name not in NO_SCRIPTS:
            prefix = "" if folder.name == OWN else f"{folder.name}_"
            found |= {prefix + name: one for name, one in _scripts_in(folder.name)}
    return found


def _scripts_in(folder: str) -> Iterator[tuple[str, Script]]:
    """Yield the scripts of a folder with their names inside it."""
    package = importlib.import_module(f"figures.{folder}")
    for entry in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{entry.name}")
        if hasattr(module, "SCRIPTS"):
            yield from module.SCRIPTS.items()
        elif all(hasattr(module, part) for part in PARTS):
            yield entry.name, script_of(module)
