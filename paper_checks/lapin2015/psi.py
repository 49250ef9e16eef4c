"""Check L15 sections 2 and 2.2: the top-k error, and psi_k, which is not convex."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from paper_checks.arithmetic import any_of, kth_largest
from paper_checks.cases import Rng, sizes
from paper_checks.definitions import margins, top_k
from paper_checks.lapin2015.forms import below_m, iff, psi, rows, symbolic_below_m, symbolic_rows
from paper_checks.lapin2015.in_fwlab import library_error, without_ties
from paper_checks.ledger import Case, Condition, Erratum, Library, Outcome, claim, version
from paper_checks.outcomes import less, truth
from paper_checks.proofs import BySolver


def at_the_ends(rng: Rng, deep: bool) -> Iterator[Case]:
    return (case for case in rows(rng, deep) if case.k in (1, case.m))


@claim(
    "L15-err-ends",
    "section 2",
    "The top-k error is the zero-one error of the classifier for k = 1 and is always 0 for k = m.",
    formula=r"\mathrm{err}_k(s,y)=[\,s_{[k]}>s_y\,]",
    shapes="s: (m,); classes count from 0",
    judged="With ties at the top the zero-one error counts the best case, as the formula does.",
    cases=at_the_ends,
    planted=(
        version("an equal score counts as an error", ties=True),
        version("the (k - 1)-th largest score for k = m", offset=1),
    ),
    proofs=(
        BySolver(
            "An error counted where the true class only ties: random scores seldom tie at the top.",
            cases=lambda deep: (c for c in symbolic_rows(deep) if c.k in (1, c.m)),
        ),
    ),
    library=Library(("fwlab.metrics.topk_accuracy",), library_error, without_ties),
)
def error_at_the_ends(case: Case, ties: bool = False, offset: int = 0) -> Outcome:
    own = case.scores[case.y]
    threshold = kth_largest(case.scores, case.k - (offset if case.k > 1 else 0))
    error = threshold >= own if ties else threshold > own
    wrong = any_of(*(s > own for s in case.scores)) if case.k == 1 else False
    return truth(iff(error, wrong))


@claim(
    "L15-psi-iff",
    "section 2.2",
    "psi_k is positive exactly when the k-th largest prediction score exceeds the true class's "
    "score minus 1.",
    formula=r"\psi_k(a)>0\ \Leftrightarrow\ s_{[k]}>s_{y_i}-1,\quad s=W^\top x_i",
    shapes="a = s - s_y 1: (m,); 1 <= k < m; classes count from 0",
    judged="[k] is the k-th largest of all m scores, the true class's included, as section 2 "
    "defines it. With [k] in the order of a + c it fails for k = 1 and s = (0, -2), too.",
    cases=below_m,
    corrected=version(
        "the k-th largest score among the classes other than y",
        others=True,
        formula=r"\psi_k(a)>0\ \Leftrightarrow\ (s^{\setminus y})_{[k]}>s_{y}-1",
    ),
    planted=(
        version("the margin is 2", others=True, margin=2),
        version("the order is reversed", others=True, sign=-1),
    ),
    sides=("psi_k", "k-th largest score"),
    proofs=(
        BySolver(
            "A tie between the true class and the k-th other class, the only place "
            "where the two sides of the corrected form could differ.",
            cases=symbolic_below_m,
        ),
    ),
    erratum=Erratum(
        "section 2.2, the line after the definition of psi_k",
        r"\psi_k(a)>0\ \Leftrightarrow\ \langle w_{[1]},x_i\rangle\geq\ldots\geq"
        r"\langle w_{[k]},x_i\rangle>\langle w_{y_i},x_i\rangle-1",
        r"\psi_k(a)>0\ \Leftrightarrow\ (s^{\setminus y_i})_{[k]}>s_{y_i}-1,\quad s=W^\top x_i",
        "The entry of the true class in $a+c$ is 0, so $(a+c)_{[k]}>0$ needs $k$ other classes "
        "whose scores exceed $s_y-1$. The true class's own score always exceeds $s_y-1$. As "
        "printed it counts as one of the $k$: for $m=2$, $k=1$, $y=1$, $s=(0,-1)$ the right side "
        r"is $0>-1$, but $\psi_1=\max\{0,0,0\}=0$.",
        "Nothing: psi_k motivates the loss (3) and is not used again.",
    ),
)
def psi_is_positive(case: Case, others: bool = False, margin: int = 1, sign: int = 1) -> Outcome:
    scores, y = case.scores, case.y
    loss = psi(margins(scores, y), case.k)
    kth = kth_largest([s for j, s in enumerate(scores) if j != y or not others], case.k)
    exceeds = sign * (kth - scores[y] + margin) > 0
    return truth(iff(loss > 0, exceeds), psi=loss, kth=kth)


# ---------------------------------------------------------------- psi_k is not convex


def two_sets(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield every pair of (k - 1)-sets of entries that differ in one entry."""
    for m, k in sizes(6 if deep else 5, smallest_k=2):
        for first in combinations(range(m), k - 1):
            last = next(j for j in range(m) if j not in first)
            yield Case(kind="exact", m=m, k=k, first=first, second=(*first[1:], last))


def one_set(rng: Rng, deep: bool) -> Iterator[Case]:
    for m in range(2, 6):
        yield Case(kind="k = 1", m=m, k=1, first=(), second=())


def two_sets_of_others(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield pairs of (k - 1)-sets of the wrong classes.

    The true class is the last one; its entry is 0. For k = m there is only one such set.
    """
    for m, k in sizes(6 if deep else 5, smallest_k=2):
        first = tuple(range(k - 1))
        yield Case(kind="exact", m=m, k=k, first=first, second=(*first[1:], min(k - 1, m - 2)))


NOT_CONVEX = "One p and q decide a size in exact numbers, so nothing remains to be proved."


@claim(
    "L15-psi-nonconvex",
    "section 2.2",
    "psi_k is non-convex for k >= 2.",
    formula=r"\psi_k\left(\frac{p+q}{2}\right)>\frac{\psi_k(p)+\psi_k(q)}{2}",
    shapes="p, q: (m,); 2 <= k <= m",
    judged="As a function of a in R^m; as one of the scores see L15-psi-nonconvex-scores.",
    cases=two_sets,
    planted=(
        version("k = 1 too", cases=one_set),
        version("the mean of the k largest in place of the k-th", mean=True),
    ),
    not_proved=NOT_CONVEX,
)
def psi_is_not_convex(case: Case, mean: bool = False) -> Outcome:
    """Compare psi_k at p and q, where it is 0, and between them.

    p + c is 2 on one of the sets, q + c is 2 on the other, and both are 0 elsewhere.
    """
    value = top_k if mean else psi
    p, q = ([Fraction(2 * int(j in s)) for j in range(case.m)] for s in (case.first, case.second))
    middle = [(x + z) / 2 for x, z in zip(p, q, strict=True)]
    ends = (value(p, case.k) + value(q, case.k)) / 2
    return less(ends, value(middle, case.k), p=p, q=q)


@claim(
    "L15-psi-nonconvex-scores",
    "section 2.2",
    "psi_k is non-convex for k >= 2 as a function of the scores, where the true class's entry of "
    "a is 0.",
    formula=r"k\geq 2\ \Rightarrow\ s\mapsto\psi_k(s-s_y1)\ \mathrm{is\ not\ convex}",
    shapes="p, q: (m,), 0 at the true class; 2 <= k <= m",
    judged="Every k >= 2, as printed. Section 2 says that k < m is the regime of interest.",
    cases=two_sets_of_others,
    condition=Condition("k < m", lambda case: case.k < case.m),
    planted=(
        version("k = 1 too", cases=one_set),
        version("the mean of the k largest in place of the k-th", mean=True),
    ),
    not_proved=NOT_CONVEX + " For k = m the loss is max(0, min(a + c)) = 0: the minimum is at "
    "most the true class's 0.",
)
def psi_of_scores_is_not_convex(case: Case, mean: bool = False) -> Outcome:
    return psi_is_not_convex.form(case, mean=mean)
