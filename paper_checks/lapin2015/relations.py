"""Check L15's tightness of the top-k hinge (abstract), the losses of section 2.3, and Lemma 1."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import fwlab
from paper_checks.arithmetic import ZERO, descending, inner, kth_largest, positive_part, total
from paper_checks.arithmetic import largest_sum as sum_of
from paper_checks.cases import Rng, changed
from paper_checks.definitions import margins, pseudo_top_k, top_k, usunier
from paper_checks.lapin2015.forms import (
    below_m,
    psi,
    shifted,
    symbolic_vectors,
    top_k_error,
    vectors,
)
from paper_checks.lapin2015.in_fwlab import FEW, LOSSES
from paper_checks.ledger import Case, Condition, Library, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal, less
from paper_checks.proofs import BySolver
from paper_checks.symbols import real


def pseudo_is_between(case: Case, swapped: bool = False) -> Outcome:
    """State that err_k, psi_k <= the pseudo top-k loss <= phi_k.

    The pseudo top-k loss is convex: a maximum of affine functions.
    """
    h, k = margins(case.scores, case.y), case.k
    pseudo, whole = pseudo_top_k(h, case.y, k), top_k(h, k)
    above = at_most(whole, pseudo) if swapped else at_most(pseudo, whole)
    error = top_k_error(case.scores, case.y, k)
    return both(at_most(error, pseudo), at_most(psi(h, k), pseudo), above)


def touches(case: Case) -> Outcome:
    """State that phi_k and psi_k agree where all scores are equal, and are positive there."""
    h = margins((Fraction(0),) * case.m, case.y)
    bound, error = top_k(h, case.k), psi(h, case.k)
    return both(equal(bound, error), less(Fraction(0), error))


def library_pseudo(case: Case) -> Outcome:
    scores = np.array([float(s) for s in case.scores])
    h = margins(tuple(scores.tolist()), case.y)
    found = [float(fwlab.PseudoTopK(case.k).value(scores, case.y))]
    found.append(float(fwlab.TopK(case.k).value(scores, case.y)))
    return equal(found, [pseudo_top_k(h, case.y, case.k), top_k(h, case.k)], FEW)


@claim(
    "L15-tight",
    "abstract, sections 1 and 2.2",
    "The top-k hinge is a tight convex upper bound of the top-k error with margin 1.",
    formula=r"\mathrm{err}_k,\psi_k\leq g\leq\phi_k,\ g\ \mathrm{convex}\ \Rightarrow\ g=\phi_k",
    shapes="scores: (m,); 1 <= k < m; classes count from 0",
    judged="The paper does not say what tight means. As read, no convex upper bound lies below; "
    "the g tried is the pseudo top-k loss, the mean of the k largest margins of the other "
    "classes, cut off at 0 (K19 (31)).",
    cases=below_m,
    condition=Condition("k = 1", lambda case: case.k == 1),
    corrected=version("the pseudo top-k loss is such a bound and is tighter", pseudo_is_between),
    reading=version(
        "tight: where all scores are equal the bound equals psi_k, which is positive",
        touches,
        formula=r"\phi_k(0)=\psi_k(0)>0",
    ),
    planted=(version("the pseudo top-k loss is nowhere below", pseudo_is_between, swapped=True),),
    sides=("phi_k", "pseudo top-k"),
    not_proved="what tight means is left open",
    library=Library(
        ("fwlab.losses.PseudoTopK.value", "fwlab.losses.TopK.value"), library_pseudo, below_m
    ),
)
def bound_is_tight(case: Case) -> Outcome:
    h = margins(case.scores, case.y)
    return at_most(top_k(h, case.k), pseudo_top_k(h, case.y, case.k))


@claim(
    "L15-eq5-family",
    "section 2.3, (5)",
    "The ranking loss with the weights 1/k for the k largest entries and 0 for the others is the "
    "Usunier version of the top-k hinge.",
    formula=r"L_\beta(a)=\sum_y\beta_y\max\{0,(a+c)_{[y]}\}=\tilde\phi_k(a)",
    shapes="a, beta: (m,); 1 <= k <= m",
    judged="The sum over sorted entries against the mean of the k largest positive parts.",
    cases=vectors,
    planted=(
        version("the weight 1/k for k - 1 entries", count=-1),
        version("the sum is cut off at 0, not each term", joint=True),
    ),
    proofs=(
        BySolver(
            "Sorting before and after the cut-off at 0: they may differ where entries change sign.",
            cases=symbolic_vectors,
        ),
    ),
    library=LOSSES,
)
def family_has_usunier(case: Case, count: int = 0, joint: bool = False) -> Outcome:
    h, k = descending(shifted(case)), case.k
    weights = [Fraction(int(j < k + count), k) for j in range(case.m)]
    terms = inner(weights, [positive_part(x) for x in h])
    return equal(positive_part(inner(weights, h)) if joint else terms, usunier(shifted(case), k))


def with_threshold(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield vectors h with a number t, often one of the entries."""
    for case in vectors(rng, deep):
        t = case.a[int(rng.integers(case.m))] + Fraction(int(rng.integers(-1, 2)))
        yield changed(case, t=t)


@claim(
    "L15-lem1",
    "Lemma 1",
    "The sum of the k largest entries is the least value over t of k t plus the parts of the "
    "entries above t.",
    formula=r"\sum_{j=1}^k h_{[j]}=\min_t\ \left\{k\,t+\sum_{j=1}^m[h_j-t]_+\right\}",
    shapes="h: (m,); 1 <= k <= m",
    judged="At any t the right side is at least the left side, and equal at the k-th largest.",
    cases=with_threshold,
    planted=(version("(k - 1) t in place of k t", offset=-1),),
    proofs=(
        BySolver(
            "A t between two entries with a smaller value than at the entries, which "
            "trying only the entries would miss.",
            cases=lambda deep: (changed(c, t=real("t")) for c in symbolic_vectors(deep)),
        ),
    ),
)
def sum_of_largest(case: Case, offset: int = 0) -> Outcome:
    h, k = case.a, case.k

    def right(t: Fraction) -> Fraction:
        return (k + offset) * t + total(positive_part(x - t) for x in h)

    left = sum_of(h, k)
    return both(at_most(left, right(case.t)), equal(left, right(kth_largest(h, k))))


def examples(rng: Rng, deep: bool) -> Iterator[Case]:
    for n, m, d in ((1, 2, 1), (3, 2, 4), (2, 5, 3), (4, 3, 2)):
        W, X = (rng.integers(-3, 4, (size, d)).tolist() for size in (m, n))
        yield Case(kind="exact", W=W, X=X)


@claim(
    "L15-binary-features",
    "section 2.3",
    "With x placed at the y-th position of a vector of m d numbers, the product with the stacked "
    "weights is the score of class y: n samples become n m examples in m d dimensions.",
    formula=r"\langle w,\Phi_y(x_i)\rangle=\langle w_y,x_i\rangle",
    shapes="W: (m, d); x_i: (d,); w, Phi_y(x_i): (m d,)",
    cases=examples,
    planted=(version("the weights stacked feature by feature", by_feature=True),),
    not_proved="It follows from the definition of the feature map, so there is nothing to prove.",
)
def binary_features(case: Case, by_feature: bool = False) -> Outcome:
    m, d = len(case.W), len(case.X[0])
    stacked = [case.W[y][j] for y in range(m) for j in range(d)]
    if by_feature:
        stacked = [case.W[y][j] for j in range(d) for y in range(m)]
    made = [[*[0] * (y * d), *x, *[0] * ((m - y - 1) * d)] for x in case.X for y in range(m)]
    left = tuple(inner(stacked, example) + ZERO for example in made)
    return equal(left, tuple(inner(w, x) + ZERO for x in case.X for w in case.W))
