"""Every method on twelve small problems: its certificate holds the optimum that cvxpy finds, and
its gap becomes as small as its rate lets it."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse
from rounding import value_rounding
from solvers.solver_table import METHODS

import fwlab
import reference

# (loss, its arguments, n, d, m, lam, smoothing): wide and tall, few and many classes, all losses
SHAPES = {"wide": (8, 14, 4, 0.1), "tall": (20, 3, 3, 0.05), "many classes": (10, 5, 7, 0.05)}
COSTS = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) / 2
PROBLEMS = [
    ("MaxHinge", (), "wide", 0.0),
    ("MaxHinge", (), "tall", 0.2),
    ("StructuredHinge", (COSTS,), "wide", 0.0),
    ("TopK", (2,), "tall", 0.0),
    ("TopK", (3,), "many classes", 0.0),
    ("TopK", (3,), "wide", 0.1),
    ("PseudoTopK", (2,), "wide", 0.0),
    ("Usunier", (2,), "tall", 0.0),
    ("Usunier", (4,), "many classes", 0.05),
    ("WeightedTopK", ((0.5, 0.25, 0.25),), "many classes", 0.0),
    ("WeightedTopK", ((0.5, 0.25, 0.125, 0.125),), "wide", 0.5),
    ("WeightedUsunier", ((0.75, 0.5, 0.125),), "many classes", 0.0),
]
FORMS = ("dense", "sparse", "linear", "precomputed")

# Gaps that a method reaches within its iterations. A method that is not here reaches FIRST_ORDER,
# as fw, fw-open-loop and bcfw do.
FIRST_ORDER, MAX_ITER = 5e-3, 3000
TOLS = {
    "afw": 1e-4,
    "pfw": 1e-4,
    "bafw": 2e-3,
    "bpfw": 1e-4,
    **dict.fromkeys(
        ("fcfw", "bcafw", "bcpfw", "bbpfw", "dicg", "ascent", "alternate", "direct", "auto"), 1e-6
    ),
    "subgradient": 0.1,
}


@cache
def optimum(place: int) -> tuple[reference.Certified, float]:
    """Return the certified optimum, and how far rounding can take a value of fwlab from it."""
    kind, arguments, shape, smoothing = PROBLEMS[place]
    X, y = data(shape)
    lam, m = SHAPES[shape][3], SHAPES[shape][2]
    loss = getattr(reference, kind)(*arguments)
    training = reference.linear_training(X, y, loss, lam, smoothing, n_classes=m)
    return training.optimum(), value_rounding(training)


def data(shape: str) -> tuple[np.ndarray, np.ndarray]:
    n, d, m, _ = SHAPES[shape]
    rng = np.random.default_rng(n)
    y = np.arange(n) % m
    return rng.normal(size=(n, d)) + 0.5 * rng.normal(size=(m, d))[y], y


def name(place: int) -> str:
    kind, _, shape, smoothing = PROBLEMS[place]
    return f"{kind} {shape} {smoothing} {FORMS[place % 4]}"


def problem(place: int) -> fwlab.Problem:
    """Return the problem; its place in the list decides its form."""
    kind, arguments, shape, smoothing = PROBLEMS[place]
    X, y = data(shape)
    form = FORMS[place % 4]
    made = {"sparse": scipy.sparse.csr_matrix(X), "precomputed": X @ X.T}
    return fwlab.Problem(
        made.get(form, X),
        y,
        getattr(fwlab, kind)(*arguments),
        SHAPES[shape][3],
        smoothing=smoothing,
        kernel=form if form in ("linear", "precomputed") else None,
        n_classes=SHAPES[shape][2],
    )


@pytest.mark.turns
@pytest.mark.parametrize("place", range(len(PROBLEMS)), ids=name)
@pytest.mark.parametrize("method", METHODS)
def test_the_certificate_holds_the_optimum(method, place):
    tol = TOLS.get(method, FIRST_ORDER)
    try:
        result = fwlab.solve(problem(place), method, tol=tol, max_iter=MAX_ITER, check_every=10)
    except ValueError as reason:
        pytest.skip(str(reason))
    best, rounding = optimum(place)
    assert best.width <= 1e-7
    assert rounding <= 1e-10
    assert result.dual <= best.value_upper + rounding
    assert result.primal >= best.value_lower - rounding
    if result.status is not fwlab.Status.SOLVED_OTHER_PROBLEM:
        assert result.success, f"gap {result.gap}"
        assert result.primal - best.value_lower <= tol + best.width
        assert best.value_upper - result.dual <= tol + best.width


def test_the_twelve_problems():
    """All losses, with and without smoothing, every form; none is solved by 0."""
    assert len(PROBLEMS) == 12
    assert {kind for kind, *_ in PROBLEMS} == {
        "MaxHinge",
        "StructuredHinge",
        "TopK",
        "PseudoTopK",
        "Usunier",
        "WeightedTopK",
        "WeightedUsunier",
    }
    for place in range(12):
        made = problem(place)
        n, m = len(made.y), made.n_classes
        assert (
            0.02 < optimum(place)[0].value_lower < made.certificate(np.zeros((n, m))).primal - 0.02
        )
