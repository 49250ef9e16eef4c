"""Check LP15 B.3: moments of a normal number, Lemma B.2 and its proof step by step."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise

from scipy.integrate import quad
from scipy.special import gammaln

from paper_checks.cases import Rng
from paper_checks.ledger import Case, Condition, Erratum, Outcome, claim, version
from paper_checks.lei2015.expectations import below_in_mean, square_norm
from paper_checks.outcomes import at_most, both, equal

HALF_LOG_PI = math.log(math.pi) / 2


def log_moment(p: float) -> float:
    """Return log E|g|^p for a normal g, by the Gamma function; LP15-lemB2-proof tries this
    formula."""
    return p / 2 * math.log(2) - HALF_LOG_PI + float(gammaln((p + 1) / 2))


def moment_root(p: float) -> float:
    """Return tau_p = (E|g|^p)^(1/p)."""
    return math.exp(log_moment(p) / p)


def exponents(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield numbers p > 0, close to 0, around 1, at odd and even integers, and large."""
    small = [Fraction(i, 20) for i in range(1, 20)]
    around = [Fraction(1), Fraction(1001, 1000), Fraction(5, 4), Fraction(7, 5), Fraction(7, 4)]
    for p in (*small, *around, *map(Fraction, range(2, 60 if deep else 20)), Fraction(150)):
        yield Case(kind="p < 1" if p < 1 else "p >= 1", p=p)


def above_one(rng: Rng, deep: bool) -> Iterator[Case]:
    return (case for case in exponents(rng, deep) if case.p > 1)


def from_half(rng: Rng, deep: bool) -> Iterator[Case]:
    return (case for case in exponents(rng, deep) if case.p >= Fraction(1, 2))


def with_bounds(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield these exponents, and small p with bounds in fractions.

    The density is below 2/5, so |g| >= 1/2 with probability at least 3/5, where |g|^p >= (1/2)^p >=
    1/2; and (2p)^(p/2 + 1) <= 2p for 2p <= 1.
    """
    yield from from_half(rng, deep)
    for p in (Fraction(1, 10), Fraction(1, 8)):
        yield Case(kind="bounds", p=p, moment_at_least=Fraction(3, 5) / 2, bound_at_most=2 * p)


AS_USED = Condition(
    "p >= 2 log 2, as Corollary 8 uses the lemma", lambda case: case.p >= 2 * math.log(2)
)


@claim(
    "LP15-lemB2",
    "Lemma B.2",
    "The p-th root of the p-th absolute moment of a normal number is at most (2p)^(1/2 + 1/p), for "
    "every p > 0.",
    formula=r"[E|g|^p]^{\frac{1}{p}}\leq(2p)^{\frac{1}{2}+\frac{1}{p}}",
    shapes="p > 0",
    judged="Corollary 8 uses it only at p >= 2 log 2.",
    cases=with_bounds,
    sides=("moment", "its bound"),
    condition=Condition("p >= 1/2", lambda case: case.p >= Fraction(1, 2)),
    main=AS_USED,
    corrected=version(
        "at most max(1, sqrt(p - 1))",
        sharp=True,
        cases=exponents,
        formula=r"[E|g|^p]^{\frac{1}{p}}\leq\max(1,\sqrt{p-1})",
    ),
    planted=(
        version("(2p)^(1/2 - 1/p)", sign=-1, cases=from_half),
        version("(p/2)^(1/2 + 1/p)", base=0.5, cases=from_half),
    ),
    not_proved="the Gamma function; the refutation is exact",
    erratum=Erratum(
        "appendix B.3, Lemma B.2",
        r"[E|g|^p]^{\frac{1}{p}}\leq(2p)^{\frac{1}{2}+\frac{1}{p}}\mathrm{\ for\ every\ }p>0",
        r"\mathrm{for\ every\ }p\geq\frac{1}{2}",
        r"p = 1/10: the density of g is below 2/5, so $|g|\geq\frac{1}{2}$ with probability above "
        r"3/5, and $E|g|^{1/10}>\frac{3}{5}\cdot\frac{1}{2}=\frac{3}{10}$. But "
        r"$(2p)^{p/2+1}\leq 2p=\frac{1}{5}$. For $p\to 0$ the moment tends to 1, the bound to 0.",
        "Nothing: Corollary 8 uses it for p at least 2 log 2.",
    ),
)
def moment_bound(case: Case, sign: int = 1, base: float = 2.0, sharp: bool = False) -> Outcome:
    if case.kind == "bounds":
        return at_most(case.moment_at_least, case.bound_at_most)
    p = float(case.p)
    right = (base * p) ** (0.5 + sign / p)
    if sharp:
        right = math.sqrt(max(1.0, p - 1))
    return at_most(moment_root(p), right)


@claim(
    "LP15-lemB2-proof",
    "Lemma B.2, proof",
    "Each step holds for every p > 0: the Gamma formula, rounding its argument up, the factorial, "
    "Stirling without the exponential, and the last bound.",
    formula=r"E|g|^p=\frac{2^{p/2}}{\sqrt{\pi}}\Gamma(\frac{p+1}{2})\leq\frac{2^{p/2}}{\sqrt{\pi}}"
    r"\Gamma(\lceil\frac{p+1}{2}\rceil)=\frac{2^{p/2}}{\sqrt{\pi}}m!\leq\frac{2^{p/2}}{\sqrt{\pi}}"
    r"\sqrt{2\pi}\,m^{m+\frac{1}{2}}\leq(2p)^{\frac{p}{2}+1},\ m=\lceil\frac{p-1}{2}\rceil",
    shapes="p > 0",
    judged="Gamma is not increasing on (1/2, 1), so rounding up fails for p < 1; m = 0 for p <= 1, "
    "where Stirling's bound is 0 and 0! is 1.",
    cases=exponents,
    sides=("left of the step", "right of the step"),
    condition=Condition("p > 1", lambda case: case.p > 1),
    main=AS_USED,
    planted=(
        version("rounding down", rounded=math.floor, cases=above_one),
        version("(2p)^(p/2) at the end", last=0, cases=above_one),
    ),
    not_proved="the Gamma function; the refutation at p <= 1 is exact",
    erratum=Erratum(
        "appendix B.3, proof of Lemma B.2",
        r"\Gamma(\frac{p+1}{2})\leq\Gamma(\lceil\frac{p+1}{2}\rceil),\quad "
        r"m!\leq\sqrt{2\pi}\,m^{m+\frac{1}{2}}\mathrm{\ with\ }m=\lceil\frac{p-1}{2}\rceil"
        r"\mathrm{,\ for\ every\ }p>0",
        r"\mathrm{for\ every\ }p>1",
        r"At $p\leq 1$ the last step has m = 0: 0! = 1, but $\sqrt{2\pi}\,0^{1/2}=0$. The first "
        r"step fails for p < 1, where $\Gamma$ falls on (1/2, 1): $\Gamma(3/4)>1=\Gamma(1)$.",
        "Nothing: Corollary 8 uses the lemma for p at least 2 log 2.",
    ),
)
def steps_of_the_proof(
    case: Case, rounded: Callable[[Fraction], int] = math.ceil, last: int = 1
) -> Outcome:
    """Compare the logarithms of the five expressions.

    For p <= 1 Stirling's bound of 0! = 1 is 0.
    """
    if case.p <= 1 and rounded is math.ceil:
        return at_most(math.factorial(0), 0, step="Stirling, without the factor sqrt(2 pi)")
    p = float(case.p)
    common = p / 2 * math.log(2) - HALF_LOG_PI
    m = math.ceil((case.p - 1) / 2)
    stirling = (m + 0.5) * math.log(m) if m else -math.inf
    log_gamma = common + float(gammaln((p + 1) / 2))
    log_rounded = common + float(gammaln(rounded((case.p + 1) / 2)))
    log_factorial = common + math.log(math.factorial(m))
    log_stirling = common + math.log(2 * math.pi) / 2 + stirling
    steps = [
        equal(log_gamma, quadrature(p), step="Gamma formula"),
        at_most(log_gamma, log_rounded, step="argument rounded up"),
        at_most(log_factorial, log_stirling, step="Stirling"),
        at_most(log_stirling, (p / 2 + last) * math.log(2 * p), step="last bound"),
    ]
    if rounded is math.ceil:
        steps.append(equal(log_rounded, log_factorial, step="factorial"))
    return both(*steps)


def quadrature(p: float) -> float:
    """Return log of E|g|^p by numerical integration, scaled at the peak of t^p exp(-t^2/2)."""
    peak = math.sqrt(p)
    top = p * math.log(peak) - p / 2

    def integrand(t: float) -> float:
        return math.exp(p * math.log(t) - t * t / 2 - top) if t > 0 else 0.0

    parts = [quad(integrand, a, b, epsabs=0, epsrel=1e-11, limit=200)[0] for a, b in ends(peak)]
    return math.log(2 / math.sqrt(2 * math.pi) * math.fsum(parts)) + top


def ends(peak: float) -> list[tuple[float, float]]:
    """Return the ends of intervals around the peak; for small p the integrand is steep at 0."""
    points = [0.0, peak * 1e-6, peak * 1e-3, peak * 0.1, peak, peak + 4, peak + 12]
    return list(pairwise(points))


def blocks(rng: Rng, deep: bool) -> Iterator[Case]:
    for s in (2.0, 2.2, 3.0, 6.0, 30.0):
        yield from blocks_of(s, rng)


def blocks_of(s: float, rng: Rng) -> Iterator[Case]:
    for c in (1, 2, 5, 50):
        mean, error = square_norm(c, s, rng)
        yield Case(kind="exact" if error == 0 else "Monte Carlo", s=s, c=c, mean=mean, error=error)


def blocks_below_two(rng: Rng, deep: bool) -> Iterator[Case]:
    for s in (1.2, 1.5):
        yield from blocks_of(s, rng)


@claim(
    "LP15-jensen",
    "B.3",
    "By Jensen's inequality the expected squared q*-norm of c normal numbers is at most c^(2/q*) "
    "tau^2, where tau is the q*-th root of the q*-th moment.",
    formula=r"E[\sum_{j=1}^c|g_j|^{q^*}]^{\frac{2}{q^*}}\leq c^{\frac{2}{q^*}}\tau_{q^*}^2",
    shapes="g: (c,); q* >= 2",
    cases=blocks,
    planted=(
        version("c^(1/q*)", power=1.0),
        version("for q > 2, where q* < 2", cases=blocks_below_two),
    ),
    not_proved="moments of normal numbers, by quadrature and Monte Carlo",
)
def jensen_step(case: Case, power: float = 2.0) -> Outcome:
    right = case.c ** (power / case.s) * moment_root(case.s) ** 2
    return below_in_mean(case.mean, right, case.error)
