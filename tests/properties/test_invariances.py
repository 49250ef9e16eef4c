"""Symmetries of the training problem: two statements of one problem have the same values at points
that correspond, and optimal values that lie in the same certified interval."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from solvers.solver_table import LOSSES, METHODS, M, loss_entry

import fwlab

seeds = st.integers(0, 2**32 - 1)


@dataclass(frozen=True, eq=False)
class Data:
    """The arguments of a problem with M classes."""

    X: np.ndarray
    y: np.ndarray
    loss: Any
    lam: float
    smoothing: float
    omega: np.ndarray

    @property
    def problem(self) -> fwlab.Problem:
        return fwlab.Problem(
            self.X,
            self.y,
            self.loss,
            self.lam,
            smoothing=self.smoothing,
            n_classes=M,
            sample_weight=self.omega,
        )

    def rows(self, index: np.ndarray) -> "Data":
        """Return the samples at these indices, in their order."""
        loss = self.loss
        if getattr(loss, "per_sample", False):
            loss = fwlab.StructuredHinge(loss.costs[index], per_sample=True)
        return replace(self, X=self.X[index], y=self.y[index], loss=loss, omega=self.omega[index])

    def feasible(self, rng: np.random.Generator) -> np.ndarray:
        """Return a (n, M) inside the domain."""
        A = np.zeros((len(self.y), M))
        for share in rng.dirichlet(np.ones(3)):
            A += share * self.loss.lmo(rng.normal(size=A.shape), self.y)
        return self.omega[:, None] * A


@st.composite
def data(draw):
    """Draw small problems; integer features bring ties, equal rows and rows of zeros."""
    rng = np.random.default_rng(draw(seeds))
    n, d = draw(st.integers(2, 8)), draw(st.integers(1, 4))
    X = rng.integers(-1, 2, (n, d)) * 1.0 if draw(st.booleans()) else rng.normal(size=(n, d))
    y = rng.integers(0, M, n)
    omega = rng.integers(0, 4, n) * 1.0 if draw(st.booleans()) else np.ones(n)
    omega[rng.integers(n)] = 1.0
    loss = loss_entry(draw(st.sampled_from(LOSSES)), y).loss
    return Data(X, y, loss, 0.2, draw(st.sampled_from([0.0, 0.1])), omega)


def agree(one, other, pairs_A, pairs_W, factor=1.0):
    """Assert that `other` has `factor` times the values of `one` at points that correspond."""
    first, second = one.problem, other.problem
    for W, image in pairs_W:
        assert second.primal(image) == pytest.approx(factor * first.primal(W), abs=1e-12, rel=1e-12)
    for A, image in pairs_A:
        for name in ("dual", "gap", "augmented_gap"):
            expected = factor * getattr(first, name)(A)
            assert getattr(second, name)(image) == pytest.approx(expected, abs=1e-12, rel=1e-12)
    results = [fwlab.solve(p, tol=1e-6, max_iter=200) for p in (first, second)]
    assert all(result.gap <= 0.05 for result in results)
    assert results[1].dual <= factor * results[0].primal + 1e-12
    assert factor * results[0].dual <= results[1].primal + 1e-12


@given(data(), seeds)
def test_permuting_classes(one, seed):
    rng = np.random.default_rng(seed)
    new = rng.permutation(M)  # class j becomes class new[j]
    old = np.argsort(new)
    loss = one.loss
    if isinstance(loss, fwlab.StructuredHinge):
        costs = loss.costs[:, old] if loss.per_sample else loss.costs[np.ix_(old, old)]
        loss = fwlab.StructuredHinge(costs, per_sample=loss.per_sample)
    other = replace(one, y=new[one.y], loss=loss)
    A, W = one.feasible(rng), rng.normal(size=(M, one.X.shape[1]))
    agree(one, other, [(A, A[:, old])], [(W, W[old])])


@given(data(), seeds)
def test_permuting_samples(one, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(one.y))
    A, W = one.feasible(rng), rng.normal(size=(M, one.X.shape[1]))
    agree(one, one.rows(order), [(A, A[order])], [(W, W)])


@given(data(), seeds)
def test_rotating_features(one, seed):
    rng = np.random.default_rng(seed)
    d = one.X.shape[1]
    rotation, _ = np.linalg.qr(rng.normal(size=(d, d)))
    A, W = one.feasible(rng), rng.normal(size=(M, d))
    agree(one, replace(one, X=one.X @ rotation), [(A, A)], [(W, W @ rotation)])


@given(data(), seeds, st.sampled_from([1e-3, 0.3, 7.0]))
def test_scaling_features(one, seed, scale):
    rng = np.random.default_rng(seed)
    A, W = one.feasible(rng), rng.normal(size=(M, one.X.shape[1]))
    other = replace(one, X=scale * one.X, lam=scale**2 * one.lam)
    agree(one, other, [(A, A)], [(W, W / scale)])


@given(data(), seeds, st.sampled_from([0.1, 3.0]))
def test_scaling_sample_weights(one, seed, scale):
    rng = np.random.default_rng(seed)
    A, W = one.feasible(rng), rng.normal(size=(M, one.X.shape[1]))
    other = replace(one, omega=scale * one.omega, lam=scale * one.lam)
    agree(one, other, [(A, scale * A)], [(W, W)], factor=scale)


@given(data(), seeds)
def test_integer_weights_are_repetitions(one, seed):
    """Weights omega on n rows are sum(omega) rows with lam n / sum(omega); a weight 0 is no row."""
    rng = np.random.default_rng(seed)
    n, copies = len(one.y), one.omega.astype(int)
    index = np.repeat(np.arange(n), copies)
    other = replace(one.rows(index), lam=one.lam * n / len(index), omega=np.ones(len(index)))
    A, W = one.feasible(rng), rng.normal(size=(M, one.X.shape[1]))
    shares = (A / np.maximum(one.omega, 1.0)[:, None])[index]
    agree(one, other, [(A, shares)], [(W, W)], factor=n / len(index))


@given(data(), seeds)
def test_every_row_twice_is_the_same_problem(one, seed):
    rng = np.random.default_rng(seed)
    index = np.repeat(np.arange(len(one.y)), 2)
    A, W = one.feasible(rng), rng.normal(size=(M, one.X.shape[1]))
    agree(one, one.rows(index), [(A, A[index])], [(W, W)])


@pytest.mark.small
@given(data(), st.sampled_from(METHODS))
def test_a_row_of_weight_zero_stays_zero(one, method):
    weightless = np.flatnonzero(one.omega == 0)
    problem = one.problem
    result = fwlab.solve(problem, method, tol=0.0, max_iter=4)
    assert not result.A[weightless].any()
    vertices = one.loss.lmo(1.0 - np.eye(M)[one.y], one.y)
    for i in weightless:
        A = result.A.copy()
        A[i] = 1e-3 * vertices[i]
        assert problem.dual(A) == -np.inf
        assert problem.gap(A) == problem.augmented_gap(A) == np.inf
