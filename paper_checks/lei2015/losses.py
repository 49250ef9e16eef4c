"""LP15 sections 2.2, 3.1 and B.1: regular losses, and the margin cut at the loss's zero."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from paper_checks.cases import Rng, fractions
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.lei2015.scalar_losses import (
    HINGE,
    PiecewiseLinear,
    ScalarLoss,
    grid,
    margin_loss,
    some_losses,
)
from paper_checks.outcomes import both, equal, truth

HALF = Fraction(1, 2)


def regular(loss: ScalarLoss, lipschitz: Fraction, strict: bool = False) -> Outcome:
    """Definition 2 on pairs of neighbours of a grid, exactly; the zero is on the grid."""
    ts = grid(loss)
    values = [loss.value(t) for t in ts]
    steps = [(s - t, v - w) for (t, v), (s, w) in pairwise(zip(ts, values, strict=True))]
    return both(
        truth(all(v >= int(t <= 0) for t, v in zip(ts, values, strict=True)), property="(i)"),
        truth(all(abs(fall) <= lipschitz * step for step, fall in steps), property="(ii)"),
        truth(all(fall > 0 if strict else fall >= 0 for _, fall in steps), property="(iii)"),
        equal(loss.value(loss.zero), Fraction(0), loss=loss),
    )


def both_examples(rng: Rng, deep: bool) -> Iterator[Case]:
    yield Case(kind="hinge", loss=HINGE)
    for case in margin_losses(rng, deep):
        yield Case(kind="margin loss", loss=margin_loss(case.rho))


def margin_losses(rng: Rng, deep: bool) -> Iterator[Case]:
    for numerator in range(1, 40 if deep else 12):
        yield Case(kind="exact", rho=Fraction(numerator, 4))


@claim(
    "LP15-def2",
    "Definition 2",
    "A regular loss bounds the 0-1 loss, is Lipschitz, and is decreasing with a zero; the hinge "
    "and the margin loss are examples.",
    formula=r"\ell(t)\geq 1_{t\leq 0},\ |\ell(t_1)-\ell(t_2)|\leq L|t_1-t_2|,\ \ell(c_\ell)=0",
    shapes="numbers",
    judged="decreasing read strictly: a function with (i) and a zero cannot fall beyond its zero, "
    "so no loss at all is regular in that reading.",
    cases=both_examples,
    derived=version("never rising, as the examples and B.1 need it", strict=False),
    planted=(version("half of the Lipschitz constant", strict=False, share=HALF),),
)
def definition_of_regular(case: Case, strict: bool = True, share: Fraction = HALF * 2) -> Outcome:
    return regular(case.loss, share * case.loss.lipschitz, strict)


@claim(
    "LP15-hinge-regular",
    "Definition 2",
    "The hinge (1 - t)_+ is 1-regular.",
    formula=r"\ell_h(t)=(1-t)_+",
    shapes="numbers",
    judged="decreasing read as never rising; see LP15-def2.",
    cases=lambda rng, deep: [Case(kind="exact", end=Fraction(1))],
    planted=(
        version("1/2-regular", lipschitz=HALF),
        version("the kink at 0: the 0-1 loss is not bounded there", end=Fraction(0)),
    ),
)
def hinge_is_regular(
    case: Case, lipschitz: Fraction = HALF * 2, end: Fraction | None = None
) -> Outcome:
    kink = case.end if end is None else end
    return regular(PiecewiseLinear(((kink, Fraction(0)),), left=-HALF * 2), lipschitz)


@claim(
    "LP15-eq1",
    "(1)",
    "The margin loss, 1 up to 0 and falling linearly to 0 at rho, is regular with L = 1/rho.",
    formula=r"\ell_\rho(t)=1_{t\leq 0}+(1-t\rho^{-1})1_{0<t\leq\rho},\quad L=1/\rho",
    shapes="numbers; rho > 0",
    judged="decreasing read as never rising; L = 1/rho from section 2.4.",
    cases=margin_losses,
    planted=(version("L = 1/(2 rho)", factor=HALF), version("L = rho", inverse=False)),
)
def margin_loss_is_regular(
    case: Case, factor: Fraction = HALF * 2, inverse: bool = True
) -> Outcome:
    return regular(margin_loss(case.rho), factor * (1 / case.rho if inverse else case.rho))


def losses_with_scores(rng: Rng, deep: bool) -> Iterator[Case]:
    for kind, loss in some_losses(rng, deep):
        for c in (2, 3, 4):
            for _ in range(3):
                y = int(rng.integers(c))
                yield Case(kind=kind, loss=loss, y=y, scores=fractions(rng, c, 2, 4))


@claim(
    "LP15-rho-theta",
    "B.1",
    "The margin in which the true class competes with its own score less theta is min(margin, "
    "theta); with theta the zero of a regular loss its loss is that of the margin itself.",
    formula=r"\rho_{\theta,h}=\min(\rho_h,\theta),\quad "
    r"\ell(\min(\rho_h,c_\ell))=\ell(\rho_h)",
    shapes="h(x, .): (c,); numbers",
    cases=losses_with_scores,
    relaxed=version("theta any number from the zero on", beyond=Fraction(3, 4)),
    planted=(
        version("theta below the zero", beyond=-HALF),
        version("plus theta for the true class", sign=-1),
    ),
)
def cut_margin(case: Case, beyond: Fraction = Fraction(0), sign: int = 1) -> Outcome:
    theta = case.loss.zero + beyond
    own = case.scores[case.y]
    others = [score for j, score in enumerate(case.scores) if j != case.y]
    cut = own - max(*others, own - sign * theta)
    margin = own - max(others)
    return both(
        equal(cut, min(margin, theta)),
        equal(case.loss.value(cut), case.loss.value(margin), margin=margin),
    )


@claim(
    "LP15-hinge-conjugate",
    "section 3.1",
    "The conjugate of the hinge is t for -1 <= t <= 0, and infinite elsewhere.",
    formula=r"\ell_h^*(t)=t\ \mathrm{if}\ -1\leq t\leq 0,\ \infty\ \mathrm{otherwise}",
    shapes="numbers",
    cases=lambda rng, deep: (Case(kind="exact", s=Fraction(i, 8)) for i in range(-16, 17)),
    planted=(
        version("-t", sign=-1),
        version("on [-2, 0]", least=-2),
        version("on [-1, 1]", most=1),
    ),
)
def conjugate_of_hinge(case: Case, sign: int = 1, least: int = -1, most: int = 0) -> Outcome:
    """The supremum of s t - (1 - t)_+ is at the kink t = 1, or at an end of the line."""
    rates = {"t to -inf": -(case.s + 1), "t to +inf": case.s}  # growth of s t - (1 - t)_+
    attained = case.s if max(rates.values()) <= 0 else float("inf")
    stated = sign * case.s if least <= case.s <= most else float("inf")
    return equal(stated, attained)
