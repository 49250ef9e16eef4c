"""All methods by name: a sentence for the user and how to build one from its options."""

from collections.abc import Callable
from dataclasses import dataclass
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
from fwlab.solvers.method import Method, State
from fwlab.solvers.newton import Newton, reach_newton_kernels, refuses_kernels
from fwlab.solvers.sdca import Sdca, refuses_pseudo
from fwlab.solvers.subgradient import Subgradient


def takes_all(problem: Problem) -> None:
    """No problem is refused."""


def nothing_more(state: State) -> None:
    """The first iteration reaches all kernels."""


@dataclass(frozen=True)
class Entry:
    """A method's sentence, a constructor whose keyword arguments are its options, the reason why it
    does not take a problem, None if it does, a call of the kernels that its first iteration does
    not reach, and whether it takes an LpNorm other than LpNorm(2)."""

    sentence: str
    build: Callable[..., Method]
    refuses: Callable[[Problem], str | None] = takes_all
    reach_kernels: Callable[[State], None] = nothing_more
    any_norm: bool = False


REGISTRY = {
    "fw": Entry("Frank-Wolfe with exact line search.", partial(FrankWolfe, line_search=True)),
    "fw-open-loop": Entry(
        "Frank-Wolfe with the step 2/(t+1), t = 1, 2, ..", partial(FrankWolfe, line_search=False)
    ),
    "afw": Entry(
        "Away-step Frank-Wolfe over whole-matrix atoms.", partial(AwaySteps, pairwise=False)
    ),
    "pfw": Entry(
        "Pairwise Frank-Wolfe over whole-matrix atoms.", partial(AwaySteps, pairwise=True)
    ),
    "bafw": Entry(
        "Away-step Frank-Wolfe, one active set a sample and one bent path for all blocks.",
        partial(BentPath, pairwise=False),
    ),
    "bpfw": Entry(
        "Pairwise Frank-Wolfe, one active set a sample and one bent path for all blocks.",
        partial(BentPath, pairwise=True),
    ),
    "bcfw": Entry(
        "Block-coordinate Frank-Wolfe with exact line search.",
        partial(BlockMethod, FRANK_WOLFE),
    ),
    "bcafw": Entry(
        "Block-coordinate away-step Frank-Wolfe, one active set a sample.",
        partial(BlockMethod, AWAY),
    ),
    "bcpfw": Entry(
        "Block-coordinate pairwise Frank-Wolfe, one active set a sample.",
        partial(BlockMethod, PAIRWISE),
    ),
    "ascent": Entry("Exact block ascent on the true domain.", partial(Ascent, EXACT)),
    "alternate": Entry(
        "Passes at fixed class weights, then new weights (Algorithm 1 of LP15, repaired).",
        Alternate,
        any_norm=True,
    ),
    "direct": Entry(
        "Block steps on the full dual of an LpNorm, and extrapolation, both with line search.",
        Direct,
        any_norm=True,
    ),
    "newton": Entry(
        "Block ascent, then proximal point steps on the dual by a semismooth Newton method in W.",
        Newton,
        refuses_kernels,
        reach_newton_kernels,
    ),
    "auto": Entry(
        "Newton where there is a W, with a kernel block ascent.",
        Auto,
        reach_kernels=reach_newton_kernels,
    ),
    "subgradient": Entry("Projected subgradient, step 1/(lam t).", Subgradient),
    "sdca-lapin": Entry(
        "SDCA on the pseudo top-k domain, its block step by a biased projection.",
        partial(Sdca, BIASED_PROJECTION),
        refuses_pseudo,
    ),
    "sdca-chu-newton": Entry(
        "The same SDCA, its block step by a semismooth Newton iteration.",
        partial(Sdca, SEMISMOOTH_NEWTON),
        refuses_pseudo,
    ),
    "sdca-chu-fixing": Entry(
        "The same SDCA, its block step by Newton's iteration or by variable fixing.",
        partial(Sdca, VARIABLE_FIXING),
        refuses_pseudo,
    ),
}


def methods() -> dict[str, str]:
    """The names of all methods, each with a sentence."""
    return {name: entry.sentence for name, entry in REGISTRY.items()}


def build(name: str, options: dict[str, Any]) -> Method:
    """The method `name` with its options. Raises ValueError or TypeError for unknown ones."""
    if not isinstance(name, str) or name not in REGISTRY:
        raise ValueError(f"method must be one of {', '.join(REGISTRY)}; got {name!r}.")
    entry = REGISTRY[name]
    if options:
        _check_options(name, entry, options)
    return entry.build(**options)


def _check_options(name: str, entry: Entry, options: dict[str, Any]) -> None:
    allowed = set(signature(entry.build).parameters) - set(getattr(entry.build, "keywords", {}))
    for option in options:
        if option not in allowed:
            takes = f"takes {', '.join(sorted(allowed))}" if allowed else "takes no options"
            raise TypeError(f"method {name!r} {takes}; got {option!r}.")


def refusal(name: str, problem: Problem) -> str | None:
    """Why the method does not take this problem, None if it does."""
    entry, regularizer = REGISTRY[name], problem.regularizer
    if not (entry.any_norm or regularizer.plain):
        takers = ", ".join(other for other in REGISTRY if REGISTRY[other].any_norm)
        return f"its regularizer must be LpNorm(2) but for {takers}; got {regularizer!r}."
    return entry.refuses(problem)


def require_taken(name: str, problem: Problem) -> None:
    """Raise ValueError with the reason if the method does not take this problem."""
    if reason := refusal(name, problem):
        raise ValueError(f"problem is not one for method {name!r}: {reason}")
