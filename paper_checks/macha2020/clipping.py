"""Check M20 C.1: the clipped maximiser (27), from which every step of the algorithm follows."""

from collections.abc import Iterator
from fractions import Fraction

from paper_checks.arithmetic import Truth, all_of, divide, maximum, minimum
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import at_most
from paper_checks.proofs import BySolver
from paper_checks.symbols import real


def parabolas(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield a > 0, b, an interval [low, high] and a step inside it, in fractions."""
    one = Fraction(1)
    yield Case(kind="exact", a=one, b=-one, low=Fraction(0), high=2 * one, step=one)
    for _ in range(400 if deep else 60):
        a, width = (Fraction(int(x), 4) for x in rng.integers(1, 20, 2))
        b, low = (Fraction(int(x), 4) for x in rng.integers(-20, 21, 2))
        step = low + width * Fraction(int(rng.integers(0, 9)), 8)
        yield Case(kind="exact", a=a, b=b, low=low, high=low + width, step=step)


def any_parabola(deep: bool) -> Iterator[Case]:
    names = ("a", "b", "low", "high", "step")
    yield Case(kind="symbols", **{name: real(name) for name in names})


def inside(case: Case) -> Truth:
    return all_of(case.a > 0, case.low <= case.step, case.step <= case.high)


@claim(
    "M20-eq27",
    "C.1, (27)",
    "The step that maximises a concave parabola on an interval is its vertex, clipped to the "
    "interval.",
    formula=r"\mathrm{clip}_{[\Delta_{lb},\Delta_{ub}]}\left(-\frac{b}{a}\right)=\mathrm{argmax}"
    r"\{-\frac{1}{2}a\Delta^2-b\Delta:\ \Delta_{lb}\leq\Delta\leq\Delta_{ub}\}",
    shapes="a, b, low = Delta_lb, high = Delta_ub: numbers; step: any Delta of the interval",
    assumed="a > 0, and the interval is not empty. In the third case of Theorem 3.1 a is 0 for two "
    "equal samples.",
    cases=parabolas,
    proofs=(
        BySolver("numbers that were not tried", cases=any_parabola, assuming=inside, sized_by=()),
    ),
    planted=(
        version("the vertex b/a", sign=1),
        version("the vertex -b/(2a)", half=2),
    ),
    sides=("the objective at a step", "at the clipped vertex"),
)
def clipped_vertex(case: Case, sign: int = -1, half: int = 1) -> Outcome:
    a, b = case.a, case.b
    best = minimum(maximum(divide(sign * b, half * a), case.low), case.high)

    def objective(step: Fraction) -> Fraction:
        return -a * step * step / 2 - b * step

    return at_most(objective(case.step), objective(best))
