"""X W^T and A^T X for a dense X, m classes: the kernels of the library over BLAS.

CPU times of one thread, standard normal numbers; three tenths and a tenth of A's entries are not 0.
`features.SHORT_ROWS`, `MANY_CLASSES` and `MOST_FILLED` are chosen from this table: the library
calls BLAS on shorter rows, for the scores of more classes, and for A^T X with a fuller A.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from figures.benchmarks.timing import milliseconds
from fwlab.arrays import Floats
from fwlab.kernels.products.dense import nonzeros_product, scores_product
from fwlab.text import format_table

ENTRIES = 4_000_000
FEATURES = (16, 32, 64, 128, 256, 1024, 4096)
CLASSES = (3, 10, 30, 100, 300, 600)
DENSITIES = (0.3, 0.1)


def calls(n: int, d: int, m: int) -> dict[str, Callable[[], object]]:
    """Return each product by BLAS and by the kernel, written into existing arrays."""
    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((n, d)), rng.standard_normal((m, d))
    scores, out = np.empty((n, m)), np.zeros((m, d))
    A = rng.standard_normal((n, m))
    made: dict[str, Callable[[], object]] = {
        "scores, BLAS": partial(np.matmul, X, W.T, out=scores),
        "scores": partial(scores_product, X, W, scores),
        "A^T X, BLAS": partial(np.matmul, A.T, X, out=out.copy()),
    }
    for density in DENSITIES:
        sparse: Floats = A * (rng.random((n, m)) < density)
        made[f"A^T X, {density}"] = partial(nonzeros_product, X, sparse, out)
    return made


def run(quick: bool) -> None:
    """Print the table of ratios."""
    rows = []
    for d in FEATURES[::3] if quick else FEATURES:
        for m in CLASSES[:2] if quick else CLASSES:
            n = ENTRIES // (10 * d if quick else d)
            times = milliseconds(calls(n, d, m), 3 if quick else 9)
            ratios = [times["scores"] / times["scores, BLAS"]]
            ratios += [times[f"A^T X, {share}"] / times["A^T X, BLAS"] for share in DENSITIES]
            rows.append((str(d), str(m), *(f"{ratio:.2f}" for ratio in ratios)))
    header = ("d", "m", "X W^T", *(f"A^T X, {share:.0%} of A" for share in DENSITIES))
    print(format_table(header, rows, right=header))
