"""Four losses: three outside the family, by value and lmo, and one of two weight vectors."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from fwlab import Loss, PolytopeLoss
from guest.helpers import others, with_balance


class WestonWatkins(PolytopeLoss):
    """sum over the wrong classes of max(0, 1 + s_j - s_y)."""

    def value(self, scores, y):
        own = scores[np.arange(len(y)), y][:, None]
        return (np.maximum(1.0 + scores - own, 0.0) * others(y, scores.shape[1])).sum(axis=1)

    def lmo(self, gradient, y):
        own = gradient[np.arange(len(y)), y][:, None]
        return with_balance((gradient > own) * others(y, gradient.shape[1]), y)

    def contains(self, v, y):
        wrong = others(y, v.shape[1]) > 0
        inside = ((v >= -1e-9) & (v <= 1 + 1e-9)) | ~wrong
        return inside.all(axis=1) & (abs(v.sum(axis=1)) <= 1e-9)

    def inequalities(self, m, y):
        wrong = np.delete(np.eye(m), y, axis=0)
        ones = np.ones((1, m))
        bounds = np.repeat([0.0, 1.0, 0.0, 0.0], [m - 1, m - 1, 1, 1])
        return np.vstack([-wrong, wrong, ones, -ones]), bounds


class RelativeMargin(PolytopeLoss):
    """max over the wrong classes of 1 + s_j - s_y: 0 is not in the domain, values may be < 0."""

    def value(self, scores, y):
        own = scores[np.arange(len(y)), y]
        wrong = np.where(others(y, scores.shape[1]) > 0, scores, -np.inf)
        return 1.0 + wrong.max(axis=1) - own

    def lmo(self, gradient, y):
        m = gradient.shape[1]
        best = np.where(others(y, m) > 0, gradient, -np.inf).argmax(axis=1)
        return np.eye(m)[y] - np.eye(m)[best]

    def contains(self, v, y):
        own = v[np.arange(len(y)), y]
        wrong = np.where(others(y, v.shape[1]) > 0, v, 0.0)
        sums = abs(wrong.sum(axis=1) - 1) <= 1e-9
        return sums & (wrong.min(axis=1) >= -1e-9) & (abs(own + 1) <= 1e-9)

    def project(self, c, y):
        """Sort the wrong classes and cut them to a sum of 1; the true class gets 1."""
        m = c.shape[1]
        b = np.where(others(y, m) > 0, -c, -np.inf)
        ordered = -np.sort(-b, axis=1)[:, : m - 1]
        levels = (np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, m)
        held = (ordered > levels).sum(axis=1)
        beta = np.maximum(b - levels[np.arange(len(y)), held - 1][:, None], 0.0)
        return with_balance(beta, y)


@dataclass(frozen=True)
class OrderedL1(PolytopeLoss):
    """The ordered weighted l1 norm of s - e_y, with decreasing weights: its vertices are dense."""

    top: float = 1.0
    ratio: float = 0.5

    def weights(self, m):
        return self.top * self.ratio ** np.arange(m)

    def costs(self, y, m):
        return others(y, m) - 1.0

    def value(self, scores, y):
        sizes = -np.sort(-abs(scores + self.costs(y, scores.shape[1])), axis=1)
        return sizes @ self.weights(scores.shape[1])

    def lmo(self, gradient, y):
        ranks = np.argsort(np.argsort(-abs(gradient), axis=1, kind="stable"), axis=1)
        signs = np.where(gradient < 0, -1.0, 1.0)
        return -signs * self.weights(gradient.shape[1])[ranks]

    def contains(self, v, y):
        sums = np.cumsum(-np.sort(-abs(v), axis=1), axis=1)
        return (sums <= np.cumsum(self.weights(v.shape[1])) + 1e-9).all(axis=1)

    def inequalities(self, m, y):
        signs = np.array(list(product((-1.0, 0.0, 1.0), repeat=m)))
        sizes = np.concatenate([[0.0], np.cumsum(self.weights(m))])
        return signs, sizes[abs(signs).sum(axis=1).astype(int)]


@dataclass(frozen=True)
class Staircase(Loss):
    """Positive margins weigh 1, 1/2, 1/3, .., negative ones the fraction `floor` of that."""

    floor: float = 0.25

    def polytope_weights(self, m):
        upper = 1.0 / np.arange(1, m)
        return upper, self.floor * upper
