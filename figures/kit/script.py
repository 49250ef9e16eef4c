"""Scripts by name: each makes one figure or one table.

A module of a paper's folder, or of `own`, is a script if it has `SECONDS`, `cells` and `plot`; a
paper's script also has `finding`, and a script that other pages use has `for_pages`. With `ALONE =
True` its cells are computed one after the other, because their times are compared. A module that
makes several figures or tables in the same way lists them in `SCRIPTS` instead, {name: Script}. A
script's name begins with its folder, except in `own`: kato2019_figure3, rates. A user's file is a
script, or has SCRIPTS, in the same way; the file's name is the script's.
"""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import figures
from figures.kit.findings import FigureFinding, nothing_to_compute
from figures.kit.kept import is_stale
from figures.kit.study import SIZES, Study
from fwlab.experiments import Cell, import_file, importable

OWN = "own"
PARTS = ("SECONDS", "cells", "plot")
OPTIONAL = ("finding", "for_pages")
NO_SCRIPTS = ("kit", "exact", "benchmarks")
# words with another meaning on the command line
RESERVED = ("list", "all", "check", "page", "scoreboard", "keep")


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
    finding
        Function of the stored values and the size, returns how well the figure agrees with its
        paper; None for a figure that is not in a paper.
    for_pages
        Function of the stored values and the size, returns data for pages other than the gallery,
        as JSON; None if there are none.
    alone
        Whether to compute one cell after the other in this process, because times are compared.
    file
        Path of a user's file, "" for a script of this folder.
    """

    shows: str
    seconds: Mapping[str, float]
    cells: Callable[[str], Sequence[Cell]]
    plot: Callable[[Study], list[Path]]
    finding: Callable[[dict[str, Any], str], FigureFinding] | None = None
    for_pages: Callable[[dict[str, Any], str], dict[str, Any]] | None = None
    alone: bool = False
    file: str = ""

    def __post_init__(self) -> None:
        given = self.seconds if isinstance(self.seconds, Mapping) else {}
        if not all(isinstance(given.get(size), int | float) for size in SIZES):
            raise ValueError(
                f"SECONDS must be a dict with a number for each of {', '.join(SIZES)}; "
                f"got {self.seconds!r}."
            )
        for part in ("cells", "plot", *OPTIONAL):
            given = getattr(self, part)
            if not callable(given) and not (part in OPTIONAL and given is None):
                raise ValueError(f"{part} must be a function; got {given!r}.")

    def compute(self, study: Study) -> None:
        """Compute the cells of the study's size and store what `plot` reads."""
        found = self.cells(study.size)
        if not isinstance(found, Sequence) or not all(isinstance(cell, Cell) for cell in found):
            raise ValueError(f"cells must return a list of Cell; got {found!r}.")
        study.compute(found, self.alone)

    def found(self, study: Study) -> FigureFinding | None:
        """Return the finding based on the stored values, None for a figure that is not in a paper.

        The quick size, whose data are not the paper's, has none.
        """
        if self.finding is None or study.size == "quick":
            return None
        values = study.values
        return self.finding(values, study.size) if values else nothing_to_compute()

    def is_stale(self, study: Study) -> bool:
        """Return whether settings changed since the values were stored, or a replay differed."""
        return is_stale(study.record, self.cells(study.size))

    def draw(self, study: Study) -> list[Path]:
        """Draw the stored values and return the written files."""
        files = self.plot(replace(study, finding=self.found(study), stale=self.is_stale(study)))
        if not isinstance(files, list):
            raise ValueError(f"plot must return the list of files that it wrote; got {files!r}.")
        return files


def script_names() -> list[str]:
    """Return the names of all figures and tables, sorted."""
    return sorted(_scripts())


def script(name: str) -> Script:
    """Return the script that makes a figure or a table."""
    return _scripts()[name]


def script_of(module: ModuleType) -> Script:
    """Return the script defined by a module."""
    shows = (module.__doc__ or "").split("\n")[0]
    finding, for_pages = (getattr(module, part, None) for part in OPTIONAL)
    alone = getattr(module, "ALONE", False)
    return Script(shows, module.SECONDS, module.cells, module.plot, finding, for_pages, alone=alone)


def add_files(paths: Sequence[str]) -> list[str]:
    """Import users' files, add their scripts to all others, and return their names.

    Raises ValueError, with a message that begins with the path, for a file that cannot be
    imported, is no script, or has a script whose name is taken.
    """
    names: list[str] = []
    for path, name in importable(paths).items():
        module = import_file(path, name)
        try:
            found = dict(_scripts_of(module, name))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        if not found:
            lacking = ", ".join(part for part in PARTS if not hasattr(module, part))
            raise ValueError(f"{path}: the file lacks {lacking}; figures/template.py has all.")
        names += _added(path, found)
    return names


def _added(path: str, found: Mapping[str, Script]) -> list[str]:
    """Add the scripts of a file to all others and return their names."""
    for name, one in found.items():
        if name in RESERVED or name in _scripts():
            raise ValueError(f"{path}: there is a figure named {name} already; take another name.")
        if not re.fullmatch(r"\w[\w.-]*", name):
            raise ValueError(
                f"{path}: a figure's name must be of letters, digits, '_', '-' and '.'; "
                f"got {name!r}."
            )
        _scripts()[name] = replace(one, file=path)
    return list(found)


@cache
def _scripts() -> dict[str, Script]:
    """Return {name: script} for all folders."""
    found: dict[str, Script] = {}
    for folder in pkgutil.iter_modules(figures.__path__):
        if folder.ispkg and folder.name not in NO_SCRIPTS:
            prefix = "" if folder.name == OWN else f"{folder.name}_"
            found |= {prefix + name: one for name, one in _scripts_in(folder.name)}
    return found


def _scripts_in(folder: str) -> Iterator[tuple[str, Script]]:
    """Yield the scripts of a folder with their names within the folder."""
    package = importlib.import_module(f"figures.{folder}")
    for entry in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{entry.name}")
        yield from _scripts_of(module, entry.name)


def _scripts_of(module: ModuleType, name: str) -> Iterator[tuple[str, Script]]:
    """Yield the scripts of a module by name: its SCRIPTS, or the module under this name."""
    if hasattr(module, "SCRIPTS"):
        scripts = module.SCRIPTS
        ones = scripts.values() if isinstance(scripts, Mapping) else ()
        if not ones or not all(isinstance(one, Script) for one in ones):
            raise ValueError(
                f"SCRIPTS must be a dict with a Script for each name; got {scripts!r}."
            )
        yield from scripts.items()
    elif all(hasattr(module, part) for part in PARTS):
        yield name, script_of(module)
