"""Check L15 sections 2.2 and 2.3: the order of psi_k, phi_k and the Usunier version."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from paper_checks.arithmetic import all_of, any_of, kth_largest, negation
from paper_checks.cases import Rng, changed
from paper_checks.definitions import max_hinge, top_k, usunier
from paper_checks.lapin2015.forms import (
    below_m,
    given,
    psi,
    shifted,
    symbolic_below_m,
    symbolic_vectors,
    top_k_error,
    vectors,
)
from paper_checks.lapin2015.in_fwlab import LOSSES, library_error, library_losses, without_ties
from paper_checks.ledger import Case, Condition, Erratum, Library, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal, less
from paper_checks.proofs import BySolver


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
    proofs=(
        BySolver(
            "An order that fails only if margins of both signs are among the k largest.",
            cases=symbolic_vectors,
        ),
    ),
    library=LOSSES,
)
def losses_are_ordered(case: Case, swapped: bool = False, scale: bool = False) -> Outcome:
    h, k, factor = shifted(case), case.k, case.k if scale else 1
    middle = [factor * top_k(h, k), factor * usunier(h, k)]
    chain = [psi(h, k), *(reversed(middle) if swapped else middle), max_hinge(h)]
    steps = [at_most(x, z) for x, z in pairwise(chain)]
    return both(*steps, equal((top_k(h, 1), usunier(h, 1)), (max_hinge(h),) * 2))


@claim(
    "L15-strict",
    "section 2.2",
    "The top-k hinge is strictly below the multiclass hinge unless the k largest entries of a + c "
    "are all the same.",
    formula=r"(a+c)_{[1]}>(a+c)_{[k]}\ \Rightarrow\ \phi_k(a)<\phi(a)",
    shapes="a: (m,); 1 <= k <= m; classes count from 0",
    judged="The scores that are the same are the entries of a + c, on which both losses depend.",
    cases=vectors,
    condition=Condition(
        "the multiclass hinge is positive", lambda case: max_hinge(shifted(case)) > 0
    ),
    corrected=version(
        "where the largest entry exceeds both the k-th largest and 0",
        least=Fraction(0),
        formula=r"(a+c)_{[1]}>\max\{0,(a+c)_{[k]}\}\ \Rightarrow\ \phi_k(a)<\phi(a)",
    ),
    planted=(
        version("unless the two largest are the same", among=2),
        version(
            "where the largest entry exceeds the second largest and 0", among=2, least=Fraction(0)
        ),
    ),
    sides=("phi_k", "phi"),
    proofs=(
        BySolver(
            "Entries that cross 0 within the k largest, where the mean is cut off.",
            cases=symbolic_vectors,
        ),
    ),
    library=LOSSES,
    erratum=Erratum(
        "section 2.2, below the chain after (3)",
        r"\phi_k(a)<\phi(a)\ \mathrm{unless\ all}\ k\ \mathrm{largest\ scores\ are\ the\ same}",
        r"\phi_k(a)<\phi(a)\ \Leftrightarrow\ \phi(a)>0,\ (a+c)_{[1]}>(a+c)_{[k]}",
        "If no entry of $a+c$ is positive, both losses are 0, whatever the entries are. That is "
        "every sample classified with margin 1. If $(a+c)_{[1]}>0$, the mean of the $k$ largest "
        "entries equals the largest one only where all $k$ are the same.",
        "Nothing: the sentence is an aside.",
    ),
)
def top_k_is_strictly_below(
    case: Case, among: int | None = None, least: Fraction | None = None
) -> Outcome:
    h, k = shifted(case), case.k
    last = kth_largest(h, min(among or k, case.m))
    first = kth_largest(h, 1)
    positive = True if least is None else first > least
    return given(all_of(first > last, positive), less(top_k(h, k), max_hinge(h)))


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
    proofs=(
        BySolver(
            "A k-th entry that is exactly 0, where the case changes from equality to strict order.",
            cases=symbolic_vectors,
        ),
    ),
    library=LOSSES,
)
def equal_to_usunier(case: Case, offset: int = 0, strictly: bool = False) -> Outcome:
    h, k = shifted(case), case.k
    last = kth_largest(h, max(k - offset, 1))
    same = any_of(kth_largest(h, 1) <= 0, last > 0 if strictly else last >= 0)
    left, right = top_k(h, k), usunier(h, k)
    return both(given(same, equal(left, right)), given(negation(same), less(left, right)))


def barely_wrong(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the rows with k < m, and rows where all others beat the true class by a quarter."""
    yield from below_m(rng, deep)
    for case in symbolic_below_m(deep):
        scores = tuple(Fraction(int(j != case.y), 4) for j in range(case.m))
        yield changed(case, kind="barely wrong", scores=scores)


@claim(
    "L15-upper-bound",
    "sections 1 and 2.3",
    "The top-k hinge and its Usunier version are upper bounds of the top-k error.",
    formula=r"\mathrm{err}_k\leq\phi_k\leq\tilde\phi_k",
    shapes="scores: (m,); 1 <= k < m",
    cases=barely_wrong,
    planted=(version("the margin asked of the classes is 0", margin=0),),
    proofs=(
        BySolver(
            "Scores just above the true class's, where the bound is almost attained.",
            cases=symbolic_below_m,
        ),
    ),
    library=Library(
        ("fwlab.metrics.topk_accuracy", "fwlab.losses.TopK.value", "fwlab.losses.Usunier.value"),
        lambda case: both(library_error(case), library_losses(case)),
        without_ties,
    ),
)
def bounds_the_error(case: Case, margin: int = 1) -> Outcome:
    scores, y, k = case.scores, case.y, case.k
    h = [s - scores[y] + margin * Fraction(int(j != y)) for j, s in enumerate(scores)]
    error = top_k_error(scores, y, k)
    return both(at_most(error, top_k(h, k)), at_most(top_k(h, k), usunier(h, k)))
