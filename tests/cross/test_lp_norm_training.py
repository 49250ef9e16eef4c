"""alternate and direct with a block norm on 60 small problems, solved by cvxpy with power cones."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse

import fwlab
import reference

NORMS = (1, 1.05, 1.2, 1.5, 2, 3, 6)
PLACES = range(60)
# every p with either loss; the others run with the deep profile
QUICK = set(range(14))
FORMS = ("dense", "sparse", "linear", "precomputed")


@cache
def numbers(place: int) -> tuple:
    """Return X, y, m, lam, p: few or many rows; in each third problem a class has no row."""
    rng = np.random.default_rng(place)
    m, d = int(rng.integers(3, 6)), int(rng.integers(3, 9))
    n = int(rng.integers(m, 3 * m))
    y = np.arange(n) % (m - 1 if place % 3 == 0 else m)
    X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((m, d))[y]
    return X, y, m, float(rng.choice([0.02, 0.1, 0.5])), NORMS[place % len(NORMS)]


def loss_name(place: int) -> tuple[str, tuple]:
    return ("MaxHinge", ()) if place // len(NORMS) % 2 == 0 else ("TopK", (2,))


@cache
def optimum(place: int) -> reference.Certified:
    X, y, m, lam, p = numbers(place)
    kind, arguments = loss_name(place)
    loss = getattr(reference, kind)(*arguments)
    return reference.BlockNormTraining(X, y, loss, lam, p, m).optimum()


def problem(place: int, form: str) -> fwlab.Problem:
    X, y, m, lam, p = numbers(place)
    kind, arguments = loss_name(place)
    data = {"sparse": scipy.sparse.csr_matrix(X), "precomputed": X @ X.T}.get(form, X)
    return fwlab.Problem(
        data,
        y,
        getattr(fwlab, kind)(*arguments),
        lam,
        kernel=form if form in ("linear", "precomputed") else None,
        n_classes=m,
        regularizer=fwlab.LpNorm(p),
    )


def marked(place: int) -> object:
    kind, _ = loss_name(place)
    marks = () if place in QUICK else (pytest.mark.deep,)
    return pytest.param(place, marks=marks, id=f"{place}-{kind}-p{numbers(place)[4]}")


@pytest.mark.turns
@pytest.mark.parametrize("method", ["alternate", "direct"])
@pytest.mark.parametrize("place", [marked(place) for place in PLACES])
def test_the_certificate_is_small_and_holds_the_optimum(place, method):
    tol = 1e-4 if numbers(place)[4] == 1 else 1e-6
    made = problem(place, FORMS[place % 4])
    result = fwlab.solve(made, method, tol=tol, relative=True, max_iter=10_000, check_every=5)
    best = optimum(place)
    assert best.width <= 1e-8 * (1 + abs(best.value_upper))
    assert result.success, f"gap {result.gap}"
    assert result.infeasibility <= 1e-12
    assert made.is_feasible(result.A)
    assert result.dual <= best.value_upper
    assert result.primal >= best.value_lower
    assert result.primal - best.value_lower <= tol * abs(result.primal) + best.width


def test_the_problems_are_what_they_should_be():
    """Every p with both losses and each form; no problem is solved by 0; some classes are empty."""
    kinds = {(numbers(place)[4], loss_name(place)[0]) for place in QUICK}
    assert len(kinds) == 2 * len(NORMS)
    assert {FORMS[place % 4] for place in QUICK} == set(FORMS)
    empty = [place for place in PLACES if numbers(place)[1].max() < numbers(place)[2] - 1]
    assert len(empty) == 20
    for place in QUICK:
        at_zero = 1.0  # both losses, for every row, with W = 0
        assert optimum(place).value_upper < at_zero - 0.01 or numbers(place)[3] > 0.1


@pytest.mark.parametrize("p", NORMS)
def test_primal_and_dual_are_those_of_the_reference(p):
    X, y, m, lam, _ = numbers(3)
    training = reference.BlockNormTraining(X, y, reference.TopK(2), lam, p, m)
    made = fwlab.Problem(X, y, fwlab.TopK(2), lam, n_classes=m, regularizer=fwlab.LpNorm(p))
    rng = np.random.default_rng(0)
    W = rng.standard_normal((m, X.shape[1]))
    assert made.primal(W) == pytest.approx(training.primal(W), rel=1e-12)
    A = rng.random((len(y), 1)) * made.loss.lmo(rng.standard_normal((len(y), m)), y)
    assert made.dual(A) == pytest.approx(training.dual(A), rel=1e-11)
    assert made.dual(A) <= made.primal(W)
    assert made.dual(2.5 * A - 3) == -np.inf
