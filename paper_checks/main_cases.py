"""Define each paper's main case: a predicate that selects the cases that the paper is about.

It requires parameters in the range that the paper uses and excludes degenerate data, such as
samples that are all 0. A claim may declare its own main case.
"""

from collections.abc import Mapping
from typing import Any

from paper_checks.ledger import Claim, Condition
from paper_checks.trials import Case

# p of the experiments of LP15 section 4
SMALLEST_P, LARGEST_P = 1.2, 10


def everything(case: Case) -> bool:
    return True


def samples_and_weights(case: Case) -> bool:
    """Return whether k < m, some sample is nonzero, and the loss's weights are not scaled up."""
    X = given(case, "X")
    sampled = X is None or any(x != 0 for row in X for x in row)
    return sampled and between(case) and given(case, "scale", 1) <= 1


def between(case: Case, least: int = 1) -> bool:
    """Return whether least <= k < m; bounds on quantities that a case lacks are skipped."""
    k, m = given(case, "k"), given(case, "m")
    return k is None or (k >= least and (m is None or k < m))


def zero_one_costs(case: Case) -> bool:
    """Return whether the costs, if there are any, are 0 for the true class and 1 for the others."""
    costs = given(case, "costs")
    return costs is None or all(c == (j != case.y) for j, c in enumerate(costs))


def positive_delta(case: Case) -> bool:
    """Return whether delta > 0, for Pat&Mat."""
    delta = given(case, "delta")
    return delta is None or not given(case, "patmat", True) or delta > 0


def as_trained(case: Case) -> bool:
    """Return whether p, the loss and the number of classes are ones that the paper trains with."""
    p, loss = given(case, "p", SMALLEST_P), given(case, "loss")
    convex = loss is None or getattr(loss, "convex", True)
    return SMALLEST_P <= p <= LARGEST_P and convex and given(case, "c", 3) >= 3


def given(case: Case, name: str, otherwise: Any = None) -> Any:
    """Return a quantity of a case or of its problem."""
    problem = getattr(case, "problem", None)
    return getattr(case, name, getattr(problem, name, otherwise))


# by paper; for a source without an entry, all cases are main cases
MAIN_CASES: Mapping[str, Condition] = {
    "K19": Condition(
        "k < m, some sample is not 0, and the weights sum to at most 1, as in section 7.3",
        samples_and_weights,
    ),
    "L15": Condition("1 < k < m", lambda case: between(case, least=2)),
    "T20": Condition("the costs are 0 and 1, as in Theorem 2.1 and section 3", zero_one_costs),
    "M20": Condition("delta > 0, for Pat&Mat", positive_delta),
    "LP15": Condition(
        "p in [1.2, 10], as in section 4, a convex loss, three classes or more", as_trained
    ),
}
ALL_CASES = Condition("all cases", everything)


def main_case(claim: Claim) -> Condition:
    """Return the main case of a claim: its own, or its paper's."""
    return claim.main or MAIN_CASES.get(claim.paper, ALL_CASES)
