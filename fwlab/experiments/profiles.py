"""Performance profiles (Dolan and More 2002) of methods over the problems of a comparison.

The cost of a method on a problem is what it spent up to its first checkpoint with a certified
relative gap of at most g, in oracle calls or CPU seconds; it is inf if there is none. The ratio is
this cost over the least one of all methods, and the profile

    rho(tau) = the share of the problems with a ratio of at most tau.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fwlab.arrays import Floats
from fwlab.result import Result, Status

# certified relative gaps (primal - dual) / max(|primal|, |dual|) that count as solved
GAPS = (1e-2, 1e-3, 1e-4)
# what a cost is counted in, and how it is called
COSTS = {"calls": "oracle calls", "cpu": "CPU seconds"}
# the right end of the profiles
LARGEST_RATIO = 100.0

# the outcome of each method by the problem
Outcomes = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class Profiles:
    """Costs and ratios of methods on problems.

    Attributes
    ----------
    problems, methods : tuple of str
    costs : dict
        Arrays (problems, methods) by (kind of cost, gap), inf where the gap was not reached.
    gaps : array (problems, methods)
        The smallest certified relative gap of each run, inf for a run without a result.
    """

    problems: tuple[str, ...]
    methods: tuple[str, ...]
    costs: dict[tuple[str, float], Floats]
    gaps: Floats

    @classmethod
    def of(cls, outcomes: Outcomes, methods: Sequence[str]) -> "Profiles":
        """Return the profiles of all problems; an outcome that is no Result solved nothing."""
        runs = [[outcomes[problem].get(m) for m in methods] for problem in outcomes]
        costs = {
            (kind, gap): _table(runs, lambda run, k=kind, g=gap: cost_to(run, k, g))
            for kind in COSTS
            for gap in GAPS
        }
        return cls(tuple(outcomes), tuple(methods), costs, _table(runs, smallest_gap))

    def ratios(self, kind: str, gap: float) -> Floats:
        """Return the costs over the least one of each problem, (problems, methods).

        Problems that no method solves have inf for all.
        """
        costs = self._positive(kind, gap)
        least = costs.min(axis=1, keepdims=True)
        ratios: Floats = np.full_like(costs, np.inf)
        np.divide(costs, least, out=ratios, where=np.isfinite(costs))
        return ratios

    def profile(self, kind: str, gap: float, method: str) -> tuple[Floats, Floats]:
        """Return the corners (tau, rho) of the profile of a method, up to LARGEST_RATIO."""
        ratios = self.ratios(kind, gap)[:, self.methods.index(method)]
        tau = np.sort(ratios[ratios <= LARGEST_RATIO])
        rho = np.arange(1, len(tau) + 1) / len(ratios)
        last = rho[-1] if len(tau) else 0.0
        return np.r_[1.0, tau, LARGEST_RATIO], np.r_[0.0, rho, last]

    def solved(self, gap: float) -> Floats:
        """Return the share of the problems that each method solved, (methods,)."""
        shares: Floats = np.isfinite(self.costs["cpu", gap]).mean(axis=0)
        return shares

    def within(self, kind: str, gap: float, tau: float) -> Floats:
        """Return rho(tau) of each method, (methods,)."""
        shares: Floats = (self.ratios(kind, gap) <= tau).mean(axis=0)
        return shares

    def score(self, kind: str) -> Floats:
        """Return the area under each method's profile, (methods,), the mean over all gaps.

        The area is over log tau from 1 to LARGEST_RATIO, divided by its largest value: 1 for a
        method that is the best on every problem, 0 for one that is never within LARGEST_RATIO.
        """
        areas = []
        for gap in GAPS:
            logs = np.log(np.minimum(self.ratios(kind, gap), LARGEST_RATIO))
            areas.append(np.mean(1 - logs / np.log(LARGEST_RATIO), axis=0))
        scores: Floats = np.mean(areas, axis=0)
        return scores

    def ranking(self) -> list[str]:
        """Return the methods by their score in calls, the best first.

        Of equal scores the one with the smaller median of its gaps comes first.
        """
        scores, medians = self.score("calls"), np.median(self.gaps, axis=0)
        order = sorted(range(len(self.methods)), key=lambda j: (-scores[j], medians[j]))
        return [self.methods[j] for j in order]

    def factors(self, kind: str, gap: float, method: str) -> Floats:
        """Return the least cost of the other methods over the cost of this one, (problems,).

        Above 1 the method is ahead. It is inf where only this method solved the problem, 0 where
        only others did, and nan where none did.
        """
        mine, costs = self.methods.index(method), self._positive(kind, gap)
        return _over(np.delete(costs, mine, axis=1).min(axis=1, initial=np.inf), costs[:, mine])

    def between(self, kind: str, gap: float, method: str, other: str) -> Floats:
        """Return the cost of another method over the cost of this one, as `factors` does."""
        mine, its = map(self.methods.index, (method, other))
        costs = self._positive(kind, gap)
        return _over(costs[:, its], costs[:, mine])

    def worst(self, method: str) -> int:
        """Return the number of the problem on which a method is worst beside the others.

        This is one that it does not solve and another method does, for the largest such gap; of
        several the one where its own gap ends largest. If there is none, it is the one with the
        largest ratio of calls at the smallest gap.
        """
        own = self.gaps[:, self.methods.index(method)]
        for gap in GAPS:
            missed = self.factors("cpu", gap, method) == 0
            if missed.any():
                return int(np.argmax(np.where(missed, own, -1.0)))
        ratios = self.ratios("calls", GAPS[-1])[:, self.methods.index(method)]
        return int(np.argmax(np.where(np.isfinite(ratios), ratios, 0.0)))

    def _positive(self, kind: str, gap: float) -> Floats:
        """Return the costs; a start that is good enough costs little, so that ratios are 1."""
        costs: Floats = np.maximum(self.costs[kind, gap], np.finfo(float).tiny)
        return costs


def _over(costs: Floats, own: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        factors: Floats = costs / own
    return factors


def _table(runs: Sequence[Sequence[Any]], number: Any) -> Floats:
    return np.array([[number(run) for run in row] for row in runs], dtype=np.float64)


def relative_gaps(result: Result) -> Floats:
    """Return gap / max(|primal|, |dual|) at each checkpoint; inf if both values are 0."""
    trace = result.trace
    scale = np.maximum(np.abs(trace.primal), np.abs(trace.dual))
    gaps: Floats = np.divide(
        trace.gap, scale, out=np.full(len(scale), np.inf), where=(scale > 0) & np.isfinite(scale)
    )
    return gaps


def cost_to(run: Any, kind: str, gap: float) -> float:
    """Return the calls or the CPU seconds up to a relative gap, inf if it was not reached.

    A run that contradicts itself has no certificate. One that steps and counts no call has no
    number of calls.
    """
    if not _is_certified(run):
        return np.inf
    reached = np.flatnonzero(relative_gaps(run) <= gap)
    spent = {"calls": run.trace.calls, "cpu": run.trace.cpu_seconds}[kind]
    if not len(reached) or spent is None:
        return np.inf
    if kind == "calls" and reached[0] > 0 and spent[reached[0]] == 0:
        return np.inf
    return float(spent[reached[0]])


def smallest_gap(run: Any) -> float:
    """Return the smallest certified relative gap of a run, inf if it has none."""
    return float(np.nanmin(relative_gaps(run))) if _is_certified(run) else np.inf


def counts_no_calls(runs: Iterable[Any]) -> bool:
    """Return whether a method made steps and counted no call in any of its runs."""
    results = [run for run in runs if isinstance(run, Result) and run.nit > 0]
    return bool(results) and not any(np.any(run.trace.calls) for run in results)


def _is_certified(run: Any) -> bool:
    return isinstance(run, Result) and run.status is not Status.INCONSISTENT
