"""The ellipsoid of a softmax problem: by hand, with large units of rounding, and what it proves."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.sparse

import fwlab
import fwlab.ellipsoid as module
from fwlab.bounded_inverse import Inverse
from fwlab.choice.point import TrainingSamples
from fwlab.ellipsoid import Ellipsoid, _Centre, ellipsoid_of, is_affordable, joined_interval
from fwlab.enclosing_ball import norm_above

LOSS = fwlab.CrossEntropy()
MARGIN, UNDERFLOW, UNIT, LIBRARY_UNITS = 1.5, 1e-3, 1e-4, 3


def gamma(count):
    return count / 10**4


def gamma_in_parts(count):
    return count / 10**3


@pytest.fixture
def large(monkeypatch):
    """Make an operation's error 1/10,000, a margin 1.5; numbers below 1/1000 vanish."""
    for name in ("MARGIN", "UNDERFLOW", "UNIT", "LIBRARY_UNITS", "gamma", "gamma_in_parts"):
        monkeypatch.setattr(module, name, globals()[name])


def drawn(seed=0, n=7, m=3, d=2, **form):
    """Return a problem with weights, and a machine."""
    rng = np.random.default_rng(seed)
    X, y, omega = rng.normal(size=(n, d)), rng.integers(0, m, n), rng.random(n) + 0.5
    arguments = {"lam": 0.05, "n_classes": m, "sample_weight": omega} | form
    return fwlab.Problem(X, y, LOSS, **arguments), rng.normal(size=(m, d))


def separated(seed=0, n=60, m=3, d=4, C=10.0):
    rng = np.random.default_rng(seed)
    means, y = rng.normal(size=(m, d)), rng.integers(0, m, n)
    X = means[y] + rng.normal(size=(n, d))
    return X, y, rng.normal(size=(400, d)), fwlab.Problem(X, y, LOSS, C=C)


# ------------------------------------------------------------- the terms


def test_the_centre_by_hand(large, monkeypatch):
    """Errors of scores and of sums are large, too."""
    (problem, W), point = drawn(), TrainingSamples.point

    def rough(self, C, W):
        errors = np.linspace(0.1, 0.2, problem.n_samples)
        return replace(point(self, C, W), U_error=0.5, score_errors=errors)

    monkeypatch.setattr(TrainingSamples, "point", rough)
    centre, n = _Centre.of(problem, W), problem.n_samples
    point = TrainingSamples.of(problem).point(1.0, W)
    scores, e = point.scores, point.score_errors
    best = scores.argmax(axis=1)
    assert np.array_equal(centre.best, best) and np.array_equal(centre.W, W)
    assert centre.leads == pytest.approx(scores - scores[np.arange(n), best][:, None])
    expected = 2 * e + 8 * UNIT * (np.abs(scores).max(axis=1) + e)
    assert centre.lead_errors == pytest.approx(expected)
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    rows = problem.sample_weight[:, None] * (shares - np.eye(3)[problem.y])
    assert centre.gradient == pytest.approx(problem.lam * W + rows.T @ problem.X / n)
    sizes = problem.lam * norm_above(W) + norm_above(point.U) / n
    wrong = MARGIN * (point.U_error / n + 4 * UNIT * sizes)
    assert centre.gradient_error == pytest.approx(wrong)


def test_the_radius_and_what_it_needs_by_hand(large):
    problem, W = drawn()
    centre = _Centre.of(problem, W)
    inverse = Inverse(np.random.default_rng(1).normal(size=(6, 6)), (3, 2))
    rounding = centre.gradient_error / np.sqrt(problem.lam)
    radius = MARGIN * (inverse.norm(centre.gradient) + rounding)
    assert centre.radius(inverse) == pytest.approx(radius)
    expected = MARGIN * radius * inverse.reach(problem.X, centre.best)
    assert centre.needed(inverse) == pytest.approx(expected)


def test_the_shares_by_hand(large, monkeypatch):
    monkeypatch.setattr(module, "ROWS", 3)
    problem, W = drawn()
    centre, b = _Centre.of(problem, W), np.random.default_rng(2).random((7, 3))
    found, lost = centre._shares(b), gamma(3 + 2 * LIBRARY_UNITS + 8)
    for i in range(7):
        moved = MARGIN * (b[i] + centre.lead_errors[i])
        moved[centre.best[i]] = 0.0
        total = np.exp(centre.leads[i] + moved).sum()
        assert found[i] == pytest.approx((1 - lost) * np.exp(centre.leads[i] - moved) / total)


def test_shares_that_are_unknown_or_hardly_weigh_are_0():
    problem, W = drawn(sample_weight=[1.0, 0.0, 2.0**-98, 2.0**-97, 1.0, 1.0, 1.0])
    b = np.zeros((7, 3))
    b[4], b[5, 1:] = np.inf, np.nan
    with np.errstate(all="ignore"):
        found = _Centre.of(problem, W)._shares(b)
    # 2^-100 n = 7 2^-100
    assert [bool(row.any()) for row in found] == [True, False, False, True, False, False, True]
    far = _Centre.of(problem, 1e4 * W)._shares(np.zeros((7, 3)))
    assert far[0].max() > 0.9 and far[0].min() == 0.0


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix])
def test_the_hessian_by_hand(large, monkeypatch, kind):
    monkeypatch.setattr(module, "ROWS", 3)
    problem, W = drawn()
    X, omega, lam = problem.X, problem.sample_weight, problem.lam
    problem = fwlab.Problem(kind(X), problem.y, LOSS, lam, sample_weight=omega)
    q = np.random.default_rng(3).random((7, 3)) / 2
    found, error = _Centre.of(problem, W)._hessian(q)
    H, trace = lam * np.eye(6), lam
    for x, weight, row in zip(X, omega / 7, q, strict=True):
        H += weight * np.kron(np.diag(row) * row.sum() - np.outer(row, row), np.outer(x, x))
        trace += 2 * MARGIN * weight * row.sum() ** 2 * 1.01 * (x @ x)
    assert np.tril(found) == pytest.approx(np.tril(H))
    largest = 1 + np.sqrt(1.01 * np.square(X).sum(axis=1).max())
    vanished = 4 * 6 * 7 * UNDERFLOW * largest * (1 + np.sqrt(omega.max()))
    expected = MARGIN * ((2 * gamma_in_parts(7) + gamma(3 + 32)) * trace + vanished)
    assert error == pytest.approx(expected)


def test_the_hessian_is_a_lower_bound_within_its_set():
    """Of all machines whose score differences are at most b from the centre's."""
    problem, W = drawn(n=5)
    centre, rng = _Centre.of(problem, W), np.random.default_rng(4)
    for size in (0.01, 0.3, 2.0):
        b = size * rng.random((5, 3))
        H = centre._hessian(centre._shares(b))[0]
        lower = np.tril(H) + np.tril(H, -1).T
        for _ in range(20):
            change = b * rng.choice([-1.0, 1.0], size=b.shape)
            change -= change[np.arange(5), centre.best][:, None]
            shares = np.exp(centre.leads + np.clip(change, -b, b))
            shares /= shares.sum(axis=1, keepdims=True)
            exact = problem.lam * np.eye(6)
            for x, weight, p in zip(problem.X, problem.sample_weight / 5, shares, strict=True):
                exact += weight * np.kron(np.diag(p) - np.outer(p, p), np.outer(x, x))
            assert np.linalg.eigvalsh(exact - lower)[0] >= -1e-12


def test_leads_and_their_errors_by_hand(large, monkeypatch):
    monkeypatch.setattr(module, "score_errors", lambda features, x, W: 0.1 * x)
    problem, W = drawn()
    inverse = Inverse(np.random.default_rng(1).normal(size=(6, 6)), (3, 2))
    X, classes, radius = problem.X, np.array([0, 1, 2, 0, 1, 2, 0]), 0.25
    found, slack = Ellipsoid(W, inverse, radius).leads(X, classes)
    scores, norms = X @ W.T, np.sqrt(1.01 * np.square(X).sum(axis=1))
    leads = scores - scores[np.arange(7), classes][:, None]
    expected = MARGIN * (radius * inverse.reach(X, classes) + 2 * 0.1 * norms[:, None])
    assert found == pytest.approx(leads)
    assert slack == pytest.approx(expected + 2 * UNIT * np.abs(leads))


# ------------------------------------------------------------- labels and accuracies


def test_what_is_proved_holds_for_all_scores_within_the_bound(monkeypatch):
    triples = np.array(list(product(range(3), repeat=3)), dtype=float)
    ellipsoid = Ellipsoid(np.eye(3), None, 0.0)
    for slack in (0.5, 1.5):

        def leads(self, X, classes, slack=slack):
            return X - X[np.arange(len(X)), classes][:, None], np.full(X.shape, slack)

        monkeypatch.setattr(Ellipsoid, "leads", leads)
        for scores, found in zip(triples, ellipsoid.proved(triples), strict=True):
            best = scores.argmax()
            others = np.delete(scores, best)
            assert found == (scores[best] - others > slack).all()
        assert ellipsoid.proved_accuracy(triples, np.full(27, -1), 1) == (0.0, 0.0)
        for k, y in product((1, 2, 3), range(3)):
            low = [(np.delete(s, y) - s[y] >= -slack).sum() < k for s in triples]
            high = [(np.delete(s, y) - s[y] > slack).sum() < k for s in triples]
            found = ellipsoid.proved_accuracy(triples, np.full(27, y), k)
            assert found == (np.mean(low), np.mean(high))


def test_intervals_are_joined_at_both_ends(monkeypatch):
    monkeypatch.setattr(Ellipsoid, "proved_accuracy", lambda *_: (0.2, 0.8))
    ellipsoid, rows = Ellipsoid(np.eye(2), None, 0.0), np.ones((1, 2))
    assert joined_interval((0.1, 0.7), ellipsoid, rows, None, 1) == (0.2, 0.7)
    assert joined_interval((0.3, 0.9), ellipsoid, rows, None, 1) == (0.3, 0.8)
    assert joined_interval((0.3, 0.9), None, rows, None, 1) == (0.3, 0.9)


# ------------------------------------------------------------- the search


def test_newton_steps_make_the_ellipsoid_small(monkeypatch):
    _, _, X_new, problem = separated()
    W = fwlab.solve(problem, "lbfgs", tol=1e-2).W
    found = ellipsoid_of(problem, W)
    monkeypatch.setattr(module, "MOST_STEPS", 0)
    around = ellipsoid_of(problem, W)
    assert np.array_equal(around.centre, W) and found.radius < 1e-3 * around.radius
    assert found.proved(X_new).all() and not around.proved(X_new).all()
    assert around.proved(X_new).any()


def test_far_from_the_optimum_it_is_the_ball_of_the_gradient(monkeypatch):
    """No sample has a share that is known, so that H = lam I."""
    problem, lam = fwlab.Problem([[1.0]] * 3, [0, 0, 1], LOSS, lam=1e-6), 1e-6
    W = np.array([[20.0], [-20.0]])
    monkeypatch.setattr(module, "MOST_STEPS", 0)
    found = ellipsoid_of(problem, W)
    assert found.inverse.T == pytest.approx(np.eye(2) / np.sqrt(lam), rel=1e-6)
    gradient = _Centre.of(problem, W).gradient
    expected = 1.01**3 * np.linalg.norm(gradient) / np.sqrt(lam)
    assert found.radius == pytest.approx(expected, rel=1e-6)
    monkeypatch.undo()
    assert ellipsoid_of(problem, W / 20).radius < 1e-3 * found.radius


def test_each_set_is_a_multiple_of_what_the_last_one_needed(monkeypatch):
    problem, W = drawn()
    seen, needs = [], iter([1.0, 2.0, 4.5, 3.0])
    shape = (problem.n_samples, 3)
    monkeypatch.setattr(module, "MOST_RENEWALS", 1)
    monkeypatch.setattr(module, "MOST_STEPS", 0)
    monkeypatch.setattr(_Centre, "needed", lambda *_: np.full(shape, next(needs)))
    inverse = _Centre.inverse
    monkeypatch.setattr(
        _Centre, "inverse", lambda self, b: seen.append(b.max()) or inverse(self, b)
    )
    assert ellipsoid_of(problem, W) is not None
    assert seen == [0.0, 1.5, 4.0, 11.25]
    needs = iter([1.0, 2.0, 4.5, 11.3])
    assert ellipsoid_of(problem, W) is None


def test_what_is_not_affordable_has_no_ellipsoid(monkeypatch):
    X, y, _, problem = separated()
    others = [
        {"loss": fwlab.TopK(1)},
        {"loss": fwlab.TopKEntropy(2)},
        {"loss": LOSS, "kernel": "linear"},
    ]
    assert is_affordable(problem)
    assert is_affordable(fwlab.Problem(X, y, fwlab.TopKEntropy(1), 1.0))
    for arguments in others:
        assert not is_affordable(fwlab.Problem(X, y, lam=1.0, **arguments))
    W = np.zeros((3, 4))
    monkeypatch.setattr(module, "MOST_UNKNOWNS", 12)
    monkeypatch.setattr(module, "MOST_PRODUCTS", 60 * 12**2)
    assert ellipsoid_of(problem, W) is not None
    for name, most in (("MOST_UNKNOWNS", 11), ("MOST_PRODUCTS", 60 * 12**2 - 1)):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, most)
            assert ellipsoid_of(problem, W) is None
