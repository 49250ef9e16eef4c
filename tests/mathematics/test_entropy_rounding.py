"""The bounds of rounding errors of the cross-entropy, in ball arithmetic and by hand."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import fwlab
import fwlab.operators.simplices as module
import reference
from fwlab.entropy_balls import EntropyBalls as Balls
from fwlab.operators.simplices import LIBRARY, VANISHED, Simplices

flint = pytest.importorskip("flint", reason="python-flint, the extra verify, is not installed")

PRECISION = 300
UNIT = 2.0**-53


def ball(number):
    return flint.arb(flint.fmpq(*float(number).as_integer_ratio()))


def errors_in_ulp(function, name, arguments):
    """Return the errors of numpy's function, in units in the last place of the exact values."""
    computed, found = function(arguments), []
    with flint.ctx.workprec(PRECISION):
        for x, value in zip(arguments, computed, strict=True):
            exact = getattr(ball(x), name)()
            error = float(abs(ball(value) - exact).upper()) - VANISHED
            found.append(error / np.spacing(abs(float(exact))))
    return np.array(found)


def arguments(name):
    rng = np.random.default_rng(0)
    wide = 10.0 ** rng.uniform(-300, 0, 2000)
    near = 1 + 10.0 ** rng.uniform(-15, -1, 2000) * rng.choice([-1, 1], 2000)
    middle = rng.uniform(0, 1, 2000)
    if name == "exp":
        far = 10.0 ** rng.uniform(2, 300, 200)
        return -np.concatenate([1000 * middle, wide, 10 * middle, far])
    if name == "log":
        return np.concatenate([wide, near, middle, 1000 * middle])
    return np.concatenate([wide, -middle, -wide, near - 1, 2 * middle, -1 + 2.0**-53 * near])


@pytest.mark.parametrize("name", ["exp", "log", "log1p"])
def test_exp_and_log_are_as_exact_as_is_assumed(name):
    errors = errors_in_ulp(getattr(np, name), name, arguments(name))
    assert 0.3 < errors.max() <= LIBRARY


def exact_loss(scores, y):
    margins = [ball(s) - ball(scores[y]) for j, s in enumerate(scores) if j != y]
    largest = max(0.0, max(float(z) for z in margins))
    rest = sum(((z - largest).exp() for z in margins), flint.arb(0))
    return rest.log1p() if largest == 0 else largest + (rest + ball(-largest).exp()).log()


@pytest.mark.parametrize("m", [2, 5, 40])
def test_the_error_of_a_loss(m):
    """Half of the rows have scores without errors, the others are moved by up to e."""
    rng, ratios = np.random.default_rng(m), []
    y = rng.integers(0, m, 200)
    scores = 10.0 ** rng.uniform(-3, 3, (200, 1)) * rng.normal(size=(200, m))
    e = np.where(rng.random(200) < 0.5, 0.0, 10.0 ** rng.uniform(-12, 0, 200))
    simplices = Simplices(y, m)
    values = simplices.values(scores)
    bounds = simplices.loss_errors(scores, e, values)[0]
    towards = np.where(np.arange(m) == y[:, None], -1.0, 1.0)
    with flint.ctx.workprec(PRECISION):
        for sign in (-1.0, 1.0):
            moved = scores + sign * e[:, None] * towards
            for i in range(200):
                # the moved scores are rounded, which e does not count
                slack = 2 * UNIT * np.abs(moved[i]).max() if e[i] else 0.0
                error = float(abs(exact_loss(moved[i], int(y[i])) - ball(values[i])).upper())
                assert error <= bounds[i] + slack
                ratios.append(error / bounds[i])
    assert max(ratios) > 0.9


def exact_row(a, y, omega):
    """Return p' of the exact point A' in fractions, and a' itself."""
    b = [max(Fraction(0), -Fraction(float(v))) / Fraction(float(omega)) for v in a]
    b[y] = Fraction(0)
    total = sum(b)
    if total > 1:
        b, total = [v / total for v in b], Fraction(1)
    row = [-Fraction(float(omega)) * v for v in b]
    row[y] = Fraction(float(omega)) * total
    b[y] = 1 - total
    return b, row


def exact_term(p):
    """Return p log p for a fraction p."""
    if p == 0:
        return flint.arb(0)
    share, rest = (flint.arb(flint.fmpq(q.numerator, q.denominator)) for q in (p, p - 1))
    return share * (rest.log1p() if 2 * p > 1 else share.log())


def rows_of(m, rng, moved=0.0):
    """Return dual rows from certain to impossible labels, weights and labels."""
    y, omega = rng.integers(0, m, 300), 10.0 ** rng.uniform(-3, 3, 300)
    scores = 10.0 ** rng.uniform(-2, 3, (300, 1)) * rng.normal(size=(300, m))
    A = Simplices(y, m).losses_and_duals(scores)[1]
    A *= 1 + moved * rng.normal(size=A.shape)
    return omega[:, None] * A, omega, y


@pytest.mark.turns
@pytest.mark.parametrize("moved", [0.0, 1e-16, 1e-10])
@pytest.mark.parametrize("m", [2, 5, 40])
def test_the_error_of_an_entropy(m, moved):
    rng, ratios = np.random.default_rng(m), []
    A, omega, y = rows_of(m, rng, moved)
    for i in range(300):
        one = Simplices(y[i : i + 1], m), A[i : i + 1], omega[i : i + 1]
        computed = one[0].conjugate_terms(*one[1:])[0]
        bound = one[0].conjugate_error(*one[1:])
        with flint.ctx.workprec(PRECISION):
            terms = map(exact_term, exact_row(A[i], int(y[i]), omega[i])[0])
            exact = sum(terms, flint.arb(0))
            error = float(abs(ball(omega[i]) * exact - ball(computed)).upper())
        assert error <= bound
        ratios.append(error / bound)
    # a bound that grows far beyond what it bounds would certify nothing
    assert max(ratios) > (0.1 if moved == 1e-10 else 0.005)


@pytest.mark.parametrize("moved", [0.0, 1e-16, 1e-10, 0.1])
def test_the_distance_to_the_exact_point(moved):
    rng = np.random.default_rng(1)
    A, omega, y = rows_of(5, rng, moved)
    A[::5] += moved * omega[::5, None] * rng.normal(size=(60, 5))
    bounds = Simplices(y, 5).distances(A, omega)
    for a, label, weight, bound in zip(A, y, omega, bounds, strict=True):
        row = exact_row(a, int(label), weight)[1]
        distance = float(sum(abs(v - Fraction(float(u))) for v, u in zip(row, a, strict=True)))
        assert distance <= bound <= 1.02 * distance + 40 * UNIT * np.abs(a).sum()


def test_a_row_without_weight_is_as_far_as_it_is_long():
    A = np.array([[0.5, -0.25, -0.25]])
    assert Simplices(np.array([0]), 3).distances(A, np.zeros(1))[0] == pytest.approx(
        1.01, rel=1e-12
    )
    assert Simplices(np.array([0]), 3).conjugate_terms(A, np.zeros(1))[0] == 0.0


@pytest.fixture
def large(monkeypatch):
    """Make a unit of rounding 1/1000, of c operations c / 100, of a mean c / 7; exp loses 1/50."""
    monkeypatch.setattr(module, "UNIT", 1e-3)
    monkeypatch.setattr(module, "gamma", lambda count: 0.01 * count)
    monkeypatch.setattr(module, "gamma_in_parts", lambda count: count / 7)
    monkeypatch.setattr(module, "VANISHED", 0.02)


def test_the_terms_of_a_loss_by_hand(large):
    scores, e, y = np.array([[1.0, -3.0, 0.5], [0.0, 1.0, 4.0]]), np.array([0.1, 0.01]), [0, 1]
    simplices, values = Simplices(np.array(y), 3), np.array([0.02, 3.0])
    errors, sizes = simplices.loss_errors(scores, e, values)
    d = np.array([0.2 + 8e-3 * 3.1, 0.02 + 8e-3 * 4.01])
    expected = d * np.array([0.02 + d[0], 1.0]) + 0.01 * (3 + 18) * np.array([0.04, 1.0])
    expected += 17e-3 * values + 2 * 3 * 0.02
    assert errors == pytest.approx(1.01 * expected, rel=1e-12)
    assert (sizes == values).all()


def entropy(*shares):
    return -sum(p * np.log(p) for p in shares)


@pytest.mark.parametrize(("b", "case"), [((0.2, 0.3), "inside"), ((0.5, 0.46), "at the end")])
def test_the_terms_of_an_entropy_by_hand(large, b, case):
    omega, t = np.array([2.0, 3.0]), sum(b)
    A = -omega[:, None] * np.array([[-t, *b], [0.0, 0.0, 0.0]])
    h = np.array([entropy(*b, 1 - t), 0.0])
    delta = 0.05 * np.array([t, 0.0]) + 3 * 0.02
    left = 1 - np.array([t, 0.0]) - delta
    assert (left[0] > 0) == (case == "inside") and left[1] > 0
    label = delta * (1 - np.log(np.where(left > 0, left, 1)))
    label[left <= 0] = (-4 * delta * np.log(2 * delta))[left <= 0]
    errors = (0.03 + 18e-3) * h + 2e-3 * np.array([t, 0.0]) + label
    errors += np.maximum(0, -left) * (h + 1) + 1024 * 3 * 0.02
    expected = 1.01**2 * np.mean(omega * (errors + (2e-3 + 2 / 7) * h))
    found = Simplices(np.zeros(2, dtype=np.int64), 3).conjugate_error(A, omega)
    assert found == pytest.approx(expected, rel=1e-12)


def made(seed, n=6, m=3):
    rng = np.random.default_rng(seed)
    omega = rng.uniform(0.5, 2, n)
    omega[1] = 0.0
    problem = fwlab.Problem(
        rng.normal(size=(n, 2)), np.arange(n) % m, fwlab.CrossEntropy(), 0.3, sample_weight=omega
    )
    return problem, fwlab.solve(problem, "lbfgs", tol=1e-3)


@pytest.mark.parametrize(
    ("function", "answer", "least"),
    [
        ("conjugate_error", lambda *_: 0.25, 0.25),
        ("loss_errors", lambda self, scores, *_: (np.full(len(scores), 0.5), 0.0), 0.5),
        ("distances", lambda self, points, _: np.full(len(points), 1e-10), 1e-12),
    ],
    ids=["entropies", "losses", "rows"],
)
def test_the_errors_of_a_certificate_add_up(monkeypatch, function, answer, least):
    problem, result = made(0)
    monkeypatch.setattr(Simplices, function, answer)
    found = fwlab.solve(problem, "lbfgs", tol=1e-3)
    assert result.gap_error < 1e-13 and found.gap_error > least * problem.sample_weight.mean() / 2


def with_rows(problem, result, A):
    return Balls(flint, problem, replace(result, A=A))


@pytest.mark.parametrize("moved", [0.0, 1e-3])
def test_the_repaired_rows_of_balls_are_exact(moved):
    problem, result = made(1)
    A = result.A * (1 + moved * np.random.default_rng(0).normal(size=result.A.shape))
    # a label that is impossible, and a sum of probabilities above 1
    A[0], A[2] = problem.sample_weight[0] * np.array([1, -0.5, -0.5 - moved]), 0.0
    rows = with_rows(problem, result, A).A
    for i, row in enumerate(rows):
        found = [Fraction(int(v.p), int(v.q)) for v in row]
        if problem.sample_weight[i] == 0:
            assert not any(found)
            continue
        assert found == exact_row(A[i], int(problem.y[i]), problem.sample_weight[i])[1]


@pytest.mark.parametrize("seed", range(5))
def test_an_enclosure_holds_the_values_of_the_reference(seed):
    problem, result = made(seed)
    scale = 10.0 ** np.random.default_rng(seed).uniform(-2, 3)
    result = replace(result, W=scale * result.W)
    truth = reference.LogisticRegression(problem.X, problem.y, 3, 0.3, problem.sample_weight)
    exact = fwlab.verify(problem, result)
    weights = np.maximum(problem.sample_weight, 1e-9)
    rows = [exact_row(*of) for of in zip(result.A, problem.y, weights, strict=True)]
    A = np.array([row for _, row in rows])
    A[1] = Fraction(0)
    for (low, high), value in ((exact.primal, truth.primal(result.W)), (exact.dual, truth.dual(A))):
        assert low <= value <= high <= low + 1e-14 * (1 + abs(low))


def test_a_loss_in_balls_takes_wide_balls_of_huge_scores():
    balls = Balls(flint, *made(0))
    with flint.ctx.workprec(PRECISION):
        scores = [flint.arb(1e54) / 3, -flint.arb(1e55), flint.arb(1e55) / 7]
        found = balls.loss([s + flint.arb(0, 1e17) for s in scores], 0)
        # the loss differs from the largest margin by exp(-1e54), the scores by 2e17
        assert 2e17 <= float((found - (scores[2] - scores[0])).rad()) <= 2.1e17
        assert found.contains(scores[2] - scores[0])


@pytest.mark.turns
@pytest.mark.parametrize("has_k", [False, True], ids=["cross-entropy", "top-k entropy"])
@pytest.mark.parametrize("seed", range(40))
def test_certificates_hold_in_ball_arithmetic(seed, has_k):
    """Every reported gap, of tight and of loose tol, is right to its gap_error."""
    rng = np.random.default_rng(seed)
    n, m, d = rng.integers(2, 30), rng.integers(2, 7) + has_k, rng.integers(1, 6)
    omega = 10.0 ** rng.uniform(-2, 2, n) * (rng.random(n) < 0.9)
    omega[0] = 1.0
    problem = fwlab.Problem(
        rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-4, 4),
        rng.integers(0, m, n),
        fwlab.TopKEntropy(int(rng.integers(2, m))) if has_k else fwlab.CrossEntropy(),
        C=10.0 ** rng.uniform(-4, 4),
        n_classes=m,
        sample_weight=omega,
    )
    result = fwlab.solve(problem, "lbfgs", tol=10.0 ** rng.uniform(-14, 0), relative=True)
    exact = fwlab.verify(problem, result)
    assert exact.gap[1] - exact.gap[0] <= 1e-14 * (1 + abs(result.primal))
    assert abs(result.gap - exact.gap[0]) <= result.gap_error
    assert abs(result.gap - exact.gap[1]) <= result.gap_error
    assert exact.primal[0] <= exact.primal[1] and exact.gap[1] >= 0
