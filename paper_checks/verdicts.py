"""Decide the verdict on a claim and its strength, from trials and proofs only."""

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np

from paper_checks.ledger import Claim, Experiment, Library, Untestable, Version
from paper_checks.library_defects import planted_in
from paper_checks.proofs import BySolver, Decision, Proof, decision, no_assumption
from paper_checks.trials import (
    Case,
    Cases,
    Form,
    Tier,
    Trial,
    refuting_tier,
    strongest,
    try_form,
    weakest,
)

# versions of an experiment; they are tried on the cases that decide
OF_EXPERIMENTS = ("program", "cause")
# the second stream of random numbers, for cases that the printed statement was not tried on
FRESH = 1


class Verdict(StrEnum):
    """The verdict on a claim; REPRODUCED to OTHER_DATA are verdicts on experiments."""

    HOLDS = "holds"
    EMPTY = "empty"
    WIDER = "wider"
    CONDITIONAL = "conditional"
    MISPRINT = "misprint"
    FAILS = "fails"
    DEPENDS = "depends on the reading"
    REPRODUCED = "reproduced"
    WITH_PROGRAM = "reproduced with the program"
    EXPLAINED = "explained"
    NOT_REPRODUCED = "not reproduced"
    INCONCLUSIVE = "inconclusive"
    OTHER_DATA = "other data"
    NO_CLAIM = "no claim"
    UNTESTABLE = "untestable"


# the version of a statement that is true, by verdict
TRUE_VERSION = {
    Verdict.HOLDS: "printed",
    Verdict.WIDER: "relaxed",
    Verdict.CONDITIONAL: "met",
    Verdict.MISPRINT: "derived",
    Verdict.FAILS: "corrected",
    Verdict.DEPENDS: "reading",
    Verdict.WITH_PROGRAM: "program",
    Verdict.EXPLAINED: "cause",
}


@dataclass(frozen=True)
class Finding:
    """A claim's verdict with its evidence.

    Attributes
    ----------
    trials : dict
        Trials by name: a field of Claim for a version, "printed", "met" and "not met" for the two
        sides of a condition, "where_right" and "library".
    proved : tuple
        Each proof with its decision on the true version.
    planted : tuple
        For each planted version, the strongest tier of a case that refutes it, or None.
    library_defects : tuple of bool
        For each function of fwlab, whether the row detected the planted defect; empty unless deep.
    """

    claim: Claim
    verdict: Verdict
    tier: Tier | None = None
    trials: Mapping[str, Trial] = field(default_factory=dict)
    proved: tuple[tuple[Proof, Decision], ...] = ()
    planted: tuple[Tier | None, ...] = ()
    library_defects: tuple[bool, ...] = ()
    reason: str = ""
    seconds: float = 0.0
    seed: int = 0
    deep: bool = False

    @property
    def printed(self) -> Trial | None:
        return self.trials.get("printed")

    @property
    def defects_missed(self) -> tuple[str, ...]:
        pairs = zip(self.claim.planted, self.planted, strict=True) if self.planted else ()
        return tuple(version.text for version, tier in pairs if tier is None)

    @property
    def true_name(self) -> str:
        """The name of the field that holds the true version.

        It may be "derived" rather than "corrected" for a failing claim if the paper has the correct
        form nowhere.
        """
        name = TRUE_VERSION.get(self.verdict, "printed")
        derived = self.trials.get("derived")
        if self.verdict == Verdict.FAILS and derived is not None and derived.holds:
            return "derived"
        return name

    def timed(self, seconds: float) -> "Finding":
        return replace(self, seconds=seconds)


def judge(claim: Claim, seed: int = 0, deep: bool = False) -> Finding:
    """Try a claim and all its versions; the same seed gives the same finding."""
    try:
        return Judge(claim, seed, deep).finding()
    except Untestable as reason:
        return Finding(claim, Verdict.UNTESTABLE, reason=str(reason), seed=seed, deep=deep)


@dataclass(frozen=True)
class Judge:
    """The trial of one claim with all its versions."""

    claim: Claim
    seed: int
    deep: bool

    def finding(self) -> Finding:
        claim = self.claim
        cases = self.drawn(claim.cases)
        decisive, others = split(claim.experiment, cases)
        printed = self.refuting(claim.form, {}, decisive)
        trials = {"printed": try_form(claim.form, printed)}
        if others:
            trials["other data"] = try_form(claim.form, others)
        trials |= {
            name: self.try_version(name, v, decisive if name in OF_EXPERIMENTS else cases)
            for name, v in claim.versions.items()
        }
        if claim.premise is not None:
            trials["premise"] = try_form(claim.form, [c for c in cases if claim.premise.meets(c)])
        if claim.condition is not None:
            met, not_met = self.sides(claim.condition.meets, printed)
            trials |= {"met": try_form(claim.form, met), "not met": try_form(claim.form, not_met)}
        if claim.where_right is not None and claim.where_right.form is not None:
            trials["where_right"] = try_form(claim.where_right.form, cases)
        verdict = decide(claim, trials)
        lack = "there are no cases" if verdict == Verdict.UNTESTABLE else ""
        strongest_tried = strongest(tier for trial in trials.values() for tier in trial.tiers)
        enough = strongest_tried or Tier.EXACT  # a stronger refutation would not change the tier
        planted = tuple(self.refuted(wrong, cases, enough) for wrong in claim.planted)
        found = Finding(
            claim,
            verdict,
            trials=trials,
            planted=planted,
            reason=lack,
            seed=self.seed,
            deep=self.deep,
        )
        found = replace(found, proved=tuple(self.proofs(found)))
        if claim.library is not None:
            found = self.with_library(found, claim.library, cases)
        return replace(found, tier=tier_of(found))

    def with_library(self, found: Finding, library: Library, cases: list[Case]) -> Finding:
        """Compare fwlab with the true version; if deep, also plant a defect in each function."""
        version = self.claim.versions.get(found.true_name, Version(""))
        form, changes = library.form or version.form or self.claim.form, version.changes
        changes = {} if library.form is not None else changes
        compared = cases if library.cases is None else self.drawn(library.cases)
        trials = {**found.trials, "library": try_form(form, compared, changes)}
        caught = [sees_defect(name, form, compared, changes) for name in library.names if self.deep]
        return replace(found, trials=trials, library_defects=tuple(caught))

    def drawn(self, cases: Cases, stream: int = 0) -> list[Case]:
        """Return the cases; their random numbers depend on the seed and the claim alone."""
        entropy = [self.seed, zlib.crc32(self.claim.id.encode()), *([stream] if stream else [])]
        return list(cases(np.random.default_rng(entropy), self.deep))

    def solvers(self) -> Iterator[BySolver]:
        return (proof for proof in self.claim.proofs if isinstance(proof, BySolver))

    def refuting(
        self, form: Form, changes: Mapping[str, Any], cases: list[Case], meets: Any = no_assumption
    ) -> list[Case]:
        """Return the cases, plus counterexamples that the solver finds for a version."""
        found = (decision(proof, form, changes, self.deep, meets) for proof in self.solvers())
        return cases + [d.counterexample for d in found if d.counterexample is not None]

    def try_version(self, name: str, other: Version, cases: list[Case]) -> Trial:
        """Try a version on its own cases or on these.

        A derived version or a reading also on fresh cases.
        """
        chosen = cases if other.cases is None else self.drawn(other.cases)
        if name in ("derived", "reading"):
            chosen = chosen + self.drawn(other.cases or self.claim.cases, FRESH)
        form = other.form or self.claim.form
        return try_form(form, self.refuting(form, other.changes, chosen), other.changes)

    def sides(self, meets: Any, cases: list[Case]) -> tuple[list[Case], list[Case]]:
        """Return the cases that meet a condition, with the solver's, and those that do not."""
        met = [case for case in cases if meets(case)]
        return self.refuting(self.claim.form, {}, met, meets), [c for c in cases if not meets(c)]

    def refuted(self, wrong: Version, cases: list[Case], enough: Tier) -> Tier | None:
        """Return the strongest tier that refutes a planted version, or one that suffices."""
        chosen = cases if wrong.cases is None else self.drawn(wrong.cases)
        return refuting_tier(wrong.form or self.claim.form, chosen, wrong.changes, enough)

    def proofs(self, found: Finding) -> Iterator[tuple[Proof, Decision]]:
        """Yield each proof that decides the true version and refutes a planted one."""
        version = self.claim.versions.get(found.true_name, Version(""))
        if found.true_name == "corrected" and self.claim.corrected is None:
            return
        for proof in self.claim.proofs:
            decided = self.decided(proof, version, found.true_name == "met")
            wrong = [w for w in self.claim.planted if w.cases is None]
            if decided.holds and any(not self.decided(proof, w).holds for w in wrong):
                yield proof, decided

    def decided(self, proof: Proof, version: Version, conditional: bool = False) -> Decision:
        form = version.form or self.claim.form
        condition = self.claim.condition
        meets = condition.meets if conditional and condition is not None else no_assumption
        return decision(proof, form, version.changes, self.deep, meets)


def sees_defect(name: str, form: Form, cases: list[Case], changes: Mapping[str, Any]) -> bool:
    """Return whether a form fails or raises when a function of fwlab has a planted defect."""
    with planted_in(name):
        try:
            return try_form(form, cases, changes).failed > 0
        except Exception:
            return True


def split(experiment: Experiment | None, cases: list[Case]) -> tuple[list[Case], list[Case]]:
    """Return the cases that count, and an experiment's cases on data other than the paper's."""
    if experiment is None:
        return cases, []
    papers = [case for case in cases if case.data in experiment.data]
    return papers, [case for case in cases if case.data not in experiment.data]


def decide(claim: Claim, trials: Mapping[str, Trial]) -> Verdict:
    """Return the verdict, by the first rule that applies."""

    def true(name: str) -> bool:
        return name in trials and trials[name].holds

    printed = trials["printed"]
    if printed.cases == 0:
        return Verdict.OTHER_DATA if "other data" in trials else Verdict.UNTESTABLE
    if claim.experiment is not None:
        return decide_experiment(printed, true)
    if claim.hedge:
        return Verdict.NO_CLAIM
    if printed.holds:
        if "premise" in trials and trials["premise"].cases == 0:
            return Verdict.EMPTY
        return Verdict.WIDER if true("relaxed") else Verdict.HOLDS
    if true("reading"):
        return Verdict.DEPENDS
    if true("derived") and claim.where_right is not None:
        if claim.where_right.form is None or true("where_right"):
            return Verdict.MISPRINT
    if true("met") and trials["not met"].failed > 0:
        return Verdict.CONDITIONAL
    return Verdict.FAILS


def decide_experiment(printed: Trial, true: Callable[[str], bool]) -> Verdict:
    """Return the verdict on an experiment: an inconclusive case never refutes."""
    if printed.failed:
        if true("program"):
            return Verdict.WITH_PROGRAM
        return Verdict.EXPLAINED if true("cause") else Verdict.NOT_REPRODUCED
    return Verdict.INCONCLUSIVE if printed.undecided else Verdict.REPRODUCED


def tier_of(found: Finding) -> Tier | None:
    """Return the tier of a verdict.

    A verdict that includes a refutation has the weaker of the tiers of the refutation and of the
    true version. A refutation in exact numbers is final, so the true version decides if there is
    one. A true version is proved, or has the strongest tier whose cases suffice to refute all
    planted versions.
    """
    printed = found.printed
    if printed is None or printed.cases == 0:
        other = found.trials.get("other data")
        return strongest(other.tiers) if other is not None else None
    refuted = strongest(printed.failed_tiers)
    if refuted is None or found.verdict == Verdict.NOT_REPRODUCED:
        return refuted or true_tier(found, printed)
    true = found.trials.get(found.true_name)
    if true is None or not true.holds:
        return refuted
    tier = true_tier(found, true)
    return tier if refuted == Tier.EXACT else weakest(refuted, tier)


def true_tier(found: Finding, trial: Trial) -> Tier:
    """Return the tier of a version that is true."""
    if found.proved:
        everywhere = any(decided.everywhere for _, decided in found.proved)
        return Tier.PROVED if everywhere else Tier.PROVED_SMALL
    tried = [tier for tier in (strongest(trial.tiers), *found.planted) if tier is not None]
    return weakest(*tried)
