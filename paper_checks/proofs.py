"""Prove a form for all real numbers at given sizes, or a theorem for all sizes.

On a case with symbols, a form written with paper_checks.arithmetic returns the formula to be
proved. The solver z3 searches for real numbers that violate it; if none exist, the statement is
proved at that size. Otherwise a counterexample with simple numbers is sought, and the form is
evaluated on it in fractions, without the solver.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paper_checks.arithmetic import Truth, Undefined, Unknown, all_of, negation, side_conditions
from paper_checks.trials import Case, Form, evaluated


@dataclass(frozen=True)
class Proof:
    """The base of the proofs.

    `catches` names errors that this proof detects but random cases may miss.
    """

    catches: str


def no_assumption(case: Case) -> Truth:
    return True


@dataclass(frozen=True)
class BySolver(Proof):
    """A proof by the solver, which decides the claim's form on symbols.

    cases(deep) yields cases with symbols, small ones first. assuming(case) returns the assumptions
    of a case, and sized_by names its size parameters.
    """

    cases: Callable[[bool], Iterable[Case]]
    assuming: Callable[[Case], Truth] = no_assumption
    sized_by: tuple[str, ...] = ("m", "k")


@dataclass(frozen=True)
class ByTheorem(Proof):
    """A proof written separately, for all the sizes given.

    prove(deep, `**changes`) returns whether the version of the statement with these changed numbers
    is proved. obligations(`**changes`) yields the parts of the proof that can be stored, each with
    its size: unsatisfiable formulas and certificates of rates. `not_stored` is the reason if there
    are none. `everywhere` is False if a size is bounded.
    """

    prove: Callable[..., bool]
    sizes: str = "all sizes"
    obligations: Callable[..., Iterable[tuple[str, Any]]] | None = None
    not_stored: str = "not one formula about real numbers; sympy verifies it for every size"
    everywhere: bool = True


@dataclass(frozen=True)
class Decision:
    """The outcome of deciding one version of a statement.

    It holds the sizes where the version is proved, the sizes where it remains open, a case that
    refutes it (or None), and whether the proof covers all sizes.
    """

    proved: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    counterexample: Case | None = None
    everywhere: bool = False

    @property
    def holds(self) -> bool:
        return bool(self.proved) and self.counterexample is None


# the size of a case whose statement has no size
WITHOUT_SIZE = "all numbers"
DECIDED: dict[Any, Decision] = {}


def decision(
    proof: Proof,
    form: Form,
    changes: Mapping[str, Any],
    deep: bool = False,
    meets: Callable[[Case], Truth] = no_assumption,
) -> Decision:
    """Decide a version of a claim by a proof.

    Answers are cached for the process, as none depends on the cases that are drawn.
    """
    numbers = tuple((name, type(value), value) for name, value in changes.items())
    question = (proof, form, numbers, deep, meets)
    try:
        if question in DECIDED:
            return DECIDED[question]
    except TypeError:  # a changed value is not hashable
        return new_decision(proof, form, changes, deep, meets)
    DECIDED[question] = new_decision(proof, form, changes, deep, meets)
    return DECIDED[question]


def new_decision(
    proof: Proof,
    form: Form,
    changes: Mapping[str, Any],
    deep: bool,
    meets: Callable[[Case], Truth],
) -> Decision:
    if isinstance(proof, BySolver):
        return decide_form(proof, form, changes, deep, meets)
    assert isinstance(proof, ByTheorem)
    if not proof.prove(deep, **changes):
        return Decision()
    return Decision((proof.sizes,), everywhere=proof.everywhere)


def decide_form(
    proof: BySolver,
    form: Form,
    changes: Mapping[str, Any],
    deep: bool = False,
    meets: Callable[[Case], Truth] = no_assumption,
) -> Decision:
    """Decide a version of a claim on each case of a proof, up to the first counterexample."""
    proved: list[Case] = []
    undecided: list[Case] = []
    for case, formula in opposites(proof, form, changes, deep, meets):
        found = contradiction(formula, case)
        if found is None:
            proved.append(case)
        elif isinstance(found, Case):
            confirm(proof, form, found, changes, meets)
            return Decision(sizes(proved, proof), sizes(undecided, proof), found)
        else:
            undecided.append(case)
    named, open_sizes = sizes(proved, proof), sizes(undecided, proof)
    return Decision(named, open_sizes, everywhere=named == (WITHOUT_SIZE,) and not open_sizes)


def opposites(
    proof: BySolver,
    form: Form,
    changes: Mapping[str, Any],
    deep: bool = False,
    meets: Callable[[Case], Truth] = no_assumption,
) -> Iterator[tuple[Case, Truth]]:
    """Yield each case of a proof with the formula "the assumptions hold and the version fails".

    Sizes to which a version does not apply are left out.
    """
    for case in proof.cases(deep):
        premises = all_of(proof.assuming(case), meets(case))
        if premises is not False:
            yield case, all_of(premises, negation(obligation_of(form, case, changes)))


def obligation_of(form: Form, case: Case, changes: Mapping[str, Any]) -> Truth:
    """Return the formula to be proved: the form is defined, and true.

    It is False if the form is undefined for all numbers.
    """
    with side_conditions() as conditions:
        try:
            outcome = form(case, **changes)
        except Undefined:  # undefined for all numbers
            return False
    stated = outcome.holds if outcome.formula is None else outcome.formula
    return all_of(*conditions.defined, stated)


def confirm(
    proof: BySolver,
    form: Form,
    case: Case,
    changes: Mapping[str, Any],
    meets: Callable[[Case], Truth],
) -> None:
    """Raise RuntimeError unless a case of fractions meets the assumptions and the form fails."""
    outcome, _ = evaluated(form, case, changes)
    if outcome.holds or not (proof.assuming(case) and meets(case)):
        raise RuntimeError(
            f"the solver's case ({case}) refutes {form.__name__} on symbols only; on "
            f"numbers the form has a different outcome"
        )


def sizes(cases: Iterable[Case], proof: BySolver) -> tuple[str, ...]:
    """Return the sizes of cases, each once: "m = 3, k = 2"; "all numbers" if they have no size."""
    texts = (
        ", ".join(f"{n} = {getattr(case, n)}" for n in proof.sized_by if hasattr(case, n))
        or WITHOUT_SIZE
        for case in cases
    )
    return tuple(dict.fromkeys(texts))


def contradiction(formula: Truth, case: Case) -> Case | Unknown | None:
    """Return the case with simple rational numbers that satisfy the formula.

    Returns None if there is none, and Unknown if the solver cannot decide.
    """
    if formula is False:
        return None
    from paper_checks.search import simple_solution  # only this function needs z3

    return simple_solution(formula, case)


def summary(sizes: Iterable[str]) -> str:
    """Return sizes as one text: "2 <= m <= 4; 1 <= k <= 4 (9 sizes)".

    Values that are not three or more consecutive integers are listed.
    """
    listed = [dict(part.split(" = ") for part in size.split(", ")) for size in sizes if size]
    if not listed:
        return ""
    names = listed[0]
    ranges = []
    for name in names:
        values = sorted({Fraction(size[name]) for size in listed})
        low, high = values[0], values[-1]
        in_a_row = len(values) > 2 and values == [low + i for i in range(len(values))]
        texts = ", ".join(map(str, values))
        ranges.append(f"{low} <= {name} <= {high}" if in_a_row else f"{name} = {texts}")
    count = "" if len(listed) == 1 else f" ({len(listed)} sizes)"
    return "; ".join(ranges) + count


def symbolic_sizes(largest_m: int, smallest_m: int = 2) -> Iterator[tuple[int, int]]:
    """Yield all (m, k) with smallest_m <= m <= largest_m and 1 <= k <= m, smallest first."""
    for m in range(smallest_m, largest_m + 1):
        for k in range(1, m + 1):
            yield m, k
