"""The bounds of rounding errors of the top-k entropy loss, in ball arithmetic and by hand."""

from dataclasses import replace
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest

import fwlab
import fwlab.operators.capped_simplices as module
import reference
from fwlab.entropy_balls import EntropyBalls as Balls
from fwlab.operators.capped_simplices import CappedSimplices
from fwlab.operators.simplices import Simplices

flint = pytest.importorskip("flint", reason="python-flint, the extra verify, is not installed")

PRECISION = 300
UNIT = 2.0**-53


def ball(number):
    exact = Fraction(number)
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


def exact_loss(scores, y, k):
    """Return the loss for fractions, each capped entry beside the sum of the others."""
    margins = sorted((s - scores[y] for j, s in enumerate(scores) if j != y), reverse=True)
    kth = margins[k - 1]
    logs = []
    for count in range(k):
        # the largest margins need no exponential where they cannot lower the minimum
        if margins[count] - kth > 1000:
            continue
        rest = sum((ball(h - kth).exp() for h in margins[count:]), flint.arb(0))
        logs.append((rest / (k - count)).log())
    level = ball(kth) + reduce(flint.arb.min, logs)
    over = sum(((ball(h) - level).max(flint.arb(0)) for h in margins[:k]), flint.arb(0))
    bound = level + flint.arb(k).log() + over / k
    return bound.max(flint.arb(0)) + (-abs(bound)).exp().log1p()


SIZES = [(3, 2), (6, 2), (6, 4), (40, 5), (40, 39)]
sizes = pytest.mark.parametrize(("m", "k"), SIZES)


@pytest.mark.turns
@sizes
def test_the_error_of_a_loss(m, k):
    """Half of the rows have scores without errors, the others are moved by up to e."""
    rng, ratios = np.random.default_rng(m), []
    y = rng.integers(0, m, 120)
    scores = 10.0 ** rng.uniform(-3, 3, (120, 1)) * rng.normal(size=(120, m))
    scores[::3] = np.round(scores[::3])
    e = np.where(rng.random(120) < 0.5, 0.0, 10.0 ** rng.uniform(-12, 0, 120))
    simplices = CappedSimplices(y, m, k)
    values = simplices.values(scores)
    bounds = simplices.loss_errors(scores, e, values)[0]
    towards = [[Fraction(-1 if j == label else 1) for j in range(m)] for label in y]
    with flint.ctx.workprec(PRECISION):
        for sign in (-1, 1):
            for i in range(120):
                move = sign * Fraction(e[i])
                moved = [Fraction(s) + move * v for s, v in zip(scores[i], towards[i], strict=True)]
                exact = exact_loss(moved, int(y[i]), k)
                error = float(abs(exact - ball(values[i])).upper())
                assert error <= bounds[i]
                ratios.append(error / bounds[i])
    # a bound that grows far beyond what it bounds would certify nothing
    assert max(ratios) > 0.9


def exact_row(a, y, omega, k):
    """Return p' of the exact point A' in fractions, and a' itself."""
    weight = Fraction(omega)
    b = [max(Fraction(0), -Fraction(v)) / weight for v in a.tolist()]
    b[y] = Fraction(0)
    total = max(Fraction(1), sum(b))
    b = [v / total for v in b]
    ordered = sorted(b, reverse=True)
    level = min(sum(ordered[count:]) / (k - count) for count in range(k))
    b = [min(v, level) for v in b]
    t = sum(b)
    assert t <= 1 and k * max(b) <= t
    row = [-weight * v for v in b]
    row[y] = weight * t
    b[y] = 1 - t
    return b, row


def exact_term(p):
    """Return p log p for a fraction p."""
    if p == 0:
        return flint.arb(0)
    return ball(p) * (ball(p - 1).log1p() if 2 * p > 1 else ball(p).log())


def rows_of(m, k, rng, moved=0.0):
    """Return dual rows from certain to impossible labels, weights and labels."""
    y, omega = rng.integers(0, m, 200), 10.0 ** rng.uniform(-3, 3, 200)
    scores = 10.0 ** rng.uniform(-2, 3, (200, 1)) * rng.normal(size=(200, m))
    A = CappedSimplices(y, m, k).losses_and_duals(scores)[1]
    A *= 1 + moved * rng.normal(size=A.shape)
    return omega[:, None] * A, omega, y


@pytest.mark.turns
@pytest.mark.parametrize("moved", [0.0, 1e-16, 1e-10, 1e-2])
@sizes
def test_the_error_of_an_entropy(m, k, moved):
    rng, ratios = np.random.default_rng(m), []
    A, omega, y = rows_of(m, k, rng, moved)
    for i in range(200):
        one = CappedSimplices(y[i : i + 1], m, k), A[i : i + 1], omega[i : i + 1]
        computed = one[0].conjugate_terms(*one[1:])[0]
        bound = one[0].conjugate_error(*one[1:])
        with flint.ctx.workprec(PRECISION):
            terms = map(exact_term, exact_row(A[i], int(y[i]), omega[i], k)[0])
            exact = sum(terms, flint.arb(0))
            error = float(abs(ball(omega[i]) * exact - ball(computed)).upper())
        assert error <= bound
        ratios.append(error / bound)
    assert max(ratios) > (0.05 if moved >= 1e-10 else 0.001)


@pytest.mark.turns
@pytest.mark.parametrize("moved", [0.0, 1e-16, 1e-10, 0.1])
@sizes
def test_the_distance_to_the_exact_point(m, k, moved):
    rng = np.random.default_rng(1)
    A, omega, y = rows_of(m, k, rng, moved)
    A[::5] += moved * omega[::5, None] * rng.normal(size=(40, m))
    bounds = CappedSimplices(y, m, k).distances(A, omega)
    for a, label, weight, bound in zip(A, y, omega, bounds, strict=True):
        row = exact_row(a, int(label), weight, k)[1]
        distance = float(sum(abs(v - Fraction(u)) for v, u in zip(row, a.tolist(), strict=True)))
        rounding = 12 * (m + 10) * UNIT * np.abs(a).sum() + 1e-300
        assert distance <= bound <= 3.1 * distance + rounding


def test_rows_without_weight_or_entries():
    simplices, zeros = CappedSimplices(np.array([0]), 3, 2), np.zeros((1, 3))
    row = np.array([[0.5, -0.25, -0.25]])
    assert 1.01 <= simplices.distances(row, np.zeros(1))[0] < 1.02
    assert simplices.conjugate_terms(row, np.zeros(1))[0] == 0.0
    for omega in (np.zeros(1), np.ones(1)):
        assert simplices.conjugate_error(zeros, omega) < 1e-300
        assert simplices.distances(zeros, omega) < 1e-300


@pytest.fixture
def large(monkeypatch):
    """Make a unit of rounding 1/1000, of c operations c / 100; exp loses 1/50."""
    monkeypatch.setattr(module, "UNIT", 1e-3)
    monkeypatch.setattr(module, "UNDERFLOW", 0.0)
    monkeypatch.setattr(module, "gamma", lambda count: 0.01 * count)
    monkeypatch.setattr(module, "VANISHED", 0.02)


def test_the_terms_of_a_loss_by_hand(large):
    scores, e = np.array([[1.0, -3.0, 0.5, 0.0], [0.0, 1.0, 4.0, 0.0]]), np.array([0.1, 0.01])
    simplices, values = CappedSimplices(np.array([0, 1]), 4, 2), np.array([0.02, 3.0])
    errors, sizes = simplices.loss_errors(scores, e, values)
    d = np.array([0.2 + 0.09 * 6.2, 0.02 + 0.09 * 8.02]) + 0.01 * (4 + 2 + 18) + 4 * 0.02
    d += 0.19 * (np.log(2) + np.log(4))
    expected = d * np.minimum(1.0, values + d) + 34e-3 * values + 2 * 0.02
    assert errors == pytest.approx(1.01 * expected, rel=1e-12)
    assert (sizes == values).all()


@pytest.mark.parametrize(("b", "case"), [((0.3, 0.1), "over"), ((0.9, 0.08), "far over")])
def test_the_terms_of_an_entropy_by_hand(large, monkeypatch, b, case):
    base = lambda self, points, omega, n: (0 * omega, 0.25 + 0 * omega)  # noqa: E731  # one expression
    monkeypatch.setattr(Simplices, "entropies_with_errors", base)
    omega, t = np.array([2.0, 3.0]), sum(b)
    A = -omega[:, None] * np.array([[-t, *b, 0.0], [-0.5, 0.25, 0.25, 0.0]])
    rest = np.array([[*b], [0.25, 0.25]])
    # K is right to 1 - gamma(4 + 8)
    low = 0.88 * np.array([b[1], 0.25])
    excess = 1.01 * np.maximum(0, rest - low[:, None]).sum(axis=1)
    assert (excess[0] > low[0]) == (case == "far over" or excess[0] > low[0])
    left = 1 - np.array([t, 0.5]) - 0.08 * np.array([t, 0.5])
    logs = np.log(2 / np.maximum(low, excess)) - np.log(np.maximum(left, excess))
    expected = 1.01**2 * np.mean(0.25 + omega * excess * (2 + logs))
    found = CappedSimplices(np.zeros(2, dtype=np.int64), 4, 2).conjugate_error(A, omega)
    assert found == pytest.approx(expected, rel=1e-12)


def made(seed, n=8, m=4, k=2):
    rng = np.random.default_rng(seed)
    omega = rng.uniform(0.5, 2, n)
    omega[1] = 0.0
    problem = fwlab.Problem(
        rng.normal(size=(n, 2)), np.arange(n) % m, fwlab.TopKEntropy(k), 0.3, sample_weight=omega
    )
    return problem, fwlab.solve(problem, "lbfgs", tol=1e-3)


def with_rows(problem, result, A):
    return Balls(flint, problem, replace(result, A=A))


@pytest.mark.parametrize("moved", [0.0, 1e-3, 1.0])
@pytest.mark.parametrize("k", [2, 3])
def test_the_repaired_rows_of_balls_are_exact(k, moved):
    problem, result = made(1, k=k)
    A = result.A * (1 + moved * np.random.default_rng(0).normal(size=result.A.shape))
    # a label that is impossible, and a sum of shares above 1
    A[0], A[2] = problem.sample_weight[0] * np.array([1, -0.4, -0.3 - moved, -0.3]), 0.0
    rows = with_rows(problem, result, A).A
    for i, row in enumerate(rows):
        found = [Fraction(int(v.p), int(v.q)) for v in row]
        if problem.sample_weight[i] == 0:
            assert not any(found)
            continue
        assert found == exact_row(A[i], int(problem.y[i]), problem.sample_weight[i], k)[1]


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_an_enclosure_holds_the_values_of_the_reference(seed, k):
    problem, result = made(seed, k=k)
    scale = 10.0 ** np.random.default_rng(seed).uniform(-2, 3)
    result = replace(result, W=scale * result.W)
    truth = reference.TopKLogistic(problem.X, problem.y, 4, 0.3, problem.sample_weight, k)
    exact = fwlab.verify(problem, result)
    weights = np.maximum(problem.sample_weight, 1e-9)
    rows = [exact_row(*of, k) for of in zip(result.A, problem.y, weights, strict=True)]
    A = np.array([row for _, row in rows])
    A[1] = Fraction(0)
    for (low, high), value in ((exact.primal, truth.primal(result.W)), (exact.dual, truth.dual(A))):
        assert low <= value <= high <= low + 1e-14 * (1 + abs(low))


@pytest.mark.parametrize("scale", [1e-300, 1e-3, 1e3, 1e10, 1e280])
def test_a_loss_in_balls_takes_scores_of_all_sizes(scale):
    problem, result = made(0, k=2)
    scores = np.array([0.3, 0.0, scale, -0.2])
    truth = reference.TopKLogistic(problem.X, problem.y, 4, 0.3, None, 2)
    balls = Balls(flint, problem, result)
    for i, label in enumerate(problem.y[:4]):
        exact = truth.loss(scores, int(label))
        with flint.ctx.workprec(PRECISION):
            found = balls.loss([ball(s) for s in scores], i)
            assert found.contains(ball(exact)) or abs(found - ball(exact)) < 1e-35 * (1 + scale)
            assert float(found.rad()) <= 1e-70 * (1 + scale)


def test_a_loss_in_balls_holds_all_scores_of_their_balls():
    problem, result = made(0, k=2)
    balls, scores, radius = Balls(flint, problem, result), np.array([1.0, -2.0, 3.0, 0.5]), 0.125
    truth = reference.TopKLogistic(problem.X, problem.y, 4, 0.3, None, 2)
    found = balls.loss([flint.arb(s, radius) for s in scores], 0)
    for move in (-radius, radius):
        moved = scores + move * np.array([-1.0, 1.0, 1.0, 1.0])
        assert abs(truth.loss(moved, 0) - truth.loss(scores, 0)) > radius
        assert found.contains(flint.arb(float(truth.loss(moved, 0))))
