"""Check K19 section 6: the smoothed loss, its dual, and the problem in d + n dimensions."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import fwlab
import reference
from paper_checks.arithmetic import Truth, all_of, is_symbolic
from paper_checks.cases import Rng, labels, scored_rows
from paper_checks.kato2019.duality import library_problem
from paper_checks.kato2019.exact_problems import (
    ExactProblem,
    array,
    product,
    random_problem,
    square,
    with_points,
)
from paper_checks.kato2019.matrices import dot, plus, scaled, weights
from paper_checks.kato2019.plain import SIZES, exact_problem, feasible, plain, same_dual
from paper_checks.ledger import Case, Erratum, Library, Outcome, WhereRight, claim, version
from paper_checks.outcomes import at_most, both, equal, same_optimum
from paper_checks.proofs import BySolver
from paper_checks.symbols import real, reals
from reference import exact, lp
from reference.training import linear_training


@claim(
    "K19-eq25",
    "(25)",
    "The smoothed loss, the least of the loss at z plus |s - z|^2 / (2 gamma), has the conjugate "
    "of the loss plus gamma/2 |v|^2.",
    formula=r"\Phi_{stk}(s;y)=\min_z\Phi_{wtk}(z;y)+\frac{1}{2\gamma}\|s-z\|^2,\quad "
    r"\Phi^*_{stk}(v;y)=\Phi^*_{wtk}(v;y)+\frac{\gamma}{2}\|v\|^2",
    shapes="s, z, v: (m,); gamma > 0",
    judged="(25) is a definition; the conjugate is what (62) uses.",
    cases=lambda rng, deep: (c for c in scored_rows(rng, deep) if c.k in (1, 2, c.m)),
    planted=(
        version("gamma |v|^2 in the conjugate", half=Fraction(1)),
        version("|s - z|^2 / gamma in the envelope", price=Fraction(1)),
    ),
    not_proved="the conjugate of an infimal convolution is a theorem; each envelope is a quadratic "
    "program with a certificate in floats",
    library=Library(("fwlab.WeightedTopK.moreau",)),
)
def envelope(
    case: Case, half: Fraction = Fraction(1, 2), price: Fraction = Fraction(1, 2)
) -> Outcome:
    """Compare the two objectives at z and v = (s - z)/gamma; if they are equal, both are optimal.

    The envelope is at most its objective at z and, by Fenchel, at least <s, v> minus the stated
    conjugate. The z need not be trusted.
    """
    loss, gamma = reference.WeightedTopK(case.rho), 0.5
    s, y = np.array(case.scores, dtype=float), case.y
    _, z = fwlab.WeightedTopK([float(r) for r in case.rho]).moreau(s, y, gamma)
    v = (s - z) / gamma
    above = float(loss.value(z, y)) + float(price) / gamma * float((s - z) @ (s - z))
    below = float(s @ v) - lp.conjugate(loss, v, y) - float(half) * gamma * float(v @ v)
    return equal(above, below)


def smoothed_problems(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield small problems with smoothing gamma, where gamma lam n = root^2 is a rational square.

    Every other problem has two equal samples, so in some directions only the smoothing makes D
    curved.
    """
    for turn in range(60 if deep else 16):
        n, d, m = (int(rng.integers(low, high)) for low, high in ((2, 4), (1, 3), (2, 4)))
        plain = random_problem(rng, n, d, m)
        X, y = plain.X.copy(), plain.y
        if turn % 2:
            X[1], y = X[0], (y[0], y[0], *y[2:])
        root = Fraction(int(rng.integers(1, 4)), 2)
        gamma = root**2 / (plain.lam * n)
        problem = ExactProblem(X, y, plain.loss, m, plain.lam, gamma)
        case = with_points(rng, problem, root=root)
        if turn % 2:
            case.B = array([case.A[1], case.A[0], *case.A[2:]])
        yield case


def symbolic_smoothed(deep: bool) -> Iterator[Case]:
    """Yield small problems with two points and root^2 = gamma lam n, all symbols; lam = 1."""
    for n, d, m in SIZES:
        X, A, B = (
            tuple(reals(f"{name}_{i + 1}", size) for i in range(n))
            for name, size in (("x", d), ("a", m), ("b", m))
        )
        root = real("root")
        case = {"X": X, "y": (0,) * n, "A": A, "B": B, "root": root}
        yield Case(kind="symbols", n=n, d=d, m=m, **case, smoothing=root**2 / n)


def smoothed_and_feasible(case: Case) -> Truth:
    return all_of(feasible(case), case.root > 0)


def augmented(problem: ExactProblem, root: Fraction) -> ExactProblem:
    """Return the problem with the features (x_i, root e_i) and without smoothing."""
    X = np.hstack([problem.X, root * array(np.eye(problem.n, dtype=int).tolist())])
    return ExactProblem(X, problem.y, problem.loss, problem.m, problem.lam)


@claim(
    "K19-gamma-n",
    "6",
    "The negated dual of the smoothed problem is strongly convex with coefficient gamma/n.",
    formula=r"-D_{stk}(\frac{A+B}{2})\leq\frac{-D_{stk}(A)-D_{stk}(B)}{2}"
    r"-\frac{\gamma}{8n}\|A-B\|_F^2",
    shapes="A, B: (m, n)",
    cases=smoothed_problems,
    planted=(
        version("coefficient gamma", over_n=False),
        version("coefficient 1.01 gamma/n", factor=Fraction(101, 100)),
    ),
    proofs=(
        BySolver(
            "A coefficient that holds only where features are 0 or points agree.",
            cases=symbolic_smoothed,
            assuming=smoothed_and_feasible,
            sized_by=("n", "d", "m"),
        ),
    ),
)
def strongly_convex(case: Case, over_n: bool = True, factor: Fraction = Fraction(1)) -> Outcome:
    """Compare D at the midpoint with the mean.

    On symbols the sides differ by lam/8 |W(A) - W(B)|^2, which is not negative.
    """
    p = plain(case)
    coefficient = factor * p.smoothing / (p.n if over_n else 1)
    apart = coefficient / 8 * dot(p.direction, p.direction)
    if is_symbolic(case.A):
        middle = -p.dual(scaled(Fraction(1, 2), plus(p.A, p.B)))
        mean = (-p.dual(p.A) - p.dual(p.B)) / 2
        W = weights(p.X, p.direction, p.lam)
        return equal(mean - apart - middle, p.lam * dot(W, W) / 8)
    problem, A, B = exact_problem(case), array(p.A), array(p.B)
    mean = (-problem.dual(A) - problem.dual(B)) / 2
    return both(at_most(-problem.dual((A + B) / 2), mean - apart), same_dual(case))


def training_pairs(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield problems for the certified solvers."""
    for _ in range(8 if deep else 3):
        n, d, m = int(rng.integers(2, 6)), int(rng.integers(1, 4)), int(rng.integers(2, 5))
        X, y = rng.standard_normal((n, d)), labels(rng, n, m)
        rho = sorted(rng.random(m).round(2), reverse=True)
        gamma, lam = float(rng.uniform(0.05, 1)), float(rng.uniform(0.05, 1))
        yield Case(kind="two solvers", X=X, y=y, m=m, rho=rho, gamma=gamma, lam=lam)


@claim(
    "K19-prop5",
    "Proposition 5",
    "Maximising the smoothed dual is dual to the smoothed problem and also to the problem with "
    "the plain loss and the features (x_i, sqrt(gamma lam n) e_i).",
    formula=r"\max_AD_{stk}(A)=\min_WP_{stk}(W)=\min_{\tilde W}\tilde P_{wtk}(\tilde W)",
    shapes="x~_i: (d+n,); W~: (d+n, m)",
    judged="the two duals are compared exactly at single points, the two minima as certified "
    "intervals.",
    cases=lambda rng, deep: [*smoothed_problems(rng, deep), *training_pairs(rng, deep)],
    planted=(
        version("sqrt(gamma lam n)/2", factor=Fraction(1, 2)),
        version("sqrt(gamma lam n) twice", factor=Fraction(2)),
    ),
    not_proved="the equality of the optima is strong duality; K19-eq61 shows that the two duals "
    "are the same function",
)
def augmented_problem(case: Case, factor: Fraction = Fraction(1)) -> Outcome:
    if case.kind == "exact":
        other = augmented(case.problem, factor * case.root)
        return equal(case.problem.dual(case.A), other.dual(case.A))
    n, loss = len(case.y), reference.WeightedTopK(case.rho)
    root = float(factor) * np.sqrt(case.gamma * case.lam * n)
    wide = np.hstack([case.X, root * np.eye(n)])
    smooth = linear_training(case.X, case.y, loss, case.lam, case.gamma, n_classes=case.m)
    plain = linear_training(wide, case.y, loss, case.lam, n_classes=case.m)
    one, two = smooth.optimum(), plain.optimum()
    return same_optimum((one.value_lower, one.value_upper), (two.value_lower, two.value_upper))


def norm_in_62(case: Case) -> Outcome:
    """State that the dual on the wide features, with the corrected norm, is D_stk, as in (62)."""
    problem, A = exact_problem(case), array(case.A)
    rest = problem.smoothing / (problem.lam * problem.n) * square(A)
    norm = square(problem.weights(A)) + rest
    conjugates = [exact.conjugate(problem.loss, -a, y) for a, y in zip(A, problem.y, strict=True)]
    return equal(-problem.lam / 2 * norm - sum(conjugates) / problem.n, problem.dual(A))


@claim(
    "K19-eq61",
    "(61)",
    "The squared norm of the weights over the wide features is |W(A)|^2 + gamma / (2 lam n) |A|^2.",
    formula=r"\|\frac{\tilde XA^\top}{\lambda n}\|_F^2=\|W(A)\|_F^2"
    r"+\frac{\gamma}{2\lambda n}\sum_i\|\alpha_i\|^2",
    shapes="X~: (d+n, n); A: (m, n)",
    cases=smoothed_problems,
    sides=("|wide weights|^2", "|W(A)|^2 + rest"),
    derived=version(
        "gamma / (lam n), as (62) needs",
        half=Fraction(1),
        formula=r"\|\frac{\tilde XA^\top}{\lambda n}\|_F^2=\|W(A)\|_F^2"
        r"+\frac{\gamma}{\lambda n}\sum_i\|\alpha_i\|^2",
    ),
    where_right=WhereRight("K19-prop5", norm_in_62, at="(62)"),
    planted=(
        version("3/4 of the last term", half=Fraction(3, 4)),
        version("gamma / n", cases=smoothed_problems, half=Fraction(1), over_lam=False),
    ),
    proofs=(
        BySolver(
            "A factor that has no effect where lam or n is 1.",
            cases=symbolic_smoothed,
            assuming=smoothed_and_feasible,
            sized_by=("n", "d", "m"),
        ),
    ),
    erratum=Erratum(
        page="A.5, (61)",
        printed=r"\|\frac{\tilde XA^\top}{\lambda n}\|_F^2=\|\frac{XA^\top}{\lambda n}\|_F^2"
        r"+\frac{\gamma\lambda n}{2\lambda^2n^2}\|A\|_F^2",
        correct=r"\|\frac{\tilde XA^\top}{\lambda n}\|_F^2=\|\frac{XA^\top}{\lambda n}\|_F^2"
        r"+\frac{\gamma\lambda n}{\lambda^2n^2}\|A\|_F^2",
        proof=r"By (59), $\tilde X$ has the rows of $X$ and those of $\sqrt{\gamma\lambda n}\,I$, "
        r"so that $\|\tilde XA^\top\|_F^2=\|XA^\top\|_F^2+\gamma\lambda n\|A\|_F^2$, without "
        r"a factor $1/2$. With it the factor $-\lambda/2$ of (60) would leave $\gamma/4$ in (62), "
        r"where $\gamma/2$ is printed, and is right.",
        breaks="Nothing: (62) and (27) have the correct factor.",
    ),
)
def wide_norm(case: Case, half: Fraction = Fraction(1, 2), over_lam: bool = True) -> Outcome:
    p = plain(case)
    wide_rows = tuple((*x, *row) for x, row in zip(p.X, unit_rows(p.n, case.root), strict=True))
    wide, W = (weights(X, p.A, p.lam) for X in (wide_rows, p.X))
    rest = half * p.smoothing / (p.n * (p.lam if over_lam else 1)) * dot(p.A, p.A)
    return equal(dot(wide, wide), dot(W, W) + rest)


def unit_rows(n: int, root: Any) -> Iterator[list[Any]]:
    """Yield the rows of root I."""
    for i in range(n):
        yield [root * int(i == j) for j in range(n)]


@claim(
    "K19-eq27",
    "(27)",
    "The gap of the problem in d + n dimensions is gamma/n |A|^2 + <A K - lam n E_y, A> / "
    "(lam n^2) plus the mean loss at z_i + gamma alpha_i.",
    formula=r"\tilde P_{wtk}(\tilde W(A))-D_{stk}(A)=\frac{\gamma}{n}\|A\|_F^2+"
    r"\frac{1}{\lambda n^2}\langle AK-\lambda nE_y,A\rangle+"
    r"\frac{1}{n}\sum_i\Phi_{wtk}(z_i(A)+\gamma\alpha_i)",
    shapes="A, E_y: (m, n); K: (n, n); z_i, alpha_i: (m,)",
    cases=smoothed_problems,
    planted=(
        version("z_i - gamma alpha_i", sign=-1),
        version("gamma/(2n) |A|^2", half=Fraction(1, 2)),
        version("plus lam n E_y", label_sign=1),
    ),
    not_proved="a polynomial identity in which both sides have the same loss terms; the identity "
    "of the norms is K19-eq61",
    library=Library(("fwlab.Problem.augmented_gap",), lambda case: gap_in_the_library(case)),
)
def smoothed_gap(
    case: Case, sign: int = 1, half: Fraction = Fraction(1), label_sign: int = -1
) -> Outcome:
    problem, A, gamma = case.problem, case.A, case.problem.smoothing
    wide, n, lam = augmented(problem, case.root), problem.n, problem.lam
    gap = wide.primal(wide.weights(A)) - problem.dual(A)
    shifted = problem.scores(A) + sign * gamma * A
    losses = [exact.value(problem.loss, s, y) for s, y in zip(shifted, problem.y, strict=True)]
    inner = product(problem.gram @ A + label_sign * lam * n * problem.one_hot, A)
    stated = half * gamma / n * square(A) + inner / (lam * n**2) + sum(losses) / Fraction(n)
    return equal(gap, stated)


def gap_in_the_library(case: Case) -> Outcome:
    """Compare fwlab's gap (27) with the gap of the exact problem in d + n dimensions."""
    problem, A = case.problem, case.A
    wide = augmented(problem, case.root)
    gap = wide.primal(wide.weights(A)) - problem.dual(A)
    return equal(library_problem(problem).augmented_gap(A.astype(float)), float(gap))


@claim(
    "K19-gap27-bound",
    "6, after (27)",
    "Iterations may stop when the gap (27) is small: it bounds the error of the smoothed risk at "
    "W(A) too.",
    formula=r"P_{stk}(W(A))-\min_WP_{stk}(W)\leq\mathrm{Gap}_{stk}(A)",
    shapes="A: (m, n); W: (d, m)",
    judged="the text says that iterations can stop then; this is the reason. The smoothed "
    "risk is bounded above by its objective at any z.",
    cases=smoothed_problems,
    planted=(
        version("a tenth of the gap is enough", share=Fraction(1, 10)),
        version("four fifths of the gap are", share=Fraction(4, 5)),
    ),
    not_proved="the minimum of the smoothed risk has no closed form",
)
def wide_gap_bounds_the_error(case: Case, share: Fraction = Fraction(1)) -> Outcome:
    """Bound the error by the gap, as min P_stk is at least D at A, B and their mean."""
    problem, A, gamma = case.problem, case.A, case.problem.smoothing
    wide = augmented(problem, case.root)
    gap = wide.primal(wide.weights(A)) - problem.dual(A)
    losses = []
    for s, a, y in zip(problem.scores(A), A, problem.y, strict=True):
        steps = [Fraction(t, 8) * gamma * a for t in range(9)]
        values = [exact.value(problem.loss, s + t, y) + square(t) / (2 * gamma) for t in steps]
        losses.append(min(values))
    risk = problem.lam / 2 * square(problem.weights(A)) + sum(losses) / Fraction(problem.n)
    least = max(problem.dual(point) for point in (A, case.B, (A + case.B) / 2))
    return at_most(Fraction(risk - least), share * Fraction(gap))


def shape_in_1(case: Case) -> Outcome:
    """Evaluate the risk (1) at a (d, m) matrix.

    It equals D plus a gap that is not negative, with W(A) as in K19-duality.
    """
    problem = case.problem
    d, m = problem.X.shape[1], problem.m
    W = array([[1] * m] * d)
    plain_problem = ExactProblem(problem.X, problem.y, problem.loss, m, problem.lam)
    return both(
        at_most(plain_problem.dual(case.A), plain_problem.primal(W.T)),
        equal(plain_problem.weights(case.A).T.shape, W.shape),
    )


@claim(
    "K19-W-shape",
    "6",
    "The weights of the smoothed problem form a d x n matrix.",
    formula=r"W\in R^{d\times n},\quad W^\top x_i\in R^m",
    shapes="X: (d, n); A: (m, n)",
    cases=smoothed_problems,
    derived=version("d x m, as P_stk and (1) have it", columns="m", formula=r"W\in R^{d\times m}"),
    where_right=WhereRight("K19-duality", shape_in_1),
    planted=(version("m x d", columns="m", swapped=True),),
    not_proved="a statement about shapes",
    erratum=Erratum(
        page="section 6, after (25)",
        printed=r"W\in R^{d\times n}",
        correct=r"W\in R^{d\times m}",
        proof=r"The loss takes the scores $W^\top x_i\in R^m$, so that $W$ has $m$ columns, one "
        r"for each class. The same sentence has $P_{stk}:R^{d\times m}\to R$, and section 2 "
        r"$W\in R^{d\times m}$.",
        breaks="Nothing.",
    ),
)
def weights_shape(case: Case, columns: str = "n", swapped: bool = False) -> Outcome:
    problem = case.problem
    shape = (problem.X.shape[1], getattr(problem, columns))
    W = problem.weights(case.A).T
    return equal(shape[::-1] if swapped else shape, W.shape)
