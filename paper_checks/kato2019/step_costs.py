"""Check K19 section 5: the costs of the line search and of the direction, counted separately."""

import numpy as np

from paper_checks.kato2019.costs import drawn, not_growing, paths
from paper_checks.ledger import Case, Outcome, claim, version

NOT_PROVED = "a count of operations"


def operations_of_steps(n: int, d: int, m: int, seed: int) -> tuple[int, int]:
    """Return the operations of the direction, with known scores, and of the line search."""
    run = drawn(n, d, m, seed)
    run.restart(np.random.default_rng(seed).standard_normal((n, m)))
    run.operations = 0
    U = run.vertex()
    direction = run.operations
    run.move(run.gradient(), U - run.A, 1.0)
    return direction, run.operations - direction


@claim(
    "K19-line-search-cost",
    "5, the line after (20)",
    "The line search takes O(mn min(d, n)) operations.",
    formula=r"O(mn\min(d,n))",
    shapes="n samples, d features, m classes",
    judged="the operations, divided by the bound, do not grow with the sizes. They include "
    "the update of the scores; the Gram matrix, where it is used, is computed once "
    "and not counted.",
    cases=paths,
    planted=(
        version("without min(d, n)", products=0),
        version("without n", samples=0),
        version("without m", classes=0),
    ),
    not_proved=NOT_PROVED,
)
def line_search_cost(case: Case, products: int = 1, samples: int = 1, classes: int = 1) -> Outcome:
    done = [operations_of_steps(n, d, m, case.seed)[1] for n, d, m in case.sizes]
    bounds = [m**classes * n**samples * min(d, n) ** products for n, d, m in case.sizes]
    return not_growing(done, bounds)


@claim(
    "K19-direction-cost",
    "5, paragraph after (20), and the sentence after (24)",
    "At known scores Z(A) the direction is found in O(nm log m) operations, O(m log m) for each "
    "sample.",
    formula=r"O(nm\log m)",
    shapes="n samples, d features, m classes; Z(A): (n, m)",
    judged="the scores are known, as the sentence after (24) says; the paragraph after (20) does "
    "not repeat it. The operations, divided by the bound, do not grow with the sizes.",
    cases=paths,
    planted=(version("without log m", log=0), version("without n", samples=0)),
    not_proved=NOT_PROVED + "; sorting m numbers in O(m log m) is a theorem",
)
def direction_cost(case: Case, log: int = 1, samples: int = 1) -> Outcome:
    done = [operations_of_steps(n, d, m, case.seed)[0] for n, d, m in case.sizes]
    bounds = [float(n**samples * m * np.log2(m) ** log) for n, _, m in case.sizes]
    return not_growing(done, bounds)
