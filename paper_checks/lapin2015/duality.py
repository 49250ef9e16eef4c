"""Check L15 section 3.1: the dual of Theorem 1, in exact fractions.

Matrices are the transposes of the paper's: A has one row for each sample.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

import fwlab
import reference
from paper_checks.cases import Rng, changed, labels, sizes
from paper_checks.lapin2015.compatibility import random_point
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
from paper_checks.outcomes import at_most, both, equal
from reference import exact
from reference.exact import inner
from reference.losses import Loss

Rows = Sequence[Sequence[Fraction]]


def problems(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield small training problems with each loss of section 2: X, y, lam, loss."""
    for m, k in sizes(5 if deep else 4):
        for loss in (reference.TopK(k), reference.Usunier(k)):
            for _ in range(3 if deep else 1):
                n, d = int(rng.integers(2, 4)), int(rng.integers(1, 3))
                X = rng.integers(-2, 3, (n, d))
                X[0, 0] = 1  # the first sample is not 0: its block update divides by its length
                lam = Fraction(int(rng.integers(1, 9)), 4)
                y = tuple(int(label) for label in labels(rng, n, m))
                yield Case(kind="problem", m=m, k=k, loss=loss, lam=lam, X=X, y=y)


def dual_matrices(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield problems with dual variables A, and, as "optimum", problems to be solved.

    A lies in the domain of Fenchel's dual; some rows do not sum to 0.
    """
    yield one_sample()
    yield nothing_sums_to_zero()
    for case in problems(rng, deep):
        scale = -1 / (case.lam * len(case.y))
        rows = []
        for y in case.y:
            slopes = list(exact.pieces(case.loss, case.m, y))
            rows.append(tuple(scale * x for x in random_point(rng, slopes)))
        yield changed(case, kind="feasible", A=tuple(rows))
        shifted = tuple(tuple(x + Fraction(int(j == 0), 2) for j, x in enumerate(a)) for a in rows)
        yield changed(case, kind="rows with another sum", A=shifted)
        if case.m <= 3:
            yield changed(case, kind="optimum", A=None)


def one_sample() -> Case:
    """Return the witness of L15-prop3 as a training problem: D is 1/4 by definition."""
    half = Fraction(1, 2)
    X, A = np.array([[1]]), ((Fraction(0), -half, half),)
    problem = {"m": 3, "k": 2, "loss": reference.TopK(2), "lam": Fraction(1)}
    return Case(kind="by hand", **problem, X=X, y=(2,), A=A)


def nothing_sums_to_zero() -> Case:
    """Return one sample whose dual variables sum to 1."""
    problem = {"m": 2, "k": 1, "loss": reference.TopK(1), "lam": Fraction(1)}
    A = ((Fraction(1), Fraction(0)),)
    return Case(kind="by hand", **problem, X=np.array([[1]]), y=(0,), A=A)


def gram(X: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(int(x @ z)) for z in X] for x in X]


def scores(A: Rows, K: Rows, i: int) -> list[Fraction]:
    """Return A K_i, with the samples in the rows of A: (m,)."""
    return [inner(column, K[i]) for column in zip(*A, strict=True)]


def trace_term(A: Rows, K: Rows) -> Fraction:
    """Return tr(A K A')."""
    return sum((inner(a, scores(A, K, i)) for i, a in enumerate(A)), Fraction())


def printed_conjugate(loss: Loss, lam_n: Fraction, a: Sequence[Fraction], y: int) -> Any:
    """Return phi*(-lam n (a - a_y e_y)), the term of Theorem 1."""
    v = [Fraction(0) if j == y else -lam_n * x for j, x in enumerate(a)]
    return exact.conjugate_of_maximum(exact.pieces(loss, len(a), y, centred=False), v)


def printed_dual(case: Case, A: Rows, scale: int = 1, outside: float = -inf) -> Any:
    """Return D(A) of Theorem 1; `outside` where a row does not sum to 0."""
    if any(sum(a) != 0 for a in A):
        return outside
    n = len(A)
    rows = zip(A, case.y, strict=True)
    terms = [printed_conjugate(case.loss, case.lam * n * scale, a, y) for a, y in rows]
    return -case.lam / 2 * trace_term(A, gram(case.X)) - sum(terms) / n


def fenchel_dual(case: Case, A: Rows) -> Any:
    """Return -(1/n) sum Phi*(-lam n a_i) - lam/2 |X A'|^2, from the conjugate of Phi itself."""
    n = len(A)
    rows = zip(A, case.y, strict=True)
    terms = [exact.conjugate(case.loss, [-case.lam * n * x for x in a], y) for a, y in rows]
    W = np.array(A).T @ case.X
    return -case.lam / 2 * sum(w * w for w in W.ravel()) - sum(terms) / n


COMPATIBLE = Condition(
    "k = 1 or the loss is the Usunier version",
    lambda case: case.k == 1 or isinstance(case.loss, reference.Usunier),
)


def library_dual(case: Case) -> Outcome:
    """State that fwlab's D, at lam n times the paper's A, is Fenchel's; so is its W."""
    loss = (fwlab.TopK if isinstance(case.loss, reference.TopK) else fwlab.Usunier)(case.k)
    y, lam = np.array(case.y), float(case.lam)
    problem = fwlab.Problem(case.X.astype(float), y, loss, lam, n_classes=case.m)
    A = np.array([[float(x) for x in a] for a in case.A])
    dual, W = problem.dual(lam * len(y) * A), problem.weights(lam * len(y) * A)
    return both(equal(dual, float(fenchel_dual(case, case.A))), equal(W, A.T @ case.X))


def feasible(rng: Rng, deep: bool) -> Iterator[Case]:
    return (case for case in dual_matrices(rng, deep) if case.kind == "feasible")


@claim(
    "L15-thm1",
    "Theorem 1",
    "For the losses of section 2 the stated D(A) is the Fenchel dual of P(W), with W = X A' and "
    "scores A K_i.",
    formula=r"D(A)=-\frac{1}{n}\sum_i\phi_i^*(-\lambda n(a_i-a_{y_i,i}e_{y_i}))"
    r"-\frac{\lambda}{2}\mathrm{tr}(AKA^\top)",
    shapes="A: (m, n), given as one row for each sample; K: (n, n); classes count from 0",
    judged="D is read as -inf where a column of A does not sum to 0; printed is +inf "
    "(L15-thm1-outside). Both duals are compared at given A, and their largest values.",
    cases=dual_matrices,
    condition=COMPATIBLE,
    planted=(
        version("n in place of lam n", scale=2),
        version("lam/2 tr(A K A') with another factor", trace=2),
    ),
    sides=("stated D", "Fenchel dual"),
    not_proved="The quadratic terms are the same; the conjugates differ as L15-prop3, which is "
    "proved, says.",
    library=Library(
        ("fwlab.problem.Problem.dual", "fwlab.problem.Problem.weights"), library_dual, feasible
    ),
    erratum=Erratum(
        "section 3.1, Theorem 1 for the top-k hinge, with Proposition 3",
        r"D(A)=-\frac{1}{n}\sum_i\phi_i^*(-\lambda n(a_i-a_{y_i,i}e_{y_i}))"
        r"-\frac{\lambda}{2}\mathrm{tr}(AKA^\top)\ \mathrm{for}\ \phi_i=\phi_k",
        r"D(A)=\lambda\sum_i a_{y_i,i}-\frac{\lambda}{2}\mathrm{tr}(AKA^\top)\ \mathrm{if}\ "
        r"-\lambda n\,a_i+w_ie_{y_i}\in\Delta_k\ \mathrm{for\ some}\ w_i\ \mathrm{each}",
        r"Theorem 1 itself is for compatible losses. The text applies it to the top-k hinge by "
        r"Proposition 3, which fails for $2\leq k<m$. For $m=3$, "
        r"$k=2$, one sample $x=1$ of the third class, $\lambda=1$, $a=(0,-\frac{1}{2},"
        r"\frac{1}{2})$: stated is $-\infty$, as $(0,\frac{1}{2},0)\notin\Delta_2$. By definition "
        r"$\Phi^*(-a)=\sup_s\langle -a,s\rangle-\phi_2(s-s_31)=-\frac{1}{2}$, so that "
        r"$D=\frac{1}{2}-\frac{1}{2}\cdot\frac{1}{2}=\frac{1}{4}$.",
        "The stated D has too small a domain: its largest value may lie below the least P, and "
        "the duality gap of Algorithm 1 does not close (L15-alg1-gap).",
    ),
)
def stated_dual_is_fenchels(case: Case, scale: int = 1, trace: int = 1) -> Outcome:
    if case.A is None:
        return same_optimum(case)
    K = gram(case.X)
    W = np.array(case.A).T @ case.X
    links = [equal(scores(case.A, K, i), (W @ x).tolist()) for i, x in enumerate(case.X)]
    extra = (trace - 1) * case.lam / 2 * trace_term(case.A, K)
    stated = printed_dual(case, case.A, scale) - extra
    return both(equal(stated, fenchel_dual(case, case.A)), *links)


def same_optimum(case: Case) -> Outcome:
    """State that the certified intervals of the largest stated D and of the least P overlap."""
    X, y, lam = case.X.astype(float), np.array(case.y), float(case.lam)
    largest = reference.OtherDual(X, y, case.loss, lam, case.m).fixed_optimum()
    least = reference.linear_training(X, y, case.loss, lam, n_classes=case.m).optimum()
    return at_most(least.value_lower, largest.value_upper, D=largest.value_upper)


def by_lemma_2(case: Case) -> Outcome:
    """State that D(A) of the proof is -inf there.

    It is D(A) = -g*(-A') - f*(X A'), with g* from Lemma 2 as printed.
    """
    n, finite = len(case.A), all(sum(a) == 0 for a in case.A)
    rows = zip(case.A, case.y, strict=True)
    terms = [printed_conjugate(case.loss, case.lam * n, a, y) for a, y in rows]
    g = sum(terms) / n if finite else inf
    f = case.lam / 2 * trace_term(case.A, gram(case.X))
    return equal(-g - f, printed_dual(case, case.A))


@claim(
    "L15-thm1-outside",
    "Theorem 1",
    "The dual objective, which is maximised, is +inf where a column of A does not sum to 0.",
    formula=r"D(A)=+\infty\ \mathrm{if}\ \langle 1,a_i\rangle\neq 0\ \mathrm{for\ some}\ i",
    shapes="A: (m, n), given as one row for each sample; classes count from 0",
    judged="Tried for compatible losses, for which the rest of the theorem holds.",
    cases=lambda rng, deep: (
        c for c in dual_matrices(rng, deep) if c.A is not None and COMPATIBLE.meets(c)
    ),
    derived=version(
        "-inf there, as -g*(-A') is by Lemma 2",
        outside=-inf,
        formula=r"D(A)=-\infty\ \mathrm{if}\ \langle 1,a_i\rangle\neq 0\ \mathrm{for\ some}\ i",
    ),
    where_right=WhereRight("L15-lem2", by_lemma_2),
    planted=(version("0 there", outside=0.0),),
    sides=("stated D", "Fenchel dual"),
    not_proved="It is a value at infinity: -g* where g* is +inf.",
    erratum=Erratum(
        "Theorem 1",
        r"D(A)=+\infty\ \mathrm{otherwise}",
        r"D(A)=-\infty\ \mathrm{otherwise}",
        "The proof sets $D(A)=-g^*(-A^\\top)-f^*(XA^\\top)$, where $g^*$ is $+\\infty$ by Lemma 2 "
        "unless every column of $A$ sums to 0; $f^*$ is finite. A dual that is to be maximised "
        "would be useless with the value $+\\infty$.",
        "Nothing: Proposition 4 maximises over the columns that sum to 0.",
    ),
)
def stated_dual_outside(case: Case, outside: float = inf) -> Outcome:
    return equal(printed_dual(case, case.A, outside=outside), fenchel_dual(case, case.A))
