"""Start a claim of your own: copy this file, change it, and run

    python -m paper_checks --file my_claims.py

Every claim is tried on its cases; the verdict follows from the outcome of its form on each case. A
form that is written with paper_checks.arithmetic is also proved, for all real numbers at the sizes
of its symbolic cases.
"""

from collections.abc import Iterator
from fractions import Fraction

from paper_checks.arithmetic import is_symbolic
from paper_checks.cases import Rng, fractions, sizes
from paper_checks.definitions import margins, top_k, usunier
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal
from paper_checks.proofs import BySolver, symbolic_sizes
from paper_checks.symbols import reals
from reference import TopK, exact


# The cases on which the statement is tried. `deep` is --deep; `rng` depends on --seed and the
# claim's id.
def scored(rng: Rng, deep: bool) -> Iterator[Case]:
    for m, k in sizes(7 if deep else 5):
        yield Case(kind="exact", k=k, y=int(rng.integers(m)), scores=fractions(rng, m))


# The cases on which it is proved: any scores of m classes, with any true class.
def any_scores(deep: bool) -> Iterator[Case]:
    for m, k in symbolic_sizes(4):
        yield Case(kind="symbols", m=m, k=k, y=0, scores=reals("s", m))


# The id is SOURCE-NAME: a short name of the source, a dash, and a name of the statement. Each
# planted version is wrong. The check must refute it; a check that cannot would detect no error.
@claim(
    "MY-order",
    "Lapin et al. 2015, section 2.2",
    "The top-k hinge loss is at most the loss of Usunier.",
    cases=scored,
    proofs=(BySolver("an order that fails where scores are tied", cases=any_scores),),
    planted=(
        version("at most half of it", factor=Fraction(1, 2)),
        version("at most itself less 1", less=1),
    ),
)
def in_order(case: Case, factor: Fraction = Fraction(1), less: int = 0) -> Outcome:
    h = margins(case.scores, case.y)
    left = top_k(h, case.k)
    outcome = at_most(left, factor * usunier(h, case.k) - less)
    if is_symbolic(left):
        return outcome
    # on numbers, also compare the definition above with the reference
    return both(outcome, equal(left, exact.value(TopK(case.k), case.scores, case.y)))
