"""The ledger: claims, how one is tried, and how its verdict follows from what was found.

A claim is one statement of one paper. Its form is a function of a case that says by how much the
statement holds there (an Outcome); the numbers in the statement are keyword arguments of the form,
so that a derived, relaxed, corrected or wrong version is the same code with other numbers. The
verdict is computed from the outcomes alone, by the rules in `decide`.
"""

import inspect
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

# a short name of the source, a dash, and a name of one's own
ID = re.compile(r"[A-Za-z0-9]+-[A-Za-z0-9._-]+")
# entries of an array that a witness writes out
MOST_SHOWN = 100


class Verdict(StrEnum):
    """The outcome of trying a claim."""

    HOLDS = "holds"
    WIDER = "wider"
    CONDITIONAL = "conditional"
    MISPRINT = "misprint"
    FAILS = "fails"
    UNTESTABLE = "untestable"


class Untestable(Exception):
    """Raised by cases or a form, with the reason, when a statement cannot be tried here."""


class Case(SimpleNamespace):
    """One instance of a statement's quantities: `kind` says what sort of case it is."""

    kind: str

    def __str__(self) -> str:
        parts = [f"{name} = {shown(value)}" for name, value in vars(self).items() if name != "kind"]
        return ", ".join(parts)


@dataclass(frozen=True)
class Outcome:
    """The statement holds in a case if margin >= -allowed; `seen` are numbers for the witness."""

    margin: float | Fraction
    allowed: float = 0.0
    seen: Mapping[str, Any] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        return bool(self.margin >= -self.allowed)


Form = Callable[..., Outcome]
Cases = Callable[[np.random.Generator, bool], Iterable[Case]]


@dataclass(frozen=True)
class Version:
    """Another version of a statement: the form (the printed one's if None) with changed numbers,
    tried on its own cases, or on the printed statement's if None."""

    text: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    form: Form | None = None
    cases: Cases | None = None


def version(
    text: str, form: Form | None = None, cases: Cases | None = None, **changes: Any
) -> Version:
    """A Version whose changed numbers are written as keyword arguments."""
    return Version(text, changes, form, cases)


@dataclass(frozen=True)
class Condition:
    """A condition, named, under which a statement that is false as printed may be true."""

    text: str
    meets: Callable[[Case], bool]


@dataclass(frozen=True, eq=False)
class Claim:
    """One statement of one paper.

    where: the place in the paper; statement: in our own words; formula: in mathtext, "" if words
    say it all; shapes: of the quantities; judged: which of several printed readings was judged.
    cases(rng, deep) yields what the form is tried on; from_table: they are read from a table that
    figures/ has made. planted: wrong versions, which the same check must refute.
    """

    id: str
    where: str
    statement: str
    form: Form
    cases: Cases
    from_table: bool = False
    formula: str = ""
    shapes: str = ""
    judged: str = ""
    planted: tuple[Version, ...] = ()
    derived: Version | None = None
    relaxed: Version | None = None
    condition: Condition | None = None
    corrected: Version | None = None

    @property
    def paper(self) -> str:
        return self.id.partition("-")[0]


CLAIMS: dict[str, Claim] = {}


def claim(id: str, where: str, statement: str, **parts: Any) -> Callable[[Form], Claim]:
    """Register the decorated form as a claim; `parts` are the other fields of Claim."""

    def register(form: Form) -> Claim:
        if id in CLAIMS:
            raise ValueError(f"two claims have the id {id}")
        made = Claim(id, where, statement, form, **parts)
        check_claim(made)
        CLAIMS[id] = made
        return made

    return register


def check_claim(claim: Claim) -> None:
    """Raise TypeError or ValueError for an id that is none, and for versions that cannot run."""
    if not ID.fullmatch(claim.id):
        raise ValueError(
            "an id must be SOURCE-NAME, in letters, digits, dots, dashes and underscores; "
            f"got {claim.id!r}"
        )
    if not isinstance(claim.planted, tuple):
        raise TypeError(f"{claim.id}: planted must be a tuple of versions; got {claim.planted!r}")
    others = (claim.derived, claim.relaxed, claim.corrected)
    for other in (*claim.planted, *(other for other in others if other is not None)):
        if not isinstance(other, Version):
            raise TypeError(f"{claim.id}: version() makes what may be tried besides; got {other!r}")
        try:
            inspect.signature(other.form or claim.form).bind(None, **other.changes)
        except TypeError as error:
            raise TypeError(f"{claim.id}, {other.text!r}: the form {error}") from None


@dataclass(frozen=True)
class Trial:
    """What trying one version found: cases by kind, how many failed, the worst margin among
    those judged, and the failing case that is shortest to write down."""

    kinds: Mapping[str, int]
    failed: int
    worst: float | Fraction | None
    witness: str = ""

    @property
    def cases(self) -> int:
        return sum(self.kinds.values())

    @property
    def holds(self) -> bool:
        return self.failed == 0 and self.cases > 0


@dataclass(frozen=True)
class Finding:
    """A claim's verdict with its evidence. `others` are the trials of its other versions, by the
    field of Claim, "met" and "not met" for the two sides of a condition. `defects_missed` are the
    planted versions, in words, that the check did not refute."""

    claim: Claim
    verdict: Verdict
    printed: Trial | None
    others: Mapping[str, Trial] = field(default_factory=dict)
    defects_caught: int = 0
    defects_missed: tuple[str, ...] = ()
    reason: str = ""
    seconds: float = 0.0
    seed: int = 0
    deep: bool = False

    def timed(self, seconds: float) -> "Finding":
        return replace(self, seconds=seconds)


def judge(claim: Claim, seed: int = 0, deep: bool = False) -> Finding:
    """Try a claim and all its versions; the same seed gives the same finding."""
    try:
        cases = drawn(claim.cases, claim, seed, deep)
        printed = try_form(claim.form, cases)
        others = {}
        for name in ("derived", "relaxed", "corrected"):
            other: Version | None = getattr(claim, name)
            if other is not None:
                others[name] = try_version(claim, other, cases, seed, deep)
        if claim.condition is not None:
            meets = claim.condition.meets
            others["met"] = try_form(claim.form, [c for c in cases if meets(c)])
            others["not met"] = try_form(claim.form, [c for c in cases if not meets(c)])
        missed = tuple(
            wrong.text
            for wrong in claim.planted
            if try_version(claim, wrong, cases, seed, deep, first=True).failed == 0
        )
    except Untestable as reason:
        return Finding(claim, Verdict.UNTESTABLE, None, reason=str(reason), seed=seed, deep=deep)
    verdict, lack = decide(printed, others), "" if printed.cases else "there are no cases"
    caught = len(claim.planted) - len(missed)
    return Finding(claim, verdict, printed, others, caught, missed, lack, seed=seed, deep=deep)


def decide(printed: Trial, others: Mapping[str, Trial]) -> Verdict:
    """The verdict, by the first rule that applies."""

    def true(name: str) -> bool:
        return name in others and others[name].holds

    if printed.cases == 0:
        return Verdict.UNTESTABLE
    if not printed.holds and true("derived"):
        return Verdict.MISPRINT
    if printed.holds:
        return Verdict.WIDER if true("relaxed") else Verdict.HOLDS
    if true("met") and others["not met"].failed > 0:
        return Verdict.CONDITIONAL
    return Verdict.FAILS


def drawn(cases: Cases, claim: Claim, seed: int, deep: bool) -> list[Case]:
    """The cases of a claim; its random numbers depend on the seed and the claim alone."""
    rng = np.random.default_rng([seed, zlib.crc32(claim.id.encode())])
    return list(cases(rng, deep))


def try_version(
    claim: Claim,
    other: Version,
    cases: list[Case],
    seed: int,
    deep: bool,
    first: bool = False,
) -> Trial:
    """Try another version of a claim on its own cases, or on these."""
    if other.cases is not None:
        cases = drawn(other.cases, claim, seed, deep)
    return try_form(other.form or claim.form, cases, other.changes, first)


def try_form(
    form: Form, cases: list[Case], changes: Mapping[str, Any] | None = None, first: bool = False
) -> Trial:
    """Try a form on cases; if `first`, only up to the first failure."""
    kinds: Counter[str] = Counter()
    margins, witnesses = [], []
    for case in cases:
        outcome = form(case, **(changes or {}))
        if not isinstance(outcome, Outcome):
            raise TypeError(
                f"a form must return an Outcome (paper_checks.outcomes); got {outcome!r}"
            )
        kinds[case.kind] += 1
        margins.append(outcome.margin)
        if not outcome.holds:
            witnesses.append(written(case, outcome))
            if first:
                break
    return Trial(
        dict(kinds), len(witnesses), min(margins, default=None), min(witnesses, key=len, default="")
    )


def written(case: Case, outcome: Outcome) -> str:
    """A case and what was seen there, as one line."""
    seen = [f"{name} = {shown(value)}" for name, value in outcome.seen.items()]
    parts = "; ".join(part for part in (str(case), ", ".join(seen)) if part)
    return f"{case.kind}: {parts}"


def shown(value: Any) -> str:
    """A value as a reader would write it; of a large array the shape alone."""
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
