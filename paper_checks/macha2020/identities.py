"""Check M20 sections 3.1, 3.2 and 3.4: the scores, the pair updates and the explicit duals."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from paper_checks.arithmetic import Real, Truth, all_of, divide, equals, maximum, pick, total
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Erratum, Library, Outcome, WhereRight, claim, version
from paper_checks.macha2020.duality import patmat_problems, problems
from paper_checks.macha2020.in_fwlab import dual_of_fwlab, point_of, problem_of
from paper_checks.macha2020.problems import (
    RULES,
    kernel,
    moved,
    patmat_dual,
    patmat_objective,
    rule_pairs,
    signed_scores,
    toppushk_dual,
    toppushk_objective,
    weights,
)
from paper_checks.outcomes import at_most, both, equal
from paper_checks.proofs import BySolver
from paper_checks.symbols import real, reals

SCORES = "fwlab.ranking.problem.Problem.scores"
DUAL = "fwlab.ranking.problem.Problem.dual"
SIZED = ("n_plus", "n_minus", "d")


def symbolic_data(deep: bool, step: bool = False) -> Iterator[Case]:
    """Yield samples with symbols for features and dual variables, and for a step."""
    for n_plus, n_minus, d in product((1, 2), (1, 2), (1, 2) if deep else (1,)):
        yield Case(
            kind="symbols",
            n_plus=n_plus,
            n_minus=n_minus,
            d=d,
            positives=tuple(reals(f"x{i}", d) for i in range(n_plus)),
            negatives=tuple(reals(f"z{j}", d) for j in range(n_minus)),
            alpha=reals("alpha", n_plus),
            beta=reals("beta", n_minus),
            **({"step": real("step")} if step else {}),
        )


def feasible(case: Case) -> Truth:
    """Return whether alpha and beta are >= 0 and have the same sum."""
    same = equals(total(case.alpha), total(case.beta))
    return all_of(same, *(x >= 0 for x in (*case.alpha, *case.beta)))


def vector(values: Any) -> np.ndarray:
    return np.asarray(values, object)


def scores_of_fwlab(case: Case) -> Outcome:
    """Check that fwlab's scores are the true scores.

    It turns them into (16) by the signs of the classes.
    """
    found, w = problem_of(case, False).scores(point_of(case, False)), weights(case)
    samples = np.vstack([case.positives, case.negatives])
    return equal(found, (samples @ w).astype(float))


@claim(
    "M20-footnote3",
    "footnote 3",
    "The quadratic form of the signed kernel matrix at (alpha, beta) is that of the "
    "plain one at (alpha, -beta).",
    formula=r"z^\top Kz=(\alpha;-\beta)^\top G(\alpha;-\beta)",
    shapes="G: (n, n), the plain kernel matrix",
    cases=problems,
    planted=(version("with beta as it is", sign=1),),
    proofs=(
        BySolver(
            "A wrong sign that has no effect where a sample is 0.", symbolic_data, sized_by=SIZED
        ),
    ),
    library=Library((SCORES,), scores_of_fwlab),
)
def signed_kernel(case: Case, sign: int = -1) -> Outcome:
    rows = np.vstack([vector(case.positives), vector(case.negatives)])
    z, turned = (np.concatenate([vector(case.alpha), s * vector(case.beta)]) for s in (1, sign))
    return equal(z @ kernel(case) @ z, turned @ (rows @ rows.T) @ turned)


@claim(
    "M20-eq16",
    "(16)",
    "The vector s holds the scores of all samples, as 2.1 defines them and Figure 2 draws them.",
    formula=r"s=K(\alpha;\beta),\quad s_i=w^\top x_i",
    shapes="s: (n,)",
    judged="The update rules use s as computed by (16), so only its name is wrong.",
    cases=problems,
    sides=("s by (16)", "scores of the samples"),
    corrected=version(
        "the scores of the positives, and minus the scores of the negatives",
        formula=r"s_i=w^\top x_i^+\ (i\leq n^+),\quad s_{n^++j}=-w^\top x_j^-",
        sign=-1,
    ),
    planted=(
        version("half of them", factor=Fraction(1, 2)),
        version("half of them, the sign corrected", sign=-1, factor=Fraction(1, 2)),
    ),
    proofs=(
        BySolver(
            "A wrong sign that has no effect where a score is 0.",
            symbolic_data,
            feasible,
            sized_by=SIZED,
        ),
    ),
    library=Library((SCORES,), scores_of_fwlab),
    erratum=Erratum(
        page="Section 3.2, (16), and section 4.4 on Figure 2",
        printed=r"\mathrm{the\ score\ vector}\ s=K(\alpha;\beta)",
        correct=r"s_i=w^\top x_i^+\ (i\leq n^+),\quad s_{n^++j}=-w^\top x_j^-",
        proof=r"By (14) the rows of $K$ that belong to negatives have their sign turned, so with "
        r"(13) $(K(\alpha;\beta))_{n^++j}=-w^\top x_j^-$. Section 2.1 defines the scores of all "
        r"samples as $s_i=w^\top x_i$. Section 4.4 takes the scores from (16) and says that low "
        r"ones predict negative labels.",
        breaks="Nothing in the steps, which use (16) as computed; the scores of negatives "
        "for Figure 2 or for the threshold need the opposite sign.",
    ),
)
def vector_of_scores(case: Case, sign: int = 1, factor: Fraction | int = 1) -> Outcome:
    w = weights(case)
    scores = [*(vector(case.positives) @ w), *(sign * (vector(case.negatives) @ w))]
    return equal([factor * s for s in kernel(case) @ both_parts(case)], scores)


def both_parts(case: Case) -> np.ndarray:
    return np.concatenate([vector(case.alpha), vector(case.beta)])


@claim(
    "M20-eq17",
    "(17)",
    "Each of the three pair updates keeps the equality constraint and turns s into the vector (16) "
    "of the new point.",
    formula=r"\alpha_k+\Delta,\alpha_l-\Delta;\quad \alpha_k+\Delta,\beta_l+\Delta;\quad "
    r"\beta_k+\Delta,\beta_l-\Delta",
    shapes="s: (n,)",
    judged="The constraint: the sum of alpha changes as much as that of beta.",
    cases=problems,
    planted=(
        version("alpha and beta move apart", opposite=True),
        version("the columns are also added for two betas", sign=1),
    ),
    proofs=(
        BySolver(
            "A column with the wrong sign, hidden where the random kernel matrix has zeros.",
            partial(symbolic_data, step=True),
            sized_by=SIZED,
        ),
    ),
    library=Library((SCORES,), scores_of_fwlab),
)
def pair_updates(case: Case, opposite: bool = False, sign: int = -1) -> Outcome:
    K, step = kernel(case), getattr(case, "step", Fraction(1, 3))
    s = K @ both_parts(case)
    outcomes = []
    for rule in RULES:
        mixed = rule == "alpha and beta"
        for i, j in rule_pairs(case, rule):
            after = moved(case, i, j, step)
            if mixed and opposite:
                after.beta = 2 * vector(case.beta) - after.beta
            second = 1 if mixed else (sign if rule == "two betas" else -1)
            updated = [a + (K[m, i] + second * K[m, j]) * step for m, a in enumerate(s)]
            outcomes.append(equal(updated, list(signed_scores(after))))
            grown = [total(after.alpha) - total(case.alpha), total(after.beta) - total(case.beta)]
            outcomes.append(equal(*grown))
    return both(*outcomes)


# ---------------------------------------------------------------- the conjugates put in


def symbolic_duals(deep: bool) -> Iterator[Case]:
    """Yield dual variables and parameters as symbols, of samples (1), .. at fixed places."""
    for surrogate in ("quadratic", "hinge"):
        for n_plus, n_minus in ((1, 1), (1, 2)):
            names = ("C", "theta", "theta2", "delta", "budget")
            yield Case(
                kind=surrogate,
                surrogate=surrogate,
                n_plus=n_plus,
                n_minus=n_minus,
                positives=tuple((Fraction(i + 1),) for i in range(n_plus)),
                negatives=tuple((Fraction(-j),) for j in range(n_minus)),
                alpha=reals("alpha", n_plus),
                beta=reals("beta", n_minus),
                **{name: real(name) for name in names},
            )


def positive(case: Case) -> Truth:
    names = ("C", "theta", "theta2", "delta", "budget")
    inside = [a >= 0 for a in (*case.alpha, *case.beta)]
    if case.surrogate == "hinge":
        inside += [a <= case.C * case.theta for a in case.alpha]
        inside += [b <= case.delta * case.theta2 for b in case.beta]
    return all_of(*inside, *(getattr(case, name) > 0 for name in names))


def printed_value(case: Case, last: int, quarter: Fraction, patmat: bool) -> Real:
    """Return the objectives of (18), (33), (30) and (34); the sums over beta run up to `last`."""
    w = weights(case)
    value = -(w @ w) / 2 + divide(total(case.alpha), case.theta)
    quadratic = case.surrogate == "quadratic"
    if quadratic:
        value -= divide(quarter * total(a**2 for a in case.alpha), case.C * case.theta**2)
    if patmat:
        beta = [pick(case.beta, j) for j in range(last)]
        value += divide(total(beta), case.theta2) - case.delta * case.budget
        if quadratic:
            squares = total(b**2 for b in beta)
            value -= divide(quarter * squares, case.delta * case.theta2**2)
    return value


def positive_delta(rng: Rng, deep: bool) -> Iterator[Case]:
    return (case for case in patmat_problems(rng, deep) if case.delta > 0)


def duals(case: Case) -> dict[bool, Fraction]:
    return {False: toppushk_dual(case), True: patmat_dual(case)}


@claim(
    "M20-eq18-30-33-34",
    "(18) (30) (33) (34)",
    "With the conjugates inserted, the dual objectives are (18), (30), (33) and (34).",
    formula=r"(34):\ -\frac{1}{2}z^\top Kz+\frac{1}{\vartheta_1}\sum_{i=1}^{n^+}\alpha_i"
    r"+\frac{1}{\vartheta_2}\sum_{j=1}^{n}\beta_j-\delta n\tau",
    shapes="alpha: (n+,), beta: (n-,), n = n+ + n-; theta is theta_1, budget is n tau",
    judged="(34) sums beta up to n, where beta has n- entries; the others sum up to n-.",
    assumed="delta > 0, as (30) divides by it",
    cases=positive_delta,
    derived=version(
        "all sums over beta up to n-, as (12) has them",
        formula=r"(34):\ -\frac{1}{2}z^\top Kz+\frac{1}{\vartheta_1}\sum_{i=1}^{n^+}\alpha_i"
        r"+\frac{1}{\vartheta_2}\sum_{j=1}^{n^-}\beta_j-\delta n\tau",
        extra=False,
    ),
    where_right=WhereRight("M20-thm2.2", lambda case: as_in_12(case), at="(12)"),
    planted=(version("1/2 in the place of 1/4", extra=False, quarter=Fraction(1, 2)),),
    proofs=(
        BySolver(
            "A power of C or theta that appears in only one of the two conjugates.",
            symbolic_duals,
            positive,
            sized_by=("n_plus", "n_minus"),
        ),
    ),
    library=Library((DUAL,), lambda case: dual_of_fwlab(case, duals)),
    erratum=Erratum(
        page="Appendix D.2, (34a), (34b) and (34d)",
        printed=r"\frac{1}{\vartheta_2}\sum_{i=1}^{n}\beta_j,\quad "
        r"\sum_{i=1}^{n^+}\alpha_i=\sum_{j=1}^{n}\beta_j,\quad j=1,\ldots,n",
        correct=r"\frac{1}{\vartheta_2}\sum_{j=1}^{n^-}\beta_j,\quad "
        r"\sum_{i=1}^{n^+}\alpha_i=\sum_{j=1}^{n^-}\beta_j,\quad j=1,\ldots,n^-",
        proof=r"$\beta$ has one entry for each negative sample, so $\beta_n$ does not exist. "
        r"Inserting (23) into (12), whose sums run up to $n^-$, gives the corrected (34). The "
        r"index i under the sum of (34a) has to be j.",
        breaks="Nothing: (12) has the right sums, and the steps of Theorem D.2 use only those.",
    ),
)
def conjugates_put_in(
    case: Case, extra: bool = True, quarter: Fraction = Fraction(1, 4)
) -> Outcome:
    """Compare with the duals written with the conjugates as functions."""
    last = len(case.beta) + (len(case.alpha) if extra and case.surrogate == "hinge" else 0)
    return both(
        equal(printed_value(case, last, quarter, False), toppushk_objective(case)),
        equal(printed_value(case, last, quarter, True), patmat_objective(case)),
    )


def as_in_12(case: Case) -> Outcome:
    """Check that (12), whose sums run up to n-, has the value of the corrected (30) and (34)."""
    value = printed_value(case, len(case.beta), Fraction(1, 4), True)
    return equal(value, patmat_dual(case))


@claim(
    "M20-K1",
    "3.4",
    "For K = 1 the upper bound on beta follows from the equality constraint and beta >= 0.",
    formula=r"\sum_i\alpha_i=\sum_j\beta_j,\ \beta\geq 0\ \Rightarrow\ \beta_j\leq\sum_i\alpha_i",
    shapes="beta: (n-,)",
    cases=lambda rng, deep: (
        Case(kind="exact", beta=tuple(Fraction(int(b), 2) for b in rng.integers(0, 4, size)))
        for size in (1, 2, 3, 4, 5)
        for _ in range(6)
    ),
    planted=(version("for K = 2", K=2),),
    proofs=(
        BySolver(
            "A proof that does not use beta >= 0; with one negative entry the bound fails.",
            lambda deep: (Case(kind="symbols", m=m, beta=reals("beta", m)) for m in range(1, 7)),
            lambda case: all_of(*(b >= 0 for b in case.beta)),
            sized_by=("m",),
        ),
    ),
)
def bound_follows(case: Case, K: int = 1) -> Outcome:
    return at_most(maximum(*case.beta), divide(total(case.beta), K))
