"""Check T20 section 2.2: the sets of the weighted losses, and the weights of their levels."""

from functools import partial

import fwlab
from paper_checks.arithmetic import ZERO, inner, total
from paper_checks.definitions import weighted_top_k, weighted_usunier
from paper_checks.ledger import Case, Erratum, Library, Outcome, WhereRight, claim, version
from paper_checks.outcomes import both, equal
from paper_checks.proofs import BySolver
from paper_checks.tajima2020.levels import levels
from paper_checks.tajima2020.losses import SET_AND_LOSS
from paper_checks.tajima2020.polytopes import over_weighted_topk, over_weighted_usunier
from paper_checks.tajima2020.rows import (
    in_order,
    sorted_weights,
    symbolic_weights,
    weighted_rows,
)

ALL_WEIGHTS = (
    "A level weight that is wrong only if some weights are equal or some margins negative."
)


def by_solver(catches: str = ALL_WEIGHTS) -> BySolver:
    """Return the proof for all weights and all sorted numbers."""
    return BySolver(catches, cases=symbolic_weights, assuming=sorted_weights, sized_by=("m",))


def level_weights_solved(case: Case) -> Outcome:
    """Compare the differences with the rho' that (A.2) implies.

    Its first two lines are equal at h = (1, .., 1, 0, .., 0), so sum_l min(i, k_l) rho'_l = rho_1 +
    .. + rho_i for all i.
    """
    steps = dict(levels(case.rho))
    sums = [sum(case.rho[:i], ZERO) for i in range(case.m + 1)]
    solved = [2 * sums[i] - sums[i - 1] - sums[i + 1] for i in range(1, case.m)]
    return equal(solved, [steps.get(k, ZERO) for k in range(1, case.m)])


def in_fwlab(case: Case) -> Outcome:
    """Compare fwlab's weighted losses at margins x (m,), 0 for the true class, with the sets."""
    h = (ZERO, *in_order(case.x))[: case.m]
    scores = [float(x - int(j != 0)) for j, x in enumerate(h)]
    rho = [float(r) for r in case.rho]
    pairs = (
        (fwlab.WeightedTopK(rho), over_weighted_topk(h, case.rho)),
        (fwlab.WeightedUsunier(rho), over_weighted_usunier(h, case.rho)),
    )
    return both(*(equal(float(loss.value(scores, 0)), float(found)) for loss, found in pairs))


IN_FWLAB = Library(("fwlab.WeightedTopK.value", "fwlab.WeightedUsunier.value"), in_fwlab)


@claim(
    "T20-rho-prime",
    "2.2",
    "The weights of the levels in (2.13) and (2.14) are the rho at the ends of the levels.",
    formula=r"\rho'_\ell:=\rho_{k_\ell}",
    shapes="rho: (m,) with rho_m = 0, rho': (L,)",
    cases=weighted_rows,
    sides=("by levels", "by definition"),
    derived=version(
        "rho'_l = rho_{k_l} - rho_{k_{l+1}}, and rho_{k_L} for the last level",
        formula=r"\rho'_\ell:=\rho_{k_\ell}-\rho_{k_{\ell+1}},\quad \rho'_L:=\rho_{k_L}",
        differences=True,
    ),
    where_right=WhereRight("T20-eqA2", level_weights_solved, at="the first two lines of (A.2)"),
    planted=(version("twice the differences", differences=True, factor=2),),
    proofs=(by_solver("Weights with a single level, for which the printed rho' is right."),),
    library=IN_FWLAB,
    erratum=Erratum(
        "section 2.2, below (2.15)",
        r"\rho'_\ell:=\rho_{k_\ell}",
        r"\rho'_\ell:=\rho_{k_\ell}-\rho_{k_{\ell+1}}\ (\ell<L),\quad \rho'_L:=\rho_{k_L}",
        "The entry $h_{\\pi(j)}$ occurs in the sums over $\\pi(1:k_\\ell)$ of all levels with "
        "$k_\\ell\\geq j$, so the second line of (A.2) equals the first only if "
        "$\\sum_{\\ell:k_\\ell\\geq j}\\rho'_\\ell=\\rho_j$ for every j. Taking the difference of "
        "this for two neighbouring levels leaves $\\rho_{k_\\ell}-\\rho_{k_{\\ell+1}}$. With "
        "$\\rho=(1,1/2,0)$ and $h=(1,0,0)$ the loss is 1, and the printed weights give 3/2.",
        "The sets (2.13) and (2.14) are too large wherever rho has two levels: their maxima are "
        "not the weighted losses, as Theorem 2.1 needs.",
    ),
)
def level_weights(case: Case, differences: bool = False, factor: int = 1) -> Outcome:
    """Compare the sum of sorted entries in (A.2), and both weighted losses."""
    x, rho = in_order(case.x), case.rho
    steps = [(k, factor * step) for k, step in levels(rho, differences)]
    found = [
        equal(total(step * total(x[:k]) for k, step in steps), inner(rho, x)),
        equal(factor * over_weighted_usunier(x, rho, differences), weighted_usunier(x, rho)),
        equal(factor * over_weighted_topk(x, rho, differences), weighted_top_k(x, rho)),
    ]
    return both(*found)


@claim(
    "T20-eq2.13",
    "(2.13)",
    "The weighted top-k hinge is the maximum over the sums of lambda_l from top-k_l simplices, "
    "all filled to the same fraction zeta.",
    formula=r"\max\{0,\sum_j\rho_j h_{\pi(j)}\}=\max\{\langle\sum_\ell\lambda_\ell,h\rangle:\ "
    r"\lambda_\ell\in\Delta_{tk}(k_\ell,\rho'_\ell k_\ell),\ "
    r"\langle 1,\lambda_\ell\rangle=\zeta k_\ell\rho'_\ell\}",
    shapes="h, lambda_l: (m,); rho: (m,) with rho_m = 0",
    judged="rho' as differences; see T20-rho-prime",
    cases=weighted_rows,
    sides=SET_AND_LOSS,
    planted=(version("rho'_l = rho_{k_l}", differences=False),),
    proofs=(by_solver(),),
    library=IN_FWLAB,
)
def weighted_topk_set(case: Case, differences: bool = True) -> Outcome:
    x, rho = in_order(case.x), case.rho
    return equal(weighted_top_k(x, rho), over_weighted_topk(x, rho, differences))


@claim(
    "T20-eq2.14",
    "(2.14)",
    "The weighted Usunier loss is the maximum over the beta >= 0 that are at most a sum of "
    "lambda_l with entries at most rho'_l and sums at most k_l rho'_l.",
    formula=r"\sum_j\rho_j\max\{0,h_{\pi(j)}\}=\max\{\langle\beta,h\rangle:\ 0\leq\beta\leq"
    r"\sum_\ell\lambda_\ell,\ 0\leq\lambda_\ell\leq\rho'_\ell1,\ "
    r"\Vert\lambda_\ell\Vert_1\leq k_\ell\rho'_\ell\}",
    shapes="h, beta, lambda_l: (m,); rho: (m,) with rho_m = 0",
    judged="rho' as differences (T20-rho-prime); the set that is called Delta_uu there is (2.12)",
    cases=weighted_rows,
    sides=SET_AND_LOSS,
    planted=(
        version("rho'_l = rho_{k_l}", differences=False),
        version("no bound on the entries of lambda_l", capped=False),
    ),
    proofs=(by_solver(),),
    library=IN_FWLAB,
)
def weighted_usunier_set(
    case: Case, differences: bool = True, capped: bool = True, equality: bool = False
) -> Outcome:
    x, rho = in_order(case.x), case.rho
    largest = over_weighted_usunier(x, rho, differences, capped, equality)
    return equal(weighted_usunier(x, rho), largest)


@claim(
    "T20-eq2.14-sum",
    "(2.14)",
    "In (2.14) beta may be required to equal the sum of the lambda_l instead of "
    "being at most that sum; the maximum is the same.",
    formula=r"\beta=\sum_\ell\lambda_\ell",
    shapes="h, beta, lambda_l: (m,); rho: (m,) with rho_m = 0",
    cases=weighted_rows,
    sides=SET_AND_LOSS,
    planted=(
        version("rho'_l = rho_{k_l}", differences=False),
        version("no bound on the entries of lambda_l", capped=False),
    ),
    not_proved="the proof of (2.14) covers it: its lambda_l vanish where h is negative",
)
def equal_to_the_sum(case: Case, differences: bool = True, capped: bool = True) -> Outcome:
    return weighted_usunier_set.form(case, differences, capped, equality=True)


@claim(
    "T20-rho-m",
    "(2.7) (2.8) (2.15)",
    "For weights with rho_m = 0, so that k_L < m, the sets (2.13) and (2.14) give the weighted "
    "losses.",
    formula=r"\rho_1\geq\ldots\geq\rho_{m-1}\geq\rho_m=0",
    shapes="rho: (m,)",
    judged="rho' as differences; see T20-rho-prime",
    cases=weighted_rows,
    sides=SET_AND_LOSS,
    relaxed=version(
        "rho_m > 0 and k_L = m are allowed", cases=partial(weighted_rows, zero_ended=False)
    ),
    planted=(version("rho'_l = rho_{k_l}", differences=False),),
    proofs=(
        BySolver(
            "A weight rho_m > 0 that changes the last level.",
            cases=partial(symbolic_weights, zero_ended=False),
            assuming=sorted_weights,
            sized_by=("m",),
        ),
    ),
    library=Library(IN_FWLAB.names, in_fwlab, partial(weighted_rows, zero_ended=False)),
)
def last_weight(case: Case, differences: bool = True) -> Outcome:
    return both(
        weighted_topk_set.form(case, differences),
        weighted_usunier_set.form(case, differences),
    )
