"""Try a form on cases: the outcome of one, the summary of many, and their evidence."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from paper_checks.arithmetic import Truth, Undefined, side_conditions

# the most entries of an array that a witness lists
MOST_SHOWN = 100
# the kind of a case that a solver found and simplified
FOUND = "smallest found"


class Tier(StrEnum):
    """The strength of evidence, from the strongest to the weakest."""

    PROVED = "proved"
    PROVED_SMALL = "proved at small sizes"
    EXACT = "exact"
    COUNTED = "counted"
    FLOAT = "float"
    MONTE_CARLO = "Monte Carlo"
    PUBLISHED = "published numbers"
    READ = "read"


STRENGTH = {tier: -place for place, tier in enumerate(Tier)}


def weakest(*tiers: Tier) -> Tier:
    """Return the weakest of the tiers."""
    return min(tiers, key=STRENGTH.__getitem__)


def strongest(tiers: Iterable[Tier]) -> Tier | None:
    """Return the strongest of the tiers; None if there are none."""
    return max(tiers, key=STRENGTH.__getitem__, default=None)


class Case(SimpleNamespace):
    """One instance of a statement's quantities; `kind` names the type of case.

    Quantities whose names begin with an underscore are internal to a proof and not shown.
    """

    kind: str

    def __str__(self) -> str:
        return ", ".join(f"{name} = {text}" for name, text in self.given().items())

    def given(self) -> dict[str, str]:
        """Return the quantities as readable text, including those of a problem."""
        given = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        if is_dataclass(problem := given.get("problem")):
            del given["problem"]
            given = {part.name: getattr(problem, part.name) for part in fields(problem)} | given
        return {name: shown(value) for name, value in given.items() if name != "kind"}


@dataclass(frozen=True)
class Outcome:
    """The outcome in a case: the statement holds if margin >= -allowed, or as `formula` states.

    Attributes
    ----------
    seen : dict
        Numbers for the witness.
    tier : Tier or None
        The arithmetic in which the margin was found; None means exact if margin and allowed are
        exact, else float.
    formula : Formula or None
        The formula to be proved, on symbols.
    undecided : bool
        Whether an experiment's interval is compatible with both answers.
    undefined : str
        The reason why the printed expression has no value in this case.
    """

    margin: float | Fraction
    allowed: float = 0.0
    seen: Mapping[str, Any] = field(default_factory=dict)
    tier: Tier | None = None
    formula: Truth = None
    undecided: bool = False
    undefined: str = ""

    @property
    def holds(self) -> bool:
        if self.formula is not None:
            raise TypeError(
                "an outcome on symbols has no truth value until it is proved (paper_checks.proofs)"
            )
        return bool(self.margin >= -self.allowed) and not self.undefined


Form = Callable[..., Outcome]
Cases = Callable[[np.random.Generator, bool], Iterable[Case]]


@dataclass(frozen=True)
class Witness:
    """A case in which a statement fails: its quantities, and the values computed there, as text."""

    kind: str = ""
    given: Mapping[str, str] = field(default_factory=dict)
    seen: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.kind:
            return ""
        parts = (
            ", ".join(f"{n} = {t}" for n, t in part.items()) for part in (self.given, self.seen)
        )
        return f"{self.kind}: {'; '.join(part for part in parts if part)}"


def witness(case: Case, outcome: Outcome) -> Witness:
    """Return the witness for a case and the values computed there."""
    seen = {name: shown(value) for name, value in outcome.seen.items()}
    if outcome.undefined:
        seen["undefined"] = outcome.undefined
    return Witness(case.kind, case.given(), seen)


@dataclass(frozen=True)
class Trial:
    """The outcome of trying one version.

    Attributes
    ----------
    kinds : dict
        The number of cases by kind.
    failed, undefined, undecided : int
        The number of cases of each sort.
    worst : number or None
        The worst margin.
    witness : Witness or None
        The failing case to show: the smallest one that the solver found, else an exact one, else
        any; among several, the one with the shortest text.
    tiers, failed_tiers : dict
        For each tier, the number of cases judged and of cases failed.
    allowed : float
        The largest relative error allowed.
    conventions : int
        Uses of the convention for 0/0.
    intervals : dict
        For each tier, the interval of the case that came closest to the opposite answer.
    failing : tuple of Case
        The cases in which the version fails.
    """

    kinds: Mapping[str, int]
    failed: int
    worst: float | Fraction | None
    witness: Witness = Witness()
    undefined: int = 0
    undecided: int = 0
    tiers: Mapping[Tier, int] = field(default_factory=dict)
    failed_tiers: Mapping[Tier, int] = field(default_factory=dict)
    allowed: float = 0.0
    conventions: int = 0
    intervals: Mapping[Tier, str] = field(default_factory=dict)
    failing: tuple[Case, ...] = field(default=(), compare=False, repr=False)

    @property
    def cases(self) -> int:
        return sum(self.kinds.values())

    @property
    def holds(self) -> bool:
        return self.failed == 0 and self.cases > 0


def evaluated(
    form: Form, case: Case, changes: Mapping[str, Any] | None = None
) -> tuple[Outcome, int]:
    """Return the outcome of a form in a case, and how often it gave 0/0 a value by convention."""
    with side_conditions() as conditions:
        try:
            outcome = form(case, **(changes or {}))
        except Undefined as reason:
            outcome = Outcome(Fraction(-1), undefined=str(reason))
    if not isinstance(outcome, Outcome):
        raise TypeError(f"a form must return an Outcome (paper_checks.outcomes); got {outcome!r}")
    return outcome, conditions.conventions


def evidence(case: Case, outcome: Outcome) -> Tier:
    """Return the tier that the outcome names.

    By default exact if the case and the margin are exact, else float.
    """
    if outcome.tier is not None:
        return outcome.tier
    exact = isinstance(outcome.margin, int | Fraction) and outcome.allowed == 0
    return Tier.EXACT if exact and not has_floats(list(vars(case).values())) else Tier.FLOAT


def has_floats(value: Any) -> bool:
    """Return whether a value contains a float."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" or (value.dtype == object and has_floats(value.tolist()))
    if isinstance(value, list | tuple):
        return any(map(has_floats, value))
    if is_dataclass(value):
        return any(has_floats(getattr(value, part.name)) for part in fields(value))
    return isinstance(value, float | np.floating)


def try_form(form: Form, cases: Iterable[Case], changes: Mapping[str, Any] | None = None) -> Trial:
    """Try a form on cases."""
    kinds: Counter[str] = Counter()
    tiers: Counter[Tier] = Counter()
    failed_tiers: Counter[Tier] = Counter()
    margins, witnesses, allowed = [], [], [0.0]
    nearest: dict[Tier, tuple[float, str]] = {}
    conventions = undefined = undecided = 0
    for case in cases:
        outcome, used = evaluated(form, case, changes)
        conventions += used
        kinds[case.kind] += 1
        tier = evidence(case, outcome)
        tiers[tier] += 1
        margins.append(outcome.margin)
        allowed.append(outcome.allowed)
        if "interval" in outcome.seen:
            found = abs(float(outcome.margin)), shown(outcome.seen["interval"])
            nearest[tier] = min(found, nearest.get(tier, found))
        undefined += bool(outcome.undefined)
        undecided += outcome.undecided
        if not outcome.holds:
            failed_tiers[tier] += 1
            failing = witness(case, outcome)
            rank = (case.kind != FOUND, tier != Tier.EXACT, len(str(failing)))
            witnesses.append((rank, failing, case))
    shown_first = min(witnesses, key=lambda ranked: ranked[0], default=(None, Witness(), None))[1]
    return Trial(
        dict(kinds),
        len(witnesses),
        min(margins, default=None),
        shown_first,
        undefined,
        undecided,
        dict(tiers),
        dict(failed_tiers),
        max(allowed),
        conventions,
        {tier: text for tier, (_, text) in nearest.items()},
        tuple(case for *_, case in witnesses),
    )


def refuting_tier(
    form: Form, cases: Iterable[Case], changes: Mapping[str, Any], enough: Tier = Tier.EXACT
) -> Tier | None:
    """Return the strongest tier of a case in which a form fails; None if it never does.

    The search ends at the first case of the tier `enough`, or of a stronger one.
    """
    best: Tier | None = None
    for case in cases:
        outcome, _ = evaluated(form, case, changes)
        if not outcome.holds:
            best = strongest([evidence(case, outcome), *([best] if best else [])])
            if best is not None and STRENGTH[best] >= STRENGTH[enough]:
                return best
    return best


def shown(value: Any) -> str:
    """Return a value as readable text; for a large array, only its shape."""
    if isinstance(value, np.ndarray):
        return shown(value.tolist()) if value.size <= MOST_SHOWN else f"array {value.shape}"
    if isinstance(value, list | tuple):
        return "(" + ", ".join(shown(entry) for entry in value) + ")"
    if isinstance(value, float | np.floating):
        return f"{float(value):.6g}"
    if is_dataclass(value):
        parts = [f"{part.name}={shown(getattr(value, part.name))}" for part in fields(value)]
        return f"{type(value).__name__}({', '.join(parts)})"
    return str(value)
