"""How far rounding can take the objectives of a training problem from their exact values."""

import numpy as np

import reference


def value_rounding(training: reference.Training) -> float:
    """Return a bound of the error of P(W) and D(A) in floats, at W = w(A) with feasible rows of A.

    The entries of a_i are at most half its 1-norm in size. This norm is at most omega_i times the
    largest 1-norm in the domain. Hence bounds of the terms of W, of the scores and of both
    objectives. A term passes at most n + 2 roundings on its way into W, twice where W is squared, D
    in a score or a square, m + 6 in a loss and n + 5 in the mean and the total; rows of A are
    feasible after m more. To first order the error is at most that many units of rounding times the
    terms (Higham 2002, section 3.1).
    """
    n, m, width = training.features.shape
    sizes = np.array([norm_of_domain(training, i) for i in range(n)])
    features, omega = np.abs(training.features), training.omega
    W = np.einsum("n,nmd->d", omega * sizes / 2, features) / (training.lam * n)
    delta = max(
        float(max(training.loss.for_sample(i).delta(m, int(y)))) for i, y in enumerate(training.y)
    )
    scores = (features @ W).max(axis=1)
    losses = sizes * (delta + scores) + training.smoothing * sizes**2
    terms = training.lam * float(W @ W) + float(np.mean(omega * losses))
    return (3 * n + width + 2 * m + 15) * 2.0**-53 * terms


def norm_of_domain(training: reference.Training, i: int) -> float:
    """Return the largest 1-norm in the domain of the conjugate of sample i.

    It is twice the largest sum of the entries of the wrong classes, which are >= 0, as all entries
    sum to 0.
    """
    y = int(training.y[i])
    direction = -np.eye(training.features.shape[1])[y]
    return 2 * float(training.loss.for_sample(i).recession(direction, y))
