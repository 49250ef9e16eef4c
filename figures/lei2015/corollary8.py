"""LP15 Corollary 8: the bound on the risk against c and p, earlier bounds and the measured risk.

The machine minimises the mean hinge loss plus (lam/2) |w|^2_{2,p}. As the objective is 1 at w = 0,
it lies in H_{p,Lambda} with Lambda = sqrt(2/lam) for every sample, so all bounds hold for it. Its
risk is measured on fresh rows.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from figures.kit.captions import Caption
from figures.kit.exponents import exponent
from figures.kit.findings import FigureFinding
from figures.kit.judge import judge
from figures.kit.readings import Reading, Tried, told_failures, truth_distance
from figures.kit.study import Study
from figures.kit.style import label_curves, light_grid, new_figure, series, state
from fwlab import bounds
from fwlab.experiments import Cell

CLASSES = {"quick": (3, 10), "standard": (3, 10, 30, 100, 300, 1000)}
CLASSES["full"] = (*CLASSES["standard"], 3000)
PS = {"quick": (1.05, 2.0), "standard": (1.02, 1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0)}
PS["full"] = PS["standard"]
# the c of the panel against p, and the p of the panels against c; 1.05 is in Corollary 8's first
# case for all c up to 3000
FIXED_C = {"quick": 3, "standard": 100, "full": 100}
FIXED_PS = (2.0, 1.05)
SIZES = {
    "quick": {"n": 100, "n_test": 200, "draws": 5},
    "standard": {"n": 10_000, "n_test": 10_000, "draws": 50},
    "full": {"n": 10_000, "n_test": 100_000, "draws": 500},
}
D, SEPARATION, SEED, LAM, DELTA = 50, 0.4, 0, 0.02, 0.05
TOL, MAX_ITER = 1e-3, 300
STORED = 5e-6  # the relative error of a stored number, which has six digits
# the stored name, the label, and the place in the common series
CURVES = (
    ("remark_6", "earlier: Remark 6", 1),
    ("corollary_8", "Corollary 8", 0),
    ("theorem_5", "Theorem 5", 2),
    ("equation_6", "earlier: (6)", 3),
    ("risk", "measured risk", 7),
)
SECONDS = {"quick": 3, "standard": 40, "full": 3600}


def cells(size: str) -> list[Cell]:
    """Return the cells: every c at both fixed p, and every p at the fixed c."""
    pairs = [(c, p) for p in FIXED_PS for c in CLASSES[size]]
    pairs += [(FIXED_C[size], p) for p in PS[size]]
    return [
        Cell(name(c, p), risk_and_bounds, {"c": c, "p": p, **SIZES[size]}, cost=float(c))
        for c, p in dict.fromkeys(pairs)
    ]


def name(c: int, p: float) -> str:
    return f"c = {c}, p = {p:g}"


def risk_and_bounds(c: int, p: float, n: int, n_test: int, draws: int) -> dict[str, Any]:
    """Return the machine's risk and all bounds on it, with the margin loss: L = B = 1.

    The entry "equation_6", None unless p = 2, bounds only the expected risk. It is for the hinge,
    the limit of the printed loss; the infimum in it is estimated with a machine trained on the
    fresh rows, whose mean loss on the training rows is unbiased.
    """
    data = fwlab.datasets.synthetic(n, D, c, SEPARATION, SEED, "unit", n_test)
    X, y, fresh, y_fresh = data.X_train, data.y_train, data.X_test, data.y_test
    assert fresh is not None and y_fresh is not None
    machine = trained(X, y, c, p, LAM)
    Lambda, trace = math.sqrt(2 / LAM), float((X**2).sum())
    mean_loss = float(np.clip(1 - margins(X, y, machine.W), 0, 1).mean())
    supremum, error = bounds.expected_supremum(X, c, p, Lambda, draws)
    complexity, _ = bounds.component_complexity(X, Lambda, 10 * draws)
    least = None
    if p == 2:
        strength = LAM * n / (n + 1)
        W = trained(fresh, y_fresh, c, p, strength).W
        least = fwlab.Problem(X, y, fwlab.MaxHinge(), strength, n_classes=c).primal(W)
        largest = float((X**2).sum(axis=1).max())
        least = bounds.class_size_independent_bound(least, largest, LAM, n)
    return {
        "risk": float((margins(fresh, y_fresh, machine.W) <= 0).mean()),
        "mean_loss": mean_loss,
        "confidence": bounds.confidence_term(n, DELTA),
        "theorem_5": bounds.theorem_5(mean_loss, supremum, n, DELTA),
        "relative_error": error / supremum,
        "corollary_8": bounds.corollary_8(mean_loss, trace, p, Lambda, c, n, DELTA),
        "remark_6": bounds.earlier_rademacher_bound(mean_loss, complexity, c, n, DELTA),
        "equation_6": least,
        "gap": machine.gap,
    }


def trained(X: Any, y: np.ndarray, c: int, p: float, lam: float) -> fwlab.Result:
    problem = fwlab.Problem(X, y, fwlab.MaxHinge(), lam, n_classes=c, regularizer=fwlab.LpNorm(p))
    return fwlab.solve(problem, "ascent" if p == 2 else "direct", TOL, max_iter=MAX_ITER)


def margins(X: Any, y: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return the score of the true class minus the largest other score, (n,)."""
    scores, rows = X @ W.T, np.arange(len(y))
    own = scores[rows, y]
    scores[rows, y] = -np.inf
    return own - scores.max(axis=1)


def finding(values: dict[str, Any], size: str) -> FigureFinding:
    """Return the finding: the bound holds in every case and grows with c as Remark 9 says."""
    holds = all(v["corollary_8"] >= v["risk"] for v in values.values())
    cells = {f"the bound is at least the risk in all {len(values)} cases": truth_distance(holds)}
    for p in FIXED_PS:
        found = [values[name(c, p)] for c in CLASSES[size]]
        growth = stated_growth(np.array(CLASSES[size]), p)
        shares = terms(found, "corollary_8") / growth
        errors = STORED * sizes(found, "corollary_8") / growth
        rises = bool((np.diff(shares) > errors[1:] + errors[:-1]).any())
        cells[f"p = {p:g}: no faster than stated"] = truth_distance(not rises)
    one = [Tried(Reading("", source="LP15 Corollary 8, Remark 9"), cells)]
    what = "statements on synthetic data hold"
    return judge(one, 0.0, what, told_failures(one, 0.0), ("LP15-cor8", "LP15-rem9"))


def stated_growth(c: np.ndarray, p: float) -> np.ndarray:
    """Return the growth that Remark 9 states: c^((p-1)/p) above the threshold, else log c."""
    doubled = 2 * np.log(c)
    return np.where(p > doubled / (doubled - 1), c ** ((p - 1) / p), np.log(c))


def plot(study: Study) -> list[Path]:
    values, size = study.values, study.size
    figure = new_figure(8.2)
    axes = figure.subplots(3, 1)
    classes, ps, fixed_c = CLASSES[size], PS[size], FIXED_C[size]
    for ax, p in zip(axes, FIXED_PS, strict=False):
        draw(ax, classes, [values[name(c, p)] for c in classes])
        ax.set(xscale="log", xlabel="number of classes $c$", title=f"$p$ = {p:g}")
    draw(axes[2], ps, [values[name(fixed_c, p)] for p in ps])
    axes[2].set(xlabel="$p$", title=f"$c$ = {fixed_c}")
    useful = sum(v["corollary_8"] < 1 for v in values.values())
    below = sum(v["corollary_8"] < v["remark_6"] for v in values.values())
    state(
        figure,
        f"Corollary 8 is below the earlier bound in {below} of {len(values)} cases, "
        f"and below 1, where it is not vacuous, in {useful}",
    )
    label_curves(axes, fontsize=7.5)
    return study.save_figure(figure, caption(study))


def draw(ax: Any, x: Any, found: list[dict[str, Any]]) -> None:
    """Draw the risk and the bounds; above the line at 1 a bound is vacuous."""
    ax.axhline(1.0, color="#4d4d4d", linewidth=0.8)
    for key, label, index in CURVES:
        shown = [(at, v[key]) for at, v in zip(x, found, strict=True) if v[key]]
        ax.plot(*np.array(shown).reshape(-1, 2).T, **series(index), label=label)
    light_grid(ax)
    ax.set(yscale="log", ylabel="risk, and bounds on it")


def caption(study: Study) -> Caption:
    values, size = study.values, study.size
    n, n_test, draws = (SIZES[size][key] for key in ("n", "n_test", "draws"))
    every = list(values.values())
    capped = [key for key, v in values.items() if v["gap"] > TOL]
    return Caption(
        title="LP15 Corollary 8: bounds on the risk against c and p, synthetic data",
        shows=(
            "The risk of the trained machine, measured on fresh rows, and bounds on it that hold "
            f"with probability {1 - DELTA:g}; (6) bounds its expectation. Above the "
            f"line at 1 a bound is vacuous. Remark 6 and Theorem 5 are drawn with "
            f"Monte-Carlo estimates of "
            "the complexities in them, relative error at most "
            f"{max(v['relative_error'] for v in every):.1g}."
            + (f" These fits met the cap: {', '.join(capped)}." if capped else "")
        ),
        settings=(
            f"Gaussian classes, n = {n}, d = {D}, means {SEPARATION} N(0, I), unit rows, seed "
            f"{SEED}; {n_test} fresh rows; margin loss with rho = 1 in the bounds; hinge loss, "
            f"lam = {LAM}, Lambda = sqrt(2/lam) = {math.sqrt(2 / LAM):g}, gap {TOL:g} or "
            f"{MAX_ITER} iterations in training; {draws} draws of the supremum, {10 * draws} of "
            "the Rademacher complexity, seed 0; (6) with the hinge loss, the limit of the printed "
            "one."
        ),
        agreement=compared(values, size),
    )


def compared(values: dict[str, Any], size: str) -> str:
    """Return a sentence on the growth with c, the order of the bounds, and how many are useful."""
    classes, every = CLASSES[size], list(values.values())
    told = []
    for p in FIXED_PS:
        found = [values[name(c, p)] for c in classes]
        powers = {key: exponent(classes, terms(found, key))[0] for key, _, _ in CURVES[:3]}
        told.append(
            f"at p = {p:g} the complexity term of Corollary 8 has {powers['corollary_8']:.2f}, of "
            f"Theorem 5 {powers['theorem_5']:.2f}, of Remark 6 {powers['remark_6']:.2f}"
        )
    ratios = terms(every, "corollary_8") / terms(every, "theorem_5")
    below = sum(v["corollary_8"] < v["remark_6"] for v in every)
    useful = {key: sum((v[key] or np.inf) < 1 for v in every) for key, _, _ in CURVES[:4]}
    violated = [
        f"{label} at {case}"
        for key, label, _ in CURVES[:4]
        for case, v in values.items()
        if v[key] is not None and v[key] < v["risk"]
    ]
    logarithm, _ = exponent(classes, np.log(classes))
    return (
        "The paper: c^((p-1)/p) above the threshold, log c below, linear before. Fitted powers: "
        f"{'; '.join(told)}; log c itself has {logarithm:.2f}. Corollary 8's term is "
        f"{ratios.min():.1f} to {ratios.max():.1f} times Theorem 5's; its bound is below Remark "
        f"6's in {below} of {len(every)} cases. Below 1 are: Corollary 8 in "
        f"{useful['corollary_8']}, Theorem 5 in {useful['theorem_5']}, Remark 6 in "
        f"{useful['remark_6']}, (6) in {useful['equation_6']} of the "
        f"{sum(v['equation_6'] is not None for v in every)} to which it applies. "
        f"Below the measured risk: "
        f"{', '.join(violated) or 'none'}."
    )


def terms(found: list[dict[str, Any]], key: str) -> np.ndarray:
    """Return the complexity terms: the bounds without mean loss and confidence term."""
    return np.array([v[key] - v["mean_loss"] - v["confidence"] for v in found])


def sizes(found: list[dict[str, Any]], key: str) -> np.ndarray:
    """Return the sums of the absolute values of the parts of each complexity term."""
    return np.array([v[key] + v["mean_loss"] + v["confidence"] for v in found])
