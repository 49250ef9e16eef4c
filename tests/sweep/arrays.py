"""Arrays as visitors bring them: every type and layout, and entries that arithmetic dislikes."""

from typing import Any

import numpy as np
import scipy.sparse

Generator = np.random.Generator


def hostile_features(rng: Generator, X: np.ndarray) -> tuple[str, Any]:
    """Return the name of a way to spoil X (n, d), and the array or matrix spoilt in this way."""
    name = str(rng.choice(sorted(WAYS)))
    return name, WAYS[name](rng, X.copy())


def _denormals(rng: Generator, X: np.ndarray) -> np.ndarray:
    X[rng.random(X.shape) < 0.3] = 5e-324
    return X


def _negative_zeros(rng: Generator, X: np.ndarray) -> np.ndarray:
    X[rng.random(X.shape) < 0.5] = -0.0
    return X


def _duplicated_rows(rng: Generator, X: np.ndarray) -> np.ndarray:
    return X[rng.integers(0, max(1, len(X) // 3), len(X))]


def _zero_rows(rng: Generator, X: np.ndarray) -> np.ndarray:
    X[rng.random(len(X)) < 0.4] = 0.0
    return X


def _huge_entry(rng: Generator, X: np.ndarray) -> np.ndarray:
    X[rng.integers(len(X)), rng.integers(X.shape[1])] = 1e300
    return X


def _mixed_scales(rng: Generator, X: np.ndarray) -> np.ndarray:
    return X * 10.0 ** rng.uniform(-8, 8, (len(X), 1))


def _constant_feature(rng: Generator, X: np.ndarray) -> np.ndarray:
    X[:, 0] = 1e6
    return X


def _read_only(rng: Generator, X: np.ndarray) -> np.ndarray:
    X.flags.writeable = False
    return X


def _integers(rng: Generator, X: np.ndarray) -> np.ndarray:
    return np.clip(np.round(3 * X), -100, 100).astype(np.int64)


def _csr(rng: Generator, X: np.ndarray) -> scipy.sparse.csr_matrix:
    """Return CSR with empty rows, unsorted and duplicate indices."""
    X[rng.random(X.shape) < 0.6] = 0.0
    X[rng.random(len(X)) < 0.2] = 0.0
    sparse = scipy.sparse.csr_matrix(X)
    data, indices, starts = [], [], [0]
    for i in range(len(X)):
        row = slice(sparse.indptr[i], sparse.indptr[i + 1])
        order = rng.permutation(row.stop - row.start)
        values, columns = sparse.data[row][order], sparse.indices[row][order]
        if len(values):
            values = np.append(values[0] / 2, np.append(values[1:], values[0] / 2))
            columns = np.append(columns, columns[0])
        data.append(values)
        indices.append(columns)
        starts.append(starts[-1] + len(values))
    arrays = (np.concatenate(data), np.concatenate(indices), np.array(starts))
    return scipy.sparse.csr_matrix(arrays, shape=X.shape)


WAYS = {
    "bool": lambda rng, X: X > 0,
    "byte-swapped": lambda rng, X: X.astype(X.dtype.newbyteorder()),
    "constant feature": _constant_feature,
    "csr": _csr,
    "denormals": _denormals,
    "duplicated rows": _duplicated_rows,
    "float16": lambda rng, X: np.clip(X, -1e4, 1e4).astype(np.float16),
    "float32": lambda rng, X: np.clip(X, -1e30, 1e30).astype(np.float32),
    "Fortran order": lambda rng, X: np.asfortranarray(X),
    "huge entry": _huge_entry,
    "integers": _integers,
    "masked": lambda rng, X: np.ma.masked_array(X, X > 1),
    "mixed scales": _mixed_scales,
    "negative zeros": _negative_zeros,
    "object": lambda rng, X: X.astype(object),
    "read-only": _read_only,
    "zero rows": _zero_rows,
}
