"""Check LP15 B.3, C.1 and C.3: the (2, p) norms, their duals and gradients."""

import math
from collections.abc import Iterator
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

import fwlab
from paper_checks.arithmetic import Real, all_of, divide, where
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Condition, Erratum, Library, Outcome, claim, version
from paper_checks.lei2015 import exponents
from paper_checks.outcomes import at_most, both, equal
from paper_checks.proofs import BySolver, ByTheorem
from paper_checks.symbols import real

# an imaginary step, so small that only the first order of its effect remains
TINY = 1e-290
P_FROM_ONE = (1.0, 1.05, 1.2, 1.5, 2.0, 3.0, 10.0)


def dual_exponent(p: float) -> float:
    """Return p* with 1/p + 1/p* = 1."""
    if p == inf:
        return 1.0
    return inf if p == 1 else p / (p - 1)


def block_norm(w: np.ndarray, p: float) -> float:
    """Return the (2, p) norm of the rows of w; p = inf is the largest row norm."""
    return float(np.linalg.norm(np.linalg.norm(w, axis=1), p))


def pairs(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield q in (1, 2], two matrices (c, d), and a point alpha between them."""
    for q in (1.01, 1.2, 1.5, 1.9, 2.0):
        for c in (2, 3, 6):
            for _ in range(10 if deep else 4):
                x, y = rng.standard_normal((2, c, 2))
                yield Case(kind="normal", q=q, x=x, y=y, alpha=float(rng.uniform(0.05, 0.95)))
                x, y = rng.integers(-1, 2, (2, c, 1)).astype(float)
                yield Case(kind="integers", q=q, x=x, y=y, alpha=0.5)
        ones, step = np.ones((2, 1)), np.array([[0.05], [-0.05]])
        yield Case(kind="near the flattest place", q=q, x=ones + step, y=ones - step, alpha=0.5)


@claim(
    "LP15-strong-convexity",
    "B.3",
    "Half the squared (2, q) norm is 1/q*-strongly convex in that norm, for 1 < q <= 2.",
    formula=r"\frac{1}{2}\|\cdot\|_{2,q}^2\ \mathrm{is}\ \frac{1}{q^*}\mathrm{-strongly\ convex}",
    shapes="matrices (c, d)",
    cases=pairs,
    relaxed=version("with the larger modulus q - 1 = q/q*", power=1),
    planted=(
        version("with the modulus q - 1/2", power=1, more=0.5),
        version("with the modulus 1.05 (q - 1)", power=1, factor=1.05),
    ),
    not_proved="real powers; at q = 2 it is the parallelogram identity",
)
def strongly_convex(case: Case, power: int = 0, more: float = 0.0, factor: float = 1.0) -> Outcome:
    q, a = case.q, case.alpha
    modulus = factor * ((q - 1) / q * q**power + more)

    def f(w: np.ndarray) -> float:
        return block_norm(w, q) ** 2 / 2

    bend = modulus / 2 * a * (1 - a) * block_norm(case.x - case.y, q) ** 2
    return at_most(f(a * case.x + (1 - a) * case.y), a * f(case.x) + (1 - a) * f(case.y) - bend)


def matrices(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield p >= 1 and a matrix (c, d), some with zero rows or rows of equal norm."""
    for p in P_FROM_ONE:
        for c in (1, 2, 3, 6):
            v = rng.standard_normal((c, 2))
            yield Case(kind="normal", p=p, v=v, seed=int(rng.integers(2**31)))
            with_zero = v.copy()
            with_zero[0] = 0
            yield Case(kind="a zero row", p=p, v=with_zero, seed=int(rng.integers(2**31)))
            signs = rng.choice([-1.0, 1.0], (c, 2))
            yield Case(kind="equal rows", p=p, v=signs, seed=int(rng.integers(2**31)))


@claim(
    "LP15-dual-norm",
    "B.3, C.2",
    "The dual of the (2, p) norm is the (2, p*) norm.",
    formula=r"\sup_{\|w\|_{2,p}\leq 1}\langle w,v\rangle=\|v\|_{2,p^*},\quad 1/p+1/p^*=1",
    shapes="w, v: (c, d); p >= 1, p* infinite for p = 1",
    cases=matrices,
    planted=(version("the (2, p) norm", same=True), version("1.01 times it", factor=1.01)),
    proofs=(
        ByTheorem(
            "a p between those tried; the aligned w is stationary for a linear "
            "function on the convex ball, hence optimal, and attains the stated norm",
            exponents.dual_norm_attained,
            "all sizes and p > 1",
        ),
    ),
    library=Library(
        ("fwlab.lp_norm.LpNorm.dual_square_norm", "fwlab.lp_norm.LpNorm.q"),
        lambda case: equal(
            (2 * fwlab.LpNorm(case.p).conjugate(case.v)) ** 0.5,
            block_norm(case.v, dual_exponent(case.p)),
        ),
    ),
)
def dual_norm(case: Case, same: bool = False, factor: float = 1.0) -> Outcome:
    """Check that no point of the unit ball gives more, and that the aligned point attains the norm.

    The aligned point has the rows v_j |v_j|^(p*-2); for p = 1 only the largest row.
    """
    p, v = case.p, case.v
    stated = factor * block_norm(v, p if same else dual_exponent(p))
    rng = np.random.default_rng(case.seed)
    tried = [w / block_norm(w, p) for w in (v + rng.standard_normal((300, *v.shape)))]
    most = max(float((w * v).sum()) for w in tried)
    w = aligned(v, p)
    size = block_norm(w, p)
    attained = float((w * v).sum()) / size if size else 0.0
    return both(at_most(most, stated), equal(attained, stated))


def aligned(v: np.ndarray, p: float) -> np.ndarray:
    rows = np.linalg.norm(v, axis=1)
    if p == 1:
        return v * (np.arange(len(v)) == rows.argmax())[:, None]
    powers = np.array([r ** (dual_exponent(p) - 2) if r else 0.0 for r in rows])
    return v * powers[:, None]


def with_integers(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the matrices, and for p = 1 and d = 1 integers, where the slopes are known exactly."""
    yield from matrices(rng, deep)
    for v in ((1, 0), (2, -1), (0, -1)):
        yield Case(kind="exact", p=1, v=tuple(map(Fraction, v)))


@claim(
    "LP15-lemC2",
    "Lemma C.2",
    "The gradient of half the squared (2, p) norm, p >= 1, is the p-th power sum to 2/p - 1, times "
    "|v_j|^(p-2) v_j.",
    formula=r"\frac{\partial g_p}{\partial v_j}=[\sum_{\tilde\jmath}\|v_{\tilde\jmath}\|_2^p]"
    r"^{\frac{2}{p}-1}\|v_j\|_2^{p-2}v_j",
    shapes="v: (c, d)",
    judged="with 0 where v_j = 0, though |v_j|^(p-2) v_j is 0/0 there for p < 2.",
    cases=with_integers,
    sides=("as stated", "slopes to both sides"),
    condition=Condition("p > 1 or no v_j is 0", lambda case: case.p > 1 or no_zero_row(case.v)),
    corrected=version(
        "for p > 1",
        cases=lambda rng, deep: (case for case in matrices(rng, deep) if case.p > 1),
        formula=r"\mathrm{for\ }p>1",
    ),
    planted=(version("the power 2/p", shift=0.0), version("|v_j|^(p-1) v_j", inner=1.0)),
    proofs=(
        ByTheorem(
            "an exponent that is wrong between the p tried, found by differentiation",
            exponents.gradient_by_sympy,
            "c <= 4, all p > 0, where no v_j is 0",
            everywhere=False,
        ),
    ),
    erratum=Erratum(
        "appendix C.3, Lemma C.2",
        r"\mathrm{for\ }p\geq 1:\ \frac{\partial g_p}{\partial v_j}=[\sum_{\tilde\jmath}"
        r"\|v_{\tilde\jmath}\|_2^p]^{\frac{2}{p}-1}\|v_j\|_2^{p-2}v_j",
        r"\mathrm{for\ }p>1",
        r"At p = 1 there is no gradient where a $v_j$ is 0: for v = (1, 0) the function "
        r"$\frac{1}{2}(|v_1|+|v_2|)^2$ has the slopes 1 and -1 to the two sides of $v_2=0$. For "
        r"1 < p < 2 the formula is 0/0 there, and the gradient is 0.",
        "The proof of Theorem 12 at p = 1.",
    ),
)
def gradient_of_norm(case: Case, shift: float = 1.0, inner: float = 2.0) -> Outcome:
    """Compare with the slopes on both sides along every entry."""
    if case.kind == "exact":
        return gradient_at_one(case.v)
    p, v = case.p, case.v
    rows = np.linalg.norm(v, axis=1)
    if not v.any():  # g_p is at most a multiple of |v|^2, so its gradient at 0 is 0
        return equal(power_times(v[0], rows[0], p - inner, 0.0), 0 * v[0])
    factors = [power_times(x, row, p - inner, 0.0) for x, row in zip(v, rows, strict=True)]
    stated = (rows**p).sum() ** (2 / p - shift) * np.array(factors)
    places = list(np.ndindex(v.shape))
    both_sides = [slope(v, place, sign, p) for place in places for sign in (1, -1)]
    return equal(np.repeat(stated, 2), np.array(both_sides), p=p, v=v)


def no_zero_row(v: Any) -> bool:
    return all(np.any(row) for row in v)


def power_times(v: np.ndarray, row: float, power: float, at_zero: float) -> np.ndarray:
    """Return |v|^power v, where 0/0 at v = 0 has the given value, counted."""
    if row or power >= 0:
        return row**power * v
    return divide(0 * v[0], row, zero_over_zero=at_zero) + 0 * v


def gradient_at_one(v: tuple[Fraction, ...]) -> Outcome:
    """Check the slopes of half the square of S = sum |v_j| for p = 1 and d = 1.

    They are S times the slopes of |v_j|: the sign of v_j, or 1 and -1 where it is 0.
    """
    total = sum(map(abs, v), Fraction(0))
    stated, slopes = [], []
    for x in v:
        sign = divide(x, abs(x), zero_over_zero=Fraction(0))
        stated += [total * sign, total * sign]
        slopes += [total * (sign or 1), total * (sign or -1)]
    return equal(stated, slopes)


def slope(v: np.ndarray, place: tuple[int, ...], sign: int, p: float) -> float:
    """Return the slope of (1/2)|v|_{2,p}^2 along an entry, on the given side of v."""
    if not v[place[0]].any():
        return sign * slope_at_zero(v, p)
    moved = v.astype(complex)
    moved[place] += TINY * 1j  # analytic there: the imaginary part is the slope times TINY
    rows = np.sqrt((moved**2).sum(axis=1))
    kept = [row for row in rows if row]
    return float(np.imag(sum(row**p for row in kept) ** (2 / p)) / 2 / TINY)


def slope_at_zero(v: np.ndarray, p: float) -> float:
    """Return the slope out of a row that is 0, up to a term like TINY^(p - 1)."""
    grown = math.log1p(TINY**p / (np.linalg.norm(v, axis=1) ** p).sum())
    return block_norm(v, p) ** 2 / 2 * math.expm1(2 / p * grown) / TINY


def curves(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield functions f(x) = right x^2/2 for x >= 0 and left x^2/2 before, at points x; exact."""
    for left in (Fraction(0), Fraction(1, 2), Fraction(3)):
        for step in range(-4, 5):
            yield Case(kind="exact", left=left, right=Fraction(2), x=Fraction(step, 2))


@claim(
    "LP15-gradient-inverse",
    "C.3",
    "The gradient of any convex function is inverse to the gradient of its conjugate.",
    formula=r"(\nabla f)^{-1}=\nabla f^*",
    shapes="x: a number",
    judged="for differentiable f; Theorem 12 uses it for half a squared norm. Where f is "
    "flat, f* has a kink or ends, and its slope on the side where it is finite is "
    "used.",
    cases=curves,
    sides=("gradient of f* at f'(x)", "x"),
    condition=Condition("f is strictly convex", lambda case: case.left > 0),
    main=Condition(
        "f is strictly convex, as half the squared norm of Theorem 12 is for p > 1",
        lambda case: case.left > 0,
    ),
    planted=(version("the gradient of f itself", inverse=False),),
    proofs=(
        BySolver(
            "a pair of curvatures or a sign of x for which the two maps are not inverse",
            cases=lambda deep: [
                Case(kind="symbols", left=real("left"), right=real("right"), x=real("x"), pieces=2),
            ],
            assuming=lambda case: all_of(case.left >= 0, case.right > 0),
            sized_by=("pieces",),
        ),
    ),
    erratum=Erratum(
        "appendix C.3, proof of Theorem 12",
        r"(\nabla f)^{-1}=\nabla f^*\mathrm{\ for\ any\ convex\ }f",
        r"(\partial f)^{-1}=\partial f^*",
        r"f(x) = $\max(x,0)^2$ is convex and differentiable, but its gradient is 0 at x = -1 and "
        r"at x = 0, so it has no inverse; subdifferentials have a set-valued one. In Theorem 12 f "
        r"is half a squared (2, p) norm, where gradients do for p > 1.",
        "Theorem 12 at p = 1.",
    ),
)
def gradients_invert(case: Case, inverse: bool = True) -> Outcome:
    slope_at_x = where(case.x >= 0, case.right, case.left) * case.x
    curvature = where(slope_at_x >= 0, case.right, case.left)
    back: Real = divide(slope_at_x, curvature) if inverse else slope_at_x * curvature
    return equal(back, case.x)
