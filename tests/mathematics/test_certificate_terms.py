"""Each term of the bound of a certificate's rounding error, by hand or at errors made large."""

from fractions import Fraction

import numpy as np
import pytest
from given_hinge import GivenHinge
from numpy.testing import assert_allclose

import fwlab
import fwlab.certificate as module
from fwlab.certificate import (
    _bounded,
    _is_feasible,
    _link_errors,
    _link_terms,
    certificate_of,
    norms_of_rows,
)
from fwlab.losses import DOMAIN_TOLERANCE
from fwlab.operators.sizes import row_sizes
from fwlab.result import Certificate, Objectives

pytestmark = pytest.mark.small
LAM, N, M, D = 0.25, 2, 3, 2
Y = np.array([0, 2])
X = np.array([[3.0, 4.0], [5.0, 12.0]])  # of norms 5 and 13
A = np.array([[2.0, -2.0, 0.0], [0.0, -1.0, 1.0]])
W = np.array([[1.0, -1.0], [2.0, 0.5], [0.0, 3.0]])


def made(**arguments):
    return fwlab.Problem(X, Y, fwlab.TopK(1), LAM, n_classes=M, **arguments)


@pytest.fixture
def given(monkeypatch):
    """Return a function that sets errors, which are 0 otherwise, for the certificates that follow.

    `of_sum` and `of_sum_in_parts` are relative errors per term. All rows count as feasible.
    """

    def set_errors(
        losses=0.0, rows=0.0, link=(0.0, 0.0), of_sum=0.0, of_sum_in_parts=0.0, unit=0.0, rho=(0, 0)
    ):
        def losses_with_error(problem, parts, e, A):
            set_errors.e = e
            return problem.losses(parts, A), losses

        monkeypatch.setattr(module, "losses_with_error", losses_with_error)
        monkeypatch.setattr(module, "dual_row_error", lambda *_: rows)
        monkeypatch.setattr(module, "_link_errors", lambda *_: link)
        monkeypatch.setattr(module, "gamma", lambda count: of_sum * count)
        monkeypatch.setattr(module, "gamma_in_parts", lambda count: of_sum_in_parts * count)
        monkeypatch.setattr(module, "UNIT", unit)
        monkeypatch.setattr(module, "distances", lambda *_: np.array(rho, dtype=float))
        monkeypatch.setattr(fwlab.Problem, "is_feasible", lambda *_: True)
        monkeypatch.setattr(Certificate, "checked", lambda certificate: certificate)

    set_errors()
    return set_errors


def bound(problem, *arguments, **options):
    """Return gap_error without its margin of a hundredth."""
    return certificate_of(problem, *arguments, **options).gap_error / 1.01


# ---------------------------------------------------------------- the last sums


def last(values, error=0.0, rho=(0.0, 0.0), problem=None, dual_point=A):
    problem = problem or made(smoothing=0.5, sample_weight=np.array([1.0, 2.0]))
    feasible = _is_feasible(problem, dual_point, np.array(rho, dtype=float))
    return _bounded(Objectives(*values), error, feasible)


def test_the_values_of_a_certificate():
    problem = made(smoothing=0.5, sample_weight=np.array([1.0, 2.0]))
    losses = np.array([[1.0, 3.0], [2.0, 4.0]])
    values = problem.values(losses, A, square=8.0, dual_square=6.0)
    ridge = 0.5 / 2 * (8 / 1 + 2 / 2) / 2
    assert values.primal == 0.125 * 8 + (1 + 2 * 3) / 2
    assert values.augmented == 0.125 * 8 + (2 + 2 * 4) / 2 + ridge
    # the costs are 1, but 0 for the label
    assert values.dual == -0.125 * 6 - (-2.0 + 0.0 - 1.0) / 2 - ridge
    found = _bounded(values, 0.5, True)
    assert found.primal == values.primal
    assert found.dual == values.dual
    assert found.gap == values.primal - values.dual
    assert found.augmented_gap == values.augmented - values.dual
    assert found.from_scratch


@pytest.mark.parametrize(("primal", "dual"), [(3.0, 1.0), (-3.0, -1.0), (3.0, -1.0)])
@pytest.mark.wrong_gaps
def test_two_roundings_of_each_value_count(primal, dual):
    """The primal's last sum, the dual's, and the difference of the two."""
    found = last((primal, dual, primal))
    expected = 1.01 * 2 * 2.0**-53 * (abs(primal) + 1)
    assert found.gap_error == pytest.approx(expected, rel=1e-12, abs=0)
    assert last((primal, dual, primal), 0.7).gap_error == pytest.approx(1.01 * 0.7)


@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_an_infeasible_point_certifies_nothing(scale):
    """Rows count as feasible if they are close to a feasible point, or by the test itself."""
    loss, omega = fwlab.WeightedTopK([scale]), np.array([1.0, 2.0])
    problem = fwlab.Problem(X, Y, loss, LAM, n_classes=M, sample_weight=omega)
    near = DOMAIN_TOLERANCE * scale * omega
    values, far = ((1.0, 0.5, 1.0), 0.25), 9 * A
    assert last(*values, near, problem, far).dual == 0.5
    for rho in (1.01 * near * [1, 0], 1.01 * near * [0, 1]):
        found = last(*values, rho, problem, far)
        assert (found.dual, found.gap, found.gap_error) == (-np.inf, np.inf, np.inf)
        assert last(*values, rho, problem, 0 * A).dual == 0.5


class Refusing(GivenHinge):
    """A loss with a test of membership, which no point passes."""

    def contains(self, v, y):
        return np.zeros(len(v), dtype=bool)


def test_the_loss_of_a_visitor_has_the_last_word_on_membership():
    values = (1.0, 0.5, 1.0), 0.25
    for loss, dual in ((GivenHinge(), 0.5), (Refusing(), -np.inf)):
        problem = fwlab.Problem(X, Y, loss, LAM, n_classes=M)
        assert last(*values, problem=problem).dual == dual


# ---------------------------------------------------------------- problems with X


def link_errors(problem, A, V, rounded, x, rho):
    v = norms_of_rows(V)
    terms = _link_terms(row_sizes(A, v), v, rounded, x, rho)
    return _link_errors(problem, v, D, *terms)


def test_errors_of_the_link_by_hand(monkeypatch):
    V = np.array([[2.0, 0.0], [0.0, 6.0], [-3.0, 0.0]])  # of norm 7
    rounded, x, rho = np.array([0.1, 0.2]), np.array([5.0, 13.0]), np.array([0.3, 0.4])
    inner = (0.1 * (2 * 2 + 2 * 6) + 0.3 * 5 * 6 + 0.2 * (1 * 6 + 1 * 3) + 0.4 * 13 * 6) / N
    total = (0.1 * np.sqrt(8) + 0.3 * 5 + 0.2 * np.sqrt(2) + 0.4 * 13) / (LAM * N)
    found = link_errors(made(), A, V, rounded, x, rho)
    assert_allclose(found, [inner * np.sqrt(1.01), total], rtol=1e-12)  # a norm has a margin
    monkeypatch.setattr(module, "UNDERFLOW", 1.0)  # of each of N products, in M D entries
    lost = np.sqrt(M * D) * N / (LAM * N)
    found = link_errors(made(), A, V, 0 * rounded, x, 0 * rho)
    assert_allclose(found, [LAM * 7 * lost * np.sqrt(1.01), lost], rtol=1e-12)


def test_the_quotients_of_the_link_are_rounded():
    """lam n and the quotient by it are off by up to half a unit each, at times together."""
    rng, ratios = np.random.default_rng(0), []
    for size in 150 * [1.0, 100.0]:
        lam = rng.uniform(1, 1.1) / 3
        x = size * 3 * lam * rng.uniform(1, 1.1)
        problem = fwlab.Problem([[x], [0.0], [0.0]], [0, 1, 1], fwlab.TopK(1), lam)
        A = np.array([[1.0, -1.0], [0.0, 0.0], [0.0, 0.0]])
        V, zeros = problem.link(A), np.zeros(3)
        v = norms_of_rows(V)
        terms = _link_terms(row_sizes(A, v), v, zeros, np.array([x, 0.0, 0.0]), zeros)
        inner, total = _link_errors(problem, v, 1, *terms)
        E = 2**0.5 * float(abs(Fraction(V[0, 0]) - Fraction(x) / (3 * Fraction(lam))))
        ratios.append((E / total, lam * np.linalg.norm(V) * E / inner))
    assert np.max(ratios) <= 1
    assert np.max(ratios, axis=0).min() > 0.6


@pytest.mark.parametrize("W", [None, W], ids=["W(A)", "another W"])
def test_the_terms_of_a_machine_add_up(given, W):
    """Relative errors of |W|^2 and |V|^2; errors of losses and rows; an error E parallel to V."""
    problem, share = made(), 0.3
    V = problem.link(A)
    dual = np.sum(V**2)
    primal = dual if W is None else np.sum(W**2)
    given(losses=0.02, rows=0.03, of_sum_in_parts=0.001)
    norms = LAM / 2 * 0.001 * M * D * (primal + dual)
    assert bound(problem, A, W) == pytest.approx(norms + 0.05)
    given(link=(LAM * share * dual, share * np.sqrt(dual)))
    moved = LAM / 2 * np.sum(((1 + share) * V) ** 2) - LAM / 2 * dual
    assert bound(problem, A, W) == pytest.approx(moved)


@pytest.mark.parametrize("p", [1.0, 1.5, 3.0])
def test_the_terms_of_a_machine_with_a_block_norm_add_up(given, p):
    """The Euclidean norm of E grows by up to m^(1/q - 1/2) in the dual norm if q < 2."""
    norm, share = fwlab.LpNorm(p), 0.3
    problem = made(regularizer=norm)
    machine = None if p > 1 else W
    # a link of three rows of equal norm, where the growth is largest; or of one row, where it is 1
    V = np.array([[3.0, 4.0], [-5.0, 0.0], [4.0, -3.0]]) * (
        [[1], [1], [1]] if p > 2 else [[1], [0], [0]]
    )
    W_of_V = W if machine is not None else norm.representer(V)
    given(losses=0.02, rows=0.03, of_sum=0.001)
    norms = LAM * 0.001 * (D + 4 * M + 64) * (norm.value(W_of_V) + norm.conjugate(V))
    assert bound(problem, A, machine, link=V) == pytest.approx(norms + 0.05, abs=1e-12)
    given(link=(0.0, share * np.linalg.norm(V)))
    moved = LAM * (norm.conjugate((1 + share) * V) - norm.conjugate(V))
    assert bound(problem, A, machine, link=V) == pytest.approx(moved)


def test_squares_of_a_block_norm_that_vanish():
    """At p = 1 the rows of W with squares of 0 still add to the sum of norms."""
    zero = fwlab.StructuredHinge(np.zeros((8, 8)))
    problem = fwlab.Problem(
        np.zeros((1, 1)), [0], zero, 1.0, n_classes=8, regularizer=fwlab.LpNorm(1.0)
    )
    W = np.full((8, 1), 2.0**-538)
    W[0] = 2.0**-500
    found = certificate_of(problem, np.zeros((1, 8)), W)
    exact = (Fraction(1, 2**500) + 7 * Fraction(1, 2**538)) ** 2 / 2
    error = exact - Fraction(found.primal)
    assert 1e3 * 2.0**-53 * found.primal < error <= found.gap_error


def test_the_squares_that_vanish_by_hand(given):
    """Each of m d squares may lose 2^-1021 of any digit, and m of them meet in a power."""
    assert bound(made(), 0 * A) == pytest.approx(LAM * M**2 * D * 2.0**-1021, rel=1e-9, abs=0)


def test_given_scores_belong_to_the_link():
    """With another machine the caller's scores are not read, and with a linear kernel no link."""
    problem, wrong = made(), np.full((N, M), 7.0)
    feasible = np.array([[0.5, -0.5, 0.0], [0.0, 0.0, 0.0]])
    for options in ({"W": W}, {"W": W, "link": problem.link(feasible)}):
        assert certificate_of(problem, feasible, scores=wrong, **options) == certificate_of(
            problem, feasible, W
        )
    read = certificate_of(problem, feasible, scores=wrong)
    assert read.primal == LAM / 2 * np.sum(problem.link(feasible) ** 2) + 1
    linear = made(kernel="linear")
    assert certificate_of(linear, feasible, link=wrong.T, scores=wrong) == certificate_of(
        problem, feasible
    )
    gram = fwlab.Problem(X @ X.T, Y, fwlab.TopK(1), LAM, kernel="precomputed", n_classes=M)
    for other in (0.5 * feasible, feasible.copy()):
        found = certificate_of(gram, feasible, scores=wrong, coefficients=other)
        assert found.primal == pytest.approx(problem.primal(problem.weights(other)))
        assert found == certificate_of(gram, feasible, coefficients=other)
    assert certificate_of(gram, feasible, scores=wrong).primal == pytest.approx(read.primal)


# ---------------------------------------------------------------- the distance


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_the_distance_of_the_link(given, share):
    """The largest a with a^2 + b^2 <= 2 g / lam and a - b <= eps; b is the distance of W(A)."""
    gap = made().gap(0 * A)
    eps = share * np.sqrt(gap / LAM)
    given(link=(0.0, eps))
    certificate = certificate_of(made(), 0 * A)
    largest = eps / 2 + np.sqrt(certificate.proved_gap / LAM - eps**2 / 4)
    assert largest <= certificate.distance <= 1.03 * largest


@pytest.mark.parametrize(("p", "W"), [(1.0, W), (1.2, W), (1.2, None), (2.0, W), (3.0, None)])
def test_the_distance_of_another_machine(given, p, W):
    """lam (p - 1) / 2 |W - W*|^2 <= gap, for 1 < p <= 2."""
    given(losses=1.0, link=(0.0, 0.1))
    link = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]])
    certificate = certificate_of(made(regularizer=fwlab.LpNorm(p)), 0 * A, W, link=link)
    if not 1 < p <= 2:
        assert certificate.distance == np.inf
        return
    assert certificate.gap_error > 1
    size = LAM * (p - 1) / 2 * certificate.distance**2
    assert size == pytest.approx(1.01**2 * (certificate.gap + certificate.gap_error))


@pytest.mark.wrong_gaps
def test_a_contradiction_has_no_distance():
    """A hinge that is a tenth of what its vertices attain has a gap below 0."""
    problem = fwlab.Problem(X / 1000, Y, GivenHinge(share=0.1), LAM, n_classes=M)
    found = certificate_of(problem, problem.loss.lmo(1.0 - np.eye(M)[Y], Y))
    assert found.contradiction
    assert found.distance == np.inf
