"""Check the gradient, scores and line search of a Frank-Wolfe iteration exactly (K19 section 5)."""

from collections.abc import Iterator
from fractions import Fraction

import reference
from paper_checks.arithmetic import (
    Real,
    all_of,
    divide,
    equals,
    is_symbolic,
    maximum,
    minimum,
)
from paper_checks.cases import Rng
from paper_checks.kato2019.exact_problems import ExactProblem, array, exact_step, small_problems
from paper_checks.kato2019.matrices import dot, gram, one_hot, plus, scaled, times, transposed
from paper_checks.kato2019.plain import (
    Plain,
    exact_problem,
    feasible,
    plain,
    same_dual,
    symbolic_problems,
)
from paper_checks.kato2019.sizes import scores_of_all_sizes
from paper_checks.ledger import (
    Case,
    Erratum,
    Outcome,
    WhereRight,
    claim,
    version,
)
from paper_checks.outcomes import both, equal, truth
from paper_checks.proofs import BySolver, ByTheorem
from reference import exact


def searches(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield small problems with a direction that changes W."""
    return (case for case in small_problems(rng, deep) if bend(plain(case)) > 0)


def bend(p: Plain) -> Real:
    """Return <dA K, dA>."""
    D = p.direction
    return dot(times(gram(p.X), D), D)


def printed_quotient(p: Plain, factor: str = "lam n", sign: int = 1) -> tuple[Real, Real]:
    """Return numerator and denominator of (20)."""
    scale = p.lam * (p.n if factor == "lam n" else 1)
    return sign * scale * dot(p.direction, p.residual), bend(p)


@claim(
    "K19-eq20",
    "(19) (20)",
    "The exact step along a direction is lam n <dA, E_y - Z> / <dA K, dA>, clipped to [0, 1].",
    formula=r"\gamma=\max(0,\min(1,\hat\gamma)),\quad \hat\gamma="
    r"\frac{\lambda n\langle\Delta A,\ E_y-Z(A)\rangle}{\langle\Delta A\,K,\ \Delta A\rangle}",
    shapes="dA, E_y, Z: (m, n); K: (n, n)",
    judged="Z(A) = A K/(lam n), see K19-Z. The step is compared with the maximiser of the "
    "quadratic D on the segment, found from three of its values.",
    assumed="dA K is not 0; if it is 0, (20) divides by 0 and D is linear along the segment, "
    "so the best step is 0 or 1",
    cases=searches,
    planted=(
        version("lam in place of lam n", factor="lam"),
        version("Z - E_y", sign=-1),
    ),
    proofs=(
        BySolver(
            "A factor n or lam that has no effect where n = 1 or a term is 0.",
            cases=symbolic_problems,
            assuming=feasible,
            sized_by=("n", "d", "m"),
        ),
    ),
)
def line_search(case: Case, factor: str = "lam n", sign: int = 1) -> Outcome:
    p = plain(case)
    top, bottom = printed_quotient(p, factor, sign)
    if is_symbolic(case.A):
        # the quotient is slope/curved, which maximises slope t - curved t^2/2 over all t
        slope, unit = slope_of(p), p.lam * p.n**2
        curved = 2 * (p.dual(p.A) + slope - p.dual(p.B))
        return truth(all_of(equals(top, unit * slope), equals(bottom, unit * curved)))
    step = maximum(Fraction(0), minimum(Fraction(1), divide(top, bottom)))
    best = exact_step(exact_problem(case), array(p.A), array(p.direction))
    return both(equal(step, best), same_dual(case))


def slope_of(p: Plain) -> Real:
    """Return the derivative of D at A towards B, from three values of the quadratic."""
    middle = scaled(Fraction(1, 2), plus(p.A, p.B))
    return 4 * p.dual(middle) - p.dual(p.B) - 3 * p.dual(p.A)


def square_problems(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield a problem with n = m, where both products have the same shape, and small problems."""
    problem = ExactProblem(array([[1], [0]]), (0, 1), reference.TopK(1), 2, Fraction(1, 2))
    A = array([[1, -1], [0, 0]])
    yield Case(kind="exact", problem=problem, A=A, B=A)
    yield from small_problems(rng, deep)


def columns_in_27(case: Case) -> Outcome:
    """State that (27) confirms Z = A K / (lam n).

    Without smoothing it holds with lam n (Z - E_y) in place of A K - lam n E_y and with the columns
    of Z as scores.
    """
    p, problem = plain(case), exact_problem(case)
    columns = scaled(1 / (p.lam * p.n), times(transposed(p.A), gram(p.X)))
    losses = [
        exact.value(problem.loss, z, y) for z, y in zip(transposed(columns), p.y, strict=True)
    ]
    inner = -dot(transposed(columns), p.A) + dot(one_hot(p.y, p.m), p.A)
    gap = problem.primal(problem.weights(case.A)) - problem.dual(case.A)
    return equal(gap, sum(losses) / Fraction(p.n) - inner / p.n)


@claim(
    "K19-Z",
    "5, after (20)",
    "The matrix whose i-th column holds the scores of sample i is Z(A) = K A^T / (lam n).",
    formula=r"Z(A)=\frac{1}{\lambda n}K A^\top,\quad z_i(A)=W(A)^\top x_i",
    shapes="A, Z, E_y: (m, n); K: (n, n)",
    judged="in the paper's layout; (20), (22) and (24) need columns z_i(A) of m scores.",
    sides=("as printed", "the columns W(A)'x_i"),
    cases=square_problems,
    derived=version("Z(A) = A K / (lam n)", swapped=True, formula=r"Z(A)=\frac{1}{\lambda n}A K"),
    where_right=WhereRight("K19-eq27", columns_in_27),
    planted=(version("A K / lam", swapped=True, factor=2),),
    proofs=(
        ByTheorem(
            "A size at which a factor or the order of the product matters.",
            lambda deep, swapped=False, factor=1: scores_of_all_sizes(swapped, factor),
        ),
    ),
    erratum=Erratum(
        page="section 5, after (20)",
        printed=r"Z(A):=\frac{1}{\lambda n}K A^\top",
        correct=r"Z(A):=\frac{1}{\lambda n}A K",
        proof=r"$K$ is $n\times n$ and $A^\top$ is $n\times m$, so that the printed product is "
        r"$n\times m$; (20) subtracts $Z$ from $E_y$, which is $m\times n$, and (22) takes the "
        r"column $z_i\in R^m$. With $W(A)=XA^\top/(\lambda n)$ the scores of sample $i$ are "
        r"$W(A)^\top x_i=AX^\top x_i/(\lambda n)$, the column $i$ of $AK/(\lambda n)$.",
        breaks="Nothing in the paper: (27) has the product A K. Code that follows the "
        "definition fails because the shapes do not match; if n = m it continues "
        "with wrong scores.",
    ),
)
def scores_matrix(case: Case, swapped: bool = False, factor: int = 1) -> Outcome:
    p, problem = plain(case), exact_problem(case)
    A, K = transposed(p.A), gram(p.X)
    product = times(A, K) if swapped else times(K, transposed(A))
    Z = scaled(factor / (p.lam * p.n), product)
    return equal(array(Z), problem.scores(case.A).T)


def slope_in_20(case: Case) -> Outcome:
    """State that the numerator of (20) is lam n^2 times the corrected derivative of D along dA."""
    p, D = plain(case), plain(case).direction
    G = scaled(Fraction(1, p.n), plus(one_hot(p.y, p.m), p.scores(p.A), -1))
    return equal(p.lam * p.n * dot(D, p.residual), p.lam * p.n**2 * dot(G, D))


@claim(
    "K19-eq22",
    "(22)",
    "The derivative of D in column i of A is (z_i - e_(y_i))/n.",
    formula=r"\frac{\partial D(A)}{\partial\alpha_i}=\frac{1}{n}(z_i(A)-e_{y_i})",
    shapes="z_i, alpha_i: (m,)",
    judged="along directions between feasible points, as D is minus infinity elsewhere, and "
    "the gradient is defined only up to a multiple of 1.",
    sides=("<(22), B - A>", "slope of D from A to B"),
    cases=small_problems,
    derived=version(
        "(e_(y_i) - z_i)/n, as in (20) and in the g of Lemma 3",
        sign=-1,
        formula=r"\frac{\partial D(A)}{\partial\alpha_i}=\frac{1}{n}(e_{y_i}-z_i(A))",
    ),
    where_right=WhereRight("K19-eq20", slope_in_20),
    planted=(version("e_(y_i) - z_i without 1/n", sign=-1, over_n=False),),
    proofs=(
        BySolver(
            "A factor that has no effect in random cases because a term is 0.",
            cases=symbolic_problems,
            assuming=feasible,
            sized_by=("n", "d", "m"),
        ),
    ),
    erratum=Erratum(
        page="section 5, (22)",
        printed=r"\frac{\partial D(A)}{\partial\alpha_i}=\frac{1}{n}(z_i(A)-e_{y_i})",
        correct=r"\frac{\partial D(A)}{\partial\alpha_i}=\frac{1}{n}(e_{y_i}-z_i(A))",
        proof=r"By (2) and (16), $D(A)=-\frac{1}{2\lambda n^2}\langle AK,A\rangle"
        r"+\frac{1}{n}\sum_i\langle e_{y_i},\alpha_i\rangle$ on the domain. Its derivative in "
        r"column $i$ is $-\frac{1}{\lambda n^2}AKe_i+\frac{1}{n}e_{y_i}$, and "
        r"$AKe_i=\lambda nz_i(A)$. At $A=O$ the printed derivative is $-e_{y_i}/n$, but $D$ rises "
        r"with the true-class entries there.",
        breaks=r"(21) with (22) as printed would minimise the linearised dual: the Frank-Wolfe "
        r"step is then $0$ at $A=O$ and the method stays there. (24) is derived with the correct "
        r"sign, $g=(e_{y_i}-z_i)/n$.",
    ),
)
def printed_gradient(case: Case, sign: int = 1, over_n: bool = True) -> Outcome:
    p = plain(case)
    G = scaled(Fraction(-sign, p.n if over_n else 1), p.residual)
    left = dot(G, p.direction)
    if is_symbolic(case.A):
        return equal(left, slope_of(p))
    slope = exact_problem(case).slope(array(p.A), array(p.direction))
    return both(equal(left, slope), same_dual(case))
