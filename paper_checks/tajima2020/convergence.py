"""T20 section 3.1: how fast Frank-Wolfe converges with steps fixed ahead."""

from collections.abc import Callable
from itertools import product

import numpy as np

from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import at_most
from paper_checks.tajima2020.programs import dual_optimum, trainings
from reference import exact


@claim(
    "T20-open-loop",
    "3.1",
    "With the steps 2/(t+1) the error of the dual after t steps is at most 2 C/(t+2), C the "
    "curvature of D over its domain.",
    formula=r"\gamma_t=\frac{2}{t+1}:\quad \max D-D(A^{(t)})\leq\frac{2C}{t+2},\ "
    r"C=\lambda\max_{S,A}\Vert w(S-A)\Vert^2",
    shapes="A, S in the domain: (m, n); t = 1, 2, ..",
    judged="the guarantee as Jaggi (2013) states it, which the paper cites",
    cases=lambda rng, deep: (
        Case(**{**vars(case), "steps": 3000 if deep else 300})
        for case in trainings(rng, deep)
        if len(case.y) <= 2 and len(case.A[0]) <= 3
    ),
    planted=(
        version("steps 1/4", step=lambda t: 0.25),
        version("steps 2/(t+1)^2", step=lambda t: 2 / (t + 1) ** 2),
    ),
)
def fixed_steps(case: Case, step: Callable[[int], float] = lambda t: 2 / (t + 1)) -> Outcome:
    """From each sample's first vertex; D is followed along the same convex combinations."""
    lam, n = float(case.lam), len(case.y)
    psi = case.features.astype(float)
    pieces = [exact.pieces(case.loss, psi.shape[1], y) for y in case.y]
    vertices = [-np.array(list(p), float) for p in pieces]
    links = [v @ psi_i / (lam * n) for v, psi_i in zip(vertices, psi, strict=True)]
    offsets = [np.array(list(p.values()), float) / n for p in pieces]
    optimum = dual_optimum(case)[1]
    bound = 2 * curvature(lam, links)

    w, offset = sum(link[0] for link in links), sum(o[0] for o in offsets)
    worst = np.inf
    for t in range(1, case.steps + 1):
        best = [int(np.argmax(o - lam * link @ w)) for o, link in zip(offsets, links, strict=True)]
        target = sum(link[j] for link, j in zip(links, best, strict=True))
        w = w + step(t) * (target - w)
        offset += step(t) * (sum(o[j] for o, j in zip(offsets, best, strict=True)) - offset)
        error = optimum - (offset - lam / 2 * float(w @ w))
        worst = min(worst, bound - error * (t + 2))
    return at_most(0.0, float(worst), allowed=1e-5 * case.steps)


def curvature(lam: float, links: list[np.ndarray]) -> float:
    """The largest lam |w(S - A)|^2: a convex function, so vertices suffice."""
    differences = [np.unique(np.vstack([a - link for a in link]), axis=0) for link in links]
    return lam * max(float(np.sum(np.sum(d, axis=0) ** 2)) for d in product(*differences))
