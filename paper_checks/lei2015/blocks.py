"""Check LP15 section 3.2 exactly: the gradient, expansion and sub-problem of one row."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from paper_checks.arithmetic import Real, Truth, all_of, equals, implies, inner, total
from paper_checks.cases import Rng, changed, fractions
from paper_checks.ledger import Case, Condition, Erratum, Outcome, claim, version
from paper_checks.lei2015.scalar_losses import CUBIC_HINGE, HINGE, SMOOTH_HINGE, ScalarLoss
from paper_checks.outcomes import both, equal, truth
from paper_checks.proofs import BySolver
from paper_checks.symbols import real, reals

Vector = Sequence[Real]


def unit(c: int, j: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(int(k == j)) for k in range(c))


def rows(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield exact problems (11) with alpha, a row i, and a step for it whose entries sum to 0."""
    for c in (2, 3, 4):
        for n in (1, 2, 4):
            for _ in range(6 if deep else 3):
                x = tuple(fractions(rng, 2, 2, 1) for _ in range(n))
                step = list(fractions(rng, c))
                step[0] -= total(step)
                yield Case(
                    kind=f"{c} classes",
                    c=c,
                    n=n,
                    x=x,
                    y=tuple(map(int, rng.integers(0, c, n))),
                    beta=tuple(map(abs, fractions(rng, c, 2, 2))),
                    alpha=tuple(fractions(rng, c, 1) for _ in range(n)),
                    i=int(rng.integers(n)),
                    step=tuple(step),
                    C=Fraction(int(rng.integers(1, 4)), 2),
                )


def symbolic_rows(deep: bool) -> Iterator[Case]:
    """Yield any inputs, weights, alpha and step, in one dimension; the last row is changed."""
    for c, n in ((2, 1), (3, 1), (2, 2), (3, 2), (4, 2), *([(3, 3)] if deep else [])):
        yield Case(
            kind="symbols", c=c, n=n, i=n - 1, C=real("C"),
            x=tuple(reals(f"x_{i + 1}", 1) for i in range(n)), y=(0,) * n,
            beta=reals("beta", c), step=reals("step", c),
            alpha=tuple(reals(f"alpha_{i + 1}", c) for i in range(n)),
        )  # fmt: skip


def kernel(case: Case, i: int, k: int) -> Real:
    return inner(case.x[i], case.x[k])


def f(alpha: Sequence[Vector], case: Case) -> Real:
    """Return the objective of (11)."""
    own = total(row[y] for row, y in zip(alpha, case.y, strict=True))
    squares = []
    for j, beta in enumerate(case.beta):
        u = [
            inner([row[j] for row in alpha], [x[d] for x in case.x]) for d in range(len(case.x[0]))
        ]
        squares.append(beta * inner(u, u))
    return own - total(squares) / 2


def moved(case: Case, step: Vector) -> list[Vector]:
    rows = list(case.alpha)
    rows[case.i] = tuple(a + s for a, s in zip(rows[case.i], step, strict=True))
    return rows


def own_class(case: Case) -> tuple[Fraction, ...]:
    return unit(case.c, case.y[case.i])


def sums_with_kernel(case: Case) -> list[Real]:
    """Return sum over i~ of alpha_i~j k(x_i, x_i~), for each class j."""
    return [
        total(row[j] * kernel(case, case.i, k) for k, row in enumerate(case.alpha))
        for j in range(case.c)
    ]


def gradient(case: Case) -> list[Real]:
    """Return (12) at row i: -beta_j sum alpha_ij k + 1."""
    parts = zip(own_class(case), case.beta, sums_with_kernel(case), strict=True)
    return [own - beta * s for own, beta, s in parts]


@claim(
    "LP15-eq12",
    "(12)",
    "The derivative of f by alpha_ij is -beta_j sum alpha_.j k(x_i, x_.) + 1 if y_i = j, which is "
    "that 1 minus <w_j, phi(x_i)>.",
    formula=r"\frac{\partial f}{\partial\alpha_{ij}}=-\beta_j\sum_{\tilde\imath}"
    r"\alpha_{\tilde\imath j}k(x_i,x_{\tilde\imath})+1_{y_i=j}"
    r"=1_{y_i=j}-\langle w_j,\phi(x_i)\rangle",
    shapes="alpha: (n, c); beta: (c,)",
    cases=rows,
    planted=(version("without beta", power=0), version("plus <w_j, phi(x_i)>", sign=-1)),
    proofs=(
        BySolver(
            "a class weight or an input, possibly 0 or negative, with a different derivative",
            cases=symbolic_rows,
            sized_by=("n", "c"),
        ),
    ),
)
def derivative(case: Case, power: int = 1, sign: int = 1) -> Outcome:
    """Compare with central differences, exact for a quadratic; and w from (10)."""
    units = [unit(case.c, j) for j in range(case.c)]
    differences = [
        (f(moved(case, e), case) - f(moved(case, [-x for x in e]), case)) / 2 for e in units
    ]
    own = own_class(case)
    stated = [
        1 * o - sign * beta**power * s
        for o, beta, s in zip(own, case.beta, sums_with_kernel(case), strict=True)
    ]
    scores = [beta * s for beta, s in zip(case.beta, class_scores(case), strict=True)]
    by_w = [o - sign * score for o, score in zip(own, scores, strict=True)]
    return both(equal(stated, differences), equal(by_w, stated))


def class_scores(case: Case) -> list[Real]:
    """Return <u_j, x_i> for u_j = sum alpha_ij x_i; beta_j times it is <w_j, x_i>, by (10)."""
    found = []
    for j in range(case.c):
        column = [row[j] for row in case.alpha]
        u = [inner(column, [x[d] for x in case.x]) for d in range(len(case.x[0]))]
        found.append(inner(u, case.x[case.i]))
    return found


def quadratic_part(case: Case, half: Fraction = Fraction(1, 2)) -> Real:
    parts = zip(case.beta, case.step, strict=True)
    return half * kernel(case, case.i, case.i) * total(b * s * s for b, s in parts)


def gain(case: Case) -> Real:
    return f(moved(case, case.step), case) - f(case.alpha, case)


@claim(
    "LP15-expansion",
    "section 3.2",
    "Up to a constant f after a step of row i is the gradient times the step minus half the sum of "
    "beta_j k(x_i, x_i) times its squares; the line before says the same.",
    formula=r"f(\alpha_i+\delta\alpha_i)=\sum_j\frac{\partial f}{\partial\alpha_{ij}}"
    r"\delta\alpha_{ij}-\frac{1}{2}\sum_j\beta_jk(x_i,x_i)[\delta\alpha_{ij}]^2+\mathrm{const}",
    shapes="alpha: (n, c); beta, step: (c,)",
    cases=rows,
    planted=(
        version("the quadratic term without 1/2", half=Fraction(1)),
        version("without the step's own class in the first line", own=0),
    ),
    proofs=(
        BySolver(
            "a term that depends on the step but was treated as a constant",
            cases=symbolic_rows,
            sized_by=("n", "c"),
        ),
    ),
)
def expansion(case: Case, half: Fraction = Fraction(1, 2), own: int = 1) -> Outcome:
    quadratic = quadratic_part(case, half)
    parts = zip(case.beta, sums_with_kernel(case), case.step, strict=True)
    first_line = -total(b * s * d for b, s, d in parts) - quadratic
    first_line = first_line + own * case.step[case.y[case.i]]
    second_line = inner(gradient(case), case.step) - quadratic
    return both(equal(gain(case), second_line), equal(gain(case), first_line))


@claim(
    "LP15-eq13",
    "(13)",
    "The best step of row i maximises that quadratic under step <= C e_y - alpha_i with entries "
    "that sum to 0.",
    formula=r"\max_{\delta\alpha_i}-\frac{1}{2}\sum_j\beta_jk(x_i,x_i)[\delta\alpha_{ij}]^2+\sum_j"
    r"\frac{\partial f}{\partial\alpha_{ij}}\delta\alpha_{ij},\quad "
    r"\delta\alpha_i\leq e_{y_i}C-\alpha_i,\ \delta\alpha_i\cdot 1=0",
    shapes="alpha: (n, c); step: (c,)",
    judged="at feasible rows: the objectives differ by a constant, and the allowed steps "
    "are those that keep the row feasible for (11).",
    cases=lambda rng, deep: (with_feasible_row(case) for case in rows(rng, deep)),
    planted=(
        version("step <= C e_y", previous=0),
        version("step <= C e_y + alpha_i", previous=-1),
    ),
    proofs=(
        BySolver(
            "a step on the boundary of the feasible set that only one of the two "
            "descriptions allows",
            cases=symbolic_rows,
            assuming=lambda case: feasible_row(case, case.alpha[case.i]),
            sized_by=("n", "c"),
        ),
    ),
)
def row_problem(case: Case, previous: int = 1) -> Outcome:
    after = moved(case, case.step)[case.i]
    limits = [
        case.C * own - previous * a
        for own, a in zip(own_class(case), case.alpha[case.i], strict=True)
    ]
    allowed = all_of(
        *(s <= limit for s, limit in zip(case.step, limits, strict=True)),
        equals(total(case.step), 0),
    )
    feasible = feasible_row(case, after)
    value = inner(gradient(case), case.step) - quadratic_part(case)
    same = all_of(implies(feasible, allowed), implies(allowed, feasible))
    return both(truth(same), equal(value, gain(case)))


def feasible_row(case: Case, row: Vector) -> Truth:
    """Return whether alpha_i <= C e_y and alpha_i sums to 0."""
    below = [a <= case.C * own for a, own in zip(row, own_class(case), strict=True)]
    return all_of(*below, equals(total(row), 0))


def with_feasible_row(case: Case) -> Case:
    """Make row i feasible, and scale the step so that the row often remains feasible."""
    y = case.y[case.i]
    others = [-abs(a) if j != y else Fraction(0) for j, a in enumerate(case.alpha[case.i])]
    size = max(-total(others), Fraction(1))
    others = [a * min(Fraction(1), case.C / size) for a in others]
    others[y] = -total(others)
    alpha = list(case.alpha)
    alpha[case.i] = tuple(others)
    return changed(case, alpha=tuple(alpha), step=tuple(s / 4 for s in case.step))


def segments(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield one sample's alpha_iy from 0 to its largest value.

    One other class has minus that value. There are three losses.
    """
    losses: dict[str, ScalarLoss] = {
        "hinge": HINGE,
        "smooth hinge": SMOOTH_HINGE,
        "cubic hinge": CUBIC_HINGE,
    }
    for case in rows(rng, deep):
        for kind, loss in losses.items():
            yield changed(case, kind=kind, loss=loss)


@claim(
    "LP15-quadratic",
    "section 3.2",
    "Problems 14 and 15 are quadratic.",
    shapes="alpha: (n, c)",
    judged="for all regular losses, as Problem 14 is stated; the example is (1 - t)^3 between 0 "
    "and 1, whose conjugate has a square root.",
    cases=segments,
    sides=("third divided difference of the objective", "as for a quadratic"),
    condition=Condition(
        "l* is a quadratic on its interval, as for the hinge",
        lambda case: case.kind != "cubic hinge",
    ),
    main=Condition("the hinge, the loss of section 4", lambda case: case.kind == "hinge"),
    planted=(
        version(
            "the hinge's is linear",
            order=2,
            cases=lambda rng, deep: (
                case for case in segments(rng, deep) if case.kind == "smooth hinge"
            ),
        ),
    ),
    not_proved="finitely many points decide a polynomial of known degree, so the test is exact",
    erratum=Erratum(
        "section 3.2, after Problem 15",
        r"\mathrm{Problem\ 14\ is\ quadratic\ for\ every\ regular\ loss}",
        r"\mathrm{Problem\ 14\ is\ quadratic\ if\ }\ell^*\mathrm{\ is,\ as\ in\ Problem\ 15}",
        r"(9) has the term $-C\ell^*(-\alpha_{iy_i}/C)$. The loss $\ell(t)=(1-t)^3$ on [0, 1], 0 "
        r"after it and $1-3t$ before it, is convex and 3-regular, and $\ell^*(-s)=-s+2(s/3)^{3/2}$ "
        r"for $0\leq s\leq 3$, since $3(1-t)^2=s$ at the best t. That is no quadratic in s.",
        "The block step (13) for such losses; nothing for the hinge, the only loss trained.",
    ),
)
def is_quadratic(case: Case, order: int = 3) -> Outcome:
    """Check that the divided difference of this order is 0.

    At the points the cubic's conjugate is rational: alpha_iy = C L u^(power - 1) for u = 0, 1/3,
    2/3, 1.
    """
    loss, C = case.loss, case.C
    k, u_of = kernel(case, case.i, case.i), [Fraction(j, 3) for j in range(4)]
    points, values = [], []
    for u in u_of:
        power = 1 if loss is HINGE else loss.power - 1
        a = C * Fraction(loss.lipschitz) * u**power
        conjugate = -a / C if loss is HINGE else loss.at_slope_of(u)
        points.append(a)
        values.append(-(case.beta[0] + case.beta[1]) * k * a * a / 2 - C * conjugate)
    return equal(divided_difference(points[: order + 1], values), Fraction(0))


def divided_difference(points: list[Fraction], values: list[Fraction]) -> Fraction:
    table = values[: len(points)]
    for order in range(1, len(points)):
        table = [
            (b - a) / (points[i + order] - points[i]) for i, (a, b) in enumerate(pairwise(table))
        ]
    return table[0]
