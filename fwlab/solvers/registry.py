"""List all methods by name: of fwlab, of installed packages, and of the running program."""

from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from inspect import Parameter, signature
from typing import Any

from fwlab.kernels.steps.pseudo import BIASED_PROJECTION, SEMISMOOTH_NEWTON, VARIABLE_FIXING
from fwlab.kernels.steps.rules import EXACT, INVARIANT
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.alternate import Alternate
from fwlab.solvers.ascent import Ascent
from fwlab.solvers.auto import Auto
from fwlab.solvers.away_steps import AwayStep, Pairwise
from fwlab.solvers.bent_path import BentPath
from fwlab.solvers.blended_pairwise import BlendedPairwise
from fwlab.solvers.block_frank_wolfe import (
    BlockAwayStep,
    BlockBlendedPairwise,
    BlockFrankWolfe,
    BlockPairwise,
)
from fwlab.solvers.blocks import BlockMethod
from fwlab.solvers.direct import Direct
from fwlab.solvers.frank_wolfe import FrankWolfe
from fwlab.solvers.fully_corrective import FullyCorrective
from fwlab.solvers.lbfgs import Lbfgs
from fwlab.solvers.method import Method
from fwlab.solvers.newton import Newton
from fwlab.solvers.sdca import Sdca
from fwlab.solvers.subgradient import Subgradient
from fwlab.text import did_you_mean, listed

# the entry points of installed packages whose methods have names
GROUP = "fwlab.methods"

# a constructor per name, whose keyword arguments are the options of the method
REGISTRY: dict[str, Callable[..., Method]] = {
    "fw": FrankWolfe,
    "fw-open-loop": partial(FrankWolfe, step="open-loop"),
    "afw": AwayStep,
    "pfw": Pairwise,
    "blended-pairwise": BlendedPairwise,
    "fcfw": FullyCorrective,
    "bafw": partial(BentPath, pairwise=False),
    "bpfw": partial(BentPath, pairwise=True),
    "bcfw": BlockFrankWolfe,
    "bcafw": BlockAwayStep,
    "bcpfw": BlockPairwise,
    "bbpfw": BlockBlendedPairwise,
    "dicg": partial(BlockMethod, INVARIANT),
    "ascent": partial(Ascent, EXACT),
    "alternate": Alternate,
    "direct": Direct,
    "newton": Newton,
    "lbfgs": Lbfgs,
    "auto": Auto,
    "subgradient": Subgradient,
    "sdca-lapin": partial(Sdca, BIASED_PROJECTION),
    "sdca-chu-newton": partial(Sdca, SEMISMOOTH_NEWTON),
    "sdca-chu-fixing": partial(Sdca, VARIABLE_FIXING),
}
OWN = dict(REGISTRY)
# arguments of `solve`, one of which may be meant by an option that no method has
OF_SOLVE = ("tol", "relative", "max_iter", "time_limit", "A0", "rng", "callback", "check_every")


def register_method(name: str, cls: Callable[..., Method]) -> None:
    """Register a method under a name, in this process and in its worker processes.

    `cls` is a subclass of Method, or another callable that returns methods. Its keyword arguments,
    all with defaults, are the options of the method. A program may register one of its own names
    again, but no name of fwlab or of an installed package. An installed package names its methods
    by entry points of the group "fwlab.methods".

    Raises TypeError or ValueError if the name is not allowed, or if cls() is not a Method.
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string; got {name!r}.")
    if not name or not name.isprintable() or name != name.strip() or "," in name or name == "all":
        raise ValueError(f'name must be printable, without commas, and not "all"; got {name!r}.')
    if name in OWN or name in _installed():
        raise ValueError(f"name must be new; {name!r} is a method already.")
    if not callable(cls):
        raise TypeError(f"cls must be a subclass of fwlab.Method; got {cls!r}.")
    _constructed(name, cls, {})
    REGISTRY[name] = cls


def names() -> tuple[str, ...]:
    """Return the names of all methods."""
    return tuple(dict.fromkeys((*REGISTRY, *_installed())))


def methods() -> dict[str, str]:
    """Return the names of all methods, each with a sentence."""
    return {name: _sentence(name) for name in names()}


def constructor(name: str) -> Callable[..., Method]:
    """Return the constructor that builds the method of this name from its options.

    Raises ValueError if there is no such method, or if its package cannot be imported.
    """
    if name in REGISTRY:
        return REGISTRY[name]
    if name not in _installed():
        guess = did_you_mean(name, names())
        raise ValueError(f"method must be one of {', '.join(names())}; got {name!r}.{guess}")
    try:
        loaded: Callable[..., Method] = _installed()[name].load()
        _constructed(name, loaded, {})
    except Exception as error:
        raise ValueError(
            f"method {name!r} is {_installed()[name].value}, which cannot be loaded: {error}"
        ) from error
    return loaded


def build(method: Any, options: dict[str, Any]) -> Method:
    """Return a method by its name and its options; a Method is returned as it is.

    Raises ValueError if there is no such method, and TypeError if it has no such option.
    """
    if isinstance(method, Method):
        if options:
            option = next(iter(options))
            raise TypeError(f"a Method holds its options already; got {option!r} beside it.")
        return method
    if not isinstance(method, str):
        raise ValueError(
            f"method must be one of {', '.join(names())}, or a fwlab.Method; got {method!r}."
        )
    cls = constructor(method)
    if options:
        _check_options(method, cls, options)
    return _constructed(method, cls, options)


def label(method: str | Method) -> str:
    """Return the name that tables and figures show."""
    return method.name if isinstance(method, Method) else method


def registered() -> dict[str, Callable[..., Method]]:
    """Return the constructors that this program has registered, by name."""
    return {name: cls for name, cls in REGISTRY.items() if OWN.get(name) is not cls}


def visitors() -> dict[str, Callable[..., Method]]:
    """Return the names and constructors of the methods that are not fwlab's own.

    An installed package that cannot be imported is left out.
    """
    found = registered()
    for name in _installed():
        try:
            found[name] = constructor(name)
        except ValueError:
            continue
    return found


def takers(attribute: str) -> list[str]:
    """Return the names of fwlab's methods that have a property, an attribute of Method."""
    return [name for name, cls in REGISTRY.items() if getattr(cls(), attribute)]


def refusal(method: Method, problem: PrimalDual) -> str | None:
    """Return the reason why the method does not take this problem, None if it does."""
    if problem.has_entropy:
        return _refused_entropy(method, problem) or method.refuses(problem)
    if not (method.any_norm or problem.regularizer.plain):
        names = ", ".join(takers("any_norm"))
        return f"its regularizer must be LpNorm(2) but for {names}; got {problem.regularizer!r}."
    if not (method.any_loss or problem.in_family):
        names = ", ".join(takers("any_loss"))
        return f"its loss must be a fwlab.Loss but for {names}; got {problem.loss!r}."
    return method.refuses(problem)


def _refused_entropy(method: Method, problem: PrimalDual) -> str | None:
    if problem.has_tensors and not method.takes_tensors:
        names = ", ".join(takers("takes_tensors"))
        return f"its X must be an array of numpy but for {names}; got a tensor."
    if not method.takes_entropy:
        taking = [name for name in takers("takes_entropy") if not REGISTRY[name]().refuses(problem)]
        why = f"it does not take {problem.loss!r}, because {method.without_entropy}"
        return f"{why}; {listed(taking)} do."
    if not problem.regularizer.plain:
        return f"its regularizer must be LpNorm(2); got {problem.regularizer!r}."
    return None


def require_taken(name: str, method: Method, problem: PrimalDual) -> None:
    """Raise ValueError with the reason if the method does not take this problem."""
    if reason := refusal(method, problem):
        raise ValueError(f"problem is not one for method {name!r}: {reason}")


@cache
def _installed() -> dict[str, EntryPoint]:
    """Return the entry points of installed packages whose names are not fwlab's own."""
    return {point.name: point for point in entry_points(group=GROUP) if point.name not in OWN}


def _constructed(name: str, cls: Callable[..., Method], options: dict[str, Any]) -> Method:
    method = cls(**options)
    if not isinstance(method, Method):
        raise TypeError(f"method {name!r} must be a fwlab.Method; its constructor gave {method!r}.")
    return method


def _sentence(name: str) -> str:
    try:
        return build(name, {}).sentence
    except Exception as error:
        return f"It cannot be used: {error}"


def _check_options(name: str, cls: Callable[..., Method], options: dict[str, Any]) -> None:
    parameters = signature(cls).parameters
    takes_any = any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values())
    allowed = set(parameters) - set(getattr(cls, "keywords", {}))
    for option in options:
        if option not in allowed and not takes_any:
            takes = f"takes {', '.join(sorted(allowed))}" if allowed else "takes no options"
            guess = did_you_mean(option, [*allowed, *OF_SOLVE])
            raise TypeError(f"method {name!r} {takes}; got {option!r}.{guess}")
