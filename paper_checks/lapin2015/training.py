"""Check L15 Algorithm 1 and section 6.2: the gap that its training leaves, and its tables."""

import math
import os
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

import fwlab
import reference
from paper_checks.cases import Rng
from paper_checks.data_sets import data_set
from paper_checks.lapin2015.duality import fenchel_dual, printed_dual
from paper_checks.ledger import (
    Case,
    Condition,
    Erratum,
    Experiment,
    Library,
    Outcome,
    claim,
    version,
)
from paper_checks.outcomes import ROUNDING, at_most, both, effect, equal, published
from paper_checks.stored_tables import number, stored_table
from reference.losses import Loss

# ---------------------------------------------------------------- Algorithm 1, in exact numbers

TINY = 1e-6


def two_samples(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield two samples x = 1 of the classes 0 and 1, with points of both problems.

    A is feasible for Fenchel's dual of P, and W is any matrix.
    """
    for m in (3, 4):
        for k in (1, 2) if m == 3 else (1,):
            case = {"m": m, "k": k, "loss": reference.TopK(k), "lam": Fraction(1, 4)}
            yield Case(kind="by hand", **case, X=np.array([[1], [1]]), y=(0, 1), **known(m, k))


def known(m: int, k: int) -> dict[str, Any]:
    """Return dual variables A and weights W, each optimal for its own problem if m = 3, k = 2."""
    if (m, k) == (3, 2):
        third, two_thirds = Fraction(1, 3), Fraction(2, 3)
        A = ((1 + third, Fraction(-1), -third), (Fraction(-1), 1 + third, -third))
        return {"A": A, "W": (two_thirds, two_thirds, -2 * two_thirds)}
    return {"A": ((Fraction(0),) * m,) * 2, "W": (Fraction(0),) * m}


def primal(case: Case, loss: Loss, W: Sequence[Fraction]) -> Fraction:
    """Return P(W) of a loss in fractions, one feature."""
    losses = [
        loss.value([w * int(x[0]) for w in W], y) for x, y in zip(case.X, case.y, strict=True)
    ]
    return sum(losses, Fraction()) / len(losses) + case.lam / 2 * sum(w * w for w in W)


def final_gap(case: Case, loss: fwlab.losses.Loss) -> float:
    """Return the relative gap at which Algorithm 1 ends, in float64."""
    y, lam = np.array(case.y), float(case.lam)
    problem = fwlab.Problem(case.X.astype(float), y, loss, lam, n_classes=case.m)
    run = fwlab.solve(problem, "sdca-lapin", tol=TINY / 10, relative=True, max_iter=500)
    return float(run.gap) / max(abs(run.primal), abs(run.dual))


def library_ends(case: Case) -> Outcome:
    """State that Algorithm 1 ends at the W of the case, with D = 1/3.

    The true dual of the top-k SVM has the largest value 7/12, which A of the case attains.
    """
    X, y, lam = case.X.astype(float), np.array(case.y), float(case.lam)
    found = []
    for loss, method in ((fwlab.PseudoTopK(2), "sdca-lapin"), (fwlab.TopK(2), "ascent")):
        problem = fwlab.Problem(X, y, loss, lam, n_classes=3)
        found.append(fwlab.solve(problem, method, tol=1e-12, max_iter=2000))
    lowest = primal(case, reference.PseudoTopK(2), case.W)
    duals = [float(lowest), float(fenchel_dual(case, case.A))]
    W = [[float(w)] for w in case.W]
    gap = max(0.0, *(run.gap for run in found))
    off = math.sqrt(2 * gap / lam)  # P is strongly convex
    return both(
        equal([run.dual for run in found], duals, gap + ROUNDING),
        equal(found[0].W, W, off + ROUNDING),
    )


def gap_of(case: Case, dual: Any, loss: fwlab.losses.Loss, below: int = 0) -> Outcome:
    """Compare the floor of the gap, or the gap at the end where the floor is not positive."""
    most = primal(case, reference.PseudoTopK(case.k), case.W)
    if dual > most:
        return at_most(dual - most, below, P_at_least=dual, D_at_most=most)
    return at_most(final_gap(case, loss), below, allowed=TINY)


def own_gap_can_vanish(case: Case, below: int = 0) -> Outcome:
    """Compare the gap of the problem with the pseudo top-k loss, whose floor is at most 0."""
    return gap_of(case, printed_dual(case, case.A), fwlab.PseudoTopK(case.k), below)


@claim(
    "L15-alg1-gap",
    "Algorithm 1, line 12",
    "Trained with the top-k hinge (3), Algorithm 1 brings the relative duality gap below any "
    "epsilon.",
    formula=r"P(W_t)-D(A_t)\leq\epsilon\,\max(|P|,|D|)",
    shapes="A: (m, n), given as one row for each sample; W: (m,); 1 <= k < m; classes count from 0",
    judged="The gap between the primal with the loss (3) and the stated D. No iterate gets below "
    "the floor: P is at least Fenchel's dual at any A, and the stated D is at most the primal of "
    "the pseudo top-k loss at any W, whose dual it is. Where the floor is 0 the algorithm is run, "
    f"to {TINY}. On data sets: L15-alg1-gap-data.",
    cases=two_samples,
    condition=Condition("k = 1", lambda case: case.k == 1),
    corrected=version("the gap of the problem with the pseudo top-k loss", own_gap_can_vanish),
    planted=(version("below 0", own_gap_can_vanish, below=-1),),
    sides=("least gap of any iterate", "0"),
    not_proved="A limit of an algorithm; the floor is exact.",
    library=Library(
        ("fwlab.solve",),
        library_ends,
        lambda rng, deep: (case for case in two_samples(rng, deep) if case.k == 2),
    ),
    erratum=Erratum(
        "Algorithm 1, line 12, with line 9 by Proposition 4",
        r"\mathrm{until\ relative\ duality\ gap\ is\ below}\ \epsilon",
        r"P(W)-D(A)\geq\min P-\max D>0\ \mathrm{may\ hold\ for}\ 2\leq k<m",
        r"Take $x_1=x_2=1$, $y=(1,2)$, $m=3$, $k=2$, $\lambda=\frac{1}{4}$. The stated dual is at "
        r"most $\frac{1}{3}$, the primal of its own loss, which leaves the true class out, at "
        r"$W=(\frac{2}{3},\frac{2}{3},-\frac{4}{3})$: that loss is 0 and "
        r"$\frac{1}{8}\cdot\frac{24}{9}=\frac{1}{3}$. "
        r"$P$ with (3) is at least Fenchel's dual at $a_1=(\frac{4}{3},-1,-\frac{1}{3})$, $a_2=(-1,"
        r"\frac{4}{3},-\frac{1}{3})$, that is $\frac{2}{3}-\frac{1}{12}=\frac{7}{12}$. So the gap "
        r"is never below $\frac{1}{4}$; Algorithm 1 ends with $P=\frac{5}{6}$, $D=\frac{1}{3}$.",
        "Line 12: with the loss (3) and a small epsilon Algorithm 1 never stops.",
    ),
)
def gap_can_vanish(case: Case) -> Outcome:
    return gap_of(case, fenchel_dual(case, case.A), fwlab.TopK(case.k))


# ---------------------------------------------------------------- Algorithm 1, on data

CLOSED = 5e-3  # a relative gap below this counts as closed
PASSES = 600


def trained(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield data sets, rows drawn from them, k and C = 1/(lam n); letter if its file is here."""
    sets = ["digits", "letter"] if deep and os.environ.get("FWLAB_DATA") else ["digits"]
    for name in sets:
        for k in (1, 2, 3, 5) if deep else (1, 3):
            for C in (1.0, 10.0) if deep else (10.0,):
                sample = {"C": C, "rows": 1000 if deep else 200, "seed": int(rng.integers(1000))}
                yield Case(kind=name, data=name, k=k, **sample)


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
    """Return the relative gap at which Algorithm 1 ends, and a lower bound for all its iterates."""
    own = problem(name, C, rows, seed, fwlab.PseudoTopK(k))
    true = own if pseudo else problem(name, C, rows, seed, fwlab.TopK(k))
    run, best = (
        fwlab.solve(true, method, tol=CLOSED / 2, relative=True, max_iter=passes)
        for method in ("sdca-lapin", "ascent")
    )
    size = max(abs(run.primal), abs(run.dual))
    gap, floor = run.gap / size, (best.dual - own.primal(run.W)) / size
    if floor > gap:
        raise ArithmeticError(f"a gap of {gap:.3g} lies below its lower bound {floor:.3g}")
    return gap, floor


@claim(
    "L15-alg1-gap-data",
    "Algorithm 1, line 12",
    "Trained with the top-k hinge (3), Algorithm 1 brings the relative duality gap below any "
    "epsilon, on data.",
    formula=r"P(W_t)-D(A_t)\leq\epsilon\,\max(|P|,|D|)",
    shapes="1 <= k < m",
    judged="The paper names no data for this, so any will do. The floor is what no iterate can get "
    "below: D of an iterate is at most the pseudo top-k primal at any W, and its P at least "
    f"the true dual at any feasible point. Epsilon is {CLOSED}. It holds for k = 1.",
    cases=trained,
    experiment=Experiment(data=("digits", "letter")),
    planted=(version("the gap of the pseudo top-k loss, after two passes", pseudo=True, passes=2),),
    not_proved="An experiment; L15-alg1-gap has the reason in exact numbers.",
)
def gap_falls(case: Case, pseudo: bool = False, passes: int = PASSES) -> Outcome:
    quantities = (case.data, case.k, case.C, case.rows, case.seed)
    gap, floor = gap_and_floor(*quantities, pseudo, passes)
    return both(at_most(gap, CLOSED, floor=floor), at_most(floor, CLOSED, floor=floor))


# ---------------------------------------------------------------- section 6.2

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
    not_proved="Three subtractions of printed numbers.",
    cases=lambda rng, deep: (
        Case(kind="quoted", name=name, top_1=row[0], top_10=row[1], gain=row[2])
        for name, row in PUBLISHED.items()
    ),
    planted=(version("gains in top-5 error, the other way round", sign=-1),),
)
def quoted_gains(case: Case, sign: int = 1) -> Outcome:
    gain = sign * (Fraction(case.top_10) - Fraction(case.top_1))
    return published(equal(Fraction(round(gain * 10), 10), Fraction(case.gain)))


# two deviations of an accuracy near 0.8 on the 2307 test rows, per cent
NEAR = 1.7


def measured_gains(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the machines of the paper, on the data set that is available."""
    table = stored_table("lapin2015_table1")
    entries = [table.line(method=f"top-{k} SVM alpha")["top-5"] for k in (1, 10)]
    top_1, top_10 = map(number, entries)
    stated = float(PUBLISHED["Caltech 101"][2])
    gains = {"top_1": top_1, "top_10": top_10, "stated": stated}
    yield Case(kind=table.kind(*entries), data="Caltech 101", **gains)


@claim(
    "L15-table-gains",
    "section 6.2",
    "The top-10 SVM gains 2.6, 1.2 and 2.5 points of top-5 accuracy over the top-1 SVM on Caltech "
    "101, MIT Indoor 67 and SUN 397.",
    judged="on Caltech 101 Silhouettes alone, by the machines as the paper trains them. Our gain "
    f"is there, and within {NEAR} points of the stated one: two deviations of an accuracy.",
    cases=measured_gains,
    from_table=True,
    experiment=Experiment(data=tuple(PUBLISHED)),
    not_proved="An experiment.",
    planted=(version("a gain of 12.6 points", more=10.0),),
)
def published_gains(case: Case, more: float = 0.0) -> Outcome:
    gain = case.top_10 - case.top_1
    off = abs(gain - case.stated - more)
    return both(effect(gain - NEAR, gain + NEAR), at_most(off, NEAR, gain=gain))
