"""LP15 section 3.2: gradient, expansion and sub-problem of one row, exactly."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np

from paper_checks.cases import Rng, changed, fractions
from paper_checks.ledger import Case, Condition, Outcome, claim, version
from paper_checks.lei2015.scalar_losses import CUBIC_HINGE, HINGE, SMOOTH_HINGE, ScalarLoss
from paper_checks.outcomes import both, equal, truth


def exact(values: np.ndarray) -> np.ndarray:
    return np.vectorize(Fraction, otypes=[object])(values)


def rows(rng: Rng, deep: bool) -> Iterator[Case]:
    """Exact problems (11) with alpha, a row i, and a step for it whose entries sum to 0."""
    for c in (2, 3, 4):
        for n in (1, 2, 4):
            for _ in range(6 if deep else 3):
                x = exact(rng.integers(-2, 3, (n, 2)))
                step = np.array(fractions(rng, c), dtype=object)
                step[0] -= step.sum()
                yield Case(
                    kind=f"{c} classes",
                    gram=x @ x.T,
                    x=x,
                    y=rng.integers(0, c, n),
                    beta=exact(rng.integers(0, 4, c)) / 2,
                    alpha=exact(rng.integers(-2, 3, (n, c))) / 2,
                    i=int(rng.integers(n)),
                    step=step,
                    C=Fraction(int(rng.integers(1, 4)), 2),
                )


def f(alpha: np.ndarray, case: Case) -> Fraction:
    """The objective of (11)."""
    u = alpha.T @ case.x
    own = alpha[np.arange(len(case.y)), case.y].sum()
    return own - (case.beta * (u * u).sum(axis=1)).sum() / 2


def moved(case: Case, step: np.ndarray) -> np.ndarray:
    alpha = case.alpha.copy()
    alpha[case.i] = alpha[case.i] + step
    return alpha


def own_class(case: Case) -> np.ndarray:
    return exact((np.arange(len(case.beta)) == case.y[case.i]).astype(int))


def gradient(case: Case) -> np.ndarray:
    """(12) at row i: -beta_j sum alpha_ij k + 1."""
    return own_class(case) - case.beta * (case.alpha.T @ case.gram[case.i])


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
)
def derivative(case: Case, power: int = 1, sign: int = 1) -> Outcome:
    """Central differences, exact for a quadratic; and w from (10)."""
    unit = exact(np.eye(len(case.beta), dtype=int))
    differences = [(f(moved(case, e), case) - f(moved(case, -e), case)) / 2 for e in unit]
    own = own_class(case)
    stated = own - sign * case.beta**power * (case.alpha.T @ case.gram[case.i])
    w = case.beta[:, None] * (case.alpha.T @ case.x)
    return both(
        equal(stated, np.array(differences)), equal(own - sign * w @ case.x[case.i], stated)
    )


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
)
def expansion(case: Case, half: Fraction = Fraction(1, 2), own: int = 1) -> Outcome:
    step, k = case.step, case.gram[case.i, case.i]
    quadratic = half * k * (case.beta * step * step).sum()
    gain = f(moved(case, step), case) - f(case.alpha, case)
    inner = case.beta * (case.alpha.T @ case.gram[case.i])
    first_line = -(inner * step).sum() - quadratic + own * step[case.y[case.i]]
    return both(equal(gain, (gradient(case) * step).sum() - quadratic), equal(gain, first_line))


@claim(
    "LP15-eq13",
    "(13)",
    "The best step of row i maximises that quadratic under step <= C e_y - alpha_i with entries "
    "that sum to 0.",
    formula=r"\max_{\delta\alpha_i}-\frac{1}{2}\sum_j\beta_jk(x_i,x_i)[\delta\alpha_{ij}]^2+\sum_j"
    r"\frac{\partial f}{\partial\alpha_{ij}}\delta\alpha_{ij},\quad "
    r"\delta\alpha_i\leq e_{y_i}C-\alpha_i,\ \delta\alpha_i\cdot 1=0",
    shapes="alpha: (n, c); step: (c,)",
    judged="at feasible rows: the objectives differ by a constant and the steps allowed are those "
    "that leave the row feasible for (11).",
    cases=lambda rng, deep: (with_feasible_row(case) for case in rows(rng, deep)),
    planted=(
        version("step <= C e_y", previous=0),
        version("step <= C e_y + alpha_i", previous=-1),
    ),
)
def row_problem(case: Case, previous: int = 1) -> Outcome:
    after = case.alpha[case.i] + case.step
    feasible = bool((after <= case.C * own_class(case)).all() and after.sum() == 0)
    allowed = case.step <= case.C * own_class(case) - previous * case.alpha[case.i]
    k = case.gram[case.i, case.i]
    value = (gradient(case) * case.step).sum() - k * (case.beta * case.step**2).sum() / 2
    gain = f(moved(case, case.step), case) - f(case.alpha, case)
    return both(truth(feasible == bool(allowed.all()), step=case.step), equal(value, gain))


def with_feasible_row(case: Case) -> Case:
    """Row i made feasible, and the step scaled so that it often stays so."""
    own = own_class(case)
    others = -abs(case.alpha[case.i]) * (1 - own)
    total = max(-others.sum(), Fraction(1))
    others = others * min(Fraction(1), case.C / total)
    alpha = case.alpha.copy()
    alpha[case.i] = others - others.sum() * own
    return changed(case, alpha=alpha, step=case.step / 4)


def segments(rng: Rng, deep: bool) -> Iterator[Case]:
    """One sample's alpha_iy from 0 to its largest, against one other class, for three losses."""
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
    condition=Condition(
        "l* is a quadratic on its interval, as for the hinge",
        lambda case: case.kind != "cubic hinge",
    ),
    planted=(
        version(
            "the hinge's is linear",
            order=2,
            cases=lambda rng, deep: (
                case for case in segments(rng, deep) if case.kind == "smooth hinge"
            ),
        ),
    ),
)
def is_quadratic(case: Case, order: int = 3) -> Outcome:
    """The divided difference of this order is 0, at points where the cubic's conjugate is
    rational: alpha_iy = C L u^(power - 1) for u = 0, 1/3, 2/3, 1."""
    loss, C = case.loss, case.C
    k, u_of = case.gram[case.i, case.i], [Fraction(j, 3) for j in range(4)]
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
