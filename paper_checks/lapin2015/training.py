"""L15 Algorithm 1 and section 6: what its training leaves open, and its tables."""

import os
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np

import fwlab
from paper_checks.cases import Rng
from paper_checks.data_sets import data_set
from paper_checks.ledger import Case, Condition, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal, less
from paper_checks.stored_tables import number, stored_table

CLOSED = 5e-3  # a relative gap below this counts as fallen
PASSES = 600


def trained(rng: Rng, deep: bool) -> Iterator[Case]:
    """Data sets, rows drawn from them, k and C = 1/(lam n); letter where the data folder is."""
    sets = ["digits", "letter"] if os.environ.get("FWLAB_DATA") else ["digits"]
    for name in sets:
        for k in (1, 2, 3, 5) if deep else (1, 3):
            for C in (1.0, 10.0) if deep else (10.0,):
                seed = int(rng.integers(1000))
                yield Case(kind=name, name=name, k=k, C=C, rows=1000 if deep else 500, seed=seed)


def problem(name: str, C: float, rows: int, seed: int, loss: fwlab.losses.Loss) -> fwlab.Problem:
    data = data_set(name)
    order = np.random.default_rng(seed).permutation(len(data.y_train))[:rows]
    m = int(data.y_train.max()) + 1
    return fwlab.Problem(
        data.X_train[order], data.y_train[order], loss, 1 / (C * rows), n_classes=m
    )


@lru_cache(maxsize=64)
def gap_and_floor(
    name: str, k: int, C: float, rows: int, seed: int, pseudo: bool, passes: int
) -> tuple[float, float]:
    """(relative gap where Algorithm 1 ends, what no iterate of it can get below)."""
    own = problem(name, C, rows, seed, fwlab.PseudoTopK(k))
    true = own if pseudo else problem(name, C, rows, seed, fwlab.TopK(k))
    run, best = (
        fwlab.solve(true, method, tol=CLOSED / 2, relative=True, max_iter=passes)
        for method in ("sdca-lapin", "ascent")
    )
    size = max(abs(run.primal), abs(run.dual))
    return run.gap / size, (best.dual - own.primal(run.W)) / size


@claim(
    "L15-alg1-gap",
    "Algorithm 1, line 12",
    "Trained with the top-k hinge (3), Algorithm 1 brings the relative duality gap below any "
    "epsilon.",
    formula=r"P(W_t)-D(A_t)\leq\epsilon\,\max(|P|,|D|)",
    shapes="1 <= k < m",
    judged="The gap between the primal with the loss (3) and the dual. The floor is what no "
    "iterate can get below: D of an iterate is at most the pseudo top-k primal at any W, and its "
    f"P at least the true dual at any feasible point. Epsilon is {CLOSED}.",
    cases=trained,
    condition=Condition("k = 1", lambda case: case.k == 1),
    corrected=version("the gap of the problem with the pseudo top-k loss", pseudo=True),
    planted=(version("the gap of the pseudo top-k loss, after two passes", pseudo=True, passes=2),),
)
def gap_falls(case: Case, pseudo: bool = False, passes: int = PASSES) -> Outcome:
    quantities = (case.name, case.k, case.C, case.rows, case.seed)
    gap, floor = gap_and_floor(*quantities, pseudo, passes)
    return both(at_most(gap, CLOSED, floor=floor), at_most(floor, CLOSED, floor=floor))


# top-5 accuracy in Tables 1 and 2: the top-1 and the top-10 SVM with the loss (3); the gain quoted
PUBLISHED = {
    "Caltech 101": ("81.97", "84.57", "2.6"),
    "MIT Indoor 67": ("93.43", "94.63", "1.2"),
    "SUN 397": ("84.98", "87.45", "2.5"),
}


@claim(
    "L15-table-gains-text",
    "section 6.2",
    "The gains that the text quotes are those of its Tables 1 and 2, to one decimal.",
    judged="The arithmetic alone; the experiments are L15-table-gains.",
    cases=lambda rng, deep: (
        Case(kind="quoted", name=name, top_1=row[0], top_10=row[1], gain=row[2])
        for name, row in PUBLISHED.items()
    ),
    planted=(version("gains in top-5 error, the other way round", sign=-1),),
)
def quoted_gains(case: Case, sign: int = 1) -> Outcome:
    gain = sign * (Fraction(case.top_10) - Fraction(case.top_1))
    return equal(Fraction(round(gain * 10), 10), Fraction(case.gain))


# two deviations of an accuracy near 0.8 on the 2307 test rows, per cent
NEAR = 1.7


def measured_gains(rng: Rng, deep: bool) -> Iterator[Case]:
    """The machines of the paper, on the data set that is to be had."""
    table = stored_table("lapin2015_table1")
    entries = [table.line(method=f"top-{k} SVM alpha")["top-5"] for k in (1, 10)]
    top_1, top_10 = map(number, entries)
    stated = float(PUBLISHED["Caltech 101"][2])
    yield Case(kind=table.kind(*entries), top_1=top_1, top_10=top_10, stated=stated)


@claim(
    "L15-table-gains",
    "section 6.2",
    "The top-10 SVM gains 2.6, 1.2 and 2.5 points of top-5 accuracy over the top-1 SVM on Caltech "
    "101, MIT Indoor 67 and SUN 397.",
    judged="on Caltech 101 Silhouettes alone, by the machines as the paper trains them. Our gain "
    f"is there, and within {NEAR} points of the stated one: two deviations of an accuracy.",
    cases=measured_gains,
    from_table=True,
    planted=(version("a gain of 12.6 points", more=10.0),),
)
def published_gains(case: Case, more: float = 0.0) -> Outcome:
    gain = case.top_10 - case.top_1
    return both(less(0.0, gain), at_most(abs(gain - case.stated - more), NEAR, gain=gain))
