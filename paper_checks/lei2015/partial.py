"""Check LP15 section 3.2 and C.4: the norm by class weights, and the best weights."""

from collections.abc import Iterator
from fractions import Fraction
from math import inf

import numpy as np

import fwlab
from paper_checks.arithmetic import divide
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Condition, Erratum, Library, Outcome, claim, version
from paper_checks.lei2015 import exponents
from paper_checks.lei2015.norms import P_FROM_ONE, block_norm
from paper_checks.outcomes import at_most, both, equal, truth
from paper_checks.proofs import ByTheorem
from paper_checks.trials import Tier


def conjugate_weight_exponent(p: float) -> float:
    """Return p-bar = p/(2 - p), negative above 2."""
    return inf if p == 2 else p / (2 - p)


def weight_norm(beta: np.ndarray, exponent: float) -> float:
    """Return |beta|_{p-bar} by its formula, for a negative exponent too."""
    if exponent == inf:
        return float(beta.max())
    if exponent < 0 and not beta.all():
        return 0.0  # the limit: 0 to a negative power is infinite
    return float((beta**exponent).sum() ** (1 / exponent))


def weighted_value(w: np.ndarray, beta: np.ndarray) -> float:
    """Return sum |w_j|^2/(2 beta_j), with 0/0 = 0."""
    pairs = zip((w * w).sum(axis=1), beta, strict=True)
    return float(sum(divide(a, 2 * b, zero_over_zero=0.0) for a, b in pairs))


def closed_form(w: np.ndarray, p: float, power: float = 2.0) -> np.ndarray:
    """Return (14), or for w_j = 0 its limit: 0 for p < 2, 1 for p = 2, infinite for p > 2."""
    rows = np.linalg.norm(w, axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return rows ** (power - p) * (rows**p).sum() ** ((p - 2) / p)


def weights_and_rows(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield nonzero w (c, d), p up to 10, and feasible beta to compare; some rows of w are zero."""
    for p in P_FROM_ONE:
        for c in (2, 3, 5):
            for kind in ("normal", "a zero row", "equal rows"):
                w = rng.standard_normal((c, 2)) if kind != "equal rows" else np.ones((c, 1))
                if kind == "a zero row":
                    w[0] = 0
                beta = rng.exponential(size=(60, c)) ** 3 + 1e-3
                yield Case(kind=kind, p=p, w=w, beta=beta)


def up_to_two(rng: Rng, deep: bool) -> Iterator[Case]:
    return (case for case in weights_and_rows(rng, deep) if case.p <= 2)


def above_two(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield p = 4 exactly, where p-bar = -2: weights of p-bar "norm" at most 1 that give less."""
    for w, beta in (((1, 1), (1, 4)), ((1, 2), (4, 1)), ((2, 1), (1, 9))):
        rational = [tuple(map(Fraction, values)) for values in (w, beta)]
        yield Case(kind="exact", p=4, w=rational[0], beta=rational[1])


def with_above_two(rng: Rng, deep: bool) -> Iterator[Case]:
    yield from weights_and_rows(rng, deep)
    yield from above_two(rng, deep)


def no_less_above_two(case: Case) -> Outcome:
    """Check that at p = 4 and d = 1 no beta with sum beta^-2 >= 1 gives less than (1/2)|w|_{2,4}^2.

    This is also the value at (14). Both sides are squared, so that all numbers are rational.
    """
    feasible = sum(1 / b**2 for b in case.beta) >= 1
    value = sum(x**2 / (2 * b) for x, b in zip(case.w, case.beta, strict=True))
    if not feasible:
        return truth(True)
    return at_most(sum(x**4 for x in case.w) / 4, value**2)


UP_TO_TWO = Condition("p is at most 2", lambda case: case.p <= 2)


def no_less(case: Case, scale: float = 1.0) -> Outcome:
    """Check that no feasible class weights give less than half the squared (2, p) norm."""
    exponent = conjugate_weight_exponent(case.p)
    feasible = [scale * beta / weight_norm(beta, exponent) for beta in case.beta]
    best = min(feasible, key=lambda beta: weighted_value(case.w, beta))
    least = block_norm(case.w, case.p) ** 2 / 2
    return at_most(least, weighted_value(case.w, best), beta=best)


@claim(
    "LP15-eq8",
    "(8), C.1",
    "(P) is equivalent to (8), with sum |w_j|^2/(2 beta_j) in the place of the norm, minimised "
    "over beta >= 0 of p-bar norm at most 1, for p in [1.2, 10], as the experiments use it.",
    formula=r"\frac{1}{2}\|w\|_{2,p}^2=\min\{\sum_j\frac{\|w_j\|_2^2}{2\beta_j}:\ "
    r"\|\beta\|_{\bar p}\leq 1,\ \beta\geq 0\},\quad \bar p=\frac{p}{2-p}",
    shapes="w: (c, d); beta: (c,)",
    judged="at every w, so at the optimal one; p from 1 on, p-bar infinite for p = 2. For p > 2 "
    "p-bar is negative and the minimum is half the smallest |w_j|^2.",
    cases=with_above_two,
    sides=("square of half the squared (2, 4) norm", "square of the sum at these beta"),
    condition=UP_TO_TWO,
    corrected=version(
        "for p > 2 the maximum over gamma >= 0, |gamma|_{p/(p-2)} <= 1, of sum gamma_j |w_j|^2/2",
        form=lambda case: largest_weighted(case),
        cases=weights_and_rows,
        formula=r"\frac{1}{2}\|w\|_{2,p}^2=\max\{\sum_j\frac{\gamma_j\|w_j\|_2^2}{2}:\ "
        r"\|\gamma\|_{p/(p-2)}\leq 1,\ \gamma\geq 0\}",
    ),
    planted=(
        version("the norm of beta at most 1.1", scale=1.1),
        version("the norm of beta at most 0.9", scale=0.9, cases=up_to_two),
    ),
    proofs=(
        ByTheorem(
            "an exponent of (8) that is wrong between the p tried; only for the "
            "right p-bar are the weights (14) feasible and stationary for a convex "
            "problem with half the squared norm as its value",
            exponents.class_weights_optimal,
            "all sizes and 1 <= p < 2",
        ),
    ),
    library=Library(
        ("fwlab.lp_norm.LpNorm.optimal_class_weights", "fwlab.lp_norm.LpNorm.value"),
        lambda case: library_weights(case),
        lambda rng, deep: (case for case in weights_and_rows(rng, deep) if case.p < 2),
    ),
    erratum=Erratum(
        "section 3.2, (8); section 4",
        r"\min\{\sum_j\frac{\|w_j\|_2^2}{2\beta_j}:\ \|\beta\|_{\bar p}\leq 1\}="
        r"\frac{1}{2}\|w\|_{2,p}^2\mathrm{\ for\ }p\in[1.2,10]",
        r"\mathrm{for\ }1\leq p\leq 2\mathrm{\ alone}",
        r"For p > 2 the exponent $\bar p=p/(2-p)$ is negative, and Lemma C.1 needs one of at least "
        r"1. p = 4, $\bar p=-2$, d = 1, w = (1, 1), $\beta=(1,4)$: "
        r"$\|\beta\|_{-2}=(1+\frac{1}{16})^{-1/2}\leq 1$, but the sum is $\frac{1}{2}+"
        r"\frac{1}{8}=\frac{5}{8}$, below $\frac{1}{2}\sqrt{2}$. With $\beta=(1,t)$, t large, "
        r"it falls to $\frac{1}{2}$.",
        "Proposition 16 and Algorithm 1 for the p above 2 that section 4 tries: see "
        "LP15-alg1-p-above-2.",
    ),
)
def with_class_weights(case: Case, scale: float = 1.0) -> Outcome:
    if case.kind == "exact":
        return no_less_above_two(case)
    attained = weighted_value(case.w, scale * attaining(case.w, case.p))
    return both(
        no_less(case, scale), equal(attained, block_norm(case.w, case.p) ** 2 / 2, p=case.p)
    )


def attaining(w: np.ndarray, p: float) -> np.ndarray:
    """Return (14), with infinite entries replaced by a finite number."""
    return np.minimum(closed_form(w, p), 1e6)


def largest_weighted(case: Case) -> Outcome:
    """Check the statement itself for p <= 2.

    For larger p, check that the maximum is attained at the rows' (p-2)-powers.
    """
    if case.p <= 2:
        return with_class_weights.form(case)
    exponent, squares = case.p / (case.p - 2), (case.w**2).sum(axis=1)
    half = block_norm(case.w, case.p) ** 2 / 2
    gamma = squares ** (case.p / 2 - 1)
    attained = gamma @ squares / 2 / np.linalg.norm(gamma, exponent)
    most = max(beta @ squares / 2 / np.linalg.norm(beta, exponent) for beta in case.beta)
    return both(equal(attained, half), at_most(most, half))


@claim(
    "LP15-prop16",
    "Proposition 16, (14)",
    "For fixed w the class weights |w_j|^(2-p) times the p-th power sum to (p-2)/p are the optimal "
    "ones of (8).",
    formula=r"\beta_j=\|w_j\|_2^{2-p}(\sum_{\tilde\jmath}\|w_{\tilde\jmath}\|_2^p)^{\frac{p-2}{p}}",
    shapes="w: (c, d); beta: (c,)",
    judged="for w that is not 0, where the formula is 0/0 for p < 2 and any weights are optimal.",
    cases=with_above_two,
    sides=("square of the sum at (14)", "square of the sum at these beta"),
    condition=UP_TO_TWO,
    planted=(
        version("|w_j|^(1-p)", power=1.0, cases=up_to_two),
        version("|w_j|^(3-p)", power=3.0),
        version("a tenth more", scale=1.1, cases=up_to_two),
        version("a tenth less", scale=0.9, cases=up_to_two),
    ),
    proofs=(
        ByTheorem(
            "an exponent of (14) that is wrong between the p tried; with the right "
            "one the weights are feasible and stationary for a convex problem, hence "
            "optimal",
            exponents.class_weights_optimal,
            "all sizes and 1 <= p < 2",
        ),
    ),
    library=Library(
        ("fwlab.lp_norm.LpNorm.optimal_class_weights",),
        lambda case: library_weights(case),
        lambda rng, deep: (case for case in weights_and_rows(rng, deep) if case.p < 2),
    ),
    erratum=Erratum(
        "section 3.2, Proposition 16",
        r"\beta_j=\|w_j\|_2^{2-p}(\sum_{\tilde\jmath}\|w_{\tilde\jmath}\|_2^p)^{\frac{p-2}{p}}"
        r"\mathrm{\ is\ minimal\ in\ (8)}",
        r"\mathrm{for\ }1\leq p\leq 2\mathrm{\ alone}",
        r"The proof takes $r=\bar p$ in Lemma C.1, which needs $1\leq r<\infty$; for p > 2 "
        r"$\bar p$ is negative. p = 4, d = 1, w = (1, 1): (14) gives $\beta=(\sqrt{2},\sqrt{2})$ "
        r"and the sum $\frac{1}{2}\sqrt{2}$, but $\beta=(1,4)$ with $\|\beta\|_{-2}\leq 1$ gives "
        r"$\frac{5}{8}$.",
        "Algorithm 1 for p > 2, where a pass no longer lowers the objective; see "
        "LP15-alg1-p-above-2.",
    ),
)
def optimal_weights(case: Case, power: float = 2.0, scale: float = 1.0) -> Outcome:
    """Check that the weights are feasible, and no worse than any other feasible weights tried."""
    if case.kind == "exact":
        return no_less_above_two(case)
    beta = scale * closed_form(case.w, case.p, power)
    exponent = conjugate_weight_exponent(case.p)
    if not np.isfinite(beta).all():
        return truth(False, tier=Tier.FLOAT, beta=beta)
    others = [weighted_value(case.w, b / weight_norm(b, exponent)) for b in case.beta]
    near = [b / weight_norm(b, exponent) for b in beta * np.exp(0.1 * (case.beta % 1 - 0.5))]
    others += [weighted_value(case.w, b) for b in near]
    return both(
        at_most(weight_norm(beta, exponent), 1.0),
        at_most(weighted_value(case.w, beta), min(others), p=case.p),
    )


@claim(
    "LP15-lemC1",
    "Lemma C.1",
    "For a >= 0 and 1 <= r < infinity the least sum a_i/eta_i over eta >= 0 with r-th powers "
    "summing to at most 1 is (sum a_i^(r/(r+1)))^(1+1/r), attained at a_i^(1/(r+1)) over the sum "
    "to 1/r.",
    formula=r"\min_{\eta\geq 0,\ \sum\eta_i^r\leq 1}\sum_i\frac{a_i}{\eta_i}="
    r"(\sum_i a_i^{\frac{r}{r+1}})^{1+\frac{1}{r}},\quad "
    r"\eta_i=\frac{a_i^{1/(r+1)}}{(\sum_k a_k^{r/(r+1)})^{1/r}}",
    shapes="a, eta: (d,)",
    judged="for a that is not 0 and with 0/0 = 0; at a = 0 the formula for eta is 0/0.",
    cases=lambda rng, deep: ratios(rng, (1.0, 1.5, 4.0)),
    relaxed=version("0 < r < 1 too", cases=lambda rng, deep: ratios(rng, (0.2, 0.6, 1.0, 4.0))),
    planted=(
        version("the power 1/(r+1) in the sum", inner=0.0),
        version("the outer power 1", outer=0.0),
    ),
    proofs=(
        ByTheorem(
            "an exponent that is wrong between the r tried; the formula is proved "
            "feasible and stationary for a convex problem, with the stated value",
            exponents.ratio_sum_attained,
            "all sizes and r > 0",
        ),
    ),
)
def least_ratio_sum(case: Case, inner: float = 1.0, outer: float = 1.0) -> Outcome:
    a, r = case.a, case.r
    used = a > 0
    powers = a ** (r**inner / (r + 1))
    eta = a ** (1 / (r + 1)) / (a ** (r / (r + 1))).sum() ** (1 / r)
    attained = float((a[used] / eta[used]).sum())
    others = [float((a / (b / (b**r).sum() ** (1 / r))).sum()) for b in case.eta]
    return both(
        equal(attained, float(powers.sum() ** (1 + outer / r))),
        at_most(float((eta**r).sum()), 1.0),
        at_most(attained, min(others)),
    )


def ratios(rng: Rng, powers: tuple[float, ...]) -> Iterator[Case]:
    for r in powers:
        for size in (1, 2, 5):
            a = rng.exponential(size=size)
            yield Case(kind="positive", r=r, a=a, eta=rng.exponential(size=(50, size)) + 1e-3)
            a = np.append(a, 0.0)
            eta = rng.exponential(size=(50, size + 1)) + 1e-3
            yield Case(kind="a zero", r=r, a=a, eta=eta)


def library_weights(case: Case) -> Outcome:
    """Check that fwlab's weights are feasible, and that (8) is half the squared norm there.

    Rows count as at least 0.
    """
    regularizer, squares = fwlab.LpNorm(case.p), (case.w**2).sum(axis=1)
    beta = regularizer.optimal_class_weights(squares, 0.0)
    half = block_norm(case.w, case.p) ** 2 / 2
    return both(
        at_most(weight_norm(beta, conjugate_weight_exponent(case.p)), 1.0),
        equal(weighted_value(case.w, beta), half),
        equal(regularizer.value(case.w), half),
    )
