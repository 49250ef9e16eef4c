"""A certificate whose sums are taken over parts of the samples, by hand or at large errors."""

import numpy as np
import pytest

import fwlab
import fwlab.certificate as module
from fwlab.certificate import certificate_of, certificate_of_parts, terms_of_part
from fwlab.operators.scores import score_parts
from fwlab.parts import Errors, Terms, Whole, norms_of_rows, values_of_part, values_of_parts
from fwlab.result import Certificate, Objectives

pytestmark = pytest.mark.small
LAM, N, M, D, SMOOTHING = 0.25, 4, 3, 2, 0.5
Y = np.array([0, 2, 1, 0])
X = np.array([[3.0, 4.0], [5.0, 12.0], [8.0, 6.0], [0.0, 2.0]])
OMEGA = np.array([1.0, 2.0, 0.5, 1.0])
A = np.array([[0.5, -0.5, 0.0], [0.0, -1.0, 1.0], [-0.25, 0.25, 0.0], [0.25, 0.0, -0.25]])
CUTS = [slice(0, 1), slice(1, 4)]
SHARES = [0.25, 0.75]


def made(rows=slice(None), smoothing=SMOOTHING):
    """Return the problem on some rows, with the lam n of all."""
    lam = LAM * N / len(Y[rows])
    return fwlab.Problem(
        X[rows],
        Y[rows],
        fwlab.TopK(1),
        lam,
        smoothing=smoothing,
        n_classes=M,
        sample_weight=OMEGA[rows],
    )


@pytest.fixture
def given(monkeypatch):
    """Return a function that sets errors for the certificates that follow, 0 otherwise."""

    def set_errors(losses=0.0, rows=0.0, rho=0.0, of_sum=0.0):
        monkeypatch.setattr(
            module,
            "losses_with_error",
            lambda problem, parts, e, A: (problem.losses(parts, A), losses),
        )
        monkeypatch.setattr(module, "dual_row_error", lambda *_: rows)
        monkeypatch.setattr(module, "distances", lambda _, A: np.full(len(A), rho))
        monkeypatch.setattr(module, "gamma", lambda count: of_sum * count)
        monkeypatch.setattr(module, "gamma_in_parts", lambda count: 0.0)
        monkeypatch.setattr(module, "UNIT", 0.0)
        monkeypatch.setattr(Certificate, "checked", lambda certificate: certificate)

    set_errors()
    return set_errors


def of_parts(cuts=CUTS, smoothing=SMOOTHING):
    """Return the certificate of A whose sums are taken part by part."""
    V = made().link(A)
    whole = Whole(N, len(cuts), norms_of_rows(V))
    terms = [terms_of_part(made(rows, smoothing), A[rows], V, whole) for rows in cuts]
    return certificate_of_parts(made(), terms, V)


def test_parts_have_the_values_of_the_whole():
    """Parts of one and three samples count by their shares, and the norm of V counts once."""
    whole, V = made(), made().link(A)
    values = []
    for rows in CUTS:
        part = made(rows)
        values.append(values_of_part(part, A[rows], score_parts(part.features, V), N))
    tracked = values_of_parts(whole, values, V).certificate()
    expected, found = whole.certificate(A, V), of_parts()
    for name in ("primal", "dual", "gap", "augmented_gap"):
        assert getattr(tracked, name) == pytest.approx(getattr(expected, name), rel=1e-14)
        assert getattr(found, name) == getattr(tracked, name)
    assert expected.augmented_gap > expected.gap + 0.01
    assert found.from_scratch


def test_one_part_is_the_certificate_in_memory():
    inside, found = certificate_of(made(), A), of_parts([slice(0, N)])
    for name in ("primal", "dual", "gap", "augmented_gap", "gap_error", "distance"):
        assert getattr(found, name) == pytest.approx(getattr(inside, name), rel=1e-14)


@pytest.mark.parametrize("name", ["losses", "rows", "rho"])
def test_errors_of_parts_count_by_their_shares(given, name):
    """Errors that are the same for each row have the same mean, whatever the parts."""
    given(**{name: 0.1})
    inside, found = certificate_of(made(), A), of_parts()
    assert inside.gap_error > 0.1
    assert found.gap_error == pytest.approx(inside.gap_error, rel=1e-12)
    assert found.distance == pytest.approx(inside.distance, rel=1e-12)


@pytest.mark.parametrize("smoothing, sign", [(SMOOTHING, 1), (8 * SMOOTHING, -1)])
def test_errors_of_the_sum_over_parts_by_hand(given, smoothing, sign):
    """One addition of two products to the link, and four roundings of each part's terms."""
    g = 0.01
    given(of_sum=g)
    V, v = made().link(A), norms_of_rows(made().link(A))
    x = np.sqrt(1.01) * np.linalg.norm(X, axis=1)
    inner = float(np.mean(g * x * (np.abs(A) @ v)))
    total = float(np.sum(g * x * np.linalg.norm(A, axis=1))) / (LAM * N)
    terms = [made(rows, smoothing).certificate(A[rows], 0 * V, (X @ V.T)[rows]) for rows in CUTS]
    assert [np.sign(term.dual) for term in terms] == [sign, sign]
    sizes = sum(s * (t.primal + abs(t.dual)) for s, t in zip(SHARES, terms, strict=True))
    expected = inner + LAM / 2 * total**2 + 4 * g * sizes
    assert of_parts(smoothing=smoothing).gap_error / 1.01 == pytest.approx(expected, rel=1e-9)
    assert of_parts([slice(0, N)]).gap_error < 1e-12


def test_an_infeasible_row_of_any_part_certifies_nothing():
    errors, values = Errors(0.0, 0.0, 0.0, 0.0), Objectives(1.0, 0.0, 1.0)
    good, bad = (Terms(values, errors, is_feasible) for is_feasible in (True, False))
    V = np.zeros((M, D))
    assert certificate_of_parts(made(), [good, good], V).gap == 2.0
    for terms in ([good, bad], [bad, good]):
        found = certificate_of_parts(made(), terms, V)
        assert (found.dual, found.gap, found.gap_error) == (-np.inf, np.inf, np.inf)
