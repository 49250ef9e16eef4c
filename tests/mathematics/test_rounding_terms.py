"""The terms of the losses' and of the dual rows' errors by hand, with large units of rounding."""

import numpy as np
import pytest

import fwlab
import fwlab.primal_dual as equations
import fwlab.rounding as module
from fwlab.operators.sizes import row_sizes
from fwlab.rounding import dual_row_error, losses_with_error

M, K, COST, MOVED, ABOVE = 4, 2, 3.0, 0.3, 0.7


class Costly(fwlab.TopK):
    """TopK whose mistakes cost 3."""

    def cost_table(self, y, m):
        return np.full((1, m), COST), np.zeros(len(y), dtype=np.int64)


@pytest.fixture
def large(monkeypatch):
    """Make the error of c operations c / 100, and of a sum over n samples n / 7."""
    monkeypatch.setattr(module, "gamma", lambda count: 0.01 * count)
    monkeypatch.setattr(module, "gamma_in_parts", lambda count: count / 7)
    monkeypatch.setattr(module, "repair_distances", lambda *_: np.full(6, MOVED))
    plain = equations.moreau_envelope

    def envelope(*arguments):
        values, gradients = plain(*arguments)
        return values + ABOVE, gradients

    monkeypatch.setattr(equations, "moreau_envelope", envelope)


def made(smoothing):
    rng = np.random.default_rng(3)
    y, omega = rng.integers(0, M, 6), rng.random(6) + 0.5
    problem = fwlab.Problem(
        rng.normal(size=(6, 2)),
        y,
        Costly(K),
        0.3,
        smoothing=smoothing,
        n_classes=M,
        sample_weight=omega,
    )
    return problem, 2 * rng.normal(size=(6, M)), rng.random(6)


def total(omega, errors, sizes):
    return 1.01 * (np.mean(omega * errors) + 6 / 7 * np.mean(omega * sizes))


def test_the_terms_of_a_loss(large):
    problem, scores, e = made(0.0)
    margins = COST + 2 * (np.abs(scores).max(axis=1) + e)
    expected = total(problem.sample_weight, 2 * e + 0.01 * (K + 4) * margins, margins)
    found = losses_with_error(problem, [(slice(0, 6), scores)], e)[1]
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("smoothing", [0.4, 2.5])
def test_the_terms_of_an_envelope(large, smoothing):
    problem, scores, e = made(smoothing)
    losses, found = losses_with_error(problem, [(slice(0, 6), scores)], e)
    nearest = problem.loss.moreau(scores, problem.y, smoothing)[1]
    g = (scores - nearest) / smoothing
    shifted = scores + COST
    shifted[np.arange(6), problem.y] -= COST
    square, lengths = smoothing * (g * g).sum(axis=1), np.abs(g).sum(axis=1)
    margins = COST + 2 * (np.abs(scores).max(axis=1) + e) + 2 * smoothing * np.abs(g).max(axis=1)
    below = losses[0] - (shifted * g).sum(axis=1) + square / 2
    assert (below > ABOVE - 1e-12).all()
    errors = 2 * e + 0.01 * (K + 8) * margins + below + MOVED * margins
    errors += 0.01 * (2 * M + 6) * (np.abs(shifted).max(axis=1) * lengths + square)
    expected = total(problem.sample_weight, errors, margins + square)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("smoothing", [0.0, 0.4])
def test_the_terms_of_the_dual_rows(large, smoothing):
    problem, A, rho = made(smoothing)
    expected = np.mean(COST * ((0.01 * (M + 3) + 6 / 7) * np.abs(A).sum(axis=1) + rho))
    squares = (A * A).sum(axis=1)
    rows = (0.01 * (M + 6) + 0.06) * squares / 2 + np.sqrt(squares) * rho + rho**2 / 2
    expected += np.mean(smoothing / problem.sample_weight * rows)
    found = dual_row_error(problem, A, row_sizes(A, np.zeros(M)), rho)
    assert found == pytest.approx(1.01 * expected, rel=1e-12)
