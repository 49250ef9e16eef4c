"""Check T20 sections 2.1 and 2.2: the losses, and which of them are maxima over a set."""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any

import fwlab
import reference
from paper_checks.arithmetic import (
    Real,
    all_of,
    equals,
    implies,
    is_symbolic,
    maximum,
    minimum,
    positive_part,
    total,
)
from paper_checks.definitions import margins, usunier
from paper_checks.ledger import Case, Condition, Erratum, Library, Outcome, claim, version
from paper_checks.outcomes import both, equal, truth
from paper_checks.proofs import BySolver
from paper_checks.tajima2020.polytopes import over, simplex
from paper_checks.tajima2020.rows import (
    FOUR,
    MAX_HINGE,
    STRUCTURED,
    as_allowed,
    exact_rows,
    loss_of,
    own_margins,
    printed_maximum,
    reference_loss,
    rows_with_losses,
    symbolic_losses,
    symbolic_rows,
)

ALL_LOSSES = (MAX_HINGE, STRUCTURED, *FOUR)
SET_AND_LOSS = ("the loss", "over the set")
ZERO_ONE = Condition(
    "the costs of the structured hinge are 0 for the true class and 1 for the others",
    lambda case: all_of(
        *(
            equals(cost, int(j != case.y))
            for j, cost in enumerate(getattr(case, "costs", ()))
            if case.loss == STRUCTURED
        )
    ),
)


def fwlab_loss(case: Case) -> Any:
    """Return the row's loss in fwlab."""
    match case.loss:
        case "top-k hinge":
            return fwlab.TopK(case.k)
        case "Usunier loss":
            return fwlab.Usunier(case.k)
        case "weighted top-k hinge":
            return fwlab.WeightedTopK([float(r) for r in case.rho])
        case "weighted Usunier loss":
            return fwlab.WeightedUsunier([float(r) for r in case.rho])
        case "structured hinge":
            costs = [[float(c) for c in case.costs] if y == case.y else None for y in range(case.m)]
            ones = [[float(i != j) for j in range(case.m)] for i in range(case.m)]
            return fwlab.StructuredHinge([c or o for c, o in zip(costs, ones, strict=True)])
    return fwlab.MaxHinge()


def fwlab_value(loss: Any, case: Case) -> float:
    """Return fwlab's value of a loss at a row of scores."""
    return float(loss.value([float(x) for x in case.s], case.y))


def in_fwlab(case: Case) -> Outcome:
    """Compare fwlab's value of the row's loss with the definition."""
    return equal(fwlab_value(fwlab_loss(case), case), float(loss_of(case, own_margins(case))))


@claim(
    "T20-max-hinge",
    "(2.2) (2.10)",
    "The max hinge is the maximum of <beta, margins> over the simplex of radius 1.",
    formula=r"\max_j\,(s_j-s_y+1-\delta_{j,y})=\max_{\beta\geq 0,\ \Vert\beta\Vert_1\leq 1}"
    r"\langle\beta,1-e_y+s-s_y1\rangle",
    shapes="s, beta: (m,)",
    cases=exact_rows,
    sides=SET_AND_LOSS,
    planted=(
        version("the simplex of radius 1/2", radius=Fraction(1, 2)),
        version("a unit margin also for the true class", delta=0),
    ),
    proofs=(
        BySolver(
            "A radius or a margin that is right only if the true class has the largest score.",
            cases=symbolic_rows,
            sized_by=("m",),
        ),
    ),
    library=Library(
        ("fwlab.MaxHinge.value",),
        lambda case: equal(fwlab_value(fwlab.MaxHinge(), case), float(max_hinge_printed(case))),
    ),
)
def max_hinge_is_maximum(case: Case, radius: Fraction | int = 1, delta: int = 1) -> Outcome:
    largest = over(simplex(case.m, radius), margins(case.s, case.y))
    return equal(max_hinge_printed(case, delta), largest)


def max_hinge_printed(case: Case, delta: int = 1) -> Real:
    """Return (2.2)."""
    s, y = case.s, case.y
    return maximum(*(s[j] - s[y] + 1 - delta * int(j == y) for j in range(case.m)))


@claim(
    "T20-six-mdos",
    "2.2, Def. 1",
    "All six losses are maxima of <beta, 1 - e_y + s - s_y 1> over the set given for them, which "
    "depends on neither s nor y; this includes the structured hinge with any costs.",
    formula=r"\Phi(s;y)=\max_{\beta\in B}\ \langle\beta,1-e_y+s-s_y1\rangle",
    shapes="s, beta: (m,), costs: (m,)",
    judged="rho' of (2.13) and (2.14) as differences; see T20-rho-prime",
    cases=partial(rows_with_losses, names=ALL_LOSSES),
    sides=SET_AND_LOSS,
    condition=ZERO_ONE,
    planted=(version("the margins without 1 - e_y", margin=0),),
    proofs=(
        BySolver(
            "A set that is right only for generic scores; the proof is for all "
            "scores, costs and weights, including ties.",
            cases=symbolic_losses(ALL_LOSSES),
            assuming=as_allowed,
        ),
    ),
    library=Library(("fwlab.StructuredHinge.value",), lambda case: in_fwlab(case)),
    erratum=Erratum(
        "section 2.2, below Definition 1",
        r"\Phi_{sh}(s;y)=\max_{\beta\in\Delta(1)}\ \langle\beta,1-e_y+s-s_y1\rangle\ "
        r"\mathrm{for\ any\ costs}",
        r"\Phi_{sh}(s;y)=\max_{\beta\in\Delta(1)}\ \langle\beta,\Delta+s-s_y1\rangle",
        "A cost $\\Delta_j$ is added to the margin in (2.4), but the margins in Definition 1 add 1 "
        "to every wrong class. At the scores $s=e_y-1$ these margins are 0, so every maximum over "
        "a set of $\\beta$ is 0 there, and the structured hinge is $\\max(0,\\max_j\\Delta_j-1)$. "
        "Theorem 2.1 states the condition $\\Delta_j=1-\\delta_{y,j}$.",
        "Theorems 2.2 and 2.3 assume Definition 1, so they do not cover other costs; "
        "the direction they give is also right for other costs (T20-thm2.2, "
        "T20-thm2.3).",
    ),
)
def six_losses(case: Case, margin: int = 1) -> Outcome:
    h = [x - (1 - margin) * int(j != case.y) for j, x in enumerate(margins(case.s, case.y))]
    value = loss_of(case, own_margins(case))
    found = equal(value, printed_maximum(case, tuple(h)))
    if is_symbolic(case.s):
        return found
    return both(found, equal(reference_loss(case).value(case.s, case.y), value))


@claim(
    "T20-thm2.1",
    "Theorem 2.1",
    "Top-k hinge, Usunier loss and their weighted versions are such maxima, and so is the "
    "structured hinge with costs 0 and 1.",
    formula=r"\Phi(s;y)=\max_{\beta\in B}\ \langle\beta,1-e_y+s-s_y1\rangle",
    shapes="s, beta: (m,)",
    judged="rho' of (2.13) and (2.14) as differences; see T20-rho-prime",
    cases=partial(rows_with_losses, names=(MAX_HINGE, *FOUR)),
    sides=SET_AND_LOSS,
    planted=(version("the margins without 1 - e_y", margin=0),),
    proofs=(
        BySolver(
            "One of the five losses whose set is right only for generic scores.",
            cases=symbolic_losses((MAX_HINGE, *FOUR)),
            assuming=as_allowed,
        ),
    ),
    library=Library(("fwlab.TopK.value",), lambda case: in_fwlab(case)),
)
def theorem_2_1(case: Case, margin: int = 1) -> Outcome:
    return six_losses.form(case, margin)


@claim(
    "T20-mdos-no-set",
    "2.2, Def. 1",
    "With any costs there is some set over which the structured hinge is a maximum of "
    "<beta, 1 - e_y + s - s_y 1>; the loss is then 0 where these margins are 0, and doubles when "
    "they double.",
    formula=r"\exists B:\ \Phi_{sh}(s;y)=\max_{\beta\in B}\ \langle\beta,1-e_y+s-s_y1\rangle",
    shapes="s: (m,), costs: (m,)",
    cases=partial(rows_with_losses, names=ALL_LOSSES),
    condition=ZERO_ONE,
    planted=(version("the loss grows threefold when the margins double", growth=3),),
    proofs=(
        BySolver(
            "Costs other than 0 and 1 for which some other set would be right; there are none.",
            cases=symbolic_losses((MAX_HINGE, STRUCTURED)),
            assuming=as_allowed,
        ),
    ),
)
def some_set(case: Case, growth: int = 2) -> Outcome:
    """Double h = 1 - e_y + s - s_y 1 by adding it to s."""

    def loss_at(scores: Sequence[Real]) -> Real:
        there = Case(**{**vars(case), "s": tuple(scores)})
        return loss_of(there, own_margins(there))

    h = margins(case.s, case.y)
    doubled = [s_j + h_j for s_j, h_j in zip(case.s, h, strict=True)]
    at_zero = [s_j - h_j for s_j, h_j in zip(case.s, h, strict=True)]
    return both(
        equal(loss_at(doubled), growth * loss_at(case.s), at="doubled margins"),
        equal(loss_at(at_zero), Fraction(0), at="margins 0"),
    )


@claim(
    "T20-eq2.6",
    "(2.6)",
    "Sorting by s - e_y sorts the margins, so (2.6) is the mean of the positive parts of the k "
    "largest margins; however ties are broken.",
    formula=r"\Phi_{uu}(s;y)=\frac{1}{k}\sum_{j\leq k}\max\{0,(s-s_y1+1-e_y)_{\pi(j;\,s-e_y)}\}",
    shapes="s: (m,); 1 <= k <= m",
    cases=exact_rows,
    sides=("as printed", "by definition"),
    planted=(
        version("sorted by s", sorted_by=0),
        version("sorted by s + e_y", sorted_by=1),
    ),
    proofs=(
        BySolver(
            "A rule for ties that would change the sum; samples break ties in only one way.",
            cases=symbolic_rows,
        ),
    ),
    library=Library(
        ("fwlab.Usunier.value",),
        lambda case: equal(
            fwlab_value(fwlab.Usunier(case.k), case),
            float(usunier(margins(case.s, case.y), case.k)),
        ),
    ),
)
def usunier_sorted(case: Case, sorted_by: int = -1) -> Outcome:
    """Compare for every set of k classes that the sorting may put first."""
    s, y, k, h = case.s, case.y, case.k, margins(case.s, case.y)
    key = [s_j + sorted_by * int(j == y) for j, s_j in enumerate(s)]
    loss, outcomes = usunier(h, k), []
    for first in combinations(range(case.m), k):
        rest = [key[j] for j in range(case.m) if j not in first]
        is_first = minimum(*(key[j] for j in first)) >= maximum(*rest) if rest else True
        printed = Fraction(1, k) * total(positive_part(h[j]) for j in first)
        if is_symbolic(s):
            outcomes.append(truth(implies(is_first, equals(printed, loss))))
        elif is_first:
            outcomes.append(equal(printed, loss))
    if not is_symbolic(s):
        outcomes.append(equal(loss, reference.Usunier(k).value(s, y)))
    return both(*outcomes)
