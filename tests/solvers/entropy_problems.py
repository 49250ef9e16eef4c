"""Problems with the cross-entropy, and their points."""

import numpy as np

import fwlab
from fwlab.solvers.lbfgs import SmoothPoint

LOSS = fwlab.CrossEntropy()


def data(n=60, d=6, m=4, seed=0):
    """Return features with scales from 1/4 to 8, correlated, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ np.triu(rng.normal(size=(d, d))) * np.geomspace(0.25, 8, d)
    y = (X @ rng.normal(size=(d, m)) + rng.gumbel(size=(n, m))).argmax(axis=1)
    y[:m] = np.arange(m)
    return X, y


def made(C=10.0, form=np.asarray, **options):
    X, y = data()
    return fwlab.Problem(form(X), y, LOSS, C=C, **options)


def separable(n=200, d=6, m=4):
    """Return samples that a machine separates: with a large C, steps help for long."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=(d, m))).argmax(axis=1)


def at(problem, W):
    """Return the point of W, and A(W)."""
    A = np.empty((problem.n_samples, problem.n_classes))
    return SmoothPoint.at(problem, W, A), A
