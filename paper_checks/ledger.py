"""Define claims and register them in the ledger.

A claim is one statement of one paper. Its form is a function of a case that says by how much the
statement holds there (an Outcome). The numbers in the statement are keyword arguments of the form,
so that a derived, relaxed, corrected or wrong version is the same code with other numbers. The
verdict is computed only from the outcomes, by the rules in `paper_checks.verdicts`.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from paper_checks.proofs import Proof
from paper_checks.trials import Case, Cases, Form, Outcome, Tier

__all__ = [
    "CLAIMS",
    "Case",
    "Cases",
    "Claim",
    "Condition",
    "Erratum",
    "Experiment",
    "Form",
    "Library",
    "Outcome",
    "Tier",
    "Untestable",
    "Version",
    "WhereRight",
    "claim",
    "version",
]

# a short name of the source, a dash, and a name of the statement
ID = re.compile(r"[A-Za-z0-9]+-[A-Za-z0-9._-]+")


class Untestable(Exception):
    """Raised by cases or a form, with the reason, when a statement cannot be tried here."""


@dataclass(frozen=True)
class Version:
    """A variant of a statement: its form with changed numbers, tried on cases.

    If form or cases is None, that of the printed statement is used. A version with its own form
    counts as a different statement. formula is in mathtext.
    """

    text: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    form: Form | None = None
    cases: Cases | None = None
    formula: str = ""


def version(
    text: str,
    form: Form | None = None,
    cases: Cases | None = None,
    formula: str = "",
    **changes: Any,
) -> Version:
    """Return a Version whose changed numbers are given as keyword arguments."""
    return Version(text, changes, form, cases, formula)


@dataclass(frozen=True)
class Condition:
    """A named condition on cases, under which a statement that is false as printed becomes true."""

    text: str
    meets: Callable[[Case], Any]


@dataclass(frozen=True)
class WhereRight:
    """The place where the paper itself has the correct form of a misprint.

    Attributes
    ----------
    place : str
        The id of the row that has the correct form; `form` compares its formula with the correction
        in a case. Without a form, the place in the paper whose prose has the correct form.
    at : str
        Which formula of that row is correct, if the row has several.
    """

    place: str
    form: Form | None = None
    at: str = ""


@dataclass(frozen=True)
class Experiment:
    """Marks a statement about an experiment on the data sets with these names.

    A case names its data set in `data`. Cases on other data sets do not decide the statement.
    """

    data: tuple[str, ...]


@dataclass(frozen=True)
class Library:
    """The functions of fwlab that a row exercises, given by their dotted names.

    `form` compares them with the true version of the statement; it is None if the claim's own form
    already calls them.
    """

    names: tuple[str, ...]
    form: Form | None = None
    cases: Cases | None = None


@dataclass(frozen=True)
class Erratum:
    """A correction note for the paper.

    It gives the page, the formula as printed and as it should be (mathtext), a proof in about three
    sentences, and the consequences of the error elsewhere in the paper.
    """

    page: str
    printed: str
    correct: str
    proof: str
    breaks: str


@dataclass(frozen=True, eq=False)
class Claim:
    """One statement of one paper. The first five fields are required; the others are optional.

    Attributes
    ----------
    id : str
    where : str
        The place in the paper.
    statement : str
        The statement, paraphrased.
    form : callable
        form(case) says by how much the statement holds in a case.
    cases : callable
        cases(rng, deep) yields the cases on which the form is tried.
    planted : tuple of Version
        Wrong versions, which the check must refute; they show that it detects errors.
    formula, shapes, sides : str, str, tuple of str
        For display: the formula in mathtext, "" if words suffice; the shapes of the quantities; the
        meaning of `left` and `right` in a witness.
    judged, assumed : str
        How the printed text was interpreted: the reading that was judged, if several are possible;
        conditions that the statement needs but the paper does not print beside it.
    reading : Version
        The statement with one symbol or word read differently, if the verdict depends on that
        reading.
    relaxed : Version
        A more general version that is also true.
    condition : Condition
        When a statement that is false in general is true.
    premise : Condition
        When the statement says anything; if no case meets it, the statement is true of nothing.
    main : Condition
        The main case of the claim; by default its paper's (paper_checks.main_cases).
    derived, where_right : Version, WhereRight
        For a misprint: the true version, and where the paper itself has it.
    corrected : Version
        For a statement that fails: what is true instead.
    erratum : Erratum
        The correction note for the paper.
    proofs, not_proved : tuple of Proof, str
        Proofs for all real numbers; if there are none, the reason in one line.
    hedge : str
        The word by which the source marks the statement as a conjecture or a rounded number rather
        than a claim.
    experiment : Experiment
        Marks a statement about an experiment.
    program, cause : Version
        Of an experiment that comes out otherwise: what comes out as the authors' public program
        does it, where the text says otherwise; what comes out with a cause that was measured.
    from_table : bool
        Whether the cases are read from a table that figures/ has made.
    library : Library
        The functions of fwlab that the row checks.
    """

    id: str
    where: str
    statement: str
    form: Form
    cases: Cases
    planted: tuple[Version, ...] = ()
    # the page
    formula: str = ""
    shapes: str = ""
    sides: tuple[str, str] = ("as stated", "by definition")
    # the reading
    judged: str = ""
    assumed: str = ""
    reading: Version | None = None
    # what else is true, or true instead
    relaxed: Version | None = None
    condition: Condition | None = None
    premise: Condition | None = None
    main: Condition | None = None
    derived: Version | None = None
    where_right: WhereRight | None = None
    corrected: Version | None = None
    erratum: Erratum | None = None
    # the proof
    proofs: tuple[Proof, ...] = ()
    not_proved: str = ""
    # a conjecture
    hedge: str = ""
    # an experiment
    experiment: Experiment | None = None
    program: Version | None = None
    cause: Version | None = None
    from_table: bool = False
    # the library
    library: Library | None = None

    @property
    def paper(self) -> str:
        return self.id.partition("-")[0]

    @property
    def versions(self) -> dict[str, Version]:
        """The versions that may be true in place of the printed one, by name of field."""
        names = ("reading", "derived", "relaxed", "corrected", "program", "cause")
        named = {name: getattr(self, name) for name in names}
        return {name: other for name, other in named.items() if other is not None}


CLAIMS: dict[str, Claim] = {}


def claim(id: str, where: str, statement: str, **parts: Any) -> Callable[[Form], Claim]:
    """Register the decorated form as a claim; `parts` holds the remaining fields of Claim."""

    def register(form: Form) -> Claim:
        if id in CLAIMS:
            raise ValueError(f"two claims have the id {id}")
        made = Claim(id, where, statement, form, **parts)
        check_claim(made)
        CLAIMS[id] = made
        return made

    return register


def check_claim(claim: Claim) -> None:
    """Raise TypeError or ValueError for a malformed id or for versions that cannot run."""
    if not ID.fullmatch(claim.id):
        raise ValueError(
            "an id must be SOURCE-NAME, in letters, digits, dots, dashes and underscores; "
            f"got {claim.id!r}"
        )
    if claim.experiment is None and (claim.program or claim.cause):
        raise ValueError(f"{claim.id}: only an experiment may have program or cause")
    for name, kind in (("planted", Version), ("proofs", Proof)):
        given, what = getattr(claim, name), f"{kind.__name__.lower()}s"
        if not (isinstance(given, tuple) and all(isinstance(part, kind) for part in given)):
            raise TypeError(f"{claim.id}: {name} must be a tuple of {what}; got {given!r}")
    for other in (*claim.planted, *claim.versions.values()):
        if not isinstance(other, Version):
            raise TypeError(f"{claim.id}: its variants must be made by version(); got {other!r}")
        try:
            inspect.signature(other.form or claim.form).bind(None, **other.changes)
        except TypeError as error:
            raise TypeError(f"{claim.id}, {other.text!r}: the form {error}") from None
