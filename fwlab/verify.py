"""Enclose a certificate in ball arithmetic, independently of the run (extra "verify").

fwlab.balls and fwlab.entropy_balls compute it for training, fwlab.ranking.verify for ranking.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fwlab import ranking
from fwlab.balls import PRECISION, Balls
from fwlab.entropy_balls import EntropyBalls
from fwlab.problem import Problem
from fwlab.problem_input import require_array
from fwlab.ranking.verify import enclose as enclose_ranking
from fwlab.result import Result


@dataclass(frozen=True)
class Enclosure:
    """Intervals (low, high) that hold the exact primal, dual and gap."""

    primal: tuple[float, float]
    dual: tuple[float, float]
    gap: tuple[float, float]


def verify(problem: Problem | ranking.Problem, result: Result | ranking.Result) -> Enclosure:
    """Enclose the primal, the dual and the gap of a result in ball arithmetic.

    It takes about ten seconds per 10^8 products of an entry of X with a class. A long computation
    shows a progress bar on a terminal.

    Parameters
    ----------
    problem : Problem or ranking.Problem
        The problem that was solved. Its loss must be a fwlab.Loss, CrossEntropy or TopKEntropy.
    result : Result or ranking.Result
        What `solve` returned or `load` read.

    Returns
    -------
    Enclosure
        The primal is taken at the stored machine, or at its coefficients with a precomputed kernel.
        The dual is taken at a point of the exact domain next to the stored one.

    Raises
    ------
    ImportError
        Without python-flint, which the extra "verify" installs.
    ValueError, TypeError
        With one sentence, if the result does not belong to the problem.
    """
    flint = imported_flint()
    if isinstance(problem, ranking.Problem):
        _check_ranking(problem, result)
        return Enclosure(*enclose_ranking(problem, result))
    _check_training(problem, result)
    assert isinstance(result, Result)
    kind = EntropyBalls if problem.has_entropy else Balls
    with flint.ctx.workprec(PRECISION):
        return Enclosure(*map(_interval, kind(flint, problem, result).enclosure()))


def imported_flint() -> Any:
    """Return the module flint. Raises ImportError with the command that installs it."""
    try:
        import flint
    except ImportError:
        raise ImportError("verify needs python-flint: pip install 'fwlab[verify]'.") from None
    return flint


def _interval(ball: Any) -> tuple[float, float]:
    """Return the ends of a ball as floats, rounded outwards."""
    low, high = float(ball.lower()), float(ball.upper())
    return float(np.nextafter(low, -np.inf)), float(np.nextafter(high, np.inf))


def _check_training(problem: Any, result: Any) -> None:
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem or a ranking.Problem; got {problem!r}.")
    if not isinstance(result, Result):
        raise TypeError(f"result must be a fwlab.Result; got {type(result).__name__}.")
    require_array("verify", problem.X)
    if not problem.polytopes.trusted:
        raise TypeError(
            f"loss must be a fwlab.Loss or an entropy for verify; got {problem.loss!r}."
        )
    shape = (problem.n_samples, problem.n_classes)
    if result.A.shape != shape:
        raise ValueError(f"result must have A of shape {shape}; got shape {result.A.shape}.")
    if problem.kernel == "precomputed":
        return
    wanted = (problem.n_classes, problem.n_features)
    got = None if result.W is None else result.W.shape
    if got != wanted:
        raise ValueError(f"result must have W of shape {wanted}; got {got}.")


def _check_ranking(problem: ranking.Problem, result: Any) -> None:
    if not isinstance(result, ranking.Result):
        raise TypeError(f"result must be a ranking.Result; got {type(result).__name__}.")
    wanted = problem.n_positive, problem.n_counted
    got = len(result.alpha), len(result.beta)
    if got != wanted:
        raise ValueError(f"result must have {wanted} alpha and beta; got {got}.")
