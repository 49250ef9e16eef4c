"""Check K19 section 5, the linear program for the direction of a Frank-Wolfe iteration, exactly."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import fwlab
import reference
from paper_checks.arithmetic import (
    all_of,
    equals,
    implies,
    maximum,
)
from paper_checks.arithmetic import inner as inner_product
from paper_checks.cases import Rng, decreasing_weights, fractions, sizes
from paper_checks.exact_polytope import largest
from paper_checks.kato2019.exact_problems import ExactProblem, small_problems
from paper_checks.kato2019.in_fwlab import as_floats
from paper_checks.kato2019.weighted import weighted_set
from paper_checks.ledger import (
    Case,
    Library,
    Outcome,
    claim,
    version,
)
from paper_checks.outcomes import both, equal, truth
from paper_checks.proofs import BySolver, symbolic_sizes
from paper_checks.symbols import real, reals
from reference import exact
from reference.epigraph import epigraph
from reference.polytope import Polytope

Numbers = Sequence[Fraction]


def gradient(problem: ExactProblem, A: np.ndarray) -> np.ndarray:
    """Return (e_{y_i} - z_i)/n, with the sign that K19-eq22 derives."""
    return (problem.one_hot - problem.scores(A)) / Fraction(problem.n)


def weighted_problems(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield small problems with the weighted loss, which the section is about."""
    return (
        c for c in small_problems(rng, deep) if isinstance(c.problem.loss, reference.WeightedTopK)
    )


@claim(
    "K19-lp-splits",
    "(17) (21)",
    "The effective domain of the negated dual is the product of the samples' negated "
    "domains, so the linear program for the direction splits into one linear program "
    "per sample.",
    formula=r"\max_{U\in\mathrm{dom}(-D)}\langle G,U\rangle="
    r"\sum_i\max_{u_i\in-\mathrm{dom}\,\Phi^*(\cdot;y_i)}\langle g_i,u_i\rangle",
    shapes="G, U: (m, n); g_i, u_i: (m,)",
    cases=small_problems,
    planted=(version("every sample with the class of the first sample", first_class=True),),
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
    """Return the set of all (u_1, .., u_n) as one polytope, for a single linear program."""
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


def linear_conjugates(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield losses with a linear conjugate on its domain, f = -delta or e_y, and g with ties."""
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
    """Yield g and eta as symbols, for the top-k loss, up to permutations of the wrong classes."""
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
    formula=r"\forall\eta>0:\ \operatorname{argmax}_{\alpha\in-\mathrm{dom}\,\phi_*}"
    r"\langle g,\alpha\rangle=-\partial\phi(f-\eta g)",
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
            "A vector g with ties for which a maximiser is not a subgradient, or the reverse.",
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
    """Compare the two sets.

    Both are convex hulls of slopes of affine pieces: of those with the largest product with -g, and
    of those active at f - eta g.
    """
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
    """Return the slopes of the affine pieces that attain the loss.

    Their hull is the subdifferential.
    """
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
    """Compare the subgradient's product with the largest one.

    Two exact linear programs find that: over the pieces of the loss, and over the domain that
    Theorem 2 states.
    """
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
    """Compare fwlab's vertex and subgradient with the exact optimum of the linear program.

    The vertex is for minus the gradient of D, the subgradient is at the scores, and both must
    attain the optimum.
    """
    problem, outcomes = case.problem, []
    loss = fwlab.WeightedTopK(as_floats(problem.loss.rho))
    for z, g, y in zip(problem.scores(case.A), gradient(problem, case.A), problem.y, strict=True):
        best = float(-exact.lmo_value(problem.loss, -g, y))
        slope = loss.subgradient(as_floats(z), y)
        outcomes.append(equal(float(as_floats(g) @ loss.lmo(-as_floats(g), y)), best))
        outcomes.append(equal(float(-as_floats(g) @ slope), best))
    return both(*outcomes)
