"""The rounding error of a certificate as a fraction of the objective, and the cost of computing it.

TopK(3) with C = 1, unit rows. Data sets that cannot be loaded are left out. The judge of a
checkpoint and the certificate at the end of a run are timed in turn at the same point, medians of
wall time with one thread; the last column is the certificate in products X W^T by BLAS, or by scipy
for a sparse X. With few features, as on digits and letter, the product is the smallest part: a
certificate sweeps over A and the scores, too.
"""

from collections.abc import Iterator
from functools import partial
from operator import matmul

import fwlab
from figures.benchmarks.timing import wall_milliseconds
from fwlab.certificate import certificate_of
from fwlab.text import format_table

NAMES = ("digits", "synthetic-a", "synthetic-b", "letter", "news20", "news20_svd1024")
PROBE = (12811, 384, 1000)
TOL, MOST_PASSES, REPEATS = 1e-3, 30, 9


def data_sets(quick: bool) -> Iterator[tuple[str, fwlab.datasets.Dataset]]:
    """Yield the sets that can be loaded, and random data with 1000 classes."""
    for name in NAMES[:1] if quick else NAMES:
        try:
            yield name, fwlab.datasets.load(name, normalize="unit")
        except FileNotFoundError:
            continue
    if not quick:
        yield "1000 classes", fwlab.datasets.synthetic(*PROBE, 0.1, rng=0, normalize="unit")


def run(quick: bool) -> None:
    """Print one row per data set."""
    rows = []
    for name, data in data_sets(quick):
        X, y = data.X_train, data.y_train
        problem = fwlab.Problem(X, y, fwlab.TopK(3), lam=1 / len(y))
        result = fwlab.solve(problem, tol=TOL, max_iter=MOST_PASSES)
        share = result.gap_error / max(abs(result.primal), abs(result.dual))
        calls = {
            "judge": partial(problem.certificate, result.A),
            "certify": partial(certificate_of, problem, result.A),
            "X W^T": partial(matmul, X, result.W.T),
        }
        judge, certify, product = wall_milliseconds(calls, REPEATS).values()
        cells = (f"{judge:.1f}", f"{certify:.1f}", f"{certify / product:.1f}")
        shape = f"{X.shape[0]} x {X.shape[1]} x {problem.n_classes}"
        rows.append((name, shape, f"{result.gap:.1e}", f"{share:.1e}", *cells))
    times = ("checkpoint ms", "end ms", "of X W^T")
    header = ("data", "n x d x m", "gap", "gap_error / objective", *times)
    print(format_table(header, rows, right=header[2:]))
