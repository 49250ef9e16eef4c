"""Microseconds per row of the projection onto a loss's domain, with its ratio to one argsort.

The rows are what an exact block step projects, one true class against m - 1 others. "spread": N(0,
1). "near": all within 0.02 of each other. "above": the true class 1 to 1.02 above all others, which
makes hundreds of classes active. "spikes": five classes far above a tied rest. CPU times of one
thread, medians of calls in turn.
"""

from collections.abc import Callable

import numpy as np

import fwlab
from figures.benchmarks.projections import microseconds
from fwlab.arrays import Floats
from fwlab.text import format_table

CLASSES = (10, 100, 1000, 10_000)
LOSSES: dict[str, fwlab.Loss] = {
    "MaxHinge": fwlab.MaxHinge(),
    "TopK(5)": fwlab.TopK(5),
    "Usunier(5)": fwlab.Usunier(5),
    "PseudoTopK(5)": fwlab.PseudoTopK(5),
    "exponential, 10": fwlab.WeightedTopK(fwlab.weights.exponential(10)),
    "TopK(100)": fwlab.TopK(100),
}
ENTRIES = 400_000


def spread(rng: np.random.Generator, n: int, m: int) -> Floats:
    return rng.standard_normal((n, m))


def near(rng: np.random.Generator, n: int, m: int) -> Floats:
    return 0.02 * rng.random((n, m))


def above(rng: np.random.Generator, n: int, m: int) -> Floats:
    rows = -1.0 - 0.02 * rng.random((n, m))
    rows[:, 0] = 0.0
    return rows


def spikes(rng: np.random.Generator, n: int, m: int) -> Floats:
    rows = np.full((n, m), -0.25)
    rows[:, 1:6] = -2.0 - rng.random(rows[:, 1:6].shape)
    rows[:, 0] = 0.0
    return rows


REGIMES: tuple[Callable[[np.random.Generator, int, int], Floats], ...] = (
    spread,
    near,
    above,
    spikes,
)


def times(loss: fwlab.Loss, m: int, quick: bool) -> list[str]:
    """Return the microseconds per row in each regime, with the ratio to one argsort of the row."""
    n = max(20, ENTRIES // (10 * m if quick else m))
    y = np.zeros(n, dtype=np.int64)
    cells = []
    for regime in REGIMES:
        rows = regime(np.random.default_rng(0), n, m)
        calls = {
            "argsort": (lambda rows=rows: np.argsort(rows, axis=1), n),
            "project": (lambda rows=rows: loss.project(rows, y), n),
        }
        argsort, project = microseconds(calls, 3 if quick else 9)
        cells.append(f"{project:.2f} ({project / argsort:.2f})")
    return cells


def run(quick: bool) -> None:
    """Print the table."""
    rows = []
    for m in CLASSES[:2] if quick else CLASSES:
        for name, loss in LOSSES.items():
            if getattr(loss, "k", 1) < m:
                rows.append((str(m), name, *times(loss, m, quick)))
    header = ("m", "loss", *(regime.__name__ for regime in REGIMES))
    print(format_table(header, rows, right=header[2:]))
