"""Certified runs on real data: digits for every loss, letter and the sparse news20."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fwlab
from fwlab.losses import Loss
from fwlab.weights import exponential, linear

CLASSES = np.arange(10)
LOSSES = (
    fwlab.MaxHinge(),
    fwlab.StructuredHinge(np.abs(np.subtract.outer(CLASSES, CLASSES)) / 9),
    fwlab.TopK(3),
    fwlab.PseudoTopK(3),
    fwlab.Usunier(3),
    fwlab.WeightedTopK(linear(5)),
    fwlab.WeightedUsunier(exponential(4)),
)


def problem_on(name: str, loss: Loss) -> fwlab.Problem:
    """Return the problem with unit rows and lam = 1/n."""
    data = fwlab.datasets.load(name, normalize="unit")
    return fwlab.Problem(data.X_train, data.y_train, loss, lam=1 / len(data.y_train))


@pytest.mark.turns
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_frank_wolfe_certifies_digits(loss: Loss) -> None:
    problem = problem_on("digits", loss)
    result = fwlab.solve(problem, "fw", tol=1e-2)
    assert result.status is fwlab.Status.CONVERGED and result.gap <= 1e-2
    scores = problem.X @ problem.weights(result.A).T
    delta = 1.0 - np.eye(10)[problem.y]
    if isinstance(loss, fwlab.StructuredHinge):
        delta = loss.costs[problem.y]
    gradient = scores + delta
    vertices = loss.lmo(gradient, problem.y)
    frank_wolfe_gap = np.sum(gradient * (result.A - vertices)) / problem.n_samples
    assert_allclose(result.gap, frank_wolfe_gap, rtol=0, atol=1e-12)
    assert result.gap == result.primal - result.dual


def test_ascent_reaches_a_gap_of_1e_9_on_digits() -> None:
    result = fwlab.solve(problem_on("digits", fwlab.TopK(3)), tol=1e-9, max_iter=2000)
    assert result.success and result.infeasibility <= 1e-14


def test_ascent_certifies_letter(data_folder: Path) -> None:
    result = fwlab.solve(problem_on("letter", fwlab.TopK(3)), tol=1e-5, check_every=10)
    assert result.success and result.infeasibility <= 1e-14


def test_ascent_certifies_sparse_news20(data_folder: Path) -> None:
    result = fwlab.solve(problem_on("news20", fwlab.TopK(3)), tol=1e-3, check_every=5)
    assert result.success and result.W is not None and result.W.shape == (20, 62264)
