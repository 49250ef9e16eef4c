"""Check M20 section 4.4: the convergence that Figure 3 shows, on Ionosphere."""

from collections.abc import Iterator
from itertools import product

import numpy as np

import fwlab
from figures.macha2020.program import gaps
from paper_checks.cases import Rng
from paper_checks.data_sets import data_set
from paper_checks.ledger import Case, Experiment, Library, Outcome, claim, version
from paper_checks.macha2020.ascent import PairAscent
from paper_checks.outcomes import at_most, both, equal, less, same_optimum

LOOPS = 20_000  # as in section 4.2
FEW_LOOPS = 5000  # after which the gap of the program stays
CLOSED = 1e-3  # a relative gap too small to see in a figure
IONOSPHERE = "Ionosphere"
SHAPES = "Ionosphere, linear kernel, 176 samples; tau, C as in section 4.2"
ON_IONOSPHERE = Experiment(data=(IONOSPHERE,))


def cases_of(
    taus: tuple[float, ...], Cs: tuple[float, ...], normalize: str | None
) -> Iterator[Case]:
    """Yield the training part with each tau and C."""
    data = data_set("ionosphere", normalize)
    positive = data.y_train == 1
    X = np.vstack([data.X_train[positive], data.X_train[~positive]])
    n = int(np.sum(positive))
    signed = np.repeat([1.0, -1.0], [n, len(X) - n])[:, None] * X
    name = IONOSPHERE if normalize is None else f"{IONOSPHERE}, {normalize}"
    for tau, C in product(taus, Cs):
        yield Case(kind=name, data=name, tau=tau, C=C, positives=n, X=X, kernel=signed @ signed.T)


def ionosphere(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the values of tau and C of section 4.2, on raw and on standardised features."""
    for case in cases_of((0.01, 0.05, 0.1), (0.1, 1.0, 10.0), None):
        yield seeded(case, rng)
    taus, Cs = ((0.01, 0.05, 0.1), (0.1, 1.0, 10.0)) if deep else ((0.01,), (10.0,))
    for case in cases_of(taus, Cs, "standard"):
        yield seeded(case, rng)


def few(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield one tau with each C, on raw features."""
    for case in cases_of((0.1,), (0.1, 1.0, 10.0), None):
        yield seeded(case, rng)


def seeded(case: Case, rng: Rng) -> Case:
    case.seed = int(rng.integers(10**6))
    return case


def after(case: Case, increments: bool = False, K: int = 0) -> PairAscent:
    """Return the machine after the loops; it is Pat&Mat for K = 0.

    The start is the feasible point alpha = beta = 0 and delta = 1.
    """
    run = PairAscent(
        kernel=case.kernel,
        positives=case.positives,
        C=case.C,
        theta=1.0,
        theta2=1.0,
        K=K,
        budget=case.tau * len(case.kernel),
        hinge=False,
        z=np.zeros(len(case.kernel)),
        delta=1.0,
    )
    run.run(np.random.default_rng(case.seed), LOOPS, increments)
    return run


def solved_in_fwlab(case: Case) -> Outcome:
    """Check that fwlab and the loops find the same optimal value, each within its gap."""
    y = np.repeat([1, 0], [case.positives, len(case.X) - case.positives])
    found = fwlab.ranking.solve(case.X, y, fwlab.ranking.PatMat(case.tau), case.C, tol=1e-8)
    run = after(case)
    return same_optimum((found.dual, found.primal), (run.dual(), run.primal()))


def for_the_program(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the smallest C of section 4.2 on raw features."""
    for case in cases_of((0.01, 0.05, 0.1) if deep else (0.05,), (0.1,), None):
        yield seeded(case, rng)


def gap_of_the_program(case: Case) -> Outcome:
    """State that a gap is left by the start of the program, and none in the control."""
    y = np.repeat([1, 0], [case.positives, len(case.X) - case.positives])
    objective = fwlab.ranking.PatMat(case.tau, over="all")
    problem = fwlab.ranking.Problem(case.X @ case.X.T, y, objective, case.C, "precomputed")
    found = gaps(problem, FEW_LOOPS, np.random.default_rng(case.seed))
    return both(
        less(CLOSED, found["as the program"], **found),
        at_most(found["delta set again"], CLOSED, **found),
    )


BY_SOLVE = Library(("fwlab.ranking.solve",), solved_in_fwlab, few)


@claim(
    "M20-fig3-patmat",
    "4.4, Figure 3",
    "For Pat&Mat a little gap remains between the optimal values of the primal and the dual.",
    formula=r"\min P-\max D>0",
    shapes=SHAPES,
    judged="By the certified relative gap after the 20000 loops of section 4.2, delta by (32): a "
    f"gap is one above {CLOSED:g}. By Theorem 2.2 the optimal values are the same. On "
    "standardised features with C = 10 and tau = 0.01 the loops do not reach the optimum, whose "
    "certified gap is below 1e-8; that gap is of the run, not of the optimal values. The text "
    "names no C for Figure 3; the program is run with the smallest C of section 4.2, as with C = 1 "
    "its gap is invisible.",
    cases=ionosphere,
    program=version(
        "with C = 0.1 the gap remains as ClassificationOnTop_nonlinear.jl b47a009 starts, "
        "src/PatMat.jl: delta is set by (32) from beta before beta is projected, and the loops "
        "keep the difference. In the control delta is set by (32) again, and the gap closes",
        form=gap_of_the_program,
        cases=for_the_program,
    ),
    experiment=ON_IONOSPHERE,
    sides=("an invisible gap", "the gap"),
    planted=(version("for TopPush, too", K=1),),
    not_proved="An experiment on real data; that there is no gap is Theorem 2.2.",
    library=BY_SOLVE,
)
def a_gap_remains(case: Case, increments: bool = False, K: int = 0) -> Outcome:
    run = after(case, increments, K)
    return less(CLOSED, run.relative_gap(), delta=run.delta, dual=run.dual())


@claim(
    "M20-fig3-increments",
    "4.4, Figure 3, with Theorem C.1",
    "A gap remains for Pat&Mat if delta follows the increments of Theorem C.1 from a start that "
    "does not solve (32), here delta = 1 with beta = 0.",
    formula=r"\min P-D>0",
    shapes=SHAPES,
    judged="The paper does not say how its runs start; this is one way to get the gap of Figure 3.",
    cases=few,
    experiment=ON_IONOSPHERE,
    planted=(version("also with delta by (32)", increments=False),),
    not_proved="An experiment on real data.",
)
def a_gap_is_left(case: Case, increments: bool = True) -> Outcome:
    run = after(case, increments)
    return less(CLOSED, run.relative_gap(), delta=run.delta, dual=run.dual())


@claim(
    "M20-delta-offset",
    "Theorem C.1, Algorithm 3.1",
    "Under the increments of Theorem C.1 the difference of the squares of delta and of (32) is the "
    "same after every step.",
    formula=r"\delta^2-\frac{1}{4\vartheta_2^2n\tau}\sum_j\beta_j^2=\mathrm{const}",
    shapes="beta: (n-,)",
    judged="For theta_2 = 1, as in the experiments, where the misprint of theta_2 has no effect.",
    cases=few,
    experiment=ON_IONOSPHERE,
    planted=(version("it vanishes with the steps", start=0.0),),
    not_proved="A run on real data; the identity of one step is M20-thmC1-delta-start.",
)
def offset_stays(case: Case, start: float = 1.0) -> Outcome:
    """Check that the difference stays 1, as at delta = 1 and beta = 0.

    Each loop rounds the square of delta and the sum of squares of beta, which have the same size,
    by a few units; the rounding errors of all loops may add up.
    """
    run = after(case, increments=True)
    squares = float(run.beta @ run.beta) / (4 * run.budget)
    allowed = LOOPS * (len(run.beta) + 8) * np.finfo(float).eps * (run.delta**2 + squares)
    return equal(run.delta**2 - squares, start, allowed)
