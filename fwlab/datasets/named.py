"""Load named, synthetic and user's own data sets as a frozen `Dataset`.

By default features are not changed. normalize="unit" scales every row to Euclidean length 1.
normalize="standard" shifts and scales every feature of the train part to mean 0 and variance 1, and
applies the same shift and scale to the other parts. The data set records its normalisation.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from fwlab.checks.arguments import as_integer, as_real
from fwlab.datasets.contents import Parts
from fwlab.datasets.files import FILE_SETS, SHA256, data_file, file_sha256
from fwlab.datasets.normalize import Scaling, check_normalize, normalize_parts
from fwlab.datasets.readers import READERS, check_index_base, checked, read_contents, read_npz
from fwlab.datasets.row_index import warn_of_index
from fwlab.datasets.svmlight import SVMLIGHT_ENDINGS
from fwlab.text import did_you_mean


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Features, labels and origin of one data set.

    Attributes
    ----------
    X_train, X_valid, X_test : array or scipy CSR matrix (n, d), float64
        Features of each part. X_valid and X_test are None if the set has no such part.
    y_train, y_valid, y_test : array (n,), int64
        Labels 0..m-1 of each part, or None.
    name, source, licence : str
        Name, origin and licence of the data.
    sha256 : str or None
        Checksum of the file, or of two files joined by "+"; None if no file was read.
    classes : tuple
        The m labels as the source writes them, in sorted order.
    normalize : str or None
        The normalisation: None, "unit" or "standard".
    scaling : Scaling
        The normalisation with what it has learned from the train part, for new samples.
    feature_names, label_name : tuple of str and str, or None
        The names in the header of a .csv file.
    index_base : int or None
        The index of the first feature in a file in LIBSVM's format, 0 or 1.
    """

    X_train: Any
    y_train: np.ndarray
    X_valid: Any
    y_valid: np.ndarray | None
    X_test: Any
    y_test: np.ndarray | None
    name: str
    source: str
    licence: str
    sha256: str | None
    classes: tuple[Any, ...]
    normalize: str | None
    scaling: Scaling = field(default_factory=Scaling)
    feature_names: tuple[str, ...] | None = None
    label_name: str | None = None
    index_base: int | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes m."""
        return len(self.classes)

    def __repr__(self) -> str:
        return f"<Dataset {describe(self)}>"


# (size, positives) of the train, valid and test parts: 50/25/25 and stratified   (M20 Table 2).
_CUTS = {
    "ionosphere": ((176, 113), (87, 56), (88, 56)),
    "spambase": ((2301, 907), (1150, 453), (1150, 453)),
    "winequality_red": ((800, 108), (400, 55), (399, 54)),
    "winequality_white": ((2449, 530), (1224, 265), (1225, 265)),
}

# (n, d, m, separation); each is drawn with rng=0 and has rows of length 1.
_SYNTHETIC_SETS = {"synthetic-a": (1000, 4096, 10, 0.1), "synthetic-b": (15935, 1024, 20, 0.1)}


def names() -> tuple[str, ...]:
    """Return the names that `load` knows."""
    return ("digits", *FILE_SETS, *_SYNTHETIC_SETS)


def load(
    name: str | os.PathLike[str],
    normalize: str | None = None,
    rng: int | np.random.Generator = 0,
    index_base: int | None = None,
) -> Dataset:
    """Load a named set, or the user's own file if `name` is a path (see `read_file`).

    `index_base` is for the user's own files in LIBSVM's format.

    `rng` draws only the train/valid/test split of the four UCI binary sets; every other set has a
    fixed split. "synthetic-a" and "synthetic-b" are defined with rows of length 1. "digits" needs
    no file. The other sets are read from the folder FWLAB_DATA if it is set, and otherwise from the
    user's cache, after a download from FWLAB_DATA_URL if necessary. Their sha256 is always checked.

    Raises ValueError for an unknown name or option or a wrong checksum, FileNotFoundError for a
    missing file, and OSError for a failed download.
    """
    if not isinstance(name, str | os.PathLike):
        raise TypeError(f"name must be a string or a path; got {type(name).__name__}.")
    check_normalize(normalize, is_sparse=name == "news20")
    generator = _generator(rng)
    if name not in names():
        path = Path(name)
        if not path.is_file() and path.suffix.lower() not in READERS:
            raise ValueError(
                f"name must be one of {', '.join(names())}, or a file ending in one of "
                f"{', '.join(READERS)}; got {os.fspath(name)!r}."
                f"{did_you_mean(name, names())}"
            )
        return read_file(path, normalize, index_base)
    check_index_base(Path(name), index_base)
    name = str(name)
    if name in _SYNTHETIC_SETS:
        return _synthetic_set(name, normalize)
    if name == "digits":
        return _digits(normalize)
    return _file_set(name, normalize, generator)


def read_file(
    path: str | os.PathLike[str], normalize: str | None = None, index_base: int | None = None
) -> Dataset:
    """Read a user's own data set. The ending of the file name decides the format.

    - .npz: arrays X and y, or X_train and y_train and optionally X_valid, y_valid, X_test, y_test.
      A CSR matrix is stored as X_data, X_indices, X_indptr, X_shape (likewise X_train_data, ...).
    - .csv, .tsv: cells between commas, semicolons or tabs; the label is the column that the
      header names y, label or class, or the last column. Labels that stand for missing ones (NA,
      nan, null, None, ? and an empty cell) are refused.
    - .svm, .libsvm, .txt, .scale, .bz2: LIBSVM's text format, plain or compressed by bzip2. The
      first feature has index `index_base`, 0 or 1; by default 0 if any row has index 0, else 1.

    Labels of any sortable type become 0..m-1 in sorted order; `classes` keeps the originals.
    Fractions are refused, and so are numbers that mostly differ from each other: they are no
    classes. Warns about a feature that seems to be an index of the rows.

    Raises FileNotFoundError for a missing file, and ValueError with one sentence for any other
    error.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be a string or a path; got {type(path).__name__}.")
    path = Path(path)
    check_normalize(normalize, is_sparse=path.suffix.lower() in SVMLIGHT_ENDINGS)
    contents = read_contents(path, index_base)
    parts, classes = checked(f"file {str(path)!r}", contents.parts)
    warn_of_index(path, parts["train"][0], contents.feature_names)
    dataset = _dataset(
        parts, classes, normalize, path.name, str(path), "the user's own file", file_sha256(path)
    )
    return replace(
        dataset,
        feature_names=contents.feature_names,
        label_name=contents.label_name,
        index_base=contents.index_base,
    )


def synthetic(
    n: int,
    d: int,
    m: int,
    separation: float,
    rng: int | np.random.Generator,
    normalize: str | None = None,
    n_test: int = 0,
) -> Dataset:
    """Draw samples of Gaussian classes.

    Labels are uniform on 0..m-1, class means are separation * N(0, I), and samples are their class
    mean + N(0, I).

    Parameters
    ----------
    n, d, m : int
        Numbers of training samples, features and classes, m >= 2.
    separation : float
        Scale of the class means, at least 0.
    rng : int or numpy.random.Generator
        Seed or generator. It draws y, means and noise, then y and noise of the test part.
    normalize : None, "unit" or "standard"
        The normalisation.
    n_test : int
        Number of test samples.

    Returns
    -------
    Dataset
        It has m classes, even if some class has no sample.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.
    """
    n, d = as_integer("n", n, 1), as_integer("d", d, 1)
    m, n_test = as_integer("m", m, 2), as_integer("n_test", n_test, 0)
    separation = as_real("separation", separation, positive=False)
    check_normalize(normalize)
    generator = _generator(rng)
    y = generator.integers(0, m, size=n)
    means = separation * generator.standard_normal((m, d))
    parts: Parts = {"train": (means[y] + generator.standard_normal((n, d)), y)}
    if n_test:
        y_test = generator.integers(0, m, size=n_test)
        noise = generator.standard_normal((n_test, d))
        parts["test"] = (means[y_test] + noise, y_test)
    seed = rng if isinstance(rng, Integral) else "a Generator"
    source = f"Gaussian classes, n={n}, d={d}, m={m}, separation={separation}, rng={seed}"
    return _dataset(
        parts, tuple(range(m)), normalize, "synthetic", source, "none needed (drawn)", None
    )


def describe(dataset: Dataset) -> str:
    """Return one line with sizes, density, normalisation, source and licence."""
    X = dataset.X_train
    parts = [
        f"{len(y)} {part}"
        for part, y in (
            ("train", dataset.y_train),
            ("valid", dataset.y_valid),
            ("test", dataset.y_test),
        )
        if y is not None
    ]
    nonzero = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    density = nonzero / (X.shape[0] * X.shape[1])
    storage = "sparse" if sparse.issparse(X) else "dense"
    return (
        f"{dataset.name}: n = {' + '.join(parts)}, d = {X.shape[1]}, m = {dataset.n_classes}, "
        f"{storage} ({density:.2%} non-zero), normalize = {dataset.normalize}; "
        f"{dataset.source}; licence: {dataset.licence}"
    )


def _synthetic_set(name: str, normalize: str | None) -> Dataset:
    if normalize not in (None, "unit"):
        raise ValueError(
            f"{name} is defined with rows of length 1, so normalize must be None or 'unit'; "
            f"got {normalize!r}."
        )
    return replace(synthetic(*_SYNTHETIC_SETS[name], rng=0, normalize="unit"), name=name)


def _digits(normalize: str | None) -> Dataset:
    """Load scikit-learn's 8x8 digits, cut 75/25 and stratified, with random_state=0."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.25, random_state=0, stratify=y
    )
    parts, classes = checked("digits", {"train": (X_train, y_train), "test": (X_test, y_test)})
    source = "UCI Optical Recognition of Handwritten Digits (its test part), from scikit-learn"
    licence = "BSD-3-Clause, as part of scikit-learn (UCI: CC BY 4.0, to be confirmed)"
    return _dataset(parts, classes, normalize, "digits", source, licence, None)


def _file_set(name: str, normalize: str | None, generator: np.random.Generator) -> Dataset:
    files, source, licence = FILE_SETS[name]
    paths = [data_file(file) for file in files]
    parts = read_npz(paths[0])
    if len(paths) == 2:
        parts["test"] = read_npz(paths[1])["train"]
    if name in _CUTS:
        parts = _cut(*parts["train"], _CUTS[name], generator)
    parts, classes = checked(name, parts)
    sums = "+".join(SHA256[file] for file in files)
    return _dataset(parts, classes, normalize, name, source, licence, sums)


def _cut(
    X: np.ndarray,
    y: np.ndarray,
    sizes: tuple[tuple[int, int], ...],
    generator: np.random.Generator,
) -> Parts:
    """Split the samples at random into parts of the given (size, positives), each in file order."""
    positives = generator.permutation(np.flatnonzero(y == 1))
    negatives = generator.permutation(np.flatnonzero(y == 0))
    parts: Parts = {}
    for part, (size, n_positive) in zip(("train", "valid", "test"), sizes, strict=True):
        n_negative = size - n_positive
        rows = np.sort(np.concatenate([positives[:n_positive], negatives[:n_negative]]))
        positives, negatives = positives[n_positive:], negatives[n_negative:]
        parts[part] = (X[rows], y[rows])
    return parts


def _generator(rng: int | np.random.Generator) -> np.random.Generator:
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, bool) or not isinstance(rng, Integral) or rng < 0:
        raise ValueError(f"rng must be an integer >= 0 or a numpy Generator; got {rng!r}.")
    return np.random.default_rng(int(rng))


def _dataset(
    parts: Parts,
    classes: tuple[Any, ...],
    normalize: str | None,
    name: str,
    source: str,
    licence: str,
    sha256: str | None,
) -> Dataset:
    scaling = normalize_parts(parts, normalize)
    X_valid, y_valid = parts.get("valid", (None, None))
    X_test, y_test = parts.get("test", (None, None))
    return Dataset(
        *parts["train"],
        X_valid,
        y_valid,
        X_test,
        y_test,
        name=name,
        source=source,
        licence=licence,
        sha256=sha256,
        classes=classes,
        normalize=normalize,
        scaling=scaling,
    )
