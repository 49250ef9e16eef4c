"""Check K19 section 8 and A.9: the dual before centring, with and without true-class entries.

    d(A) = -1/(2 lam n^2) |sum_i (H_{y_i}' (x) x_i) a_i|^2 - (1/n) sum_i phi*(-a_i; y_i)    K19 (32)

with H_y = I - 1 e_y' and phi the loss with margins delta + s.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

import reference
from paper_checks.cases import Rng, fractions, labels
from paper_checks.kato2019.exact_problems import (
    ExactProblem,
    array,
    feasible,
    random_problem,
    square,
)
from paper_checks.ledger import (
    Case,
    Condition,
    Erratum,
    Outcome,
    Untestable,
    WhereRight,
    claim,
    version,
)
from paper_checks.outcomes import both, equal, truth
from reference import OtherDual, exact
from reference.training import linear_training


def exact_value(
    problem: ExactProblem, loss: Any, A: np.ndarray, centred: bool = True, half: int = 2
) -> Fraction | float:
    """Return d(A) of (32) for a loss, optionally without H_y, and with 1/half before the norm."""
    conjugates = []
    for a, y in zip(A, problem.y, strict=True):
        affine = exact.pieces(loss, problem.m, y, centred=False)
        conjugates.append(exact.conjugate_of_maximum(affine, -a))
    if math.inf in conjugates:
        return -math.inf
    image = sum(link(problem, i, centred) @ a.reshape(-1, 1) for i, a in enumerate(A))
    norm = square(image) / (half * problem.lam * problem.n**2)
    return -norm - sum(conjugates) / problem.n


def centring(problem: ExactProblem, i: int) -> np.ndarray:
    """Return H_y = I - 1 e_y' for the class of a sample."""
    H = array(np.eye(problem.m, dtype=int))
    H[:, problem.y[i]] = H[:, problem.y[i]] - 1
    return H


def link(problem: ExactProblem, i: int, centred: bool = True) -> np.ndarray:
    """Return H_{y_i}' (x) x_i of (32) and (76), (md, m); I (x) x_i if not centred."""
    H = centring(problem, i).T if centred else array(np.eye(problem.m, dtype=int))
    return np.kron(H, problem.X[i].reshape(-1, 1))


def without_true_class(problem: ExactProblem, A: np.ndarray) -> np.ndarray:
    """Return A - (A o E_y), which sets the true-class entries to 0."""
    return A - A * problem.one_hot


def images(problem: ExactProblem, A: np.ndarray) -> np.ndarray:
    """Return the rows H_{y_i}' a_i, which sum to 0."""
    C = A.copy()
    for i, y in enumerate(problem.y):
        C[i, y] = C[i, y] - sum(A[i])
    return C


def mixtures(rng: Rng, problem: ExactProblem, loss: Any) -> np.ndarray:
    """Return rows of -dom phi*, each the mean of three vertices."""
    rows = []
    for y in problem.y:
        slopes = sorted(exact.pieces(loss, problem.m, y, centred=False))
        chosen = [slopes[int(i)] for i in rng.integers(len(slopes), size=3)]
        rows.append([-sum(entries) / Fraction(3) for entries in zip(*chosen, strict=True)])
    return array(rows)


def exact_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield top-k problems with 1 <= k < m, points A of -dom phi* and points C of -dom Phi*.

    Every other A lies in the smaller domain without true-class entries.
    """
    smallest = ExactProblem(array([[0]]), (0,), reference.TopK(1), 2, Fraction(1))
    zero = array([[0, 0]])
    yield Case(kind="any entries", problem=smallest, k=1, A=array([[-1, 0]]), C=zero)
    for turn in range(120 if deep else 30):
        n, d, m = (int(rng.integers(low, high)) for low, high in ((1, 3), (1, 3), (2, 5)))
        k, pseudo = int(rng.integers(1, m)), turn % 2 == 1
        problem = random_problem(rng, n, d, m, reference.TopK(k))
        A = mixtures(rng, problem, reference.PseudoTopK(k) if pseudo else problem.loss)
        kind = "no true-class entries" if not (problem.one_hot * A).any() else "any entries"
        yield Case(kind=kind, problem=problem, k=k, A=A, C=feasible(rng, problem))


def fixed_points(rng: Rng, deep: bool) -> Iterator[Case]:
    return (c for c in exact_points(rng, deep) if c.kind == "no true-class entries")


def trained(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield small random problems with 1 <= k < m."""
    for turn in range(12 if deep else 4):
        n, d, m = int(rng.integers(3, 7)), int(rng.integers(2, 5)), int(rng.integers(3, 6))
        X, y, lam = rng.standard_normal((n, d)), labels(rng, n, m), float(rng.uniform(0.01, 0.1))
        k = 2 if turn == 0 else int(rng.integers(1, m))
        yield Case(kind="normal", X=X, y=y, m=m, k=k, lam=lam)


@claim(
    "K19-eq32",
    "(32)",
    "d_utk is a second Fenchel dual of the top-k problem.",
    formula=r"d_{utk}(A)=-\frac{1}{2\lambda n^2}\|\sum_i(H_{y_i}^\top\otimes x_i)\alpha_i\|^2"
    r"-\frac{1}{n}\sum_i\phi^*_{utk}(-\alpha_i;y_i)",
    shapes="A: (m, n); H_y = I - 1 e_y': (m, m)",
    judged="tried as d_utk(A) = D(H' A), where every feasible point of D is H' A for some "
    "A; that D is a dual is shown in K19-duality.",
    cases=exact_points,
    planted=(
        version("without H_y", centred=False),
        version("1/(lam n^2) before the norm", half=1),
    ),
    not_proved="a sum over samples with Kronecker products; each case is exact",
)
def other_dual(case: Case, centred: bool = True, half: int = 2) -> Outcome:
    problem, outcomes = case.problem, []
    preimage = completed(problem, case.C)
    for A in (case.A, preimage):
        left = exact_value(problem, problem.loss, A, centred, half)
        outcomes.append(equal(left, problem.dual(images(problem, A)), A=A))
    return both(*outcomes, equal(images(problem, preimage), case.C))


def completed(problem: ExactProblem, C: np.ndarray) -> np.ndarray:
    """Return rows a of -dom phi* with H_y' a = c.

    Their true-class entry is minus the smallest beta_y for which k beta_j <= sum beta holds for the
    other classes.
    """
    A = C.copy()
    for a, y in zip(A, problem.y, strict=True):
        others = [-x for j, x in enumerate(a) if j != y]
        a[y] = -max(Fraction(0), problem.loss.k * max(others) - sum(others))
    return A


@claim(
    "K19-prop7",
    "Proposition 7, A.9",
    "Maximising d_utk with all true-class entries 0 is dual to the training problem of the pseudo "
    "top-k loss.",
    formula=r"\max\{d_{utk}(A):\ E_y\odot A=O\}=\min_WP_{ptk}(W)",
    shapes="A, E_y: (m, n); W: (d, m); 1 <= k < m",
    cases=trained,
    planted=(version("dual to the top-k problem", pseudo=False),),
    not_proved="strong duality of two programs; the two duals are K19-eq78 and K19-eq31",
)
def fixed_dual(case: Case, pseudo: bool = True) -> Outcome:
    """Compare the two optima, each given by a certified interval."""
    loss = reference.PseudoTopK(case.k) if pseudo else reference.TopK(case.k)
    one = OtherDual(case.X, case.y, reference.TopK(case.k), case.lam, case.m).fixed_optimum()
    two = linear_training(case.X, case.y, loss, case.lam, n_classes=case.m).optimum()
    middles = [(c.value_lower + c.value_upper) / 2 for c in (one, two)]
    return equal(middles[0], middles[1], one.width + two.width)


@claim(
    "K19-eq78",
    "(78)",
    "d_ptk does not change when the true-class entries are set to 0, and equals d_utk there.",
    formula=r"\forall A:\ d_{ptk}(A)=d_{ptk}(A-A\odot E_y)=d_{utk}(A-A\odot E_y)",
    shapes="A, E_y: (m, n); 1 <= k < m",
    cases=exact_points,
    condition=Condition(
        "A has no true-class entries", lambda case: case.kind == "no true-class entries"
    ),
    planted=(
        version("d_utk at twice the matrix", cases=fixed_points, scale=2),
        version("d_utk with another k", cases=fixed_points, extra=1),
    ),
    not_proved="values of conjugates that K19-eq31 and K19-eq63 prove, at matrices of any size",
    corrected=version(
        "d_ptk(A) is minus infinity unless A o E_y = O, and d_utk(A) there",
        printed_everywhere=False,
        formula=r"d_{ptk}(A)=d_{utk}(A)\ \mathrm{if}\ A\odot E_y=O,\quad "
        r"-\infty\ \mathrm{otherwise}",
    ),
    erratum=Erratum(
        page="A.9, (78)",
        printed=r"\forall A:\ d_{ptk}(A)=d_{ptk}(A-(A\odot E_y))=d_{utk}(A-(A\odot E_y))",
        correct=r"d_{ptk}(A)=d_{utk}(A)\ \mathrm{if}\ A\odot E_y=O,\quad "
        r"d_{ptk}(A)=-\infty\ \mathrm{otherwise}",
        proof=r"By (71), $\phi^*_{ptk}(v;y)$ is infinite unless $v_y=0$, so that "
        r"$d_{ptk}(A)=-\infty$ as soon as one true-class entry is not $0$. For $n=1$, "
        r"$x_1=0$, $m=2$, $k=1$, $y=1$ and "
        r"$A=(-1,0)^\top$ this gives $-\infty$ on the left, while $A-A\odot E_y=O$ has the value "
        r"$0$.",
        breaks="Nothing: (79) follows from the corrected statement, and so does Proposition 7.",
    ),
)
def three_values(
    case: Case, scale: int = 1, extra: int = 0, printed_everywhere: bool = True
) -> Outcome:
    problem, A = case.problem, case.A
    pseudo, loss = reference.PseudoTopK(case.k), reference.TopK(case.k + extra)
    rest = without_true_class(problem, A)
    first = exact_value(problem, pseudo, A)
    second = exact_value(problem, pseudo, rest)
    third = exact_value(problem, loss, scale * rest)
    if not printed_everywhere and (problem.one_hot * A).any():
        return truth(first == -math.inf, d_ptk=first)
    return both(
        truth(first == second, d_ptk=first, without=second),
        truth(second == third, d_ptk=second, d_utk=third),
    )


def weights_of_classes(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield pseudo top-k problems with weights W; the first one is written out."""
    smallest = ExactProblem(array([[1, 0]]), (0,), reference.PseudoTopK(1), 2, Fraction(1))
    yield Case(kind="exact", problem=smallest, k=1, W=array([[0, 0], [1, 0]]))
    for case in exact_points(rng, deep):
        problem = replace(case.problem, loss=reference.PseudoTopK(case.k))
        d, m = problem.X.shape[1], problem.m
        W = array([fractions(rng, d) for _ in range(m)])
        yield Case(kind="exact", problem=problem, k=case.k, W=W)


def vectorised(W: np.ndarray) -> np.ndarray:
    """Return vec of the paper's W, (d, m), column by column; here W has one row per class."""
    return W.reshape(-1, 1)


def transposed_link(case: Case) -> Outcome:
    """State that the matrix of the correction is the transpose of the matrix in (32)."""
    problem = case.problem
    pairs = [
        (np.kron(centring(problem, i), x.reshape(1, -1)), link(problem, i).T)
        for i, x in enumerate(problem.X)
    ]
    return both(*(equal(one, other) for one, other in pairs))


@claim(
    "K19-eq77",
    "A.9, (77)",
    "The regularised risk of the pseudo top-k loss is p_ptk at vec(W), the loss before centring at "
    "(x_i' (x) H_y) vec(W).",
    formula=r"P_{ptk}(W)=\frac{\lambda}{2}\|w\|^2+\frac{1}{n}\sum_i\phi_{ptk}("
    r"(x_i^\top\otimes H_{y_i})w;y_i),\quad w=\mathrm{vec}(W)",
    shapes="W: (d, m); w: (md,); x_i' (x) H_y: (m, md)",
    judged="vec stacks the columns, as (32) and (76) require for the same w.",
    sides=("P_ptk(W)", "p_ptk(vec(W))"),
    cases=weights_of_classes,
    derived=version(
        "H_y (x) x_i', the transpose of the matrix in (32) and (76)",
        swapped=True,
        formula=r"(H_{y_i}\otimes x_i^\top)w",
    ),
    where_right=WhereRight("K19-eq32", transposed_link),
    planted=(version("I (x) x_i', without H_y", swapped=True, centred=False),),
    not_proved="a sum over samples with Kronecker products; each case is exact",
    erratum=Erratum(
        page="A.9, (77)",
        printed=r"\phi_{ptk}((x_i^\top\otimes H_{y_i})w;y_i)",
        correct=r"\phi_{ptk}((H_{y_i}\otimes x_i^\top)w;y_i)",
        proof=r"The loss needs $H_{y_i}W^\top x_i$. With $w=\mathrm{vec}(W)$, "
        r"$(H\otimes x^\top)\mathrm{vec}(W)=\mathrm{vec}(x^\top WH^\top)=HW^\top x$, while the "
        r"printed product mixes features and classes. (32) and (76) have "
        r"$H_{y_i}^\top\otimes x_i$, the transpose of the corrected matrix. (If vec is to put row "
        r"upon row, (77) is right and (32) and (76) have the wrong order.)",
        breaks=r"Only $P_{ptk}(W)=p_{ptk}(\mathrm{vec}(W))$, the line after (77). The duality with "
        r"(76) is true in either order: the exchange of the factors permutes the entries of a "
        r"vector, whose norm stays as it is.",
    ),
)
def vectorised_risk(case: Case, swapped: bool = False, centred: bool = True) -> Outcome:
    problem, w, losses = case.problem, vectorised(case.W), []
    for i, (x, y) in enumerate(zip(problem.X, problem.y, strict=True)):
        H = centring(problem, i) if centred else array(np.eye(problem.m, dtype=int))
        row = x.reshape(1, -1)
        scores = (np.kron(H, row) if swapped else np.kron(row, H)) @ w
        affine = exact.pieces(problem.loss, problem.m, y, centred=False)
        losses.append(max(exact.inner(a, scores.ravel()) + b for a, b in affine.items()))
    right = problem.lam / 2 * square(w) + sum(losses) / Fraction(problem.n)
    return equal(problem.primal(case.W), right)


def no_reading(rng: Rng, deep: bool) -> Iterator[Case]:
    raise Untestable(
        "a judgement of effort, not of fact; the library's exact block ascent is an SDCA method on "
        "the correct domain"
    )


@claim(
    "K19-not-simple",
    "8",
    "It may not be simple to change the two SDCA algorithms to the correct domain.",
    cases=no_reading,
    not_proved="a judgement of effort",
)
def not_simple(case: Case) -> Outcome:
    raise Untestable("a judgement of effort")
