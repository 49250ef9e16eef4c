"""K19 section 5: gradient, line search and direction of a Frank-Wolfe iteration, exactly."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import fwlab
import reference
from paper_checks.arithmetic import (
    Real,
    all_of,
    divide,
    equals,
    implies,
    is_symbolic,
    maximum,
    minimum,
)
from paper_checks.arithmetic import inner as inner_product
from paper_checks.cases import Rng, changed, decreasing_weights, fractions, sizes
from paper_checks.exact_polytope import largest
from paper_checks.kato2019.exact_problems import ExactProblem, array, exact_step, small_problems
from paper_checks.kato2019.library import as_floats
from paper_checks.kato2019.matrices import dot, gram, one_hot, plus, scaled, times, transposed
from paper_checks.kato2019.plain import Plain, exact_problem, feasible, plain, symbolic_problems
from paper_checks.kato2019.sizes import scores_of_all_sizes
from paper_checks.kato2019.weighted import weighted_set
from paper_checks.ledger import (
    Case,
    Condition,
    Erratum,
    Library,
    Outcome,
    WhereRight,
    claim,
    version,
)
from paper_checks.outcomes import both, equal, truth
from paper_checks.proofs import BySolver, ByTheorem, symbolic_sizes
from paper_checks.symbols import real, reals
from reference import exact
from reference.epigraph import epigraph
from reference.polytope import Polytope

Numbers = Sequence[Fraction]


def gradient(problem: ExactProblem, A: np.ndarray) -> np.ndarray:
    """(e_{y_i} - z_i)/n, the sign that K19-eq22 derives."""
    return (problem.one_hot - problem.scores(A)) / Fraction(problem.n)


def weighted_problems(rng: Rng, deep: bool) -> Iterator[Case]:
    """Small problems with the weighted loss, whose domain the section is about."""
    return (
        c for c in small_problems(rng, deep) if isinstance(c.problem.loss, reference.WeightedTopK)
    )


@claim(
    "K19-lp-splits",
    "(17) (21)",
    "The effective domain of the negated dual is the product of the samples' negated domains, so "
    "the linear program for the direction splits into one a sample.",
    formula=r"\max_{U\in\mathrm{dom}(-D)}\langle G,U\rangle="
    r"\sum_i\max_{u_i\in-\mathrm{dom}\,\Phi^*(\cdot;y_i)}\langle g_i,u_i\rangle",
    shapes="G, U: (m, n); g_i, u_i: (m,)",
    cases=small_problems,
    planted=(version("every sample with the first one's class", first_class=True),),
    not_proved="a linear function over a product of sets splits by definition; the joint program "
    "is solved in floats",
)
def program_splits(case: Case, first_class: bool = False) -> Outcome:
    problem, G = case.problem, case.A - case.B
    classes = [problem.y[0] if first_class else y for y in problem.y]
    parts = [-exact.lmo_value(problem.loss, -g, y) for g, y in zip(G, classes, strict=True)]
    domains = [epigraph(problem.loss, problem.m, y).negated_domain for y in problem.y]
    whole, _ = joined(domains).minimum(-G.ravel().astype(float))
    outside = case.A.copy()
    outside[-1] = outside[-1] + 1
    return both(
        equal(-whole, float(sum(parts))),
        truth(problem.dual(case.A) > -np.inf),
        truth(problem.dual(outside) == -np.inf),
    )


def joined(domains: Sequence[Polytope]) -> Polytope:
    """The set of all (u_1, .., u_n) as one polytope: one linear program over all variables."""
    M, A = (block_diagonal([getattr(d, name) for d in domains]) for name in ("M", "A"))
    return Polytope(M, A, np.concatenate([d.b for d in domains]))


def block_diagonal(blocks: Sequence[np.ndarray]) -> np.ndarray:
    rows, columns = np.sum([b.shape for b in blocks], axis=0)
    whole, at = np.zeros((rows, columns)), (0, 0)
    for b in blocks:
        end = (at[0] + b.shape[0], at[1] + b.shape[1])
        whole[at[0] : end[0], at[1] : end[1]] = b
        at = end
    return whole


def searches(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield small problems with a direction, one of them with dA K = 0."""
    zero = ExactProblem(array([[0]]), (0,), reference.TopK(1), 2, Fraction(1))
    A, B = array([[0, 0]]), array([[1, -1]])
    yield Case(kind="exact, dA K = 0", problem=zero, A=A, B=B)
    for case in small_problems(rng, deep):
        flat = bend(plain(case)) == 0
        yield changed(case, kind="exact, dA K = 0" if flat else "exact")


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
    "The exact step along a direction is lam n <dA, E_y - Z> / <dA K, dA>, brought into [0, 1].",
    formula=r"\gamma=\max(0,\min(1,\hat\gamma)),\quad \hat\gamma="
    r"\frac{\lambda n\langle\Delta A,\ E_y-Z(A)\rangle}{\langle\Delta A\,K,\ \Delta A\rangle}",
    shapes="dA, E_y, Z: (m, n); K: (n, n)",
    judged="Z(A) = A K/(lam n), see K19-Z. The step is compared with the maximiser of the "
    "quadratic D on the segment, found from three of its values.",
    cases=searches,
    condition=Condition(
        "dA K is not 0; else the quotient is undefined, and the exact step is 1 if "
        "<dA, E_y> > 0, and any step if it is 0",
        lambda case: bend(plain(case)) > 0,
    ),
    planted=(
        version("lam in place of lam n", factor="lam"),
        version("Z - E_y", sign=-1),
    ),
    proofs=(
        BySolver(
            "A factor n or lam that hides where n = 1 or a term is 0.",
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
    return equal(step, exact_step(exact_problem(case), array(p.A), array(p.direction)))


def slope_of(p: Plain) -> Real:
    """Return the derivative of D at A towards B, from three values of the quadratic."""
    middle = scaled(Fraction(1, 2), plus(p.A, p.B))
    return 4 * p.dual(middle) - p.dual(p.B) - 3 * p.dual(p.A)


def square_problems(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield a problem with n = m, where both products have one shape, and small ones."""
    problem = ExactProblem(array([[1], [0]]), (0, 1), reference.TopK(1), 2, Fraction(1, 2))
    A = array([[1, -1], [0, 0]])
    yield Case(kind="exact", problem=problem, A=A, B=A)
    yield from small_problems(rng, deep)


def columns_in_27(case: Case) -> Outcome:
    """(27) without smoothing holds with lam n (Z - E_y) for A K - lam n E_y and with the columns
    of Z as scores, if Z is A K / (lam n)."""
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
    sides=("as printed", "W(A)'x_i"),
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
        breaks="Nothing: (20) and (27) have the product A K. Code that follows the definition "
        "stops at the shapes, or where n = m goes on with wrong scores.",
    ),
)
def scores_matrix(case: Case, swapped: bool = False, factor: int = 1) -> Outcome:
    p, problem = plain(case), exact_problem(case)
    A, K = transposed(p.A), gram(p.X)
    product = times(A, K) if swapped else times(K, transposed(A))
    Z = scaled(factor / (p.lam * p.n), product)
    return equal(array(Z), problem.scores(case.A).T)


def slope_in_20(case: Case) -> Outcome:
    """The numerator of (20) is lam n^2 times the derivative of D along dA: the correction's."""
    p, D = plain(case), plain(case).direction
    G = scaled(Fraction(1, p.n), plus(one_hot(p.y, p.m), p.scores(p.A), -1))
    return equal(p.lam * p.n * dot(D, p.residual), p.lam * p.n**2 * dot(G, D))


@claim(
    "K19-eq22",
    "(22)",
    "The derivative of D in column i of A is (z_i - e_(y_i))/n.",
    formula=r"\frac{\partial D(A)}{\partial\alpha_i}=\frac{1}{n}(z_i(A)-e_{y_i})",
    shapes="z_i, alpha_i: (m,)",
    judged="along directions between feasible points: elsewhere D is minus infinity, and a "
    "multiple of 1 may be added to the gradient.",
    sides=("<(22), B - A>", "slope of D from A to B"),
    cases=small_problems,
    derived=version(
        "(e_(y_i) - z_i)/n, as (20) and the g put into Lemma 3 have it",
        sign=-1,
        formula=r"\frac{\partial D(A)}{\partial\alpha_i}=\frac{1}{n}(e_{y_i}-z_i(A))",
    ),
    where_right=WhereRight("K19-eq20", slope_in_20),
    planted=(version("e_(y_i) - z_i without 1/n", sign=-1, over_n=False),),
    proofs=(
        BySolver(
            "A factor that hides in random cases because a term is 0.",
            cases=symbolic_problems,
            assuming=feasible,
            sized_by=("n", "d", "m"),
        ),
    ),
    erratum=Erratum(
        page="section 5, (22)",
        printed=r"\frac{\partial D(A)}{\partial\alpha_i}=\frac{1}{n}(z_i(A)-e_{y_i})",
        correct=r"\frac{\partial D(A)}{\partial\alpha_i}=\frac{1}{n}(e_{y_i}-z_i(A))",
        proof=r"By (2) and (6), $D(A)=-\frac{1}{2\lambda n^2}\langle AK,A\rangle"
        r"+\frac{1}{n}\sum_i\langle e_{y_i},\alpha_i\rangle$ on the domain. Its derivative in "
        r"column $i$ is $-\frac{1}{\lambda n^2}AKe_i+\frac{1}{n}e_{y_i}$, and "
        r"$AKe_i=\lambda nz_i(A)$. At $A=O$ the printed sign says that $D$ falls where it rises "
        r"from $0$.",
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
    return equal(left, exact_problem(case).slope(array(p.A), array(p.direction)))


def linear_conjugates(rng: Rng, deep: bool) -> Iterator[Case]:
    """Losses whose conjugate is linear on its domain, in f = -delta or e_y; g with ties."""
    for m, k in sizes(5 if deep else 4):
        y, rho = int(rng.integers(m)), decreasing_weights(rng, m)
        losses: list[Any] = [reference.TopK(k), reference.WeightedTopK(rho), reference.Usunier(k)]
        if k < m:
            losses.append(reference.PseudoTopK(k))
        for loss in losses:
            g, shift = fractions(rng, m, denominator=1), Fraction(int(rng.integers(2)))
            f = [shift - d for d in loss.delta(m, y)]
            yield Case(kind="exact, ties", loss=loss, m=m, y=y, f=f, g=g, eta=Fraction(1))


def symbolic_directions(deep: bool) -> Iterator[Case]:
    """Yield g and eta as symbols, for the top-k loss; the wrong classes may be exchanged."""
    for m, k in symbolic_sizes(4 if deep else 3):
        y, loss = m - 1, reference.TopK(k)
        f = [1 - Fraction(d) for d in loss.delta(m, y)]
        yield Case(kind="symbols", loss=loss, m=m, k=k, y=y, f=f, g=reals("g", m), eta=real("eta"))


@claim(
    "K19-lemma3",
    "Lemma 3, A.4",
    "If the conjugate of a convex function is minus <f, alpha> at -alpha, the maximisers of "
    "<g, alpha> over the negated domain are minus the subdifferential of the function at "
    "f - eta g, for every eta > 0.",
    formula=r"\forall\eta>0:\ \arg\max_{\alpha\in-\mathrm{dom}\,\phi_*}\langle g,\alpha\rangle"
    r"=-\partial\phi(f-\eta g)",
    shapes="f, g, alpha: (m,)",
    judged="as sets: no maximiser and no subgradient is missing.",
    cases=linear_conjugates,
    planted=(
        version("eta < 0", etas=(Fraction(-1),)),
        version("eta = 0", etas=(Fraction(0),)),
        version("f left out", with_f=0),
    ),
    proofs=(
        BySolver(
            "A vector g with ties, where a maximiser is no subgradient, or the reverse.",
            cases=symbolic_directions,
            assuming=lambda case: case.eta > 0,
        ),
    ),
)
def maximisers_are_subgradients(
    case: Case,
    etas: Sequence[Fraction] = (Fraction(1, 7), Fraction(1), Fraction(1000)),
    with_f: int = 1,
) -> Outcome:
    """Both sets are convex hulls of slopes of affine pieces: those with the largest product with
    -g, and those active at f - eta g."""
    affine = exact.pieces(case.loss, case.m, case.y)
    products = {a: -inner_product(a, case.g) for a in affine}
    most = maximum(*products.values())
    found = []
    for eta in [case.eta * e for e in etas]:
        x = [with_f * f - eta * g for f, g in zip(case.f, case.g, strict=True)]
        values = {a: inner_product(a, x) + b for a, b in affine.items()}
        value = maximum(*values.values())
        for a in affine:
            found += [
                implies(equals(products[a], most), equals(values[a], value)),
                implies(equals(values[a], value), equals(products[a], most)),
            ]
    return truth(all_of(*found))


def active_slopes(loss: Any, scores: Numbers, y: int) -> set[tuple[Fraction, ...]]:
    """The slopes of the affine pieces that attain the loss: their hull is the subdifferential."""
    value = exact.value(loss, scores, y)
    affine = exact.pieces(loss, len(list(scores)), y)
    return {a for a, b in affine.items() if exact.inner(a, scores) + b == value}


@claim(
    "K19-eq24",
    "(24)",
    "Minus any subgradient of the weighted top-k hinge loss at the scores z_i solves the linear "
    "program of sample i.",
    formula=r"u_i=-\nabla\Phi_{wtk}(z_i(A))",
    shapes="u_i, z_i: (m,)",
    judged="with the gradient of D that K19-eq22 derives; all extreme subgradients are tried.",
    cases=weighted_problems,
    planted=(
        version("with the gradient as (22) prints it", sign=-1),
        version("subgradients at twice the scores", scale=2),
    ),
    not_proved="follows from K19-lemma3 with f = e_y and eta = n, and from K19-eq22",
    library=Library(
        ("fwlab.WeightedTopK.lmo", "fwlab.WeightedTopK.subgradient"),
        lambda case: vertices_in_the_library(case),
    ),
)
def direction_is_a_subgradient(case: Case, sign: int = 1, scale: int = 1) -> Outcome:
    """The largest product is found by two exact linear programs: over the pieces of the loss, and
    over the domain that Theorem 2 states."""
    problem, outcomes = case.problem, []
    for z, g, y in zip(
        problem.scores(case.A), sign * gradient(problem, case.A), problem.y, strict=True
    ):
        B = weighted_set(problem.m, problem.loss.rho)
        best = largest(B, [g[y] - x for x in g])
        for slope in active_slopes(problem.loss, scale * z, y):
            outcomes.append(equal(-exact.inner(g, slope), best))
        outcomes.append(equal(-exact.lmo_value(problem.loss, -g, y), best))
    return both(*outcomes)


def vertices_in_the_library(case: Case) -> Outcome:
    """fwlab's vertex for minus the gradient of D, and its subgradient at the scores: both attain
    the exact optimum of the linear program."""
    problem, outcomes = case.problem, []
    loss = fwlab.WeightedTopK(as_floats(problem.loss.rho))
    for z, g, y in zip(problem.scores(case.A), gradient(problem, case.A), problem.y, strict=True):
        best = float(-exact.lmo_value(problem.loss, -g, y))
        slope = loss.subgradient(as_floats(z), y)
        outcomes.append(equal(float(as_floats(g) @ loss.lmo(-as_floats(g), y)), best))
        outcomes.append(equal(float(-as_floats(g) @ slope), best))
    return both(*outcomes)
