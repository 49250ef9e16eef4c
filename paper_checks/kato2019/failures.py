"""Check K19 section 7.4, whether the existing methods always miss the optimum, in exact numbers."""

from collections.abc import Iterator
from fractions import Fraction

import reference
from paper_checks.cases import Rng
from paper_checks.kato2019.exact_problems import ExactProblem, array
from paper_checks.ledger import Case, Condition, Erratum, Outcome, claim, version
from paper_checks.outcomes import less

HALF, THIRD, SIXTH = Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)
TWO_SAMPLES = {"X": array([[1], [1]]), "y": (0, 1), "m": 3, "lam": Fraction(1, 4)}
ONE_SAMPLE = {"X": array([[1]]), "y": (0,), "m": 3, "lam": Fraction(3, 2)}


def solved(kind: str, data: dict, k: int, pseudo: tuple, true: tuple) -> Case:
    """Return a problem with optimal dual points of the pseudo top-k and of the top-k problem.

    Raises ArithmeticError if a point is not optimal: its gap has to be 0.
    """
    problems = [
        ExactProblem(**data, loss=loss(k)) for loss in (reference.PseudoTopK, reference.TopK)
    ]
    for problem, A in zip(problems, (pseudo, true), strict=True):
        if problem.primal(problem.weights(array(A))) != problem.dual(array(A)):
            raise ArithmeticError(f"{kind}: {A} is not optimal")
    return Case(kind=kind, problem=problems[1], end=array(pseudo), optimum=array(true))


def apart() -> list[Case]:
    """Return a problem whose pseudo optimum does not minimise the top-k risk."""
    pseudo = ((2 * THIRD, -THIRD, -THIRD), (-THIRD, 2 * THIRD, -THIRD))
    true = ((2 * THIRD, -HALF, -SIXTH), (-HALF, 2 * THIRD, -SIXTH))
    return [solved("two samples, k = 2", TWO_SAMPLES, 2, pseudo, true)]


def together(k: int) -> list[Case]:
    """Return problems in which both losses have the same optimum.

    There are two samples for k = 1, and one sample for k = 2.
    """
    if k == 1:
        two = ((1, -1, 0), (-1, 1, 0))
        return [solved("two samples, k = 1", TWO_SAMPLES, 1, two, two)]
    one = ((1, -HALF, -HALF),)
    return [solved("one sample, k = 2", ONE_SAMPLE, 2, one, one)]


def all_of_them(rng: Rng, deep: bool) -> Iterator[Case]:
    yield from (*apart(), *together(1), *together(2))


@claim(
    "K19-always-fail",
    "7.4, last paragraph, sentence on section 7.1",
    "The existing methods always fail to minimise the regularised empirical risk of the top-k SVM.",
    formula=r"P_{utk}(W(A))>\min P_{utk}\ \mathrm{for}\ A\in\mathrm{argmax}\,D_{ptk}",
    shapes="A: (n, m), `end` where the existing methods end, `optimum` of the top-k problem; "
    "classes count from 0",
    judged="always: for every data set, lam and k of section 7.4, k = 1 included. The existing "
    "methods are taken to reach the optimum of the problem that section 8 says they solve, with "
    "the pseudo top-k hinge. Both points of each case have a duality gap of 0 in their own "
    "problems.",
    cases=all_of_them,
    sides=("the least risk", "the risk at the end of the existing methods"),
    corrected=version(
        "they can fail for 2 <= k < m",
        cases=lambda rng, deep: apart(),
        formula=r"P_{utk}(W(A))>\min P_{utk}\ \mathrm{is\ possible\ for}\ 2\leq k<m",
    ),
    planted=(
        version("at k = 1", cases=lambda rng, deep: together(1)),
        version("for one sample, at k = 2", cases=lambda rng, deep: together(2)),
        version("by more than a third", more=THIRD),
    ),
    main=Condition(
        "2 <= k < m, where the two losses differ, and several samples",
        lambda case: case.kind == "two samples, k = 2",
    ),
    not_proved="a statement about three problems, each solved exactly",
    erratum=Erratum(
        page="Section 7.4, last paragraph, the sentence that refers to section 7.1",
        printed=r"\mathrm{always\ fail\ to\ minimise\ the\ risk}",
        correct=r"\mathrm{can\ fail\ for}\ 2\leq k<m,\ \mathrm{never\ at}\ k=1",
        proof="At $k=1$ leaving the true class out of the margins changes nothing, as its margin 0 "
        "never raises a loss that is at least 0: the two losses, problems and optima are the same. "
        "For $k=2$, $m=3$, one sample $x=1$ of the first class and $\\lambda=\\frac{3}{2}$ the two "
        "optima are the same, too: $W=(\\frac{2}{3},-\\frac{1}{3},-\\frac{1}{3})$, with the risk "
        "$\\frac{1}{2}$. For two samples $x=1$ of the classes 1 and 2 and $\\lambda=\\frac{1}{4}$ "
        "they differ: $\\frac{5}{6}$ is reached, and $\\frac{7}{12}$ is the least.",
        breaks="The rows k = 1 of Tables 2 to 7, where the existing methods solve the top-k "
        "problem: K19-optimality.",
    ),
)
def misses_the_optimum(case: Case, more: Fraction = Fraction(0)) -> Outcome:
    problem = case.problem
    least = problem.dual(case.optimum)
    return less(least + more, problem.primal(problem.weights(case.end)))
