"""Fits of `TopKSVC` to float32 samples beside the same samples in float64: time and memory.

Unit rows, class separation 0.25, C = 1, the defaults of the estimator, one thread. "time" is CPU
time, the two in turn: the median ratio of pairs. "memory" is by how much the largest resident size
of a new process grows in a fit, after a small fit and with the samples in memory, in multiples of
the size of the float32 samples; "A" is the size of the dual variables, 8 n m bytes, in the same
unit. Memory beyond four times the samples is due to A: with 1000 classes and 384 features A takes
5.2 times the bytes of X, and a method that visits rows in turn reads all of it.
"""

import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

import fwlab
from figures.benchmarks.streaming import peak_megabytes
from figures.benchmarks.timing import print_line

SIZES = ((16000, 1024, 20), (12000, 384, 200), (12800, 384, 1000))
QUICK, PAIRS = (600, 16, 5), 7


def samples(size: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return float32 samples of length 1 and their labels."""
    data = fwlab.datasets.synthetic(*size, 0.25, rng=0, normalize="unit")
    return data.X_train.astype(np.float32), data.y_train


def growth(folder: str, storage: str, intercept: bool) -> float:
    """Return by how many bytes a fit to the samples in `folder` raises this process's peak."""
    model = fwlab.TopKSVC(random_state=0, fit_intercept=intercept, storage=storage)
    model.fit(*samples(QUICK))
    X, y = (np.load(Path(folder) / f"{name}.npy") for name in "Xy")
    before = peak_megabytes()
    model.fit(X, y)
    return 1e6 * (peak_megabytes() - before)


def in_a_new_process(folder: str, storage: str, intercept: bool) -> float:
    """Return the result of `growth` in a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(growth, folder, storage, intercept).result()


def cpu_seconds(X: np.ndarray, y: np.ndarray) -> float:
    """Return the CPU seconds of a fit."""
    began = time.process_time()
    fwlab.TopKSVC(random_state=0).fit(X, y)
    return time.process_time() - began


def row(size: tuple[int, int, int], pairs: int) -> tuple[str, ...]:
    """Return one line of the table."""
    X, y = samples(size)
    wide = X.astype(np.float64)
    ratios = [cpu_seconds(X, y) / cpu_seconds(wide, y) for _ in range(1 + pairs)][1:]
    with TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", X)
        np.save(Path(folder) / "y.npy", y)
        sizes = [
            in_a_new_process(folder, *given) / X.nbytes
            for given in (("float32", False), ("float32", True), ("float64", False))
        ]
    shares = (8.0 * len(X) * size[2] / X.nbytes, *sizes)
    return " x ".join(map(str, size)), f"{median(ratios):.2f}", *(f"{one:.1f}" for one in shares)


def run(quick: bool) -> None:
    """Print the table in Markdown, line by line."""
    header = ("n x d x m", "time, float32 / float64", "A", "memory", "with an intercept")
    print_line((*header, "in float64"))
    print_line("---" for _ in range(len(header) + 1))
    for size in (QUICK,) if quick else SIZES:
        print_line(row(size, 1 if quick else PAIRS))
