"""Passes of `ascent` over faces, in units of their flops.

Before each pass over all rows `ascent` makes passes over the rows that moved, with only the classes
that their blocks hold (their faces). A class of a row on a face takes a product of d numbers; "of
flops" divides the time of these passes by the time of the same flops in products of square
matrices. "part" is their share of the time of all iterations. Unit rows, TopK(3) with C = 1,
TopK(5) with 1000 classes, whose separation is 0.25; CPU time of one thread, the iterations 2 to 11;
the passes over faces are timed on copies of A and W. Data sets that cannot be loaded are left out.

A class on a face reads its row of W for the product, and reads and writes it again where its entry
of A changes: "of bytes" divides the time by that of these 24 d bytes for each class at the speed of
reading in cache. A product of matrices uses each number hundreds of times after reading it, a face
only once: where "of bytes" is about 1, no order of the same work is faster. With 16 features most
of the time goes to the projection of a row and the inspection of its classes.
"""

import time
from collections.abc import Iterator
from typing import cast

import numpy as np

import fwlab
from figures.benchmarks.page import rates
from figures.benchmarks.passes import SQUARE, squares
from figures.benchmarks.timing import milliseconds
from figures.benchmarks.wall import problem_on
from fwlab.kernels.steps.ascent_passes import CLASSES, MOVING, PASSES, visit_faces
from fwlab.operators.features import DenseFeatures
from fwlab.solvers.ascent import Ascent
from fwlab.solvers.method import State
from fwlab.solvers.registry import build
from fwlab.text import format_table

SETS = ("synthetic-b", "letter", "fashion_mnist", "news20_svd1024")
PROBE = (12811, 384, 1000)
ITERATIONS = 11


def problems(quick: bool) -> Iterator[tuple[str, fwlab.Problem]]:
    """Yield the problems by name."""
    for name in SETS[1:2] if quick else SETS:
        try:
            data = fwlab.datasets.load(name, normalize="unit")
        except FileNotFoundError:
            continue
        yield name, problem_on(data, fwlab.TopK(3))
    if not quick:
        data = fwlab.datasets.synthetic(*PROBE, 0.25, rng=0, normalize="unit")
        yield " x ".join(map(str, PROBE)), problem_on(data, fwlab.TopK(5))


def seconds_and_products(problem: fwlab.Problem) -> tuple[float, float, int]:
    """Return the seconds of iterations and of their passes over faces, and these' products."""
    method = cast(Ascent, build("ascent", {}))
    A = np.zeros((problem.n_samples, problem.n_classes))
    state = State(problem, A, np.random.default_rng(0), method.needs(problem))
    workspace = method.start(state)
    features = cast(DenseFeatures, problem.features)
    all_seconds, seconds, products = 0.0, 0.0, 0
    for count in range(ITERATIONS):
        visit, dual = workspace.visit(problem), workspace.dual(problem)
        visit.counts[:] = 0
        visit.counts[MOVING] = len(workspace.moving)
        visit.moving[: len(workspace.moving)] = workspace.moving
        visit.random[0] = 1
        copies = state.link.copy(), state.A.copy()
        began = time.process_time()
        visit_faces(visit, features.X, *copies, dual, workspace.moves)
        ended = time.process_time()
        classes, passes = int(visit.counts[CLASSES]), int(visit.counts[PASSES])
        again = time.process_time()
        method.iterate(state, workspace)
        if count > 0:
            all_seconds += time.process_time() - again
            seconds, products = seconds + ended - began, products + classes * passes
    return all_seconds, seconds, products


def run(quick: bool) -> None:
    """Print the table."""
    rate = SQUARE**3 / (1e-3 * milliseconds({"": squares()["float64"]}, 3 if quick else 9)[""])
    in_cache = 1e9 * rates()[2]
    rows = []
    for name, problem in problems(quick):
        everything, seconds, products = seconds_and_products(problem)
        numbers = products * problem.n_features
        ratios = seconds * rate / numbers, seconds * in_cache / (24 * numbers)
        times = (f"{1e3 * seconds:.1f}", f"{seconds / everything:.2f}")
        rows.append((name, f"{1e-3 * products:.0f}", *times, *map("{:.1f}".format, ratios)))
    header = ("data", "products / 1000", "ms", "part", "of flops", "of bytes")
    print(format_table(header, rows, right=header[1:]))
