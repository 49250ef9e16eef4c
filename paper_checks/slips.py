"""List claims that are refuted by the same error; the error counts once, with all its places."""

from collections.abc import Mapping

# for each error the ids of its claims; the page shows the first, with the places of the others
SLIPS: tuple[tuple[str, ...], ...] = (
    # an optimum on the boundary
    ("K19-fw-linear", "K19-abstract-geometric"),
    # costs other than 0 and 1
    ("T20-six-mdos", "T20-mdos-no-set"),
    # the true class's entry is held at 0
    ("L15-prop3", "L15-thm1", "L15-prop4", "L15-alg1-gap"),
    # for K > 1 a beta at its bound cannot absorb a change of the sum of alpha on its own
    ("M20-alg-toppushk", "M20-pair-stationary"),
    # delta = 0
    ("M20-thmC1-step", "M20-C1-alternation"),
    # n printed instead of n-
    ("M20-eq18-30-33-34", "M20-eq32"),
    # theta_2 printed instead of its square
    ("M20-thmC1-delta-case2", "M20-thmC1-delta-case3"),
    # min and max exchanged
    ("M20-thmD1-case1", "M20-thmD1-case2", "M20-thmD1-case3", "M20-thmD2-case1"),
    # equal betas have to move together
    ("M20-alg-patmat-hinge", "M20-hinge-pair-stationary"),
    # the moment bound for small p
    ("LP15-lemB2", "LP15-lemB2-proof"),
    # p = 1
    ("LP15-prob11", "LP15-prob13", "LP15-thm12", "LP15-lemC2"),
    # p > 2
    ("LP15-eq8", "LP15-prop16", "LP15-alg1-p-above-2"),
)
FIRST: Mapping[str, str] = {id: ids[0] for ids in SLIPS for id in ids}


def slip_of(id: str) -> str:
    """Return the id of the claim under which this claim's error is shown."""
    return FIRST.get(id, id)
