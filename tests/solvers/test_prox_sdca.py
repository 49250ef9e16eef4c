"""ProxSDCA with Option II, written out from its published description, beside bcfw.

Shalev-Shwartz and Zhang (2016): for a random i let -u be a subgradient of the loss at the scores
W x_i and z = u - a_i; then a_i grows by s z with the s in [0, 1] that maximises

    -phi_i^*(-(a_i + s z)) - s <W x_i, z> - s^2 |z|^2 |x_i|^2 / (2 lam n).

Plain numpy on the definition of the losses: nothing below calls the library but the comparison.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fwlab

pytestmark = pytest.mark.small

N, D, M, LAM = 14, 5, 4, 0.05


def weights_of(scores, y, kind, k):
    """Return a subgradient of the loss at these scores (m,): ties go to the lowest class."""
    margins = 1.0 + scores - scores[y]
    margins[y] = 0.0
    order = np.argsort(-margins, kind="stable")[:k]
    if kind == "usunier":
        order = [j for j in order if margins[j] > 0]
    elif margins[order].sum() <= 0:
        order = []
    beta = np.zeros(M)
    for j in order:
        beta[j] += 1.0 / k
    beta[y] -= beta.sum()
    return beta


def option_two(X, y, kind, k, order, passes):
    """Return the rows of A after every step; phi^*(-v) is sum over j != y of v_j on the domain."""
    n = len(y)
    A, W, iterates = np.zeros((n, M)), np.zeros((M, X.shape[1])), []
    for i in np.tile(order, passes):
        z = -weights_of(W @ X[i], y[i], kind, k) - A[i]
        linear = -np.delete(z, y[i]).sum() - (W @ X[i]) @ z
        bend = (z @ z) * (X[i] @ X[i]) / (LAM * n)
        if bend == 0.0:
            s = float(linear > 0.0)
        else:
            s = min(1.0, max(0.0, linear / bend))
        A[i] += s * z
        W += s * np.outer(z, X[i]) / (LAM * n)
        iterates.append(A.copy())
    return iterates


LOSSES = {
    ("top-k", 1): fwlab.MaxHinge(),
    ("top-k", 2): fwlab.TopK(2),
    ("top-k", 3): fwlab.TopK(3),
    ("top-k", M): fwlab.TopK(M),
    ("usunier", 2): fwlab.Usunier(2),
    ("usunier", M): fwlab.Usunier(M),
}
each_loss = pytest.mark.parametrize("kind, k", LOSSES)


def data(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N, D)), rng.permutation(np.arange(N) % M)


@each_loss
@pytest.mark.parametrize("seed", range(3))
def test_bcfw_takes_the_steps_of_option_two(kind, k, seed):
    """At the end of every pass."""
    X, y = data(seed)
    problem = fwlab.Problem(X, y, LOSSES[kind, k], LAM, n_classes=M)
    passes, seen = 6, []
    fwlab.solve(
        problem,
        "bcfw",
        order="cyclic",
        tol=0.0,
        max_iter=passes,
        callback=lambda progress: seen.append(progress.A.copy()),
        check_every=1,
    )
    iterates = option_two(X, y, kind, k, np.arange(N), passes)
    assert len(seen) == passes + 1
    for number in range(passes):
        assert_allclose(seen[number + 1], iterates[N * (number + 1) - 1], atol=1e-12)
    assert abs(seen[-1] - seen[-2]).max() > 1e-6


@each_loss
def test_every_single_step(kind, k):
    """A problem's run that ends after r rows: rows after the r-th are given weight 0."""
    X, y = data(3)
    iterates = option_two(X, y, kind, k, np.arange(N), 1)
    for stop in range(1, N + 1):
        omega = (np.arange(N) < stop).astype(float)
        problem = fwlab.Problem(X, y, LOSSES[kind, k], LAM, n_classes=M, sample_weight=omega)
        A = fwlab.solve(problem, "bcfw", order="cyclic", tol=0.0, max_iter=1).A
        assert_allclose(A, iterates[stop - 1], atol=1e-12)


@each_loss
def test_with_smoothing_they_agree_on_the_augmented_problem_alone(kind, k):
    """The smoothed dual is the dual of the plain loss on features (x_i, sqrt(smoothing lam n) e_i).

    There Option II is bcfw. On the smoothed loss itself its direction is the envelope's gradient,
    another point of the domain, so that its steps differ.
    """
    X, y = data(4)
    smoothing = 0.1
    problem = fwlab.Problem(X, y, LOSSES[kind, k], LAM, smoothing=smoothing, n_classes=M)
    seen = []
    fwlab.solve(
        problem,
        "bcfw",
        order="cyclic",
        tol=0.0,
        max_iter=3,
        callback=lambda progress: seen.append(progress.A.copy()),
        check_every=1,
    )
    augmented = np.hstack([X, np.sqrt(smoothing * LAM * N) * np.eye(N)])
    iterates = option_two(augmented, y, kind, k, np.arange(N), 3)
    for number in range(3):
        assert_allclose(seen[number + 1], iterates[N * (number + 1) - 1], atol=1e-12)

    loss, scores = LOSSES[kind, k], np.random.default_rng(5).normal(size=(2000, M))
    labels = np.zeros(2000, dtype=int)
    _, nearest = loss.moreau(scores, labels, smoothing)
    gradients = (scores - nearest) / smoothing
    assert abs(gradients - loss.subgradient(scores, labels)).max() > 0.1
