"""The optimum of a small softmax problem in ball arithmetic, with a proved distance.

The objective (1/2) |W|^2 + C sum_i omega_i loss_i is strongly convex with the constant 1, so that a
machine is no farther from the optimum than its gradient is long. Newton's method makes that short.
"""

from dataclasses import dataclass

import pytest

flint = pytest.importorskip("flint", reason="python-flint, the extra verify, is not installed")

BITS = 300
MOST_STEPS = 60
SHORT = 1e-30


@dataclass(frozen=True)
class ExactOptimum:
    """A machine as lists of balls, and a bound of its distance from the optimum."""

    W: list
    distance: float

    def scores(self, x):
        """Return balls that hold the optimum's scores of a sample."""
        with bits():
            away = flint.arb(self.distance) * square_root(sum((v * v for v in balls(x)), zero()))
            return [dot(w, balls(x)) + flint.arb(0, away.upper()) for w in self.W]

    def may_be_right(self, x, y):
        """Return whether the label y >= 0 can have the first largest score, and whether it has."""
        scores = self.scores(x)
        own = scores[y]
        others = [(j, s - own) for j, s in enumerate(scores) if j != y]
        may = not any(lead > 0 for _, lead in others)
        return may, all(lead < 0 for _, lead in others)


def bits():
    return flint.ctx.workprec(BITS)


def zero():
    return flint.arb(0)


def balls(values):
    return [flint.arb(float(v)) for v in values]


def dot(a, b):
    return sum((u * v for u, v in zip(a, b, strict=True)), zero())


def square_root(ball):
    if not ball.is_finite():
        raise ArithmeticError("Newton's method left the numbers that balls enclose.")
    return ball.upper().sqrt() if ball.upper() > 0 else zero()


def shares(W, x):
    """Return the softmax of the scores of a sample."""
    scores = [dot(w, x) for w in W]
    top = max(float(s.mid()) for s in scores)
    powers = [(s - top).exp() for s in scores]
    total = sum(powers, zero())
    return [p / total for p in powers]


def link_error(X, codes, omega, W, U):
    """Return a bound of |U - U(W)| for a computed U (m, d)."""
    with bits():
        found, rows = [balls(u) for u in U], [balls(w) for w in W]
        for x, y, weight in zip([balls(x) for x in X], codes, balls(omega), strict=True):
            for j, p in enumerate(shares(rows, x)):
                factor = weight * (int(j == y) - p)
                found[j] = [v - factor * k for v, k in zip(found[j], x, strict=True)]
        return length_of([v for row in found for v in row])


def length_of(vector):
    return dot(vector, vector).upper().sqrt()


def gradient_and_hessian(X, codes, omega, C, W):
    """Return the gradient (m d,) and the Hessian, both as lists."""
    m, d = len(W), len(X[0])
    gradient = [v for w in W for v in w]
    hessian = [[flint.arb(int(r == c)) for c in range(m * d)] for r in range(m * d)]
    for x, y, weight in zip(X, codes, omega, strict=True):
        p = shares(W, x)
        for j in range(m):
            for k in range(d):
                gradient[j * d + k] += C * weight * (p[j] - int(j == y)) * x[k]
            for i in range(m):
                bend = C * weight * (p[j] * int(i == j) - p[j] * p[i])
                for k in range(d):
                    for r in range(d):
                        hessian[j * d + k][i * d + r] += bend * x[k] * x[r]
    return gradient, hessian


def exact_optimum(X, codes, omega, C, W):
    """Return the optimum for C from a machine W (m, d) near it."""
    with bits():
        X, omega, C = [balls(x) for x in X], balls(omega), flint.arb(float(C))
        rows, d = [balls(w) for w in W], len(X[0])
        for _ in range(MOST_STEPS):
            gradient, hessian = gradient_and_hessian(X, codes, omega, C, rows)
            length = float(square_root(dot(gradient, gradient)))
            size = float(square_root(sum((dot(w, w) for w in rows), zero())))
            if length <= SHORT * size:
                return ExactOptimum(rows, 2 * length)
            number = len(gradient)
            matrix = flint.arb_mat(number, number, [v for row in hessian for v in row]).mid()
            step = matrix.solve(flint.arb_mat(number, 1, gradient).mid()).mid()
            rows = [[v - step[j * d + k, 0] for k, v in enumerate(w)] for j, w in enumerate(rows)]
            rows = [[v.mid() for v in w] for w in rows]
        raise ArithmeticError(f"Newton's method ended at a gradient of {length:.3g}.")


def most_and_fewest_right(best, X, codes):
    """Return how many samples the optimum can label correctly, and how many it surely does."""
    found = [best.may_be_right(x, y) for x, y in zip(X, codes, strict=True) if y >= 0]
    return sum(may for may, _ in found), sum(is_right for _, is_right in found)
