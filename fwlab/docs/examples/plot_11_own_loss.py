"""
A loss of your own
==================

A loss outside the family needs two functions: its value, and the vertex of its dual domain that
minimises a linear function. The checker compares the two, and names what contradicts what.
"""

import numpy as np

import fwlab


class SumOfHinges(fwlab.PolytopeLoss):
    """Weston and Watkins' loss."""

    def value(self, scores, y):
        margins = scores + self.costs(y, scores.shape[1])
        margins -= np.take_along_axis(scores, y[:, None], axis=1)
        return np.maximum(margins, 0).sum(axis=1)

    def lmo(self, gradient, y):
        u = -1.0 * (gradient > np.take_along_axis(gradient, y[:, None], axis=1))
        u[np.arange(len(y)), y] = -u.sum(axis=1)
        return u


fwlab.testing.check_loss(SumOfHinges(), m=4)

# %%
# It is trained and certified as the built-in losses are.

data = fwlab.datasets.load("digits", normalize="unit")
problem = fwlab.Problem(data.X_train, data.y_train, SumOfHinges(), lam=0.01)
print(fwlab.compare(problem, ["fw", "pfw", "subgradient"], tol=1e-2, max_iter=200).table())
