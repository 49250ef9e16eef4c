"""A claim of your own: copy this file, change it, and run

    python -m paper_checks --file my_claims.py

Every claim is tried on its cases; the verdict follows from what its form says of each of them.
"""

from collections.abc import Iterator
from fractions import Fraction

from paper_checks.cases import Rng, fractions, sizes
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import at_most
from reference import TopK, Usunier, exact


# What the statement is tried on. `deep` is --deep; `rng` depends on --seed and the claim's id.
def scored(rng: Rng, deep: bool) -> Iterator[Case]:
    for m, k in sizes(7 if deep else 5):
        yield Case(kind="exact", k=k, y=int(rng.integers(m)), scores=fractions(rng, m))


# The id is SOURCE-NAME: a short name of the source, as you like, a dash, a name of its own.
# Each planted version is wrong; the check must refute it, or it would see no error at all.
@claim(
    "MY-order",
    "Lapin et al. 2015, section 2.2",
    "The top-k hinge loss is at most the loss of Usunier.",
    cases=scored,
    planted=(
        version("at most half of it", factor=Fraction(1, 2)),
        version("Usunier's loss with k + 1", more=1),
    ),
)
def in_order(case: Case, factor: Fraction = Fraction(1), more: int = 0) -> Outcome:
    left = exact.value(TopK(case.k), case.scores, case.y)
    right = exact.value(Usunier(min(case.k + more, len(case.scores))), case.scores, case.y)
    return at_most(left, factor * right)
