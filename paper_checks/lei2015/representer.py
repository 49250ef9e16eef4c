"""Check LP15 section 3.1 and C.3: the representer map of Theorem 12."""

from collections.abc import Iterator

import numpy as np

from paper_checks.arithmetic import divide
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Erratum, Library, Outcome, claim, version
from paper_checks.lei2015 import exponents, in_fwlab
from paper_checks.lei2015.duality import ABOVE_ONE, printed_exponent
from paper_checks.lei2015.machine import HalfSquaredNorm, machines
from paper_checks.lei2015.norms import P_FROM_ONE
from paper_checks.outcomes import equal
from paper_checks.proofs import ByTheorem


def any_alpha(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield u for every p: random, with a row that is 0, and small integers for p = 1."""
    for p in P_FROM_ONE:
        for machine in machines(rng, 3):
            alpha = rng.standard_normal((len(machine.y), machine.c))
            yield Case(kind=f"p = {p:g}", p=p, u=alpha.T @ machine.x)
            alpha[:, 0] = 0
            yield Case(kind="a class with u_j = 0", p=p, u=alpha.T @ machine.x)
    for u in ((1, 1), (2, -1)):
        yield Case(kind="integers", p=1, u=np.array(u)[:, None])


@claim(
    "LP15-thm12",
    "Theorem 12",
    "For every alpha and p >= 1 the w that minimises the Lagrangian is the p*-power sum to 2/p* - "
    "1, times |u_j|^(p*-2) u_j, with u_j = sum_i alpha_ij phi(x_i).",
    formula=r"w_j=[\sum_{\tilde\jmath}\|u_{\tilde\jmath}\|_2^{p^*}]^{\frac{2}{p^*}-1}"
    r"\|u_j\|_2^{p^*-2}u_j,\quad u_j=\sum_i\alpha_{ij}\phi(x_i)",
    shapes="w, u: (c, d); alpha: (n, c)",
    judged="with 0 where u_j = 0, though |u_j|^(p*-2) u_j is 0/0 there for p > 2. At p = 1, "
    "where p* is infinite, many w minimise the Lagrangian.",
    cases=any_alpha,
    condition=ABOVE_ONE,
    planted=(version("twice it", factor=2), version("w = u", plain=True)),
    proofs=(
        ByTheorem(
            "an exponent that is wrong for a p that was not tried; with it the "
            "minimum of the Lagrangian, known from LP15-dual-norm, would not be "
            "attained",
            exponents.representer_attains,
            "all sizes and p > 1",
        ),
    ),
    library=Library(
        (
            "fwlab.lp_norm.LpNorm.representer",
            "fwlab.lp_norm.LpNorm.class_weights",
            "fwlab.lp_norm.LpNorm.value",
            "fwlab.lp_norm.LpNorm.conjugate",
        ),
        lambda case: in_fwlab.representer(case),
        lambda rng, deep: (case for case in any_alpha(rng, deep) if case.p > 1),
    ),
    erratum=Erratum(
        "section 3.1, Theorem 12",
        r"\mathrm{for\ }p\geq 1:\ w_j=[\sum_{\tilde\jmath}\|u_{\tilde\jmath}\|_2^{p^*}]"
        r"^{\frac{2}{p^*}-1}\|u_j\|_2^{p^*-2}u_j",
        r"\mathrm{for\ }p>1",
        r"At p = 1 the dual exponent is infinite, so that the formula has no value, and no formula "
        r"in $\alpha$ alone can give w: for d = 1 and u = (1, 1) every $w=(s,1-s)$, "
        r"$0\leq s\leq 1$, minimises $\frac{1}{2}(|w_1|+|w_2|)^2-w_1-w_2$ with the value "
        r"$-\frac{1}{2}$.",
        "At p = 1 no solution of (D) or (7) alone gives the machine; it has to come from "
        "(10) or from the primal problem.",
    ),
)
def representer(case: Case, factor: int = 1, plain: bool = False) -> Outcome:
    """Check that this w minimises the part of the Lagrangian in w.

    The minimum is -(1/2)|u|^2 in the dual norm.
    """
    u = case.u.astype(float)
    s = printed_exponent(case.p)
    rows = np.linalg.norm(u, axis=1)
    zero = np.zeros(u.shape[1])
    share = rows / rows.max()
    powers = (
        row ** (s - 1) * divide_rows(v, r, zero) for row, v, r in zip(share, u, rows, strict=True)
    )
    mapped = (share**s).sum() ** (2 / s - 1) * rows.max() * np.array(list(powers))
    w = factor * (u if plain else mapped)
    norm = HalfSquaredNorm(case.p)
    return equal(norm.value(w) - float((w * u).sum()), -norm.conjugate(u), p=case.p)


def divide_rows(v: np.ndarray, row: float, zero: np.ndarray) -> np.ndarray:
    """Return v/|v|, with 0 for 0/0, counted."""
    return v / row if row else np.asarray(divide(0, 0, zero_over_zero=zero))
