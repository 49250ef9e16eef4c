"""The forms in which a user may hold class labels, for tests of functions that take labels.

Each form turns codes 0 .. m-1 (n,) into labels; the distinct labels in ascending order stand for
the codes in order.
"""

from collections.abc import Callable
from enum import Enum, IntEnum
from typing import Any

import numpy as np
import pandas as pd

NAMES = np.array(["ant", "bee", "cow", "dog"])
Animal = Enum("Animal", {name: name for name in NAMES.tolist()}, type=str)
Rank = IntEnum("Rank", "A B C D", start=0)


class Whole(int):
    """An integer of a type of its own."""


def names(codes: np.ndarray) -> np.ndarray:
    return NAMES[codes]


def series(dtype: Any, of: Callable[[np.ndarray], Any] = lambda codes: codes) -> Callable:
    """A column of a data frame whose index is not 0 .. n-1."""

    def column(codes: np.ndarray) -> pd.Series:
        return pd.Series(of(codes), dtype=dtype, index=np.arange(len(codes))[::-1] + 7)

    return column


def categorical(values: Any, categories: Any, ordered: bool = False) -> pd.Categorical:
    return pd.Categorical(values, categories=categories, ordered=ordered)


# integers 0 .. m-1, as functions take them that have no other labels
CODES = {
    "int64": lambda codes: codes,
    "int8": lambda codes: codes.astype(np.int8),
    "uint8": lambda codes: codes.astype(np.uint8),
    "uint64": lambda codes: codes.astype(np.uint64),
    "big-endian": lambda codes: codes.astype(">i4"),
    "list of int": lambda codes: codes.tolist(),
    "tuple of int": lambda codes: tuple(codes.tolist()),
    "list of numpy's int": list,
    "Series of int": series(np.int64),
    "Series of Int64": series("Int64"),
    "Series of UInt8": series("UInt8"),
    "Categorical of int": lambda codes: categorical(codes, [3, 1, 0, 2]),
}
INTEGERS = {
    "from 5": lambda codes: codes + 5,
    "with gaps, below 0": lambda codes: 10 * codes - 5,
    "beyond 2^63": lambda codes: codes.astype(np.uint64) + np.uint64(2**63),
    "beyond 2^53, beside a float": lambda codes: [
        2**53 + 3.0 if c == 3 else 2**53 + int(c) for c in codes
    ],
    "list on both sides of 2^63": lambda codes: [2**63 + c - 2 for c in codes.tolist()],
    "members of an IntEnum": lambda codes: [Rank(code) for code in codes.tolist()],
    "a subclass of int": lambda codes: [Whole(code) for code in codes.tolist()],
    "list of int and float": lambda codes: [float(c) if c == 1 else int(c) for c in codes],
}
FLOATS = {
    "float64": lambda codes: 1.0 * codes,
    "float32": lambda codes: codes.astype(np.float32),
    "list of float": lambda codes: (1.0 * codes).tolist(),
    "Series of float": series(np.float64),
    "Series of Float64": series("Float64"),
}
STRINGS = {
    "str": names,
    "objects": lambda codes: names(codes).astype(object),
    "list of str": lambda codes: names(codes).tolist(),
    "list of numpy's str": lambda codes: list(names(codes)),
    "Series of str": series(None, names),
    "Series of objects": series(object, names),
    "Series of string": series("string", names),
    "Index": lambda codes: pd.Index(names(codes)),
    "Categorical": lambda codes: categorical(names(codes), NAMES),
    "Categorical, reordered": lambda codes: categorical(names(codes), NAMES[::-1], ordered=True),
    "Categorical, unused": lambda codes: categorical(names(codes), ["zebu", *NAMES, "aardvark"]),
    "Series of categories": series("category", names),
    "numpy's strings of any length": lambda codes: names(codes).astype(np.dtypes.StringDType()),
    "Enum of strings": lambda codes: [Animal(name) for name in names(codes)],
    "digits": lambda codes: (codes + 1).astype(str),
}
# objects that scikit-learn refuses
OBJECTS = {
    "objects int": lambda codes: codes.astype(object),
    "objects int64": lambda codes: np.array([np.int64(c) for c in codes], dtype=object),
    "objects IntEnum": lambda codes: np.array([Rank(c) for c in codes.tolist()], dtype=object),
}
TRUTHS = {
    "bool": lambda codes: codes > 0,
    "list of bool": lambda codes: (codes > 0).tolist(),
    "Series of bool": series(bool, lambda codes: codes > 0),
    "Series of boolean": series("boolean", lambda codes: codes > 0),
}
ANY = {**CODES, **INTEGERS, **FLOATS, **STRINGS}

try:
    import polars
except ImportError:  # not among the packages of the tests
    pass
else:
    ANY["polars int"] = polars.Series
    ANY["polars str"] = lambda codes: polars.Series(names(codes).tolist())
    ANY["polars categories"] = lambda codes: polars.Series(
        names(codes).tolist(), dtype=polars.Categorical
    )

missing = np.array([None, "ant"], dtype=object)
# what no function takes: labels (2,), the error, and what its sentence shows
REFUSED = {
    "nan": (np.array([np.nan, 1.0]), ValueError, "nan"),
    "infinity": (np.array([np.inf, 1.0]), ValueError, "inf"),
    "fractions": (np.array([0.5, 1.0]), ValueError, "0.5"),
    "a fraction in a list": ([0.5, 1], ValueError, "0.5"),
    "complex": (np.array([0j, 1]), TypeError, "complex128"),
    "bytes": (np.array([b"ant", b"bee"]), TypeError, "S3"),
    "a list of bytes": ([b"ant", b"bee"], TypeError, "bytes"),
    "dates": (np.array(["2020-01-01", "2020-01-02"], "M8[D]"), TypeError, "datetime64"),
    "None": (missing, TypeError, "NoneType, str"),
    "Series with None": (pd.Series(["ant", None]), TypeError, "float|NoneType, str"),
    "string with NA": (pd.Series(["ant", None], dtype="string"), TypeError, "NAType, str"),
    "Int64 with NA": (pd.Series([1, None], dtype="Int64"), (TypeError, ValueError), "NA|nan"),
    "Categorical with NA": (pd.Categorical(missing), TypeError, "float, str"),
    "str and int": (["ant", 1], TypeError, "int, str"),
    "bool and int": ([True, 2], TypeError, "bool, int"),
    "integers of 65 bits": ([2**64, 1], ValueError, str(2**64)),
    "integers below and beyond 64 bits": ([-1, 2**63], ValueError, str(2**63)),
    "a zero byte at the end": (["ant\0", "ant"], ValueError, "ant.x00"),
    "masked": (np.ma.masked_equal([0, 1], 1), TypeError, "masked"),
    "two columns": (np.array([[0, 1], [1, 0]]), ValueError, "(2, 2)"),
    "a data frame": (pd.DataFrame({"y": [0, 1], "z": [1, 0]}), ValueError, "(2, 2)"),
    "lists": ([[0], [1, 2]], TypeError, "list"),
    "a number": (3, TypeError, "got 3"),
    "a name": ("y.npy", TypeError, "got 'y.npy'"),
    "a set": ({0, 1}, TypeError, "{0, 1}"),
    "nothing": (None, TypeError, "None"),
}
