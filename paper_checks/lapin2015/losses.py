"""L15 section 2: the losses psi_k, phi_k and the Usunier version, as functions of a in R^m."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, permutations
from typing import Any

import reference
from paper_checks.cases import Rng, fractions, scored_rows, sizes
from paper_checks.ledger import Case, Condition, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal, less, truth
from reference.losses import Loss


def rows(rng: Rng, deep: bool) -> Iterator[Case]:
    """One row of scores with its class: m, k, y, scores; exact with ties, and normal."""
    for case in scored_rows(rng, deep):
        yield Case(kind=case.kind, m=case.m, k=case.k, y=case.y, scores=case.scores)


def vectors(rng: Rng, deep: bool) -> Iterator[Case]:
    """Any a, and a with a_y = 0, as scores give it: m, k, y, a; exact with ties, and normal."""
    for case in rows(rng, deep):
        a = [s - case.scores[case.y] for s in case.scores]
        yield Case(kind=f"{case.kind}, from scores", m=case.m, k=case.k, y=case.y, a=tuple(a))
    for m, k in sizes(5):
        y = int(rng.integers(m))
        yield Case(kind="exact, any a", m=m, k=k, y=y, a=fractions(rng, m))


def below_m(rng: Rng, deep: bool) -> Iterator[Case]:
    """The rows with k < m, the paper's range."""
    return (case for case in rows(rng, deep) if case.k < case.m)


def shifted(case: Case) -> list[Any]:
    """a + c."""
    return [x + int(j != case.y) for j, x in enumerate(case.a)]


def largest_first(numbers: Sequence[Any]) -> list[Any]:
    return sorted(numbers, reverse=True)


def psi(h: Sequence[Any], k: int) -> Any:
    """max(0, h_[k]), h = a + c."""
    return max(0, largest_first(h)[k - 1])


def phi(loss: Loss, case: Case) -> Any:
    """The loss at a, by its definition in the reference."""
    return loss.of_margins(shifted(case), case.y)


@claim(
    "L15-err-ends",
    "section 2",
    "The top-k error is the zero-one error of the classifier for k = 1 and is always 0 for k = m.",
    formula=r"\mathrm{err}_k(s,y)=[\,s_{[k]}>s_y\,]",
    shapes="s: (m,)",
    judged="With ties at the top the zero-one error counts the best case, as the formula does.",
    cases=lambda rng, deep: (c for c in rows(rng, deep) if c.k in (1, c.m)),
    planted=(
        version("an equal score counts as an error", ties=True),
        version("the (k - 1)-th largest score for k = m", offset=1),
    ),
)
def error_at_the_ends(case: Case, ties: bool = False, offset: int = 0) -> Outcome:
    own = case.scores[case.y]
    threshold = largest_first(case.scores)[case.k - 1 - (offset if case.k > 1 else 0)]
    error = threshold > own or (ties and threshold == own)
    wrong = any(s > own for s in case.scores) if case.k == 1 else False
    return truth(error == wrong, error=error)


@claim(
    "L15-psi-iff",
    "section 2.2",
    "psi_k is positive exactly when the k-th largest prediction score exceeds the true class's "
    "score minus 1.",
    formula=r"\psi_k(a)>0\ \Leftrightarrow\ s_{[k]}>s_{y_i}-1,\quad s=W^\top x_i",
    shapes="a = s - s_y 1: (m,); 1 <= k < m",
    judged="[k] is the k-th largest of all m scores, the true class's included, as section 2 "
    "defines it.",
    cases=below_m,
    corrected=version("the k-th largest score among the classes other than y", others=True),
    planted=(version("the margin is 2", margin=2), version("the order is reversed", sign=-1)),
)
def psi_is_positive(case: Case, others: bool = False, margin: int = 1, sign: int = 1) -> Outcome:
    scores, y = case.scores, case.y
    h = [s - scores[y] + int(j != y) for j, s in enumerate(scores)]
    ranked = largest_first([s for j, s in enumerate(scores) if j != y or not others])
    exceeds = sign * (ranked[case.k - 1] - scores[y] + margin) > 0
    return truth((psi(h, case.k) > 0) == exceeds, psi=psi(h, case.k), kth=ranked[case.k - 1])


def two_sets(rng: Rng, deep: bool) -> Iterator[Case]:
    """Every pair of (k - 1)-sets of entries that differ in one entry; all m entries, or those
    other than y, which leaves a_y = 0."""
    for m, k in sizes(6 if deep else 5, smallest_k=2):
        for free, kind in ((m, "any a"), (m - 1, "from scores")):
            for first in combinations(range(free), k - 1):
                last = next((j for j in range(free) if j not in first), None)
                if last is not None:
                    yield Case(kind=kind, m=m, k=k, first=first, second=(*first[1:], last))


def one_set(rng: Rng, deep: bool) -> Iterator[Case]:
    for m in range(2, 6):
        yield Case(kind="k = 1", m=m, k=1, first=(), second=())


@claim(
    "L15-psi-nonconvex",
    "section 2.2",
    "psi_k is non-convex for k >= 2.",
    formula=r"\psi_k\left(\frac{p+q}{2}\right)>\frac{\psi_k(p)+\psi_k(q)}{2}",
    shapes="p, q: (m,)",
    judged="As a function of a in R^m for 2 <= k <= m, and of the scores for 2 <= k < m, where the "
    "true class's entry of a + c is 0. For k = m that makes psi_k constant.",
    cases=two_sets,
    planted=(
        version("k = 1 too", cases=one_set),
        version("the mean of the k largest in place of the k-th", mean=True),
    ),
)
def psi_is_not_convex(case: Case, mean: bool = False) -> Outcome:
    """p + c and q + c are 2 on one of the sets each, 0 elsewhere; psi_k is 0 at both."""

    def value(h: list[Fraction]) -> Any:
        return max(Fraction(0), sum(largest_first(h)[: case.k])) if mean else psi(h, case.k)

    p, q = ([Fraction(2 * int(j in s)) for j in range(case.m)] for s in (case.first, case.second))
    middle = [(x + z) / 2 for x, z in zip(p, q, strict=True)]
    return less((value(p) + value(q)) / 2, Fraction(value(middle)), p=p, q=q)


@claim(
    "L15-chain",
    "sections 2.2 and 2.3",
    "The top-k hinge lies between psi_k and the Usunier version, which is at most the multiclass "
    "hinge; both versions are that hinge for k = 1.",
    formula=r"\psi_k\leq\phi_k\leq\tilde\phi_k\leq\phi_1=\tilde\phi_1=\phi",
    shapes="a: (m,); 1 <= k <= m",
    cases=vectors,
    planted=(
        version("the Usunier version below the top-k hinge", swapped=True),
        version("the sum of k terms without the factor 1/k", scale=True),
    ),
)
def losses_are_ordered(case: Case, swapped: bool = False, scale: bool = False) -> Outcome:
    factor = case.k if scale else 1
    top_k = factor * phi(reference.TopK(case.k), case)
    usunier = factor * phi(reference.Usunier(case.k), case)
    middle = [usunier, top_k] if swapped else [top_k, usunier]
    hinge = phi(reference.MaxHinge(), case)
    chain = [psi(shifted(case), case.k), *middle, hinge]
    firsts = [phi(loss, case) for loss in (reference.TopK(1), reference.Usunier(1))]
    steps = [at_most(x, z) for x, z in pairwise(chain)]
    return both(*steps, equal(firsts, [hinge, hinge]))


@claim(
    "L15-strict",
    "section 2.2",
    "The top-k hinge is strictly below the multiclass hinge unless the k largest entries of a + c "
    "are all the same.",
    formula=r"(a+c)_{[1]}>(a+c)_{[k]}\ \Rightarrow\ \phi_k(a)<\phi(a)",
    shapes="a: (m,); 1 <= k <= m",
    judged="The scores that are the same are the entries of a + c, on which both losses depend.",
    cases=vectors,
    condition=Condition(
        "the multiclass hinge is positive", lambda case: phi(reference.MaxHinge(), case) > 0
    ),
    planted=(version("unless the two largest are the same", among=2),),
)
def top_k_is_strictly_below(case: Case, among: int | None = None) -> Outcome:
    ranked = largest_first(shifted(case))
    if ranked[0] == ranked[min(among or case.k, case.m) - 1]:
        return truth(True)
    return less(phi(reference.TopK(case.k), case), phi(reference.MaxHinge(), case), a=case.a)


@claim(
    "L15-usunier-equal",
    "section 2.3",
    "The top-k hinge equals the Usunier version if the largest entry of a + c is at most 0 or the "
    "k-th largest at least 0, and is strictly smaller otherwise.",
    formula=r"\phi_k=\tilde\phi_k\ \Leftrightarrow\ (a+c)_{[1]}\leq 0\ \vee\ (a+c)_{[k]}\geq 0",
    shapes="a: (m,); 1 <= k <= m",
    cases=vectors,
    planted=(
        version("the (k - 1)-th largest in place of the k-th", offset=1),
        version("the k-th largest is positive", strictly=True),
    ),
)
def equal_to_usunier(case: Case, offset: int = 0, strictly: bool = False) -> Outcome:
    ranked = largest_first(shifted(case))
    last = ranked[max(case.k - 1 - offset, 0)]
    same = ranked[0] <= 0 or last > 0 or (last == 0 and not strictly)
    top_k, usunier = phi(reference.TopK(case.k), case), phi(reference.Usunier(case.k), case)
    return equal(top_k, usunier) if same else less(top_k, usunier)


@claim(
    "L15-upper-bound",
    "sections 1 and 2.3",
    "The top-k hinge and its Usunier version are upper bounds of the top-k error.",
    formula=r"\mathrm{err}_k\leq\phi_k\leq\tilde\phi_k",
    shapes="scores: (m,); 1 <= k < m",
    cases=below_m,
    planted=(version("the margin asked of the classes is 0", margin=0),),
)
def bounds_the_error(case: Case, margin: int = 1) -> Outcome:
    scores, y = case.scores, case.y
    h = [s - scores[y] + margin * int(j != y) for j, s in enumerate(scores)]
    error = int(largest_first(scores)[case.k - 1] > scores[y])
    top_k = reference.TopK(case.k).of_margins(h, y)
    return both(at_most(error, top_k), at_most(top_k, reference.Usunier(case.k).of_margins(h, y)))


def pseudo_is_between(case: Case, swapped: bool = False) -> Outcome:
    """err_k, psi_k <= the pseudo top-k loss <= phi_k. It is convex: a maximum of affine ones."""
    scores, y, k = case.scores, case.y, case.k
    pseudo, top_k = (loss(k).value(scores, y) for loss in (reference.PseudoTopK, reference.TopK))
    error = int(largest_first(scores)[k - 1] > scores[y])
    kth = psi([s - scores[y] + int(j != y) for j, s in enumerate(scores)], k)
    above = at_most(top_k, pseudo) if swapped else at_most(pseudo, top_k)
    return both(at_most(error, pseudo), at_most(kth, pseudo), above)


@claim(
    "L15-tight",
    "abstract, sections 1 and 2.2",
    "The top-k hinge is a tight convex upper bound of the top-k error with margin 1.",
    formula=r"\mathrm{err}_k,\psi_k\leq g\leq\phi_k,\ g\ \mathrm{convex}\ \Rightarrow\ g=\phi_k",
    shapes="scores: (m,); 1 <= k < m",
    judged="Tight as: no convex upper bound lies below. The g tried is the pseudo top-k loss, the "
    "mean of the k largest margins of the other classes, cut off at 0 (K19 (31)).",
    cases=below_m,
    condition=Condition("k = 1", lambda case: case.k == 1),
    corrected=version("the pseudo top-k loss is such a bound and is tighter", pseudo_is_between),
    planted=(version("the pseudo top-k loss is nowhere below", pseudo_is_between, swapped=True),),
)
def bound_is_tight(case: Case) -> Outcome:
    pseudo = reference.PseudoTopK(case.k).value(case.scores, case.y)
    return at_most(reference.TopK(case.k).value(case.scores, case.y), pseudo)


@claim(
    "L15-eq5-family",
    "section 2.3, (5)",
    "The ranking loss with the weights 1/k for the k largest entries and 0 for the others is the "
    "Usunier version of the top-k hinge.",
    formula=r"L_\beta(a)=\sum_y\beta_y\max\{0,(a+c)_{[y]}\}=\tilde\phi_k(a)",
    shapes="a, beta: (m,); 1 <= k <= m",
    judged="The sum over sorted entries against the largest weighted sum over all permutations.",
    cases=vectors,
    planted=(version("the weight 1/k for k - 1 entries", count=-1),),
)
def family_has_usunier(case: Case, count: int = 0) -> Outcome:
    h = shifted(case)
    weights = [Fraction(int(j < case.k + count), case.k) for j in range(case.m)]
    largest = max(
        sum(w * max(0, x) for w, x in zip(order, h, strict=True))
        for order in set(permutations(weights))
    )
    return equal(largest, phi(reference.Usunier(case.k), case))


@claim(
    "L15-lem1",
    "Lemma 1",
    "The sum of the k largest entries is the least value over t of k t plus the parts of the "
    "entries above t.",
    formula=r"\sum_{j=1}^k h_{[j]}=\min_t\ \left\{k\,t+\sum_{j=1}^m[h_j-t]_+\right\}",
    shapes="h: (m,); 1 <= k <= m",
    cases=vectors,
    planted=(version("(k - 1) t in place of k t", offset=-1),),
)
def sum_of_largest(case: Case, offset: int = 0) -> Outcome:
    """The function of t is convex and bends at the entries alone, and falls before and rises after
    them, or is flat: its least value is at an entry. On the left, the largest sum of k entries."""
    h, factor = list(case.a), case.k + offset
    least = min(factor * t + sum(max(x - t, 0) for x in h) for t in h)
    return equal(max(sum(chosen) for chosen in combinations(h, case.k)), least)


@claim(
    "L15-binary-features",
    "section 2.3",
    "With x placed at the y-th position of a vector of m d numbers, the product with the stacked "
    "weights is the score of class y: n samples become n m examples in m d dimensions.",
    formula=r"\langle w,\Phi_y(x_i)\rangle=\langle w_y,x_i\rangle",
    shapes="W: (m, d); x_i: (d,); w, Phi_y(x_i): (m d,)",
    cases=lambda rng, deep: (
        Case(kind="exact", W=rng.integers(-3, 4, (m, d)), X=rng.integers(-3, 4, (n, d)))
        for n, m, d in ((1, 2, 1), (3, 2, 4), (2, 5, 3), (4, 3, 2))
    ),
    planted=(version("the weights stacked feature by feature", order="F"),),
)
def binary_features(case: Case, order: str = "C") -> Outcome:
    examples = reference.joint_features(case.X, len(case.W))
    return equal(examples @ case.W.ravel(order), case.X @ case.W.T, allowed=0.0)
