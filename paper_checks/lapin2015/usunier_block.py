"""Check L15 section 5: the set of one block of dual variables for the Usunier version."""

from collections.abc import Iterator
from fractions import Fraction

import reference
from paper_checks.arithmetic import all_of, is_symbolic
from paper_checks.cases import Rng, changed
from paper_checks.definitions import in_simplex
from paper_checks.lapin2015.blocks import blocks, is_best, true_corners, updated, with_block
from paper_checks.lapin2015.duality import fenchel_dual, gram, scores
from paper_checks.lapin2015.forms import iff
from paper_checks.ledger import Case, Erratum, Outcome, claim, version
from paper_checks.outcomes import both, truth
from paper_checks.proofs import BySolver, symbolic_sizes
from paper_checks.symbols import real, reals
from reference.exact_projection import knapsack


def usunier_blocks(rng: Rng, deep: bool) -> Iterator[Case]:
    return (c for c in blocks(rng, deep) if isinstance(c.loss, reference.Usunier))


def boxes(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the blocks of the Usunier version, each with its radius r = 1/(lam n) and a point x."""
    for case in usunier_blocks(rng, deep):
        r = 1 / (case.lam * len(case.y))
        x = tuple(Fraction(int(step), 4) for step in rng.integers(0, 5, case.m - 1))
        yield changed(case, r=r, x=x)


def symbolic_boxes(deep: bool) -> Iterator[Case]:
    for m, k in symbolic_sizes(5 if deep else 4):
        if k < m:
            yield Case(kind="symbols", m=m, k=k, r=real("r"), x=reals("x", m - 1))


@claim(
    "L15-usunier-radius",
    "section 5",
    "The update for the Usunier version is the biased projection onto the set with sum at most "
    "r = 1/(lam n) and entries at most u = 1/k.",
    formula=r"\min\ \frac{1}{2}\|a-x\|^2+\frac{1}{2}\rho s^2,\quad "
    r"s=\langle 1,x\rangle\leq r,\ 0\leq x_i\leq\frac{1}{k}",
    shapes="a, x: (m - 1,); r > 0; 1 <= k < m, x_i not 0",
    judged="u = 1/k is printed both in (9), for every r, and in section 5, so it is not a "
    "typing error. The "
    "set is right where r = 1.",
    cases=boxes,
    corrected=version(
        "u = r/k: the conjugate's argument is lam n times the block",
        scaled=True,
        formula=r"s=\langle 1,x\rangle\leq r=\frac{1}{\lambda n},\ 0\leq x_i\leq\frac{r}{k}",
    ),
    planted=(
        version("u = r", scaled=True, cap=1),
        version("rho = 0", scaled=True, rho=0),
    ),
    sides=("in the set as printed", "in the domain by Theorem 1 and Proposition 5"),
    proofs=(
        BySolver(
            "A point that is in only one of the two sets, at radii that the problems do not have.",
            cases=symbolic_boxes,
            assuming=lambda case: case.r > 0,
        ),
    ),
    erratum=Erratum(
        "(9) and section 5",
        r"\tilde\Delta_k(r)=\{x\,|\,\langle 1,x\rangle\leq r,\ 0\leq x_i\leq\frac{1}{k}\},"
        r"\quad u=\frac{1}{k}",
        r"\tilde\Delta_k(r)=\{x\,|\,\langle 1,x\rangle\leq r,\ 0\leq x_i\leq\frac{r}{k}\},"
        r"\quad u=\frac{r}{k}",
        r"By Theorem 1 the block $x$ obeys $\lambda n\,x\in\tilde\Delta_k(1)$, that is "
        r"$\langle 1,x\rangle\leq r$ and $x_i\leq\frac{r}{k}$ with $r=\frac{1}{\lambda n}$. For "
        r"$k=1$ both losses are the multiclass SVM's, whose update is on $\Delta_1(r)$ by "
        r"Proposition 4: for $r=2$ the entry may be 2, where $u=\frac{1}{k}$ allows 1.",
        "The update of section 5 is not the block's maximiser if lam n is not 1.",
    ),
)
def usunier_update(
    case: Case, scaled: bool = False, cap: int | None = None, rho: int = 1
) -> Outcome:
    """State that the set is the domain of the block.

    On numbers, also state that no move raises the dual at the update.
    """
    upper = (case.r if scaled else Fraction(1)) / (cap or case.k)
    inside = all_of(in_simplex(case.x, case.r), *(x <= upper for x in case.x))
    allowed = all_of(in_simplex(case.x, case.r), *(case.k * x <= case.r for x in case.x))
    same_set = truth(iff(inside, allowed), left=inside, right=allowed)
    if is_symbolic(case.x) or not hasattr(case, "X"):
        return same_set
    K, region = gram(case.X), knapsack(upper, case.r)
    a = updated(scores(case.A, K, 0), case.A[0], K[0][0], case.y[0], region, Fraction(rho))
    corners = true_corners(case, 0, 1 / case.r)
    return both(same_set, is_best(case, with_block(case.A, 0, a), fenchel_dual, corners))
