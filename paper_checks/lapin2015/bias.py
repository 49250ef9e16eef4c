"""Check L15 section 4: the effect of the bias rho on the projection."""

from collections.abc import Iterator
from fractions import Fraction

from paper_checks.arithmetic import Truth, all_of, negation
from paper_checks.cases import Rng, changed
from paper_checks.lapin2015.cone import CONE, points
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import at_most, both
from paper_checks.proofs import ByTheorem, contradiction
from paper_checks.symbols import real
from reference.exact_projection import Point, project, topk_cone, topk_simplex


def biases(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield points with a radius r (None: the cone) and two biases, the second one larger."""
    for case in points(rng, deep):
        if not deep and rng.integers(2):
            continue
        larger = case.rho + Fraction(int(rng.integers(1, 5)), 2)
        r = None if rng.integers(2) else Fraction(int(rng.integers(1, 5)), 2)
        kind = "cone" if r is None else "simplex"
        yield changed(case, kind=kind, r=r, larger=larger)


def lower_by_optimality(deep: bool, sign: int = 1) -> bool:
    """Return whether the sum falls, using only optimality."""
    return contradiction(rises_although_optimal(sign), Case(kind="symbols")) is None


def rises_although_optimal(sign: int = 1) -> Truth:
    """Return the formula that the sum rises although both points are optimal.

    The point x is at least as good as z for rho, z is at least as good as x for rho' > rho, and
    both sums are >= 0. `distance` holds |a - x|^2 and |a - z|^2.
    """
    names = ("before", "after", "distance_x", "distance_z", "rho", "larger")
    before, after, distance_x, distance_z, rho, larger = map(real, names)
    optimal = all_of(
        distance_x + rho * before**2 <= distance_z + rho * after**2,
        distance_z + larger * after**2 <= distance_x + larger * before**2,
    )
    premises = all_of(optimal, rho >= 0, larger > rho, before >= 0, after >= 0)
    falls = sign * after <= sign * before
    return all_of(premises, negation(falls))


def along_bias(case: Case) -> tuple[Point, Point]:
    """Return the projections with the smaller and the larger bias."""
    region = topk_cone(case.k) if case.r is None else topk_simplex(case.k, case.r)
    return project(case.a, region, case.rho), project(case.a, region, case.larger)


@claim(
    "L15-bias",
    "section 4",
    "A positive rho biases the projection towards orthogonality to the vector of ones: its product "
    "with that vector falls as rho grows.",
    formula=r"\rho\leq\rho'\ \Rightarrow\ "
    r"\langle 1,x_\rho\rangle\geq\langle 1,x_{\rho'}\rangle\geq 0",
    shapes="x: (d,)",
    judged="Orthogonality is measured by <1, x>, the term that rho weighs; for the angle see "
    "L15-bias-angle.",
    cases=biases,
    planted=(version("the product grows", sign=-1),),
    proofs=(
        ByTheorem(
            "A set with non-negative sums on which the sum grows; there is none, "
            "whatever its shape.",
            lower_by_optimality,
            "all sizes, all sets with <1, x> >= 0",
            lambda sign=1: [("all sizes", rises_although_optimal(sign))],
        ),
    ),
    library=CONE,
)
def bias_lowers_the_sum(case: Case, sign: int = 1) -> Outcome:
    x, z = along_bias(case)
    return both(at_most(sign * sum(z), sign * sum(x)), at_most(0, sum(z)))


@claim(
    "L15-bias-angle",
    "section 4",
    "A positive rho turns the projection towards orthogonality to the vector of ones: the angle "
    "between the two does not shrink as rho grows.",
    formula=r"\rho\leq\rho'\ \Rightarrow\ \frac{\langle 1,x_\rho\rangle}{\|x_\rho\|}\geq"
    r"\frac{\langle 1,x_{\rho'}\rangle}{\|x_{\rho'}\|}",
    shapes="x: (d,), not 0",
    judged="The other reading of L15-bias.",
    cases=lambda rng, deep: (c for c in biases(rng, deep) if any(along_bias(c)[1])),
    planted=(version("the angle does not grow", sign=-1),),
    not_proved="A quotient of quadratic functions of two projections.",
)
def bias_widens_the_angle(case: Case, sign: int = 1) -> Outcome:
    """Compare the squared cosines of the angles; no cosine is above 1."""
    x, z = along_bias(case)
    before, after = squared_cosine(x), squared_cosine(z)
    return both(at_most(sign * after, sign * before, x=x, z=z), at_most(before, 1))


def squared_cosine(x: Point) -> Fraction:
    """Return the squared cosine of the angle between x, not 0, and the vector of ones."""
    return Fraction(sum(x)) ** 2 / (len(x) * sum(entry**2 for entry in x))
