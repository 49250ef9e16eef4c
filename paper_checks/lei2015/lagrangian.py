"""Check LP15 C.2 and C.4: the Lagrangian of the machine in one dimension, and a stated dual.

Inputs x_i and weights w_j are numbers, so that |w_j|_2 is |w_j|. The multipliers of (C.1) are the
entries -alpha_ij of the other classes, by the substitution (C.5).
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from paper_checks.arithmetic import (
    Real,
    Truth,
    absolute,
    all_of,
    any_of,
    divide,
    implies,
    inner,
    is_symbolic,
    maximum,
    negation,
    total,
    where,
)
from paper_checks.cases import Rng, fractions
from paper_checks.ledger import Case, Outcome
from paper_checks.lei2015.norms import dual_exponent
from paper_checks.lei2015.scalar_losses import HINGE, STEEP_HINGE, ScalarLoss
from paper_checks.outcomes import at_most, both, equal, truth
from paper_checks.symbols import reals

Vector = Sequence[Real]


class NormInLine:
    """(1/2)|w|_{2,p}^2 for rows that are numbers; exact for p = 1 and 2."""

    def __init__(self, p: Real, dual_p: Real | None = None) -> None:
        self.p, self.dual_p = p, dual_exponent(p) if dual_p is None else dual_p

    def value(self, w: Vector) -> Real:
        return half_square(w, self.p)

    def conjugate(self, u: Vector) -> Real:
        return half_square(u, self.dual_p)

    def minimiser(self, u: Vector) -> tuple[Real, ...]:
        """Return a w that minimises the Lagrangian.

        For p = 1 only the first of the largest u_j counts.
        """
        if self.p == 2:
            return tuple(u)
        if self.p == 1:
            left, found = Fraction(1), []
            for x in u:
                largest = all_of(*(absolute(x) >= absolute(other) for other in u))
                found.append(where(largest, left * x, 0 * x))
                left = where(largest, 0 * x, left)
            return tuple(found)
        s, rows = dual_exponent(self.p), [abs(float(x)) for x in u]
        if not any(rows):
            return tuple(u)
        sums = sum(row**s for row in rows)
        powers = [row ** (s - 2) if row else 0.0 for row in rows]
        return tuple(sums ** (2 / s - 1) * a * float(x) for a, x in zip(powers, u, strict=True))


class WeightsInLine:
    """sum_j w_j^2/(2 beta_j), with 0/0 = 0; the powers of beta in the dual and in (10)."""

    def __init__(self, beta: Vector, power: int = 1, map_power: int = 1) -> None:
        self.beta, self.power, self.map_power = beta, power, map_power

    def value(self, w: Vector) -> Real:
        pairs = zip(w, self.beta, strict=True)
        return total(divide(x * x, 2 * b, zero_over_zero=Fraction(0)) for x, b in pairs)

    def conjugate(self, u: Vector) -> Real:
        return total(b**self.power * x * x for x, b in zip(u, self.beta, strict=True)) / 2

    def minimiser(self, u: Vector) -> tuple[Real, ...]:
        return tuple(b**self.map_power * x for x, b in zip(u, self.beta, strict=True))


Regulariser = NormInLine | WeightsInLine


def half_square(w: Vector, p: Real) -> Real:
    if p == 2:
        return inner(w, w) / 2
    if p == 1:
        return total(map(absolute, w)) ** 2 / 2
    if p == float("inf"):
        return maximum(*map(absolute, w)) ** 2 / 2
    return sum(abs(float(x)) ** p for x in w) ** (2 / p) / 2


def lagrangian(case: Case, regulariser: Regulariser, w: Vector, t: Vector) -> Real:
    """Return the Lagrangian of (C.1) or (8) at the multipliers -alpha_ij of the other classes."""
    value = regulariser.value(w) + case.C * total(case.loss.value(s) for s in t)
    for x, y, row, s in zip(case.x, case.y, case.alpha, t, strict=True):
        for j, a in enumerate(row):
            if j != y:
                value = value - a * (s + (w[j] - w[y]) * x)
    return value


def own(case: Case) -> list[Real]:
    """Return alpha_iy of each input."""
    return [row[y] for row, y in zip(case.alpha, case.y, strict=True)]


def sums(case: Case) -> list[Real]:
    """Return u_j = sum_i alpha_ij x_i."""
    return [inner([row[j] for row in case.alpha], case.x) for j in range(len(case.w))]


def dual_feasible(case: Case) -> Truth:
    """Return whether the constraints of (D) and (9) hold: other classes at most 0, sums 0."""
    signs = [
        a <= 0
        for row, y in zip(case.alpha, case.y, strict=True)
        for j, a in enumerate(row)
        if j != y
    ]
    zero_sums = [all_of(total(row) <= 0, total(row) >= 0) for row in case.alpha]
    return all_of(*signs, *zero_sums)


def hinge_feasible(case: Case, cap: int = 1) -> Truth:
    """Return whether the constraints of (7) and (11) hold: alpha_i at most cap C e_y, sums 0."""
    below = [
        a <= (cap * case.C if j == y else 0)
        for row, y in zip(case.alpha, case.y, strict=True)
        for j, a in enumerate(row)
    ]
    zero_sums = [all_of(total(row) <= 0, total(row) >= 0) for row in case.alpha]
    return all_of(*below, *zero_sums)


def is_lagrangian_dual(
    case: Case,
    regulariser: Regulariser,
    finite: Truth,
    gain: Real,
    negative: int = -1,
) -> Outcome:
    """Check that the stated value -R*(u) + gain is the infimum of the Lagrangian over w and t.

    If it is finite, no w and t give less, and some w and t attain it. If it is not finite but the
    multipliers are allowed, the Lagrangian is unbounded below in some t_i. `gain` is minus C times
    the sum of the conjugates, or the term that a dual has in its place. The losses have one kink.
    """
    u, slopes = sums(case), own(case)
    most = case.C * case.loss.lipschitz
    bounded = all_of(dual_feasible(case), *(a <= most for a in slopes))
    unbounded = any_of(*(a > most for a in slopes))
    stated = negative * regulariser.conjugate(u) + gain
    anywhere = lagrangian(case, regulariser, case.w, case.t)
    kinks = [case.loss.zero] * len(case.x)
    least = lagrangian(case, regulariser, regulariser.minimiser(u), kinks)
    domain = all_of(
        implies(finite, bounded),
        implies(bounded, finite),
        any_of(negation(dual_feasible(case)), bounded, unbounded),
    )
    if is_symbolic(case.alpha):
        inside = all_of(stated <= anywhere, stated <= least, stated >= least)
        return truth(all_of(domain, implies(bounded, inside)))
    if not bounded or not domain:
        return truth(bool(domain), tier=None, finite=bool(finite), bounded=bool(bounded))
    return both(at_most(stated, anywhere), equal(stated, least))


def conjugates(case: Case) -> tuple[Truth, Real]:
    """Return whether every l*(-alpha_iy/C) is finite, and minus C times their sum for a hinge."""
    finite = all_of(*(all_of(a >= 0, a <= case.C * case.loss.lipschitz) for a in own(case)))
    return finite, total(case.loss.zero * a for a in own(case))


def line_problems(rng: Rng, deep: bool, ps: Sequence[Real]) -> Iterator[Case]:
    """Yield inputs on a line with any alpha, half of them feasible, and any w and t to compare."""
    losses: tuple[ScalarLoss, ...] = (HINGE, STEEP_HINGE)
    for p in ps:
        for n, c in ((1, 2), (1, 3), (2, 3), (3, 3)):
            for i in range(6 if deep else 4):
                x, w, t = fractions(rng, n), fractions(rng, c), fractions(rng, n)
                y, C = tuple(map(int, rng.integers(0, c, n))), Fraction(int(rng.integers(1, 5)), 2)
                alpha = tuple(random_row(rng, c, label, i % 2 == 0) for label in y)
                loss = losses[i % 4 // 2]
                yield Case(
                    kind="the Lagrangian", p=p, n=n, c=c, loss=loss, C=C, x=x, y=y,
                    alpha=alpha, w=w, t=t,
                    beta=tuple(map(abs, fractions(rng, c))),
                )  # fmt: skip


def random_row(rng: Rng, c: int, y: int, feasible: bool) -> tuple[Fraction, ...]:
    row = list(fractions(rng, c, 1))
    if feasible:
        row = [-abs(a) / 4 for a in row]
        row[y] = Fraction(0)
        row[y] = -sum(row, Fraction(0))
    return tuple(row)


def symbolic_line(classes: Sequence[int]) -> Iterator[Case]:
    """Yield one input x = 1 or 2, p = 2, any alpha, w, t and class weights; C = 1."""
    for c in classes:
        for x in (1, 2):
            yield Case(
                kind="symbols", p=2, n=1, c=c, loss=HINGE, C=Fraction(1), x=(Fraction(x),),
                y=(0,), alpha=(reals("alpha", c),), w=reals("w", c), t=reals("t", 1),
                beta=reals("beta", c),
            )  # fmt: skip
