"""Our own: the proved worst case of Frank-Wolfe with steps ell/(t+ell-1), and runs on real duals.

The error max D - D(A_t) in units of the curvature C = max <S - A, H (S - A)> over the domain, H
minus the Hessian of D: lam |w(V)|^2 + smoothing/n |V|_F^2 is <V, H V>. Proved for all t is
ell^2/(2 (ell - 1)) C/(t + ell); for the first t, a smaller bound by exact certificates, and a
training problem that comes near it. A run is drawn too high rather than too low: its error is taken
to the least primal found, and in units of a lower bound of C.
"""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.kit.style import label_curves, log_axes, new_figure, series, state
from figures.kit.tables import Table
from figures.own.subsets import DIGITS, REAL, random_rows
from fwlab.experiments import Cell, DataName

ELLS = (2, 4)
SMOOTHINGS = (0.0, 1.0)
FIRST = {"quick": (1, 2, 3), "standard": (1, 2, 3, 5, 8, 12, 20)}
FIRST["full"] = FIRST["standard"]
STEPS = {"quick": 50, "standard": 10_000, "full": 10_000}
ROWS = {"quick": 60, "standard": 200, "full": 200}
K, TOL = 3, 1e-10
# certificates need a bound a little above the least one
SLACK = Fraction(1001, 1000)
POINTS = 120
STARTS = 5
SECONDS = {"quick": 4, "standard": 150, "full": 150}


def cells(size: str) -> list[Cell]:
    data = DIGITS if size == "quick" else REAL
    theory = [Cell(f"ell = {e}", worst_cases, {"ell": e, "times": FIRST[size]}) for e in ELLS]
    settings = {"rows": ROWS[size], "ells": ELLS, "steps": STEPS[size]}
    return theory + [
        Cell(f"{name}|{smoothing:g}", runs, {"data": one, "smoothing": smoothing, **settings})
        for name, one in data.items()
        for smoothing in SMOOTHINGS
    ]


def worst_cases(ell: int, times: tuple[int, ...]) -> dict[str, Any]:
    """Return the proved bound for all t as (c, ell), meaning c C/(t + ell), and for some t the
    bound of an exact certificate and the error of a training problem, in units of C."""
    # only this cell needs the packages behind them
    from paper_checks.performance_estimation import find_certificate, least_bound, open_loop_steps
    from paper_checks.rate_recurrence import prove_for_every_numerator, usual_constant
    from paper_checks.worst_case_training import rounded, slowest

    if not prove_for_every_numerator():
        raise RuntimeError("the bound for all t is not proved")
    found: dict[str, Any] = {"for_all": [float(usual_constant(ell)), ell], "t": list(times)}
    proved, reached = [], []
    for t in times:
        steps = open_loop_steps(t, ell, ell - 1)
        bound = (Fraction(least_bound(steps, "quadratic")) * SLACK).limit_denominator(10**6)
        if find_certificate(steps, bound, "quadratic") is None:
            raise RuntimeError(f"no certificate was found for ell = {ell}, t = {t}")
        proved.append(float(bound))
        problem = slowest(steps, lead=2e-4)
        if problem is None:
            raise RuntimeError(f"no slow training problem was found for ell = {ell}, t = {t}")
        training = rounded(*problem, decimals=4)
        reached.append(float(training.errors(steps)[-1] / training.curvature))
    return {**found, "proved": proved, "reached": reached}


def runs(
    data: DataName, smoothing: float, rows: int, ells: tuple[int, ...], steps: int
) -> dict[str, Any]:
    """Return upper bounds of the errors in units of C, thinned, and the largest share of the bound
    for all t that any step reaches."""
    X, y = random_rows(data, rows)
    classes = data.load().n_classes
    problem = fwlab.Problem(
        X, y, fwlab.TopK(K), 1 / len(y), smoothing=smoothing, n_classes=classes
    )
    best = fwlab.solve(problem, "auto", TOL, max_iter=5000)
    curvature = curvature_found(problem)
    found: dict[str, Any] = {"curvature": curvature, "gap": best.gap}
    kept = np.unique(np.geomspace(1, steps, POINTS).astype(int))
    for ell in ells:
        rule = fwlab.FrankWolfe(step=fwlab.OpenLoop(ell))
        trace = fwlab.solve(problem, rule, tol=0.0, max_iter=steps, check_every=1).trace
        t = np.arange(1, steps + 1)
        errors = (best.primal + best.gap_error - trace.dual[1:]) / curvature
        bound = ell**2 / (2 * (ell - 1)) / (t + ell)
        found[f"ell = {ell}"] = {
            "t": kept,
            "error": errors[kept - 1],
            "share": float(np.max(errors / bound)),
            "errors_at_first": errors[:20],
        }
    return found


def curvature_found(problem: fwlab.Problem) -> float:
    """Return a lower bound of C: <V, H V> at differences V of two vertices, climbed to a local
    maximum from several starts."""
    rng = np.random.default_rng(0)
    loss, y = problem.loss, problem.y
    best = 0.0
    for _ in range(STARTS):
        slope = problem.X @ rng.normal(size=(problem.X.shape[1], problem.n_classes))
        value, last = 0.0, -1.0
        while value > last:
            V = loss.lmo(-slope, y) - loss.lmo(slope, y)
            W = problem.weights(V)
            square = problem.lam * np.sum(W**2)
            square += problem.smoothing * np.sum(V**2) / problem.n_samples
            value, last = float(square), value
            slope = problem.X @ W.T + problem.smoothing * V
        best = max(best, value, last)
    return best
