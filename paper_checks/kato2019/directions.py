"""K19 section 5: gradient, line search and direction of a Frank-Wolfe iteration, exactly."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import reference
from paper_checks.cases import Rng, decreasing_weights, fractions, sizes
from paper_checks.exact_polytope import largest
from paper_checks.kato2019.exact_problems import (
    ExactProblem,
    product,
    small_problems,
)
from paper_checks.kato2019.weighted import weighted_set
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal, truth
from reference import exact
from reference.epigraph import epigraph
from reference.lp import lmo_value
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


@claim(
    "K19-eq20",
    "(19) (20)",
    "The exact step along a direction is lam n <dA, E_y - Z> / <dA K, dA>, brought into [0, 1].",
    formula=r"\gamma=\max(0,\min(1,\hat\gamma)),\quad \hat\gamma="
    r"\frac{\lambda n\langle\Delta A,\ E_y-Z(A)\rangle}{\langle\Delta A\,K,\ \Delta A\rangle}",
    shapes="dA, E_y, Z: (m, n); K: (n, n)",
    judged="Z(A) = A K/(lam n), see K19-Z; directions with dA K = 0 are left out, the quotient "
    "being undefined there.",
    cases=lambda rng, deep: (c for c in small_problems(rng, deep) if bend(c) > 0),
    planted=(
        version("lam in place of lam n", factor="lam"),
        version("Z - E_y", sign=-1),
    ),
)
def line_search(case: Case, factor: str = "lam n", sign: int = 1) -> Outcome:
    problem, A, D = case.problem, case.A, case.B - case.A
    slope = product(D, problem.one_hot - problem.scores(A))
    scale = problem.lam * (problem.n if factor == "lam n" else 1)
    step = max(Fraction(0), min(Fraction(1), sign * scale * slope / bend(case)))
    others = {Fraction(0), Fraction(1), (step + 1) / 2, step / 2, step * Fraction(99, 100)}
    best = max(others, key=lambda other: problem.dual(A + other * D))
    return at_most(problem.dual(A + best * D), problem.dual(A + step * D), step=step, better=best)


def bend(case: Case) -> Fraction:
    """<dA K, dA> for the direction from A to B."""
    W = case.problem.X.T @ (case.B - case.A)
    return product(W, W)


@claim(
    "K19-Z",
    "5, after (20)",
    "The matrix whose i-th column holds the scores of sample i is Z(A) = K A^T / (lam n).",
    formula=r"Z(A)=\frac{1}{\lambda n}K A^\top,\quad z_i(A)=W(A)^\top x_i",
    shapes="A, Z, E_y: (m, n); K: (n, n)",
    judged="in the paper's layout; (20), (22) and (24) need columns z_i(A) of m scores.",
    cases=small_problems,
    derived=version("Z(A) = A K / (lam n)", swapped=True),
    planted=(version("A K / lam", swapped=True, factor=2),),
)
def scores_matrix(case: Case, swapped: bool = False, factor: int = 1) -> Outcome:
    problem, A = case.problem, case.A.T
    product = A @ problem.gram if swapped else problem.gram @ A.T
    return equal(factor * product / (problem.lam * problem.n), problem.scores(case.A).T)


@claim(
    "K19-eq22",
    "(22)",
    "The derivative of D in column i of A is (z_i - e_(y_i))/n.",
    formula=r"\frac{\partial D(A)}{\partial\alpha_i}=\frac{1}{n}(z_i(A)-e_{y_i})",
    shapes="z_i, alpha_i: (m,)",
    judged="along directions between feasible points: elsewhere D is minus infinity, and a "
    "multiple of 1 may be added to the gradient.",
    cases=small_problems,
    derived=version("(e_(y_i) - z_i)/n, as (20) and the g put into Lemma 3 have it", sign=-1),
    planted=(version("e_(y_i) - z_i without 1/n", sign=-1, over_n=False),),
)
def printed_gradient(case: Case, sign: int = 1, over_n: bool = True) -> Outcome:
    problem, D = case.problem, case.B - case.A
    G = sign * (problem.scores(case.A) - problem.one_hot) / (problem.n if over_n else 1)
    return equal(product(G, D), problem.slope(case.A, D))


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
            yield Case(kind="exact, ties", loss=loss, m=m, y=y, f=f, g=g)


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
)
def maximisers_are_subgradients(
    case: Case,
    etas: Sequence[Fraction] = (Fraction(1, 7), Fraction(1), Fraction(1000)),
    with_f: int = 1,
) -> Outcome:
    """Both sets are convex hulls of slopes of affine pieces: those with the largest product with
    -g, and those active at f - eta g."""
    affine = exact.pieces(case.loss, case.m, case.y)
    products = {a: -exact.inner(a, case.g) for a in affine}
    maximisers = {a for a, p in products.items() if p == max(products.values())}
    for eta in etas:
        x = [with_f * f - eta * g for f, g in zip(case.f, case.g, strict=True)]
        if active_slopes(case.loss, x, case.y) != maximisers:
            return truth(False, eta=eta)
    return truth(True)


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
)
def direction_is_a_subgradient(case: Case, sign: int = 1, scale: int = 1) -> Outcome:
    """The largest product is found by an LP over the definition's epigraph, and by an exact LP over
    the domain that Theorem 2 states."""
    problem, outcomes = case.problem, []
    for z, g, y in zip(
        problem.scores(case.A), sign * gradient(problem, case.A), problem.y, strict=True
    ):
        B = weighted_set(problem.m, problem.loss.rho)
        best = largest(B, [g[y] - x for x in g])
        for slope in active_slopes(problem.loss, scale * z, y):
            outcomes.append(equal(-exact.inner(g, slope), best))
        outcomes.append(equal(-lmo_value(problem.loss, -g.astype(float), y), float(best)))
    return both(*outcomes)
