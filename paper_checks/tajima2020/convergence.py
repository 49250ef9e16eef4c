"""Check T20 3.1: the guarantee of Frank-Wolfe with fixed steps, tried in fractions and proved.

Its planted versions fail on `slow_trainings`; it is proved for all t by `guaranteed_for_all_steps`,
and for the first steps, with the smaller constant of the worst case, by
`guaranteed_for_first_steps`. Exact line search has the same guarantee.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np

from figures.exact import rate_recurrence
from figures.exact.performance_estimation import (
    certificate,
    open_loop_steps,
    prove_open_loop,
    solve,
)
from figures.exact.rate_certificate import RateCertificate
from figures.exact.worst_case_training import refute_open_loop
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import at_most, both
from paper_checks.proofs import ByTheorem
from paper_checks.rate_formulas import recurrence_fails
from paper_checks.rate_own_norm import OwnNorm, case_of, of_training
from paper_checks.tajima2020.programs import trainings

Number = Fraction | int
FIRST_STEPS = 10  # of the semidefinite programs in a quick run: about a second
DEEP_STEPS = 20
# shares of the worst case with which the constant of the guarantee is compared
CONSTANTS = (Fraction(1), Fraction(3, 4))


def near_optimum(dual: OwnNorm, denominator: int = 1000) -> list[list[Fraction]]:
    """Return the vertex weights of a feasible point near the maximum of D, from a solver."""
    weights = [cp.Variable(len(row), nonneg=True) for row in dual.rows]
    pairs = [
        (part[j], vertex)
        for row, part in zip(dual.rows, weights, strict=True)
        for j, vertex in enumerate(row)
    ]
    size = np.sqrt(dual.metric.astype(float))
    vector = sum((x * (size * v.vector.astype(float)) for x, v in pairs), np.zeros(len(size)))
    offset = sum(x * float(v.offset) for x, v in pairs)
    objective = cp.Maximize(offset - cp.sum_squares(vector) / 2)
    solve(cp.Problem(objective, [cp.sum(part) == 1 for part in weights]))
    shares = []
    for part in weights:
        rounded = [Fraction(round(max(x, 0.0) * denominator)) for x in np.asarray(part.value)]
        shares.append([x / sum(rounded) for x in rounded])
    return shares


def slow_trainings(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield small training problems, and those whose error is above C/(t + 2) or 3/4 of it."""
    for case in trainings(rng, deep):
        if len(case.y) <= 2 and len(case.features[0]) <= 3:
            yield with_near_optimum({**vars(case), "kind": f"random, {case.kind}", "steps": 12})
    for constant, steps in zip(CONSTANTS, ((1, 2, 3), (5, 10)), strict=True):
        for t in steps:
            slow = refute_open_loop(t, constant=constant)
            if slow is not None:
                yield with_near_optimum({**vars(case_of(slow)), "steps": t})


def with_near_optimum(parts: dict[str, Any]) -> Case:
    """Return the case of a training problem with the weights of a point near its optimum."""
    return Case(**parts, _near=near_optimum(of_training(Case(**parts))))


def guaranteed_for_all_steps(
    deep: bool,
    numerator: Number = 2,
    offset: Number = 1,
    constant: Number = 2,
    shift: Number = 2,
) -> bool:
    """Return whether the guarantee is proved for every data set, of every size, and all t."""
    return rate_recurrence.prove_for_all_steps(numerator, offset, constant, shift)


def guaranteed_for_first_steps(
    deep: bool,
    numerator: Number = 2,
    offset: Number = 1,
    constant: Number = 2,
    shift: Number = 2,
    functions: str = "quadratic",
) -> bool:
    """Return whether certificates prove the guarantee for the first steps.

    These are FIRST_STEPS (DEEP_STEPS if deep), for every data set, of every size. functions:
    "smooth" proves it for every smooth convex function over every set.
    """
    return all(
        prove_open_loop(t, numerator, offset, constant, shift, functions)
        for t in range(1, (DEEP_STEPS if deep else FIRST_STEPS) + 1)
    )


def certificates_of_first_steps(
    numerator: Number = 2, offset: Number = 1, constant: Number = 2, shift: Number = 2
) -> Iterator[tuple[str, RateCertificate | None]]:
    """Yield the certificate of the guarantee for each of the first steps."""
    for t in range(1, FIRST_STEPS + 1):
        steps, bound = open_loop_steps(t, numerator, offset), Fraction(constant) / (t + shift)
        yield f"t = {t}", certificate(steps, bound, "quadratic")


@claim(
    "T20-open-loop",
    "3.1",
    "With the steps 2/(t+1) the error of the dual after t steps is at most 2 C/(t+2), C the "
    "curvature of D over its domain.",
    formula=r"\gamma_t=\frac{2}{t+1}:\quad \max D-D(A^{(t)})\leq\frac{2C}{t+2},\ "
    r"C=\lambda\max_{S,A}\Vert w(S-A)\Vert^2",
    shapes="A, S in the domain: (m, n); t = 1, 2, ..",
    judged="The text says that the steps keep a sublinear guarantee and prints no constant; this "
    "is Jaggi's (2013), which it cites. Proved by the recurrence of the errors; for the first "
    "steps semidefinite certificates prove half of it, C/(t+1).",
    sides=("the error", "the guarantee"),
    cases=slow_trainings,
    relaxed=version("at most 2 C/(t+3)", shift=3),
    proofs=(
        ByTheorem(
            "A constant that is too small for a training problem that was not sampled.",
            guaranteed_for_all_steps,
            "all sizes, all t",
            recurrence_fails,
        ),
        ByTheorem(
            "A constant below the worst case over all convex quadratics, at each of these t.",
            guaranteed_for_first_steps,
            "all sizes, t <= 10",
            certificates_of_first_steps,
        ),
    ),
    planted=(
        version("at most C/(t+2)", constant=1),
        version("at most 3/4 C/(t+2)", constant=Fraction(3, 4)),
        version("steps 1/(t+1)", numerator=1),
        version("steps 1/4 / t", numerator=Fraction(1, 4), offset=0),
    ),
)
def guarantee(
    case: Case,
    numerator: Number = 2,
    offset: Number = 1,
    constant: Number = 2,
    shift: Number = 2,
) -> Outcome:
    """State that max D - D(A_t) <= constant C/(t + shift) for t = 1 .. case.steps.

    Frank-Wolfe has the steps numerator/(t + offset) and starts at each sample's first vertex. All
    is exact, except that max D is replaced by the slightly smaller value at a rational point near
    the optimum.
    """
    dual = of_training(case)
    highest, bound = dual.dual(dual.mixture(case._near)), constant * dual.curvature()
    iterates, _ = dual.run(open_loop_steps(case.steps, numerator, offset))
    return both(
        *(
            at_most(highest - dual.dual(A), bound / (t + shift), t=t)
            for t, A in enumerate(iterates[1:], 1)
        )
    )
