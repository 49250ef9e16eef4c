"""One page of timing tables in Markdown, with the machine and its floors."""

import contextlib
import importlib
import io
import time
from collections.abc import Callable
from statistics import median

import numpy as np

from fwlab.provenance import installed, provenance

# the tables of the stored page, figures/BENCHMARKS.md
PAGE = (
    "wall",
    "first_call",
    "passes",
    "growth",
    "block_projection",
    "projections",
    "linear_svc",
    "small_fits",
    "grid_search",
    "large_k",
    "face_passes",
    "certificates",
    "single_precision",
    "logistic",
    "heads",
    "defaults",
    "peer",
    "threads",
    "ranking_peers",
    "versions",
)
SIDE, BYTES = 1500, 2**28


def print_page(names: list[str], quick: bool) -> None:
    """Print the page, one table after the other."""
    print("# Benchmarks\n")
    print(f"`python -m figures.benchmarks {' '.join(names)} --markdown{' --quick' * quick}`\n")
    print(f"{machine()}\n\n{floors()}")
    for name in names:
        module = importlib.import_module(f"figures.benchmarks.{name}")
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            module.run(quick=quick)
        table = text.getvalue().strip()
        fenced = table if table.startswith("|") else f"```text\n{table}\n```"
        print(f"\n## {name}\n\n{(module.__doc__ or '').strip()}\n\n{fenced}", flush=True)


def machine() -> str:
    """Return a sentence about processor, versions and date."""
    made_by = provenance()
    packages = ("python", "numpy", "scipy", "numba")
    versions = ", ".join(f"{name} {made_by[name]}" for name in packages)
    learn = f"scikit-learn {installed('scikit-learn')}"
    commit = made_by["commit"] or f"version {made_by['fwlab']}"
    processor = f"{made_by['processor']}, one thread unless said"
    return f"{processor}; {versions}, {learn}; {commit}; {made_by['date']}."


def rates() -> tuple[float, float, float, float]:
    """Return GF/s of a product in float64 and float32, GB/s of numbers read in cache and beyond."""
    A, B = (np.random.default_rng(0).standard_normal((SIDE, SIDE)) for _ in range(2))
    single = A.astype(np.float32), B.astype(np.float32)
    long = np.ones(BYTES // 8)
    near = long[: 2**15]
    work = 2e-9 * SIDE**3
    return (
        work / seconds(lambda: A @ B),
        work / seconds(lambda: single[0] @ single[1]),
        1e-9 * near.nbytes * 1000 / seconds(lambda: [near.max() for _ in range(1000)]),
        1e-9 * BYTES / seconds(long.max),
    )


def floors() -> str:
    """Return a sentence about the rates that this machine reaches with one thread."""
    return (
        "Floors: a matrix product makes {:.0f} GF/s in float64 and {:.0f} in float32; numbers are "
        "read at {:.0f} GB/s in cache and {:.0f} beyond.".format(*rates())
    )


def seconds(call: Callable[[], object]) -> float:
    """Return the median wall time of seven calls."""
    times = []
    for _ in range(7):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return median(times)
