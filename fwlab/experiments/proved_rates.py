"""Proved worst cases of Frank-Wolfe, beside runs on the problems of a suite.

Let h_t = max D - D(A_t), and let C be the curvature of the dual on its domain,
max <S - A, H (S - A)> with H minus the Hessian of D. After t >= 1 steps

    h_t <= constant C / (t + shift)

for the steps in rates.json, which `python -m figures.exact.rates` proves and writes. For exact
line search this is 2 C / (t + 2), for open-loop steps T20's rate.

Of V = S - A, with rows v_i, <V, H V> is

    |sum_i x_i v_i^T|^2 / (lam n^2) + smoothing |V|^2 / n
        <= (sum_i |x_i| |v_i|)^2 / (lam n^2) + smoothing/n sum_i |v_i|^2.

A row of the domain is -beta in the wrong classes and s = sum beta in the true one, with beta >= 0,
|beta| <= |upper| and s <= R, the sum of `upper`. Two rows with s <= s' differ by

    |v_i|^2 <= |beta|^2 + |beta'|^2 + (s' - s)^2 <= s^2 + (s' - s)^2 + |upper|^2 <= R^2 + |upper|^2,

because |beta| <= s. The bounds of C and of the errors contain rounding.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fwlab.operators.domains import RowPolytopes
from fwlab.operators.sums import gamma
from fwlab.problem import Problem
from fwlab.result import Result
from fwlab.solvers.frank_wolfe import FrankWolfe
from fwlab.solvers.method import Method
from fwlab.solvers.step_rules import OpenLoop, as_step_rule

FILE = Path(__file__).with_name("rates.json")


class Rate(NamedTuple):
    """The bound constant C / (t + shift)."""

    constant: Fraction
    shift: Fraction

    def __str__(self) -> str:
        return f"{self.constant} C / (t + {self.shift})"


@dataclass(frozen=True)
class Share:
    """How much of its proved bound a run used.

    Attributes
    ----------
    problem : str
    iteration : int
        Where the upper bound of the error is the largest part of the proved bound.
    most : float
        This part: the error is at most best primal - D(A_t).
    least : float
        The largest part that is certain: the error is at least best dual - D(A_t), less rounding.
    """

    problem: str
    iteration: int
    most: float
    least: float

    @property
    def is_defect(self) -> bool:
        """Whether the run was certainly above the bound, which one of both must have wrong."""
        return self.least > 1.0


@cache
def rates() -> dict[str, Rate]:
    """Return the rates of the file by the step."""
    document = json.loads(FILE.read_text("utf-8"))
    return {
        step: Rate(Fraction(rate["constant"]), Fraction(rate["shift"]))
        for step, rate in document["rates"].items()
    }


def rate_of(method: Method) -> Rate | None:
    """Return the proved rate of a method, None if there is none here.

    A subclass of FrankWolfe may do something else, and has none.
    """
    if type(method) is not FrankWolfe:
        return None
    if method.step == "exact":
        return rates()["exact"]
    rule = as_step_rule(method.step)
    return rates().get(f"open-loop {rule.ell}") if type(rule) is OpenLoop else None


def curvature_bound(problem: Problem) -> float | None:
    """Return an upper bound of the curvature C, None for what the bound does not cover.

    It covers losses of the family with the Euclidean regulariser, without sample weights.
    """
    polytopes = problem.polytopes
    is_plain = problem.regularizer.plain and bool(np.all(problem.sample_weight == 1.0))
    if not isinstance(polytopes, RowPolytopes) or not is_plain:
        return None
    n, upper = problem.n_samples, np.asarray(polytopes.upper)
    square = float(np.sum(upper**2) + np.sum(upper) ** 2)
    # |x_i|^2 / (lam n) of each sample
    lengths = float(np.sum(np.sqrt(problem.curvatures)))
    terms = n + 2 * len(upper) + (problem.n_features if problem.kernel is None else 0)
    above = 1 + 8 * gamma(terms + 8)
    return float(above * square * (lengths**2 / n + problem.smoothing))


def share_of(
    name: str, result: Result, others: Sequence[Result], rate: Rate, curvature: float
) -> Share | None:
    """Return the used part of a bound; None if the run made no step.

    others are all results of the problem, whose best values enclose the optimum.
    """
    trace = result.trace
    kept = trace.iteration >= 1
    if not kept.any():
        return None
    bound = float(rate.constant) * curvature / (trace.iteration[kept] + float(rate.shift))
    highest = min(other.primal + other.gap_error for other in others)
    lowest = max(other.dual - other.gap_error for other in others)
    most = (highest - trace.dual[kept]) / bound
    least = (lowest - result.gap_error - trace.dual[kept]) / bound
    at = int(np.argmax(most))
    return Share(name, int(trace.iteration[kept][at]), float(most[at]), float(np.max(least)))


def shares(
    problems: Mapping[str, Problem], runs: Mapping[str, Mapping[str, Any]], name: str, rate: Rate
) -> list[Share]:
    """Return how much of its bound a method used on each problem that the bound covers."""
    found = []
    for problem, by_method in runs.items():
        results = [run for run in by_method.values() if isinstance(run, Result)]
        own, curvature = by_method.get(name), curvature_bound(problems[problem])
        if isinstance(own, Result) and curvature is not None:
            share = share_of(problem, own, results, rate, curvature)
            found += [share] if share is not None else []
    return found
