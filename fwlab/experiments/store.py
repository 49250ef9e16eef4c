"""Finished runs on disk, found again by a hash of everything that determines them.

A run is determined by the numbers of its problem, the method with its settings, and the code: the
store never answers with a result that another version of the solvers made.
"""

import hashlib
import re
from dataclasses import fields, is_dataclass
from fnmatch import fnmatch
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, is_zipfile

import numpy as np
import scipy.sparse

from fwlab.problem import Problem
from fwlab.result import Result

DIGITS = 16
# sources that make, store or show problems and results, and have no part in a run
NOT_IN_A_RUN = ("__main__.py", "cli/*", "datasets/*", "experiments/*", "plot.py", "text.py")


def digest(*values: Any) -> str:
    """Hexadecimal hash of numbers, strings, arrays, and containers and dataclasses of them.

    Raises TypeError for anything else.
    """
    hasher = hashlib.sha256()
    _feed(hasher, values)
    return hasher.hexdigest()[:DIGITS]


def problem_digest(problem: Problem) -> str:
    """Hash of every argument that the problem was built from."""
    return digest({name: getattr(problem, name) for name in signature(Problem).parameters})


@cache
def code_digest() -> str:
    """Hash of the sources of this package that a run depends on."""
    folder = Path(__file__).parents[1]
    sources = sorted(path.relative_to(folder) for path in folder.rglob("*.py"))
    return digest(
        [
            (source.as_posix(), (folder / source).read_text("utf-8"))
            for source in sources
            if not any(fnmatch(source.as_posix(), pattern) for pattern in NOT_IN_A_RUN)
        ]
    )


def run_file(folder: Path, problem_name: str, method: str, key: str) -> Path:
    """Where the run of `key` is stored; the names are for people, the key tells runs apart."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "_", f"{problem_name}-{method}")
    return folder / f"{readable}-{key}.npz"


def load_run(path: Path) -> Result | None:
    """The stored run, None if there is none or it cannot be read."""
    # a cut file is no archive, and numpy would leave it open
    if not is_zipfile(path):
        return None
    try:
        return Result.load(path)
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile):
        return None


def _feed(hasher: Any, value: Any) -> None:
    if scipy.sparse.issparse(value):
        rows = value.tocsr()
        _feed(hasher, ("csr", rows.shape, rows.indptr, rows.indices, rows.data))
    elif isinstance(value, np.ndarray):
        _feed(hasher, ("array", value.dtype.str, value.shape))
        hasher.update(np.ascontiguousarray(value))
    elif isinstance(value, np.generic):
        _feed(hasher, value.item())
    elif isinstance(value, dict):
        _feed(hasher, ("dict", *value.items()))
    elif isinstance(value, list | tuple):
        hasher.update(f"[{len(value)}]".encode())
        for entry in value:
            _feed(hasher, entry)
    elif is_dataclass(value) and not isinstance(value, type):
        columns = [(field.name, getattr(value, field.name)) for field in fields(value)]
        _feed(hasher, (type(value).__qualname__, *columns))
    elif value is None or isinstance(value, bool | int | float | str):
        hasher.update(f"{type(value).__name__}:{value!r};".encode())
    else:
        raise TypeError(f"a stored run cannot depend on {value!r}.")
