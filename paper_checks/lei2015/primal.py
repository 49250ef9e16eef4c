"""Check LP15 section 3 and C.1: convexity for convex losses, and relaxed margins."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from paper_checks.arithmetic import (
    Real,
    absolute,
    all_of,
    implies,
    maximum,
    minimum,
    positive_part,
    total,
)
from paper_checks.cases import Rng, fractions
from paper_checks.ledger import Case, Condition, Erratum, Outcome, claim, version
from paper_checks.lei2015.scalar_losses import HINGE, STEEP_HINGE, grid, margin_loss, some_losses
from paper_checks.outcomes import at_most, both, equal, truth
from paper_checks.proofs import BySolver
from paper_checks.symbols import real, reals

ONE = Fraction(1)


def two_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield one input, weights w and v of c classes in one dimension, exact; p is 1 or 2."""
    for kind, loss in some_losses(rng, deep):
        for p, c in product((1, 2), (2, 3)):
            for _ in range(8):
                w, v = fractions(rng, c, 2, 4), fractions(rng, c, 2, 4)
                yield Case(kind=kind, loss=loss, p=p, c=c, w=w, v=v, C=4)
            for end in (Fraction(1, 2), Fraction(1)):  # margins 0, end/2 and end
                v = (end, *[Fraction(0)] * (c - 1))
                yield Case(kind=kind, loss=loss, p=p, c=c, w=(Fraction(0),) * c, v=v, C=4)


def symbolic_points(deep: bool) -> Iterator[Case]:
    """Yield points with convex losses first, so that they refute the planted versions."""
    for loss in (HINGE, STEEP_HINGE, margin_loss(ONE)):
        for c in (2, 3) if deep else (2,):
            w, v = reals("w", c), reals("v", c)
            yield Case(kind="symbols", loss=loss, p=2, c=c, w=w, v=v, C=4)


@claim(
    "LP15-prob10",
    "Problem 10, section 3.1",
    "(P) is convex for every regular loss, and for p = 2 with the hinge it is the machine of "
    "Crammer and Singer.",
    formula=r"\min_w\ \frac{1}{2}[\sum_j\|w_j\|_2^p]^{\frac{2}{p}}+C\sum_i\ell(t_i),\quad "
    r"t_i=\langle w_{y_i},\phi(x_i)\rangle-\max_{y\neq y_i}\langle w_y,\phi(x_i)\rangle",
    shapes="w: (c, d); t: (n,)",
    judged="for p in {1, 2}, where the sums are rational.",
    cases=two_points,
    sides=("objective at the middle", "mean of the two ends"),
    condition=Condition("the loss is convex", lambda case: case.loss.convex),
    planted=(
        version("strongly convex", bend=ONE),
        version("without the factor 1/2", half=1),
    ),
    proofs=(
        BySolver(
            "two machines between which the strongest other class changes",
            cases=symbolic_points,
            sized_by=("p", "c"),
        ),
    ),
    erratum=Erratum(
        "section 3.1, first sentence",
        r"\mathrm{(P)\ is\ convex\ for\ every\ regular\ loss\ }\ell",
        r"\mathrm{(P)\ is\ convex\ if\ }\ell\mathrm{\ is\ convex}",
        r"A regular loss need not be convex: the margin loss (1) with $\rho=1$ is 1 at $t\leq 0$ "
        r"and $1-t$ up to 1. One input 1 of class 1, c = 2, p = 2, C = 4: the objective is "
        r"$\frac{1}{2}+4$ at $w=(0,1)$, with margin -1, and $\frac{1}{2}$ at $w=(0,-1)$, with "
        r"margin 1. Half-way, at $w=0$, it is 4, more than the mean 2.5.",
        "The dual (D) has another value than (P) for the margin loss, the paper's own example of "
        "a regular loss; for convex losses nothing.",
    ),
)
def convex_problem(
    case: Case, bend: Fraction = Fraction(0), half: int | Fraction = Fraction(1, 2)
) -> Outcome:
    """Compare the objectives at the middle of w and v; the input is 1 and of class 0."""
    middle = tuple((a + b) / 2 for a, b in zip(case.w, case.v, strict=True))
    ends = (objective(case.w, case, half) + objective(case.v, case, half)) / 2
    distance = total((a - b) ** 2 for a, b in zip(case.w, case.v, strict=True))
    found = at_most(objective(middle, case, half), ends - bend * distance)
    if case.loss is HINGE and case.p == 2:
        rivals = [1 + score - case.w[0] for score in case.w[1:]]
        crammer_singer = total(a * a for a in case.w) / 2 + case.C * positive_part(maximum(*rivals))
        found = both(found, equal(objective(case.w, case, half), crammer_singer))
    return found


def objective(w: tuple[Real, ...], case: Case, half: int | Fraction) -> Real:
    """Return (P) for one input 1 of class 0, d = 1."""
    squared = total(map(absolute, w)) ** 2 if case.p == 1 else total(a * a for a in w)
    margin = w[0] - maximum(*w[1:])
    return half * squared + case.C * case.loss.value(margin)


def scores_and_bounds(rng: Rng, deep: bool) -> Iterator[Case]:
    for kind, loss in some_losses(rng, deep):
        for c in (2, 3, 4):
            scores = fractions(rng, c, 2, 4)
            for t in grid(loss):
                yield Case(kind=kind, loss=loss, c=c, scores=scores, t=t)


def symbolic_bounds(deep: bool) -> Iterator[Case]:
    for c in (2, 3, 4):
        for loss in (HINGE, margin_loss(ONE)):
            yield Case(kind="symbols", c=c, loss=loss, scores=reals("s", c), t=real("t"))


@claim(
    "LP15-relax",
    "C.1, C.2",
    "t_i may be relaxed to be at most each <w_y_i - w_y, phi(x_i)>: the least loss is that at the "
    "margin.",
    formula=r"\min\{\ell(t):\ t\leq\langle w_{y_i}-w_y,\phi(x_i)\rangle\ \forall y\neq y_i\}"
    r"=\ell(t_i)",
    shapes="numbers",
    cases=scores_and_bounds,
    planted=(
        version("at least each of them", below=False),
        version("at most one of them alone", rivals=1),
    ),
    proofs=(
        BySolver(
            "a t below all differences, off the grid, at which the loss is less",
            cases=symbolic_bounds,
            sized_by=("c",),
        ),
    ),
)
def relaxed_margins(case: Case, below: bool = True, rivals: int | None = None) -> Outcome:
    """Check that the margin is allowed, and that no allowed t has a smaller loss."""
    differences = [case.scores[0] - score for score in case.scores[1:]]
    bounds, margin = differences[:rivals], minimum(*differences)

    def allowed(t: Real) -> Real:
        return all_of(*(t <= bound if below else t >= bound for bound in bounds))

    least = case.loss.value(margin)
    return both(
        truth(allowed(margin), margin=margin),
        truth(implies(allowed(case.t), case.loss.value(case.t) >= least), loss_at_margin=least),
    )
