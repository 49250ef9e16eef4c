"""
A claim of your own
===================

A claim is a statement with code that tries it, and with wrong versions of it that the same code
must refute. The verdict and the strength of the evidence are computed. This one is false.
"""

from fractions import Fraction

from paper_checks.cases import fractions, sizes
from paper_checks.definitions import margins, top_k
from paper_checks.ledger import CLAIMS, Case, claim, version
from paper_checks.outcomes import at_most
from paper_checks.records import record
from paper_checks.report.terminal import details
from paper_checks.verdicts import judge


def scored(rng, deep):
    for m, k in sizes(5):
        yield Case(kind="exact", k=k, y=0, scores=fractions(rng, m))


@claim(
    "MY-half",
    "nobody's paper",
    "The top-k hinge is at most half of the largest margin.",
    cases=scored,
    planted=(version("at most nothing", factor=0),),
)
def at_most_half(case, factor=Fraction(1, 2)):
    h = margins(case.scores, case.y)
    return at_most(top_k(h, case.k), factor * max(h))


# %%
# From a file of your own: ``python -m paper_checks --file my_claims.py``.

print(details([record(judge(CLAIMS["MY-half"]))]))
