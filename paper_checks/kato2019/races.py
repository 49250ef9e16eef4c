"""K19 sections 7.1 to 7.3 on data: how fast the Frank-Wolfe methods converge.

All at lam = 1/n and k = 3, as in the paper. Only a deep run has the time for all of News20.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

import fwlab
from paper_checks.cases import Rng
from paper_checks.data_sets import data_set
from paper_checks.kato2019.counted_methods import METHODS
from paper_checks.kato2019.data import problem_on, sample
from paper_checks.ledger import Case, Experiment, Outcome, Tier, claim, version
from paper_checks.outcomes import both, counted, effect, less

# iterations of a method that does not get there
CAP = 1000
REACHED = 1e-3
NEWS20 = ("News20", "news20_svd1024", 15_935)


def races(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield random subsets of other data and, if deep, all of News20; k = 3."""
    sets = [("digits", "digits", 100), ("synthetic-a", "synthetic-a", 200)]
    if deep:
        yield Case(kind=NEWS20[0], data=NEWS20[0], name=NEWS20[1], n=NEWS20[2], k=3, seed=0)
        sets.append(("letter", "letter", 100))
    for data, name, n in sets:
        for seed in rng.integers(1000, size=3 if deep else 2).tolist():
            yield Case(
                kind=f"{data}, {n} rows", data=f"part of {data}", name=name, n=n, k=3, seed=seed
            )


def races_of_methods(rng: Rng, deep: bool) -> Iterator[Case]:
    for case in races(rng, deep):
        for method in ("fw", "afw", "pfw"):
            yield Case(**{**vars(case), "kind": f"{method}, {case.kind}", "method": method})


def flat(k: int) -> tuple[float, ...]:
    return (1 / k,) * k


@lru_cache(maxsize=256)
def operations(name: str, n: int, seed: int, method: str, k: int, limit: float = np.inf) -> float:
    """Operations that a counted method does until its gap is 1e-3; infinite if there were more
    than the limit, or more iterations than the cap."""
    rows = sample(name, n, seed)
    rho = np.zeros(rows.m)
    rho[:k] = 1 / k
    run = METHODS[method](rows.X, rows.y, rho, 1 / n, sorting=False)
    for _ in range(CAP):
        before = run.operations
        if run.iterate() <= REACHED:
            return before
        if run.operations > limit:
            break
    return np.inf


@claim(
    "K19-fig2-order",
    "7.1",
    "Without smoothing the standard Frank-Wolfe method reaches a gap of 1e-3 sooner than the "
    "away-step and the pairwise method.",
    formula=r"t_{FW}<\min(t_{AFW},t_{PFW})",
    judged="sooner is read as: after fewer operations, counted in instrumented methods; the paper "
    "gives seconds of its code. A method that has not got there when the standard one has is "
    "later. News20 in a deep run, with rows scaled to length 1.",
    cases=races,
    experiment=Experiment(data=("FMD", "News20")),
    planted=(
        version("later than the away-step method", sign=-1, others=("afw",)),
        version("later than the pairwise method", sign=-1, others=("pfw",)),
    ),
    not_proved="an experiment",
)
def standard_is_first(case: Case, sign: int = 1, others: Sequence[str] = ("afw", "pfw")) -> Outcome:
    run = case.name, case.n, case.seed
    first = operations(*run, "fw", case.k)
    if first == np.inf:
        return effect(-1.0, 1.0, Tier.COUNTED, fw="more than the cap")
    outcomes = []
    for other in others:
        second = operations(*run, other, case.k, first)
        seen = {"fw": first, other: "more" if second == np.inf else second}
        second = min(second, 2 * first)
        left, right = (first, second) if sign == 1 else (second, first)
        outcomes.append(counted(int(left), int(right), **seen))
    return both(*outcomes)


@lru_cache(maxsize=256)
def iterations(
    name: str,
    n: int,
    seed: int,
    method: str,
    rho: tuple[float, ...],
    smoothing: float = 0.0,
    cap: int = CAP,
) -> float:
    """Iterations of fwlab's method to a gap of 1e-3; infinite if more than the cap."""
    problem = problem_on(sample(name, n, seed), fwlab.WeightedTopK(rho), smoothing=smoothing)
    trace = fwlab.solve(problem, method, tol=REACHED, max_iter=cap, check_every=1).trace
    return float(trace.iteration[-1]) if trace.gap[-1] <= REACHED else np.inf


@claim(
    "K19-fig3-gamma",
    "7.2, Figure 3",
    "The larger the smoothing, the fewer iterations every Frank-Wolfe method takes to a gap of "
    "1e-3.",
    formula=r"t(\gamma=10^{-1})<t(\gamma=0)",
    judged="smallest and largest smoothing of Figure 3. The gap is that of the smoothed problem, "
    "which is at most (27). News20 in a deep run, with rows scaled to length 1.",
    cases=races_of_methods,
    experiment=Experiment(data=("News20",)),
    planted=(version("the more iterations", sign=-1),),
    not_proved="an experiment",
)
def smoothing_is_faster(case: Case, sign: int = 1) -> Outcome:
    run = case.name, case.n, case.seed, case.method, flat(case.k)
    smooth, plain = (iterations(*run, smoothing) for smoothing in (0.1, 0.0))
    seen = {"smoothing 0.1": smooth, "smoothing 0": plain}
    if smooth == plain:
        return effect(-1.0, 1.0, Tier.FLOAT, **seen)
    return less(*(smooth, plain) if sign == 1 else (plain, smooth), **seen)


def first_iterations(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield News20 with rows of length 1 and as they are: the text does not say which."""
    for scaling in ("unit", None):
        kind = "rows of length 1" if scaling else "rows as they are"
        yield Case(kind=kind, data="News20", scaling=scaling)


@claim(
    "K19-fig3-eight",
    "7.2",
    "With smoothing 0.1 the gap on News20 falls below 1e-3 within eight iterations.",
    formula=r"\gamma=10^{-1}:\quad \min_{t\leq8}\mathrm{Gap}_{stk}(A^{(t)})<10^{-3}",
    judged="the standard method at lam = 1/n and k = 3, with the smallest gap of the smoothed "
    "problem, which is at most (27). Our News20 is re-derived from the messages; its scale is "
    "tried in two ways.",
    cases=first_iterations,
    experiment=Experiment(data=("News20",)),
    planted=(version("below 1e-4", level=1e-4),),
    not_proved="an experiment",
)
def within_eight(case: Case, level: float = REACHED) -> Outcome:
    data = data_set("news20_svd1024", case.scaling)
    n = len(data.y_train)
    problem = fwlab.Problem(
        data.X_train, data.y_train, fwlab.TopK(3), 1 / n, smoothing=0.1, n_classes=20
    )
    gaps = fwlab.solve(problem, "fw", tol=0.0, max_iter=8, check_every=1).trace.gap
    return less(float(np.min(gaps)), level)


@claim(
    "K19-fig4-weights",
    "7.3",
    "Flat, linear and exponential weights make no significant difference to the convergence of "
    "the standard Frank-Wolfe method.",
    formula=r"\frac{1}{2}\leq\frac{t_{linear}}{t_{flat}},\frac{t_{exp}}{t_{flat}}\leq2",
    judged="significant is read as: a factor of 2 in the iterations to a gap of 1e-3. News20 in a "
    "deep run, with rows scaled to length 1.",
    cases=races,
    experiment=Experiment(data=("FMD", "News20")),
    planted=(
        version("the same to 1 %", factor=1.01),
        version("k = 3 against the max hinge, to 1 %", other="hinge", factor=1.01),
    ),
    not_proved="an experiment",
)
def weights_are_alike(case: Case, factor: float = 2.0, other: str = "weights") -> Outcome:
    run = case.name, case.n, case.seed, "fw"
    k, outcomes = case.k, []
    others = [fwlab.weights.linear(k), fwlab.weights.exponential(k)]
    plain = iterations(*run, flat(k))
    for rho in [fwlab.weights.flat(1)] if other == "hinge" else others:
        found = iterations(*run, tuple(rho.tolist()))
        if np.inf in (plain, found):
            return effect(-1.0, 1.0, Tier.FLOAT, flat=plain, other=found)
        outcomes += [less(plain, factor * found), less(found, factor * plain)]
    return both(*outcomes)
