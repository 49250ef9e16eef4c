"""All methods by name, and how to build each from its options."""

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

from fwlab.kernels.steps.passes import AWAY, EXACT, FRANK_WOLFE, PAIRWISE
from fwlab.kernels.steps.pseudo import BIASED_PROJECTION, SEMISMOOTH_NEWTON, VARIABLE_FIXING
from fwlab.problem import Problem
from fwlab.solvers.alternate import Alternate
from fwlab.solvers.ascent import Ascent
from fwlab.solvers.auto import Auto
from fwlab.solvers.away_steps import AwaySteps
from fwlab.solvers.bent_path import BentPath
from fwlab.solvers.blocks import BlockMethod
from fwlab.solvers.direct import Direct
from fwlab.solvers.frank_wolfe import FrankWolfe
from fwlab.solvers.method import Method
from fwlab.solvers.newton import Newton
from fwlab.solvers.sdca import Sdca
from fwlab.solvers.subgradient import Subgradient

# a constructor per name, whose keyword arguments are the options of the method
REGISTRY: dict[str, Callable[..., Method]] = {
    "fw": partial(FrankWolfe, line_search=True),
    "fw-open-loop": partial(FrankWolfe, line_search=False),
    "afw": partial(AwaySteps, pairwise=False),
    "pfw": partial(AwaySteps, pairwise=True),
    "bafw": partial(BentPath, pairwise=False),
    "bpfw": partial(BentPath, pairwise=True),
    "bcfw": partial(BlockMethod, FRANK_WOLFE),
    "bcafw": partial(BlockMethod, AWAY),
    "bcpfw": partial(BlockMethod, PAIRWISE),
    "ascent": partial(Ascent, EXACT),
    "alternate": Alternate,
    "direct": Direct,
    "newton": Newton,
    "auto": Auto,
    "subgradient": Subgradient,
    "sdca-lapin": partial(Sdca, BIASED_PROJECTION),
    "sdca-chu-newton": partial(Sdca, SEMISMOOTH_NEWTON),
    "sdca-chu-fixing": partial(Sdca, VARIABLE_FIXING),
}


def methods() -> dict[str, str]:
    """Return the names of all methods, each with a sentence."""
    return {name: build_default().sentence for name, build_default in REGISTRY.items()}


def build(name: str, options: dict[str, Any]) -> Method:
    """Return the method of this name with its options.

    Raises ValueError if there is no such method, and TypeError if it has no such option.
    """
    if not isinstance(name, str) or name not in REGISTRY:
        raise ValueError(f"method must be one of {', '.join(REGISTRY)}; got {name!r}.")
    if options:
        _check_options(name, options)
    return REGISTRY[name](**options)


def refusal(method: Method, problem: Problem) -> str | None:
    """Return the reason why the method does not take this problem, None if it does."""
    if not (method.any_norm or problem.regularizer.plain):
        takers = ", ".join(name for name in REGISTRY if build(name, {}).any_norm)
        return f"its regularizer must be LpNorm(2) but for {takers}; got {problem.regularizer!r}."
    return method.refuses(problem)


def require_taken(name: str, method: Method, problem: Problem) -> None:
    """Raise ValueError with the reason if the method does not take this problem."""
    if reason := refusal(method, problem):
        raise ValueError(f"problem is not one for method {name!r}: {reason}")


def _check_options(name: str, options: dict[str, Any]) -> None:
    constructor = REGISTRY[name]
    allowed = set(signature(constructor).parameters) - set(getattr(constructor, "keywords", {}))
    for option in options:
        if option not in allowed:
            takes = f"takes {', '.join(sorted(allowed))}" if allowed else "takes no options"
            raise TypeError(f"method {name!r} {takes}; got {option!r}.")
