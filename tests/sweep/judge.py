"""Run a case and judge it: certified by ball arithmetic, refused, or wrong."""

import signal
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import fwlab
from sweep.cases import Case

HANGS_AFTER = 120  # seconds of the processor, which compiling takes, too
FINE = ("certified", "refused", "not taken")


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case. A kind that FINE does not list is a defect of the library."""

    kind: str
    detail: str = ""
    status: str = ""


class Hangs(Exception):
    """A run that took more than HANGS_AFTER."""


def outcome(case: Case) -> Outcome:
    """Return the outcome of a case."""
    try:
        with _alarm(HANGS_AFTER), warnings.catch_warnings():
            warnings.simplefilter("error")
            return _judged(*_RUNS[case.kind](case))
    except Hangs:
        return Outcome("hang")
    except (ValueError, TypeError) as error:
        return _refusal(case, error)
    except Exception as error:
        return Outcome("crash", "".join(traceback.format_exception(error))[-1500:])


def _train(case: Case) -> tuple[Any, fwlab.Enclosure, float]:
    problem = fwlab.Problem(**case.problem)
    result = fwlab.solve(problem, case.method, **case.settings)
    scale = max(abs(result.primal), abs(result.dual)) if case.settings["relative"] else 1.0
    return result, fwlab.verify(problem, result), case.settings["tol"] * scale


def _rank(case: Case) -> tuple[Any, fwlab.Enclosure, float]:
    result = fwlab.ranking.solve(**case.problem, method=case.method, **case.settings)
    problem = fwlab.ranking.Problem(**case.problem)
    scale = max(abs(result.primal), abs(result.dual))
    return result, fwlab.verify(problem, result), case.settings["tol"] * scale


_RUNS = {"training": _train, "ranking": _rank}


def _judged(result: Any, exact: fwlab.Enclosure, tol: float) -> Outcome:
    """Compare what a result says with the enclosure; tol is the gap that success claims."""
    status = result.status.name
    numbers = np.array([result.primal, result.dual, result.gap, result.gap_error])
    if np.isnan(numbers).any() or not np.isfinite(numbers[:3]).all():
        return Outcome("not finite", f"{numbers}", status)
    low, high = exact.gap
    if result.success and not high <= tol * (1 + 1e-12):
        return Outcome("false CONVERGED", f"gap {result.gap} in {exact.gap}, tol {tol}", status)
    error = max(result.gap - low, high - result.gap) - (high - low)
    if not error <= result.gap_error:
        return Outcome("gap_error too small", f"{error} above {result.gap_error}", status)
    if status == "INCONSISTENT":
        return Outcome("inconsistent", result.message, status)
    return Outcome("certified", status=status)


def _refusal(case: Case, error: Exception) -> Outcome:
    """Return whether an error is one sentence of the library, and about what."""
    sentence = str(error)
    if "is not one for method" in sentence:
        return Outcome("not taken", sentence)
    if "\n" in sentence or not sentence.endswith(".") or "must" not in sentence:
        return Outcome("crash", "".join(traceback.format_exception(error))[-1500:])
    return Outcome("refused", sentence)


@contextmanager
def _alarm(seconds: int) -> Iterator[None]:
    def end(*_: object) -> None:
        raise Hangs

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
