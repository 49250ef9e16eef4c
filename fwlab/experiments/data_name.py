"""Name a data set, so that a cell holds no data and each worker process loads them itself."""

from dataclasses import astuple, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from fwlab import datasets
from fwlab.identity import digest


@dataclass(frozen=True)
class DataName:
    """The name of a data set, which each worker loads itself.

    Parameters
    ----------
    name, normalize, rng
        The arguments of `datasets.load`.
    join_valid : bool
        Whether to append the validation part to the train part.
    rows : int, optional
        Number of rows to keep, from the start of each part; all by default.
    """

    name: str
    normalize: str | None = None
    rng: int = 0
    join_valid: bool = False
    rows: int | None = None

    def load(self) -> datasets.Dataset:
        """Return the data set, which is read once per process."""
        return _load(self, _file_state(self.name))

    def identity(self) -> tuple[Any, ...]:
        """Return the entry of a key for the data: these fields and a hash of the numbers."""
        return *astuple(self), _data_digest(self, _file_state(self.name))


def _file_state(name: str) -> tuple[int, ...] | None:
    """Return size and times of a user's file; the files of named sets have checksums."""
    try:
        state = Path(name).stat()
    except OSError:
        return None
    return state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


@lru_cache(maxsize=64)
def _data_digest(name: DataName, state: tuple[int, ...] | None) -> str:
    return digest(vars(_load(name, state)))


@lru_cache(maxsize=4)
def _load(name: DataName, state: tuple[int, ...] | None) -> datasets.Dataset:
    """Return the data set; a file that was replaced has another `state`."""
    data = datasets.load(name.name, normalize=name.normalize, rng=name.rng)
    if name.join_valid and data.y_valid is not None:
        stack = scipy.sparse.vstack if scipy.sparse.issparse(data.X_train) else np.vstack
        X, y = stack([data.X_train, data.X_valid]), np.append(data.y_train, data.y_valid)
        data = replace(data, X_train=X, y_train=y, X_valid=None, y_valid=None)
    if name.rows is not None:
        parts = ("X_train", "y_train", "X_valid", "y_valid", "X_test", "y_test")
        whole = {part: getattr(data, part) for part in parts}
        first: Any = {p: None if v is None else v[: name.rows] for p, v in whole.items()}
        data = replace(data, **first)
    return data
