"""Check K19 sections 5 and 6: strong concavity of the dual, and convergence rates from A = 0."""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

import fwlab
import reference
from paper_checks.cases import Rng, decreasing_weights
from paper_checks.kato2019 import linear_rates
from paper_checks.kato2019.exact_problems import ExactProblem, array, random_problem, rank
from paper_checks.ledger import Case, Condition, Erratum, Outcome, claim, version
from paper_checks.outcomes import at_most, both, truth
from paper_checks.proofs import ByTheorem
from paper_checks.rate_formulas import linear_fails
from reference import exact
from reference.epigraph import epigraph

ITERATIONS = 2000
# An error counts as falling geometrically if it comes below this part of the first one within
# those iterations; one that falls like 1/t^2 is still above 1e-7 of it.
SMALL = 1e-10

# the parameters of a problem; `separation` is that of the classes
NUMBERS = ("n", "d", "m", "k", "lam", "smoothing", "separation", "scale", "seed")
# values of the first seven parameters, and where the optimum tends to lie
SETTINGS = {
    "interior": [(4, 3, 3, 1, 5.0, 2.0, 0.0), (5, 3, 4, 2, 5.0, 2.0, 0.0)],
    "boundary": [(8, 5, 4, 2, 0.2, 0.1, 0.0), (8, 5, 5, 2, 0.2, 0.1, 0.0)],
}
WIDE_SETTINGS = {
    "interior": [(4, 400, 3, 1, 0.1, 0.0, 0.0)],
    "boundary": [(8, 30, 4, 2, 0.05, 0.0, 0.5)],
}


def strongly_concave(rng: Rng, deep: bool, smoothed: bool = False) -> Iterator[Case]:
    """Yield small top-k problems whose dual is strongly concave, due to smoothing or n < d.

    The optimum lies well inside the domain or on its boundary.
    """
    for place in ("interior", "boundary"):
        settings = SETTINGS[place] + ([] if smoothed else WIDE_SETTINGS[place])
        for setting in settings * (5 if deep else 1):
            sizes = dict(zip(NUMBERS, setting, strict=False))
            for seed in rng.integers(10**6, size=100).tolist():
                case = Case(kind=place, **sizes, scale=1, seed=seed)
                if place_of_optimum(problem_of(case), case.k) == place:
                    yield case
                    break


def problem_of(case: Case) -> fwlab.Problem:
    """Return the problem of a case.

    Its rows are standard normal, scaled to length 1; the loss, lam and 1/smoothing are multiplied
    by `scale`.
    """
    data = fwlab.datasets.synthetic(
        case.n, case.d, case.m, case.separation, rng=case.seed, normalize="unit"
    )
    rho = np.full(case.k, case.scale / case.k)
    return fwlab.Problem(
        data.X_train,
        data.y_train,
        fwlab.WeightedTopK(rho),
        case.scale * case.lam,
        smoothing=case.smoothing / case.scale,
        n_classes=case.m,
    )


def place_of_optimum(problem: fwlab.Problem, k: int) -> str:
    """Return the place of the optimum, "interior", "boundary" or "".

    It is "interior" if the optimum can be moved away from an interior point by a fifth of the
    distance, and "boundary" if it cannot be moved at all. Linear programs over the definition
    decide.
    """
    A = fwlab.solve(problem, "ascent", tol=1e-14, max_iter=3000, check_every=100).A
    loss, rows = reference.TopK(k), []
    for a, y in zip(A, problem.y.tolist(), strict=True):
        domain = epigraph(loss, problem.n_classes, y).negated_domain
        inside = np.mean([-np.array(v, float) for v in exact.pieces(loss, len(a), y)], axis=0)
        rows.append([domain.nearest(inside + t * (a - inside))[1] for t in (1.2, 1 + 1e-6)])
    far, near = np.max(rows, axis=0)
    if far <= 1e-9:
        return "interior"
    return "boundary" if near > 1e-9 else ""


def errors(case: Case, method: str) -> np.ndarray:
    """Return D* - D(A_t), t = 0, 1, ..; D* is the best dual value, certified by a gap of 1e-14."""
    return errors_of_run(method, tuple((name, getattr(case, name)) for name in NUMBERS))


@lru_cache(maxsize=128)
def errors_of_run(method: str, numbers: tuple[tuple[str, float], ...]) -> np.ndarray:
    """Return `errors` of the case with these numbers.

    Cached, as both sides of a condition use them.
    """
    problem = problem_of(Case(kind="", **dict(numbers)))
    best = fwlab.solve(problem, "ascent", tol=1e-14, max_iter=3000, check_every=100).dual
    dual = fwlab.solve(problem, method, tol=1e-15, max_iter=ITERATIONS, check_every=1).trace.dual
    return np.asarray(max(best, dual.max()) - dual)


def geometric(found: np.ndarray) -> Outcome:
    """State that the error becomes small soon enough, on a logarithmic scale."""
    small = np.flatnonzero(found <= SMALL * found[0])
    seen = {"iterations": int(small[0]) if len(small) else len(found) - 1}
    return at_most(
        float(np.log10(max(found.min() / found[0], 1e-16))), np.log10(SMALL), 0.0, **seen
    )


INTERIOR = Condition(
    "the optimum lies in the interior of the domain", lambda case: case.kind.endswith("interior")
)


def with_theorems(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield runs, and duals on which a theorem determines the errors for all t."""
    yield from strongly_concave(rng, deep)
    yield from linear_rates.duals_without_linear_rate()


def interior_cases(rng: Rng, deep: bool) -> Iterator[Case]:
    return (case for case in strongly_concave(rng, deep) if case.kind == "interior")


@claim(
    "K19-fw-linear",
    "5",
    "Where the dual is smooth and strongly concave, the error of the standard Frank-Wolfe method "
    "falls geometrically.",
    formula=r"D(A^*)-D(A^{(t)})\leq c\,q^t,\quad q<1",
    shapes="A: (m, n)",
    assumed="the optimum lies in the interior of the domain, as the cited theorem requires",
    judged="from A = 0, with exact line search. Tried on problems so small that a geometric error "
    "is below 1e-10 of the first after 2000 iterations; one like 1/t^2 is above 1e-7 then. On one "
    "sample with three classes the error is at least 1/(96 t) for all t: the optimum is on an edge "
    "of the domain.",
    cases=with_theorems,
    sides=("log10 of the least error over the first", "if it falls geometrically, at most"),
    condition=INTERIOR,
    proofs=(
        ByTheorem(
            "A rate that the steps 2/(t+1) also have, or one that needs no interior optimum.",
            linear_rates.linear_inside,
            "all sizes",
            linear_fails,
        ),
    ),
    erratum=Erratum(
        page="section 5, after Theorem 4",
        printed=r"\mathrm{dgap}(A^{(t)})\leq\exp(-\zeta t)\ \mathrm{for\ the\ standard\ method}",
        correct=r"\mathrm{dgap}(A^{(t)})\leq c\,q^t,\ q<1,\quad\mathrm{if}\ A^*\ "
        r"\mathrm{lies\ inside\ the\ domain}",
        proof=r"One sample $x=1$, three classes, top-1, $\lambda=\frac{3}{2}$, from $A=0$: D is "
        r"strongly concave on the domain, a triangle, and largest at the middle of an edge. The "
        r"errors of the steps 1, 2, 3 are $\frac{1}{8},\frac{1}{104},\frac{49}{6344}$. Let v be "
        r"the squared tangent of the angle, in the space of A, between a step and that edge: 3 in "
        r"the first step. The next step has v' with $\frac{1}{v'}=\frac{1}{v}+4+4v$, so that the "
        r"errors are at least $\frac{1}{96t}$ for all t. The loss smoothed with "
        r"$\gamma=\frac{2}{3}$ has the same D at $x=0$.",
        breaks="The geometric convergence that the abstract and section 6 promise of the standard "
        "method with smoothing.",
    ),
    planted=(
        version("with the steps 2/(t+1)", method="fw-open-loop"),
        version("for the subgradient method", cases=interior_cases, method="subgradient"),
    ),
)
def standard_is_geometric(case: Case, method: str = "fw") -> Outcome:
    if case.kind.startswith("exact"):
        return linear_rates.linear_rate(case, method)
    return geometric(errors(case, method))


def scaled_cases(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield problems with the optimum inside, one of them exact.

    The loss, lam and 1/smoothing are multiplied by 1 or 10. A factor of 10 multiplies D by 10 and
    changes nothing else.
    """
    yield linear_rates.scaled_dual()
    for case in interior_cases(rng, deep):
        for scale in (1, 10):
            yield Case(**{**vars(case), "kind": f"loss times {scale}", "scale": scale})


@claim(
    "K19-exp-bound",
    "5",
    "The error of the standard Frank-Wolfe method after t iterations is at most exp(-zeta t), for "
    "some constant zeta > 0.",
    formula=r"\min_WP(W)-D(A^{(t)})\leq\exp(-\zeta t)",
    shapes="A: (m, n)",
    assumed="D is smooth and strongly concave on its domain, the steps are exact, and the optimum "
    "lies in the interior of the domain relative to its affine hull (K19-fw-linear)",
    judged="where K19-fw-linear holds, from A = 0; at t = 0 the bound is 1, whatever zeta is.",
    cases=scaled_cases,
    sides=("error at t = 0", "the bound"),
    condition=Condition("the first error is at most 1", lambda case: case.scale == 1),
    corrected=version(
        "at most exp(-zeta t) times the first error",
        relative=True,
        formula=r"\mathrm{dgap}(A^{(t)})\leq\mathrm{dgap}(A^{(0)})\,\exp(-\zeta t)",
    ),
    erratum=Erratum(
        page="section 5, after Theorem 4",
        printed=r"\mathrm{dgap}(A^{(t)})\leq\exp(-\zeta t)",
        correct=r"\mathrm{dgap}(A^{(t)})\leq\mathrm{dgap}(A^{(0)})\,\exp(-\zeta t)",
        proof=r"At $t=0$ the printed bound is $1$ for every $\zeta$. With $n=d=1$, $m=2$, $x_1=1$, "
        r"$y_1=1$, $\lambda=10$, $\rho=(10,0)$ the dual at $A=(\alpha,-\alpha)^\top$, "
        r"$0\leq\alpha\leq10$, is $\alpha-\alpha^2/10$, with its maximum $5/2$ at the interior "
        r"point $\alpha=5$. From $A^{(0)}=O$ the error is $5/2>1$.",
        breaks="Nothing in the paper. The bound also needs an optimum in the interior of the "
        "domain, which the text omits.",
    ),
    planted=(
        version("half of that", relative=True, share=0.5),
        version("with the steps 2/(t+1)", relative=True, method="fw-open-loop"),
    ),
    proofs=(
        ByTheorem(
            "A bound that the steps 2/(t+1) also meet, or one below the first error.",
            linear_rates.exponential_inside,
            "all sizes",
            linear_fails,
        ),
    ),
)
def exponential_bound(
    case: Case, relative: bool = False, share: float = 1.0, method: str = "fw"
) -> Outcome:
    if case.kind.startswith("exact"):
        return linear_rates.exponential_bound(case, relative, share, method)
    found = errors(case, method)
    bound = share * (float(found[0]) if relative else 1.0)
    return both(at_most(float(found[0]), bound), geometric(found))


def smoothed_runs(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield every method on every smoothed problem, and a dual on which a theorem refutes "fw"."""
    for case in linear_rates.duals_without_linear_rate():
        if case.smoothing and case.kind == "exact, boundary":
            yield Case(**{**vars(case), "kind": "exact, fw, boundary", "method": "fw"})
    for case in strongly_concave(rng, deep, smoothed=True):
        for method in ("fw", "afw", "pfw"):
            yield Case(**{**vars(case), "kind": f"{method}, {case.kind}", "method": method})


def converging_runs(rng: Rng, deep: bool) -> Iterator[Case]:
    return (case for case in smoothed_runs(rng, deep) if "interior" in case.kind)


@claim(
    "K19-abstract-geometric",
    "abstract, 6",
    "With smoothed losses the Frank-Wolfe methods converge geometrically.",
    formula=r"\gamma>0:\quad D(A^*)-D(A^{(t)})\leq c\,q^t,\quad q<1",
    shapes="A: (m, n)",
    assumed="for the standard method the optimum lies in the interior of the domain; AFW and PFW "
    "need no such condition",
    judged="for each of the three methods of the paper; see K19-fw-linear for what counts.",
    cases=smoothed_runs,
    condition=Condition(
        "the method is AFW or PFW, or the optimum lies in the interior of the domain",
        lambda case: not case.kind.endswith("fw, boundary"),
    ),
    planted=(version("with the steps 2/(t+1)", cases=converging_runs, method="fw-open-loop"),),
    not_proved="for the standard method K19-fw-linear proves it; for AFW and PFW it needs the "
    "pyramidal width of the domain, which the rate theorems here do not have",
)
def smoothing_is_geometric(case: Case, method: str = "") -> Outcome:
    if case.kind.startswith("exact"):
        return linear_rates.linear_rate(case, method or case.method)
    return geometric(errors(case, method or case.method))


def curvatures(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield weighted problems with few and with many features, in exact fractions."""
    for _ in range(100 if deep else 30):
        n, d, m = int(rng.integers(1, 4)), int(rng.integers(1, 5)), int(rng.integers(2, 5))
        rho = (Fraction(1, m),) * m if rng.integers(4) == 0 else decreasing_weights(rng, m)
        problem = random_problem(rng, n, d, m, reference.WeightedTopK(rho))
        singular = rank(problem.gram) < n
        kind = "singular K, unequal weights" if singular and rho[0] > rho[-1] else "other"
        yield Case(kind=kind, problem=problem)


def more_samples_than_features(case: Case) -> bool:
    n, d = case.problem.X.shape
    rho = case.problem.loss.rho
    return bool(n > d and (rho[0] > rho[-1] or len(rho) < case.problem.m))


def singular_curvatures(rng: Rng, deep: bool) -> Iterator[Case]:
    return (case for case in curvatures(rng, deep) if case.kind != "other")


@claim(
    "K19-not-strongly",
    "5",
    "Without smoothing the negated dual is not strongly convex.",
    formula=r"\nexists\mu>0:\ -D-\frac{\mu}{2}\|\cdot\|_F^2\ \mathrm{is\ convex}",
    shapes="A: (m, n)",
    judged="on the domain, where D is quadratic: it is strongly concave there exactly if no "
    "difference of feasible points is mapped to W = 0. With all weights equal a row of A has one "
    "degree of freedom, and the dual can be strongly concave for a singular K too.",
    cases=curvatures,
    condition=Condition(
        "K = X'X is singular, as for n > d, and the weights are not all equal",
        lambda case: case.kind != "other",
    ),
    main=Condition(
        "n > d, as on all data sets of section 7 but FMD, and the weights are not all equal",
        more_samples_than_features,
    ),
    not_proved="a rank over problems of all sizes; each case is decided by exact elimination",
    planted=(version("with smoothing", cases=singular_curvatures, smoothing=Fraction(1)),),
)
def flat_direction(case: Case, smoothing: Fraction = Fraction(0)) -> Outcome:
    """State that the quadratic form of -D is singular on the differences of feasible points."""
    problem = case.problem
    basis = [(i, v) for i, y in enumerate(problem.y) for v in row_basis(problem, y)]
    form = [
        [(problem.gram[i, j] + smoothing * int(i == j)) * exact.inner(v, w) for j, w in basis]
        for i, v in basis
    ]
    found = rank(array(form))
    return truth(found < len(basis), degrees_of_freedom=len(basis), rank=found)


def row_basis(problem: ExactProblem, y: int) -> list[Any]:
    """Return a basis of the span of a row's domain, which contains 0."""
    basis: list[Any] = []
    for slope in sorted(exact.pieces(problem.loss, problem.m, y)):
        if rank(array([*basis, slope])) > len(basis):
            basis.append(slope)
    return basis
