"""Serve fits along C: a default instance, feasible starts, the warning of an unfinished fit."""

import warnings
from collections.abc import Callable
from types import MethodType
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from fwlab.arrays import Floats, is_tensor
from fwlab.problem import Problem
from fwlab.solvers.along_C import start_after


class on_class_or_instance:
    """Make a method that takes the default instance when it is called on the class."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.__doc__ = function, function.__doc__

    def __get__(self, instance: Any, owner: Any) -> Any:
        return MethodType(self.function, owner() if instance is None else instance)


def may_start(problem: Problem, A: Floats) -> bool:
    """Return whether a run of the problem may start from the dual point A."""
    fits = A.shape == (problem.n_samples, problem.n_classes)
    return fits and problem.polytopes.checks_membership and problem.is_feasible(A)


def start_from(problem: Problem, last: Any, growth: float) -> Any:
    """Return the start of a run of the problem, None if it may not start where the last one ended.

    last : array (n, m), tensor (m, d) or None
        The last dual point, or for tensors the last machine; it may be of other samples.
    growth : float
        By how much C has grown since then.
    """
    if last is None or is_tensor(last) != problem.has_tensors:
        return None
    if problem.has_tensors:
        n, m, d = problem.n_samples, problem.n_classes, problem.n_features
        # `solve` takes a square machine for a dual point
        return last if tuple(last.shape) == (m, d) != (n, m) else None
    return start_after(problem, last, growth) if may_start(problem, last) else None


def warn_if_unfinished(name: str, result: Any, tol: float, advice: str = "") -> None:
    """Warn with ConvergenceWarning, at the caller of `fit`, if a result is not certified to tol.

    advice: a sentence and a space before the usual one.
    """
    if not result.success:
        warnings.warn(
            f"{name} stopped at a duality gap of {result.gap:.3g} after {result.nit} "
            f"iterations, above tol = {tol:g}: {result.message} {advice}A larger max_iter, a "
            "larger tol or a smaller C may help.",
            ConvergenceWarning,
            stacklevel=4,
        )
