"""`check_method`: run a method on small problems, and report the smallest that contradicts it."""

from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from fwlab.checks.arguments import as_integer
from fwlab.problem import Problem
from fwlab.result import Result, Status
from fwlab.solvers.method import Method
from fwlab.solvers.registry import build, refusal
from fwlab.solvers.solve import solve
from fwlab.testing.shrinking import Contradiction
from fwlab.testing.small_problems import SmallProblem, small_problems
from fwlab.testing.tried_loss import text
from fwlab.testing.watch import Watch

ITERATIONS = 12


def check_method(method: Any, rng: int = 0) -> None:
    """Run a method of your own on small problems; raise AssertionError if it breaks a promise.

    The problems have several losses, smoothing, sample weights (one of them 0), a start A0 and a
    kernel; with `any_loss` also a PolytopeLoss whose domain does not hold 0, with `any_norm` an
    LpNorm. The message names the iteration, the row, what was expected and what came, and the
    smallest problem that was found. Tried are

    - the types of `sentence`, `monotone` and of what `refuses` answers;
    - at each checkpoint: A in the domain, link and scores as A gives them, a gap that is not
      negative, a dual that does not fall if the method is `monotone`, counters that do not fall;
    - the same run again, from the same seed, bit for bit, also after runs on other problems;
    - the options of the method, which no run may change.

    Equal arguments give equal verdicts. It takes about a second, and longer for a method that
    compiles code.

    Parameters
    ----------
    method : Method or str
        An object of your class, or a name of `fwlab.methods()`.
    rng : int
        The seed of all runs.

    Raises
    ------
    AssertionError
        If the method breaks a promise, refuses all problems, or raises an exception.
    TypeError, ValueError
        If an argument is not as described.
    """
    method, rng = build(method, {}), as_integer("rng", rng, low=0)
    _check_attributes(method)
    first: tuple[SmallProblem, Result] | None = None
    for small in small_problems(method):
        problem = small.problem()
        _check_refusal(method, problem)
        if refusal(method, problem) is None:
            result = _tried(method, small, rng)
            first = first or (small, result)
    if first is None:
        raise AssertionError(f"{method!r} refuses all problems that are tried.")
    small, result = first
    again = _run(method, small, rng, Watch(method, small.problem(), only_points=True))
    if not np.array_equal(again.A, result.A):
        raise AssertionError(
            f"{method!r} gives another result after runs on other problems: what changes during a "
            f"run belongs into the workspace. On {small}, A was {text(result.A)} at first, and "
            f"then {text(again.A)}."
        )


def _check_attributes(method: Method) -> None:
    for name, kind in (("sentence", str), ("monotone", bool), ("name", str)):
        value = getattr(method, name)
        if not isinstance(value, kind):
            raise AssertionError(f"{name} of {method!r} must be a {kind.__name__}; got {value!r}.")


def _check_refusal(method: Method, problem: Problem) -> None:
    answer = method.refuses(problem)
    if answer is not None and not (isinstance(answer, str) and answer):
        raise AssertionError(
            f"refuses of {method!r} must return a sentence or None; got {answer!r}."
        )


def _tried(method: Method, small: SmallProblem, rng: int) -> Result:
    """Return the result of a run; raise AssertionError with the smallest problem that fails."""
    try:
        return _replayed(method, small, rng)
    except Contradiction as error:
        found = error
    searching = True
    while searching:
        searching = False
        for smaller in small.smaller():
            again = _contradiction(method, smaller, rng)
            if again is not None and again.kind == found.kind:
                small, found, searching = smaller, again, True
                break
    raise Contradiction(
        found.kind, f"{found}\nThe smallest problem found for {method!r}: {small}, rng={rng}."
    ) from found.__cause__


def _contradiction(method: Method, small: SmallProblem, rng: int) -> Contradiction | None:
    try:
        _replayed(method, small, rng)
    except Contradiction as found:
        return found
    return None


def _replayed(method: Method, small: SmallProblem, rng: int) -> Result:
    """Run twice; raise a Contradiction unless all checks pass and both runs are the same."""
    options = _frozen(vars(method))
    watches = [Watch(method, small.problem(), only_points=again) for again in (False, True)]
    results = [_run(method, small, rng, watch) for watch in watches]
    if _frozen(vars(method)) != options:
        raise Contradiction(
            "options",
            f"a run changes the options of {method!r}: what changes during a run belongs into the "
            f"workspace that `start` returns.",
        )
    points = zip(watches[0].points, watches[1].points, strict=False)
    for iteration, (one, two) in enumerate(points):
        if not np.array_equal(one, two):
            i = int(np.argwhere(one != two)[0][0])
            raise Contradiction(
                "replay",
                f"two runs from the seed {rng} differ at iteration {iteration}: row {i} of A is "
                f"{text(one[i])}, and then {text(two[i])}. All random choices come from state.rng.",
            )
    return results[0]


def _run(method: Method, small: SmallProblem, rng: int, watch: Watch) -> Result:
    try:
        result = solve(
            small.problem(),
            method,
            tol=0.0,
            max_iter=ITERATIONS,
            A0=small.A0,
            rng=rng,
            callback=watch,
            check_every=1,
        )
    except Contradiction:
        raise
    except Exception as error:
        said = " ".join(str(error).split())
        raise Contradiction(
            "raises", f"a run of {method!r} raises {type(error).__name__}: {said}"
        ) from error
    if result.status is Status.INCONSISTENT:
        raise Contradiction("inconsistent", result.message)
    return result


def _frozen(value: Any) -> Any:
    """Return nested tuples that are equal for equal states."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if isinstance(value, dict):
        return tuple((key, _frozen(entry)) for key, entry in value.items())
    if isinstance(value, list | tuple):
        return tuple(_frozen(entry) for entry in value)
    if hasattr(value, "__dict__") and not isinstance(value, type | FunctionType | ModuleType):
        return type(value), _frozen(vars(value))
    return repr(value)
