"""Check T20 section 2.2: the sets of the losses without weights."""

from fractions import Fraction
from typing import Any

import numpy as np

import fwlab
import reference
from paper_checks.arithmetic import is_symbolic
from paper_checks.definitions import margins, top_k, usunier
from paper_checks.ledger import Case, Library, Outcome, claim, version
from paper_checks.outcomes import both, equal
from paper_checks.proofs import BySolver
from paper_checks.tajima2020.losses import SET_AND_LOSS, fwlab_value
from paper_checks.tajima2020.polytopes import (
    Inequalities,
    over,
    topk_simplex,
    usunier_simplex,
    vertices,
)
from paper_checks.tajima2020.rows import exact_rows, symbolic_rows


def in_fwlab(loss: Any, polytope: Inequalities, case: Case) -> Outcome:
    """Compare fwlab's loss with the maximum over a set, and its vertices with the set's."""
    largest = over(polytope, margins(case.s, case.y))
    # beta to <1, beta> e_y - beta
    signs = np.eye(case.m)[:, [case.y]] - np.eye(case.m)
    images = [signs @ np.array(beta, float) for beta in vertices(polytope)]
    return both(
        equal(fwlab_value(loss, case), float(largest)),
        equal(extents(loss.vertices(case.m, case.y)), extents(np.array(images))),
    )


def extents(points: np.ndarray) -> list[float]:
    """Return the maxima of fixed linear functions over points, which are equal for equal hulls."""
    directions = np.random.default_rng(0).integers(-9, 10, (40, points.shape[1]))
    return list(np.max(points @ directions.T, axis=0))


@claim(
    "T20-eq2.12",
    "(2.12)",
    "The Usunier loss is the maximum over the beta >= 0 with sum at most 1 and entries at most "
    "1/k.",
    formula=r"\Phi_{uu}(s;y)=\max\{\langle\beta,h\rangle:\ \beta\geq 0,\ \Vert\beta\Vert_1\leq 1,"
    r"\ \beta\leq\frac{1}{k}1\}",
    shapes="s, beta, h = 1 - e_y + s - s_y 1: (m,); 1 <= k <= m",
    cases=exact_rows,
    sides=SET_AND_LOSS,
    planted=(
        version("sum at most 1/2", radius=Fraction(1, 2)),
        version("entries at most 1", cap=lambda k: 1),
    ),
    proofs=(
        BySolver(
            "A wrong cap that has an effect only for signs of the margins that were not sampled.",
            cases=symbolic_rows,
        ),
    ),
    library=Library(
        ("fwlab.Usunier.value", "fwlab.Usunier.vertices"),
        lambda case: in_fwlab(
            fwlab.Usunier(case.k), usunier_simplex(case.m, Fraction(1, case.k)), case
        ),
    ),
)
def usunier_polytope(case: Case, radius: Fraction | int = 1, cap: Any = None) -> Outcome:
    h, k = margins(case.s, case.y), case.k
    largest = Fraction(1, k) if cap is None else cap(k)
    found = equal(usunier(h, k), over(usunier_simplex(case.m, largest, radius), h))
    if is_symbolic(case.s):
        return found
    return both(found, equal(reference.Usunier(k).value(case.s, case.y), usunier(h, k)))


@claim(
    "T20-eq2.11",
    "(2.11)",
    "The top-k hinge is the maximum over the beta >= 0 with sum at most 1 and no entry above 1/k "
    "of the sum.",
    formula=r"\Phi_{utk}(s;y)=\max\{\langle\beta,h\rangle:\ \beta\geq 0,\ \Vert\beta\Vert_1\leq 1,"
    r"\ \beta\leq\frac{1}{k}\Vert\beta\Vert_1 1\}",
    shapes="s, beta, h = 1 - e_y + s - s_y 1: (m,); 1 <= k <= m",
    cases=exact_rows,
    sides=SET_AND_LOSS,
    planted=(version("the cap 1/k of the Usunier loss", usunier=True),),
    proofs=(
        BySolver(
            "The set of the Usunier loss, which gives the same value unless margins "
            "of both signs are among the k largest.",
            cases=symbolic_rows,
        ),
    ),
    library=Library(
        ("fwlab.TopK.value", "fwlab.TopK.vertices"),
        lambda case: in_fwlab(fwlab.TopK(case.k), topk_simplex(case.m, case.k), case),
    ),
)
def topk_polytope(case: Case, usunier: bool = False) -> Outcome:
    m, k, h = case.m, case.k, margins(case.s, case.y)
    polytope = usunier_simplex(m, Fraction(1, k)) if usunier else topk_simplex(m, k)
    found = equal(top_k(h, k), over(polytope, h))
    if is_symbolic(case.s):
        return found
    return both(found, equal(reference.TopK(k).value(case.s, case.y), top_k(h, k)))
