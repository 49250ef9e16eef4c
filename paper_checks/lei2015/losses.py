"""Check LP15 sections 2.2, 3.1 and B.1: regular losses, and the margin cut at the loss's zero."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import inf

from paper_checks.arithmetic import (
    Real,
    Truth,
    absolute,
    all_of,
    any_of,
    divide,
    equals,
    implies,
    is_symbolic,
    maximum,
    minimum,
    negation,
    positive_part,
    where,
)
from paper_checks.cases import Rng, fractions
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.lei2015.scalar_losses import (
    HINGE,
    ScalarLoss,
    grid,
    margin_loss,
    some_losses,
)
from paper_checks.outcomes import both, equal, truth
from paper_checks.proofs import BySolver
from paper_checks.symbols import real, reals

HALF, ONE = Fraction(1, 2), Fraction(1)


def hinge(t: Real, kink: Real = ONE) -> Real:
    """Return (kink - t)_+; the hinge for kink 1."""
    return positive_part(kink - t)


def printed_margin_loss(t: Real, rho: Real) -> Real:
    """Return (1) as it is printed, with its two indicators."""
    falling = where(all_of(t > 0, t <= rho), 1 - divide(t, rho), Fraction(0))
    return where(t <= 0, ONE, Fraction(0)) + falling


def regular_between(
    low: tuple[Real, Real], high: tuple[Real, Real], lipschitz: Real, strict: bool = False
) -> Outcome:
    """Check Definition 2 at two points t with their losses, in ascending order."""
    (s, v), (t, w) = low, high
    fall = v - w
    return both(
        truth(implies(s <= 0, v >= 1), property="(i)", t=s, loss=v),
        truth(v >= 0, property="(i)", t=s, loss=v),
        truth(absolute(fall) <= lipschitz * (t - s), property="(ii)", t=(s, t), loss=(v, w)),
        truth(fall > 0 if strict else fall >= 0, property="(iii)", t=(s, t), loss=(v, w)),
    )


def regular(loss: ScalarLoss, lipschitz: Fraction, strict: bool = False) -> Outcome:
    """Check Definition 2 on pairs of neighbours of a grid, exactly; the zero is on the grid."""
    points = [(t, loss.value(t)) for t in grid(loss)]
    pairs = [regular_between(low, high, lipschitz, strict) for low, high in pairwise(points)]
    return both(*pairs, equal(loss.value(loss.zero), Fraction(0), loss=loss))


def both_examples(rng: Rng, deep: bool) -> Iterator[Case]:
    yield Case(kind="hinge", loss=HINGE)
    for case in margin_losses(rng, deep):
        yield Case(kind="margin loss", loss=margin_loss(case.rho))


def margin_losses(rng: Rng, deep: bool) -> Iterator[Case]:
    for numerator in range(1, 40 if deep else 12):
        yield Case(kind="exact", rho=Fraction(numerator, 4))


def two_arguments(deep: bool) -> Iterator[Case]:
    """Yield the hinge, and margin losses with rho = 1/2, 1 and 2, at any s < t."""
    for loss in (HINGE, margin_loss(HALF), margin_loss(ONE), margin_loss(2 * ONE)):
        yield Case(kind="symbols", loss=loss, s=real("s"), t=real("t"))


@claim(
    "LP15-def2",
    "Definition 2",
    "The hinge and the margin loss are regular: each bounds the 0-1 loss, is Lipschitz, and is "
    "decreasing with a zero.",
    formula=r"\ell(t)\geq 1_{t\leq 0},\ |\ell(t_1)-\ell(t_2)|\leq L|t_1-t_2|,\ \ell(c_\ell)=0",
    shapes="numbers; L: the Lipschitz constant; c_l: the zero",
    judged="A definition claims nothing; its two examples are judged. Decreasing means never "
    "rising, as it often does. Strictly, no loss would be regular: by (i) none is below 0, so that "
    "none falls beyond its zero.",
    cases=both_examples,
    planted=(
        version("half of the Lipschitz constant", share=HALF),
        version("strictly decreasing", strict=True),
    ),
    proofs=(
        BySolver(
            "a pair of arguments between grid points at which a loss rises or is too steep",
            cases=two_arguments,
            assuming=lambda case: case.s < case.t,
            sized_by=(),
        ),
    ),
)
def definition_of_regular(case: Case, strict: bool = False, share: Fraction = ONE) -> Outcome:
    lipschitz = share * case.loss.lipschitz
    if hasattr(case, "t"):  # a pair of arguments
        low, high = ((t, case.loss.value(t)) for t in (case.s, case.t))
        return regular_between(low, high, lipschitz, strict)
    return regular(case.loss, lipschitz, strict)


@claim(
    "LP15-hinge-regular",
    "Definition 2",
    "The hinge (1 - t)_+ is 1-regular.",
    formula=r"\ell_h(t)=(1-t)_+",
    shapes="numbers",
    judged="decreasing read as never rising; see LP15-def2.",
    cases=lambda rng, deep: (
        Case(kind="exact", s=s, t=t) for s, t in pairwise(Fraction(i, 8) for i in range(-16, 33))
    ),
    planted=(
        version("1/2-regular", lipschitz=HALF),
        version("the kink at 0: the 0-1 loss is not bounded there", end=Fraction(0)),
    ),
    proofs=(
        BySolver(
            "a pair of arguments on both sides of the kink, or far away, that is not on the grid",
            cases=lambda deep: [Case(kind="symbols", s=real("s"), t=real("t"))],
            assuming=lambda case: case.s < case.t,
            sized_by=(),
        ),
    ),
)
def hinge_is_regular(case: Case, lipschitz: Fraction = ONE, end: Fraction = ONE) -> Outcome:
    """Check Definition 2 at s < t, and the zero."""
    pair = [(t, hinge(t, end)) for t in (case.s, case.t)]
    return both(regular_between(pair[0], pair[1], lipschitz), equal(hinge(end, end), Fraction(0)))


@claim(
    "LP15-eq1",
    "(1)",
    "The margin loss, 1 up to 0 and falling linearly to 0 at rho, is regular with L = 1/rho.",
    formula=r"\ell_\rho(t)=1_{t\leq 0}+(1-t\rho^{-1})1_{0<t\leq\rho},\quad L=1/\rho",
    shapes="numbers; rho > 0",
    judged="decreasing read as never rising; L = 1/rho from section 2.4.",
    cases=lambda rng, deep: (
        Case(kind="exact", rho=case.rho, s=s, t=t)
        for case in margin_losses(rng, deep)
        for s, t in pairwise(grid(margin_loss(case.rho)))
    ),
    planted=(version("L = 1/(2 rho)", factor=HALF), version("L = rho", inverse=False)),
    proofs=(
        BySolver(
            "a rho between the ones tried, and an error in one of the two indicators at 0 or rho",
            cases=lambda deep: [Case(kind="symbols", rho=real("rho"), s=real("s"), t=real("t"))],
            assuming=lambda case: all_of(case.rho > 0, case.s < case.t),
            sized_by=(),
        ),
    ),
)
def margin_loss_is_regular(case: Case, factor: Fraction = ONE, inverse: bool = True) -> Outcome:
    """Check Definition 2 at s < t, and the zero."""
    rho = case.rho
    pair = [(t, printed_margin_loss(t, rho)) for t in (case.s, case.t)]
    lipschitz = factor * (divide(ONE, rho) if inverse else rho)
    zero = printed_margin_loss(rho, rho)
    return both(regular_between(pair[0], pair[1], lipschitz), equal(zero, Fraction(0)))


def losses_with_scores(rng: Rng, deep: bool) -> Iterator[Case]:
    for kind, loss in some_losses(rng, deep):
        for c in (2, 3, 4):
            for _ in range(3):
                y = int(rng.integers(c))
                beyond = Fraction(int(rng.integers(0, 4)), 4)
                scores = fractions(rng, c, 2, 4)
                yield Case(kind=kind, loss=loss, y=y, scores=scores, beyond=beyond)
            # a margin above the zero, cut at it
            yield Case(
                kind=kind,
                loss=loss,
                y=0,
                scores=(loss.zero + 1, *[Fraction(0)] * (c - 1)),
                beyond=Fraction(0),
            )


def symbolic_scores(deep: bool) -> Iterator[Case]:
    for c in (2, 3, 4):
        for loss in (HINGE, margin_loss(ONE)):
            beyond = real("beyond")
            yield Case(kind="symbols", c=c, loss=loss, y=0, scores=reals("s", c), beyond=beyond)


@claim(
    "LP15-rho-theta",
    "B.1",
    "If the true class also competes with its own score minus theta, the margin "
    "becomes min(margin, theta); if theta is the zero of a regular loss, the loss "
    "does not change.",
    formula=r"\rho_{\theta,h}=\min(\rho_h,\theta),\quad "
    r"\ell(\min(\rho_h,c_\ell))=\ell(\rho_h)",
    shapes="h(x, .): (c,); numbers",
    cases=losses_with_scores,
    relaxed=version("theta any number from the zero on", further=True),
    planted=(
        version("theta below the zero", below=HALF),
        version("plus theta for the true class", sign=-1),
    ),
    proofs=(
        BySolver(
            "ties between the true class and its rivals, and margins between the zero and theta",
            cases=symbolic_scores,
            assuming=lambda case: case.beyond >= 0,
            sized_by=("c",),
        ),
    ),
)
def cut_margin(
    case: Case, further: bool = False, below: Fraction = Fraction(0), sign: int = 1
) -> Outcome:
    theta = case.loss.zero - below + (case.beyond if further else 0)
    own = case.scores[case.y]
    others = [score for j, score in enumerate(case.scores) if j != case.y]
    cut = own - maximum(*others, own - sign * theta)
    margin = own - maximum(*others)
    return both(
        equal(cut, minimum(margin, theta)),
        equal(case.loss.value(cut), case.loss.value(margin), margin=margin),
    )


@claim(
    "LP15-hinge-conjugate",
    "section 3.1",
    "The conjugate of the hinge is t for -1 <= t <= 0, and infinite elsewhere.",
    formula=r"\ell_h^*(t)=t\ \mathrm{if}\ -1\leq t\leq 0,\ \infty\ \mathrm{otherwise}",
    shapes="numbers",
    cases=lambda rng, deep: (
        Case(kind="exact", s=Fraction(i, 8), t=fractions(rng, 1)[0]) for i in range(-16, 17)
    ),
    planted=(
        version("-t", sign=-1),
        version("on [-2, 0]", least=-2),
        version("on [-1, 1]", most=1),
    ),
    proofs=(
        BySolver(
            "a slope s just outside [-1, 0], or an argument t at which s t less the loss is larger",
            cases=lambda deep: [Case(kind="symbols", s=real("s"), t=real("t"))],
            sized_by=(),
        ),
    ),
)
def conjugate_of_hinge(case: Case, sign: int = 1, least: int = -1, most: int = 0) -> Outcome:
    """Check that inside no t gives more, and that the kink t = 1 attains the value.

    Outside, s t less the loss grows without bound in one direction, where the loss is linear.
    """
    s, t = case.s, case.t
    inside = all_of(s >= least, s <= most)
    stated, at_kink = sign * s, s - hinge(ONE)
    first, last = hinge(0 * ONE) - hinge(-ONE), hinge(3 * ONE) - hinge(2 * ONE)  # end slopes
    unbounded = any_of(first - s > 0, s - last > 0)
    found: list[Truth] = [
        implies(inside, s * t - hinge(t) <= stated),
        implies(inside, equals(stated, at_kink)),
        any_of(all_of(inside, negation(unbounded)), all_of(unbounded, negation(inside))),
    ]
    if is_symbolic(s):
        return truth(all_of(*found))
    seen = {"stated": stated if inside else inf, "supremum": inf if unbounded else at_kink}
    return truth(all_of(*found), None, **seen)
