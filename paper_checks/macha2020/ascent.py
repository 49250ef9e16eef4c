"""Run Algorithm 3.1 in floating point, with the steps that the ledger finds correct.

It covers TopPushK with both surrogates and Pat&Mat with the truncated quadratic one, with certified
gaps. A repeat loop
takes a random k, tries all l at once and makes the step that gains most.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from paper_checks.arithmetic import Undefined
from paper_checks.ledger import Case

# smaller gains, relative to the value, count as 0
LEAST_GAIN = 1e-14
# gaps are relative to the value, or to this number if the value is smaller
LEAST_VALUE = 1e-3


@dataclass
class PairAscent:
    """A problem and its dual point z = (alpha, beta), delta; s is (16). K = 0 means Pat&Mat."""

    kernel: np.ndarray
    positives: int
    C: float
    theta: float
    theta2: float
    K: int
    budget: float
    hinge: bool
    z: np.ndarray
    delta: float = 0.0
    s: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.s = self.kernel @ self.z

    @property
    def alpha(self) -> np.ndarray:
        return self.z[: self.positives]

    @property
    def beta(self) -> np.ndarray:
        return self.z[self.positives :]

    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (gain, curvature) of the separable terms.

        The terms are gain z - curvature z^2 / 2, by coordinate.
        """
        negatives = len(self.z) - self.positives
        gain = np.repeat([1 / self.theta, 0.0], [self.positives, negatives])
        curvature = np.zeros(len(self.z))
        if not self.hinge:
            curvature[: self.positives] = 1 / (2 * self.C * self.theta**2)
        if not self.K:
            gain[self.positives :] = 1 / self.theta2
            curvature[self.positives :] = 1 / (2 * self.delta * self.theta2**2)
        return gain, curvature

    def dual(self) -> float:
        if not self.K and self.delta == 0:
            return 0.0  # beta is 0, so alpha is 0 too
        gain, curvature = self.parts()
        value = gain @ self.z - curvature @ self.z**2 / 2 - self.z @ self.s / 2
        return float(value - (0 if self.K else self.delta * self.budget))

    def steps(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (step, gain) of the pairs (k, l), for all l."""
        n, z, diagonal = self.positives, self.z, np.diag(self.kernel)
        mixed = (np.arange(len(z)) < n) != (k < n)
        sign = np.where(mixed, 1.0, -1.0)
        gain, curvature = self.parts()
        slope = self.s + curvature * z - gain
        slope = slope[k] + sign * slope
        bend = diagonal[k] + diagonal + 2 * sign * self.kernel[k] + curvature[k] + curvature
        low, high = self.ends(k, mixed)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where((bend > 0) | (slope != 0), -slope / bend, 0.0)
        step = np.clip(step, low, high)
        return step, -slope * step - bend * step**2 / 2

    def ends(self, k: int, mixed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest feasible step of each pair; 0 between them."""
        n, z = self.positives, self.z
        top = np.full(len(z), np.inf)
        if self.hinge:
            top[:n] = self.C * self.theta
        total = np.sum(self.alpha)
        if self.K > 1:
            top[n:] = total / self.K
        low = np.maximum(-z[k], np.where(mixed, -z, z - top))
        high = np.minimum(top[k] - z[k], np.where(mixed, top - z, z))
        if self.K > 1:
            b = self.beta if k < n else np.full(n, z[k])
            a = np.full(len(b), z[k]) if k < n else self.alpha
            limit = self.C * self.theta if self.hinge else np.inf
            room = (total - self.K * b) / (self.K - 1)
            low[mixed] = np.maximum(np.maximum(-a, -b), self.K * self.largest_others(k) - total)
            high[mixed] = np.minimum(limit - a, room)
        return np.minimum(low, 0), np.maximum(high, 0)

    def largest_others(self, k: int) -> np.ndarray | float:
        """Return the largest beta except the one in each mixed pair with k."""
        ordered = np.sort(self.beta)
        if k >= self.positives:
            return float(np.max(np.delete(self.beta, k - self.positives), initial=0.0))
        others = np.full(len(self.beta), ordered[-1])
        others[np.argmax(self.beta)] = ordered[-2] if len(ordered) > 1 else 0.0
        return others

    def loop(self, k: int, increments: bool = False) -> float:
        """Run one repeat loop and return the gain of its pair step.

        delta follows (32), or the increments of Theorem C.1; these give no delta if its square
        becomes negative.
        """
        if not self.K and self.delta == 0:
            return 0.0
        steps, gains = self.steps(k)
        other = int(np.argmax(gains))
        step, before = steps[other], self.beta @ self.beta
        mixed = (k < self.positives) != (other < self.positives)
        for i, change in ((k, step), (other, step if mixed else -step)):
            self.z[i] = max(0.0, self.z[i] + change)
            self.s += self.kernel[i] * change
        if not self.K:
            squares = self.beta @ self.beta
            start = self.delta**2 if increments else 0.0
            changed = squares - before if increments else squares
            squared = float(start + changed / (4 * self.theta2**2 * self.budget))
            if squared < 0:
                raise Undefined(f"delta is the root of {squared:.3g}")
            self.delta = math.sqrt(squared)
        return float(gains[other])

    def run(self, rng: np.random.Generator, loops: int, increments: bool = False) -> None:
        """Run loops until a sweep over all k gains nothing, but at most this number."""
        n = len(self.z)
        for _ in range(max(1, loops // n)):
            gained = sum(self.loop(int(k), increments) for k in rng.permutation(n))
            if gained <= LEAST_GAIN * max(1.0, abs(self.dual())):
                return

    def primal(self) -> float:
        """Return the primal value at the w of the dual point, with the best threshold."""
        scores = np.where(np.arange(len(self.z)) < self.positives, self.s, -self.s)
        positive, negative = scores[: self.positives], scores[self.positives :]
        if self.K:
            t = np.mean(np.sort(negative)[-self.K :])
        else:
            t = threshold(negative, self.theta2, self.budget)
        cut = np.maximum(0, 1 + self.theta * (t - positive))
        loss = np.sum(cut if self.hinge else cut**2)
        return float(self.z @ self.s / 2 + self.C * loss)

    def relative_gap(self) -> float:
        """Return (primal - dual) / max(|primal|, |dual|)."""
        dual, primal = self.dual(), self.primal()
        return (primal - dual) / max(abs(primal), abs(dual), LEAST_VALUE)


def threshold(scores: np.ndarray, theta: float, budget: float) -> float:
    """Return the least t of (10), quadratic surrogate, from above; by bisection."""
    low, high = np.min(scores) - 1e3 / theta, np.max(scores) + 1 / theta
    for _ in range(200):
        middle = (low + high) / 2
        over = np.sum(np.maximum(0, 1 + theta * (scores - middle)) ** 2) > budget
        low, high = (middle, high) if over else (low, middle)
    return float(high)


def ascent(case: Case, patmat: bool) -> PairAscent:
    """Return the problem of an exact case, at its point."""
    rows = np.vstack([case.positives, -case.negatives]).astype(float)
    return PairAscent(
        kernel=rows @ rows.T,
        positives=len(case.positives),
        C=float(case.C),
        theta=float(case.theta),
        theta2=float(case.theta2),
        K=0 if patmat else case.K,
        budget=float(case.budget),
        hinge=case.surrogate == "hinge",
        z=np.concatenate([case.alpha, case.beta]).astype(float),
        delta=float(case.delta) if patmat else 0.0,
    )
