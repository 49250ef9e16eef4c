"""Enclose the softmax machine of the exact optimum in an ellipsoid, from its Hessian.

The multinomial logistic loss is generalised self-concordant: its Hessian changes by a bounded
factor where scores change by a bounded amount (Bach 2010, Self-concordant analysis for logistic
regression). Let W be any machine with the scores s_i of sample i, t its first class, and let K hold
all machines V with

    |(v_j - v_t) x_i - (w_j - w_t) x_i| <= b_ij    for all samples i and classes j.

The shares of all V in K are then at least

    q_ij = exp(s_ij - s_it - b_ij) / sum_k exp(s_ik - s_it + b_ik).

For any shares p >= q >= 0 and any u, the curvature of a loss is

    sum_(j<k) p_j p_k (u_j - u_k)^2 >= u^T Q u,    Q = diag(q) sum_k q_k - q q^T,

so that the Hessian of P is at least H = lam I + (1/n) sum_i omega_i Q_i (x) x_i x_i^T in all of K.
With the gradient g of P at W let

    rho = |g|_(H^-1),    E = {V : |V - W|_H <= rho}.

If E lies in K, the optimum W* lies in E: otherwise the segment from W to W* leaves E at a
point W + D with |D|_H = rho, and the whole way to it lies in K. There

    <grad P(W + D), D> >= <g, D> + |D|_H^2 >= -rho |D|_H + |D|_H^2 = 0,

and P, which is strongly convex, would grow from there to W*. For any sample x and two classes the
maximum over E is

    |(v_j - v_c) x - (w_j - w_c) x| <= rho |(e_j - e_c) (x) x|_(H^-1),

so that E lies in K if the right side for x_i and c = t is at most b_ij. The first b is 0, and each
next one is a multiple of what the last one would have needed.

Rounding. H is summed in parts, and right to E_H in its norm: the sizes of its terms are the entries
of a positive semidefinite matrix, whose norm is at most its trace,

    2 sum_i omega_i / n (sum_j q_ij)^2 |x_i|^2.

fwlab.bounded_inverse bounds H^-1. The error of g counts 1 / sqrt(lam) times, as H >= lam I.

W may be any machine. Some steps of Newton's method from a given one, which prove nothing, make the
gradient and so the ellipsoid small.

Cost. A matrix H takes n (m d)^2 products, and there are two to six of them: up to three for
Newton's method, up to three for K. Ten arrays (m d, m d) and ten (n, m) are held at a time. With
more than 1000 unknowns m d, or n (m d)^2 > 2^36, there is no ellipsoid.
"""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from fwlab.arrays import Floats, Integers, cut, is_tensor
from fwlab.bounded_inverse import ROWS, Inverse, dense_rows, inverse_factor
from fwlab.choice.point import PointAtC, TrainingSamples
from fwlab.enclosing_ball import norm_above
from fwlab.operators.capped_simplices import CappedSimplices
from fwlab.operators.features import features_of
from fwlab.operators.features_interface import DataFeatures
from fwlab.operators.scores import score_errors
from fwlab.operators.simplices import LIBRARY_UNITS
from fwlab.operators.sizes import row_maxima
from fwlab.operators.sums import MARGIN, UNDERFLOW, UNIT, gamma, gamma_in_parts, norms_above
from fwlab.primal_dual import PrimalDual
from fwlab.problem import Problem
from fwlab.proved import best_classes, proved_labels

MOST_UNKNOWNS, MOST_PRODUCTS = 1000, 2**36
# what b is multiplied by after each H that asked for more
GROWTH = (1.5, 2.0, 2.5)
# Hessians of Newton's method, steps with each, and the b below which there are no more of them
MOST_RENEWALS, MOST_STEPS, NEAR = 3, 8, 0.3
LEAST_STEP = 0.01
# weights and shares below it count as 0, so that their products do not vanish
LEAST_WEIGHT, LEAST_SHARE = 2.0**-100, 2.0**-400


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """An ellipsoid around a machine (m, d) that holds the machine of the exact optimum.

    radius: rho.
    """

    centre: Floats
    inverse: Inverse
    radius: float

    def leads(self, X: Any, classes: Integers) -> tuple[Floats, Floats]:
        """Return the scores of the centre less those of the classes (n,), and their errors.

        The scores of the exact optimum for samples X (n, d), less its own of these classes, are as
        far from them at most. Both are (n, m).
        """
        features = cast(DataFeatures, features_of(X, None))
        x = norms_above(features.square_norms())
        slack = self.radius * self.inverse.reach(X, classes)
        slack += 2 * score_errors(features, x, self.centre)[:, None]
        scores = features.scores(self.centre)
        own = scores[np.arange(len(classes)), classes][:, None]
        # the difference is rounded, too
        return scores - own, MARGIN * slack + 2 * UNIT * np.abs(scores - own)

    def proved(self, X: Any) -> np.ndarray:
        """Return whether the optimum is proved to predict the centre's labels, (n,) bool."""
        best = features_of(X, None).scores(self.centre).argmax(axis=1)
        leads, slack = self.leads(X, best)
        return np.asarray(np.count_nonzero(leads < -slack, axis=1) == leads.shape[1] - 1)

    def proved_accuracy(self, X: Any, codes: Integers, k: int) -> tuple[float, float]:
        """Return an interval that holds the top-k accuracy of the optimum, as fwlab.proved does."""
        known = codes >= 0
        leads, slack = self.leads(X, np.where(known, codes, 0))
        less = np.count_nonzero(leads < -slack, axis=1)
        right = known & (leads.shape[1] - less - 1 < k)
        wrong = ~known | (np.count_nonzero(leads > slack, axis=1) >= k)
        return float(right.mean()), float((~wrong).mean())


def joined_proofs(proved: Any, ellipsoid: Ellipsoid | None, W: Floats, rows: Any) -> Any:
    """Return whether a ball or an ellipsoid proves that W and the optimum predict one label, (n,).

    proved (n,) is the answer of the ball for the rows (n, d). Tensors take that of the ball alone.
    """
    if ellipsoid is None or is_tensor(rows):
        return proved
    same = best_classes(W, rows) == best_classes(ellipsoid.centre, rows)
    return proved | (proved_labels(W, 0.0, rows) & same & ellipsoid.proved(rows))


def joined_interval(
    interval: tuple[float, float],
    ellipsoid: Ellipsoid | None,
    rows: Any,
    codes: Integers,
    k: int,
) -> tuple[float, float]:
    """Return what the interval of a ball and that of an ellipsoid have in common."""
    if ellipsoid is None or is_tensor(rows):
        return interval
    low, high = ellipsoid.proved_accuracy(rows, codes, k)
    return max(low, interval[0]), min(high, interval[1])


def is_affordable(problem: Problem) -> bool:
    """Return whether a problem has an ellipsoid: its loss, its machine and its size allow it."""
    if not problem.has_entropy or isinstance(problem.polytopes, CappedSimplices):
        return False
    if problem.has_tensors or problem.kernel is not None or not problem.regularizer.plain:
        return False
    unknowns = problem.n_classes * problem.n_features
    return unknowns <= MOST_UNKNOWNS and problem.n_samples * unknowns**2 <= MOST_PRODUCTS


def ellipsoid_of(problem: Problem, W: Floats) -> Ellipsoid | None:
    """Return an ellipsoid around a machine W (m, d) that holds the optimum.

    None if the problem has none (`is_affordable`), if no set K is found that holds it, or if
    rounding hides the smallest eigenvalue of the Hessian. Far from the optimum no share is known,
    and it is a ball of the radius |g| / lam.
    """
    if not is_affordable(problem):
        return None
    with np.errstate(all="ignore"):
        centre, needed = _near_optimum(_Centre.of(problem, W))
        b = GROWTH[0] * needed
        for growth in (*GROWTH[1:], 0.0):
            inverse = centre.inverse(b)
            if inverse is None:
                return None
            radius, needed = centre.radius(inverse), centre.needed(inverse)
            if (needed <= b).all() and np.isfinite(radius):
                return Ellipsoid(centre.W, inverse, radius)
            b = np.maximum(b, growth * needed)
    return None


def _near_optimum(centre: "_Centre") -> tuple["_Centre", Floats]:
    """Return a centre nearer to the optimum by Newton's method, and the b it would need."""
    needed = np.full_like(centre.leads, np.inf)
    for _ in range(MOST_RENEWALS):
        inverse = centre.inverse(np.zeros_like(needed))
        if inverse is None:
            break
        moved = _after_steps(centre, inverse)
        needed = moved.needed(inverse)
        if moved.W is centre.W or needed.max() <= NEAR:
            return moved, needed
        centre = moved
    return centre, needed


def _after_steps(centre: "_Centre", inverse: Inverse) -> "_Centre":
    """Return the centre after Newton's steps with one Hessian, as long as its radius falls."""
    start, factor, radius = centre, 1.0, centre.radius(inverse)
    for _ in range(MOST_STEPS):
        other = _Centre.of(centre.problem, centre.W - factor * inverse.step(centre.gradient))
        reached = other.radius(inverse)
        if reached <= (1 - factor / 2) * radius:
            centre, radius, factor = other, reached, min(1.0, 2 * factor)
        else:
            factor /= 4
            if centre.W is not start.W or factor < LEAST_STEP:
                break
    return centre


@dataclass(frozen=True, eq=False)
class _Centre:
    """A machine W (m, d) on the training samples.

    Attributes
    ----------
    norms : array (n,)
        Bounds of |x_i|.
    best : array (n,)
        The class t of the largest score.
    leads, lead_errors : array (n, m), array (n,)
        The scores less that of t, and bounds of their errors.
    gradient, gradient_error : array (m, d), float
        The computed gradient of P, and a bound of its error.
    """

    problem: PrimalDual
    W: Floats
    norms: Floats
    best: Integers
    leads: Floats
    lead_errors: Floats
    gradient: Floats
    gradient_error: float

    @classmethod
    def of(cls, problem: PrimalDual, W: Floats) -> "_Centre":
        samples, n = TrainingSamples.of(problem), problem.n_samples
        point: PointAtC = samples.point(1.0, W)
        best = point.scores.argmax(axis=1)
        leads = point.scores - point.scores[np.arange(n), best][:, None]
        errors = 2 * point.score_errors
        errors += 8 * UNIT * (row_maxima(point.scores) + point.score_errors)
        gradient = problem.lam * W - point.U / n
        sizes = problem.lam * norm_above(W) + norm_above(point.U) / n
        wrong = MARGIN * (point.U_error / n + 4 * UNIT * sizes)
        return cls(problem, W, samples.norms, best, leads, errors, gradient, float(wrong))

    def radius(self, inverse: Inverse) -> float:
        """Return rho."""
        rounding = self.gradient_error / np.sqrt(self.problem.lam)
        return MARGIN * float(inverse.norm(self.gradient) + rounding)

    def needed(self, inverse: Inverse) -> Floats:
        """Return the least b (n, m) for which E lies in K."""
        return MARGIN * self.radius(inverse) * inverse.reach(self.problem.X, self.best)

    def inverse(self, b: Floats) -> Inverse | None:
        """Return a bound of H^-1 in the set K of b (n, m), None if rounding hides it."""
        H, error = self._hessian(self._shares(b))
        T = inverse_factor(H, error)
        return None if T is None else Inverse(T, self.gradient.shape)

    def _shares(self, b: Floats) -> Floats:
        """Return the shares q, (n, m), rounded down; 0 for samples with no weight to speak of."""
        m, out = self.leads.shape[1], np.empty_like(self.leads)
        lost = gamma(m + 2 * LIBRARY_UNITS + 8)
        for rows in cut(slice(0, len(out)), ROWS):
            h, at_best = self.leads[rows], (np.arange(len(self.leads[rows])), self.best[rows])
            moved = MARGIN * (b[rows] + self.lead_errors[rows, None])
            moved[at_best] = 0.0
            total = np.exp(h + moved).sum(axis=1, keepdims=True)
            out[rows] = (1 - lost) * np.exp(h - moved) / total
        out[~(out >= LEAST_SHARE)] = 0.0
        out[self.problem.sample_weight < LEAST_WEIGHT * self.problem.n_samples] = 0.0
        return out

    def _hessian(self, q: Floats) -> tuple[Floats, float]:
        """Return H (m d, m d), of which the lower half counts, and a bound of its error E_H."""
        problem, (n, m), d = self.problem, q.shape, self.problem.n_features
        weights, sums, N = problem.sample_weight / n, q.sum(axis=1), m * d
        H = np.zeros((N, N))
        for rows in cut(slice(0, n), ROWS):
            x, shares, w = dense_rows(problem.X, rows), q[rows], weights[rows, None]
            Z = ((np.sqrt(w) * shares)[:, :, None] * x[:, None, :]).reshape(len(x), N)
            H -= Z.T @ Z
            factors = w * shares * sums[rows, None]
            for j in range(m):
                block = slice(j * d, (j + 1) * d)
                H[block, block] += (factors[:, j, None] * x).T @ x
        H[np.diag_indices(N)] += problem.lam
        trace = 2 * MARGIN * float(np.sum(weights * sums**2 * self.norms**2)) + problem.lam
        error = (2 * gamma_in_parts(n) + gamma(m + 32)) * trace
        largest = (1 + self.norms.max()) * (1 + np.sqrt(problem.sample_weight.max()))
        return H, float(MARGIN * (error + 4 * N * n * UNDERFLOW * largest))
