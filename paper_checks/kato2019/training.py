"""K19 sections 7 and 8 on data: what the pseudo domain costs, and how fast methods converge."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product

import numpy as np

import fwlab
from paper_checks.cases import Rng
from paper_checks.kato2019.data import Rows, problem_on, sample, values_at
from paper_checks.ledger import Case, Condition, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal, less, truth
from paper_checks.stored_tables import PAPER, number, stored_table

SDCA = ("sdca-lapin", "sdca-chu-newton", "sdca-chu-fixing")
# a gap that stays is at least so many times what is left of the method's own gap
CLEARLY = 5


@lru_cache(maxsize=32)
def trained(
    name: str, n: int, seed: int, method: str, k: int, tol: float = 1e-4, C: float = 1.0
) -> np.ndarray:
    """A where a method ends: SDCA on the pseudo domain, or ascent on the true one."""
    loss = fwlab.PseudoTopK(k) if method in SDCA else fwlab.TopK(k)
    problem = problem_on(sample(name, n, seed), loss, C)
    return fwlab.solve(problem, method, tol=tol, max_iter=3000, check_every=5).A


def pseudo_trainings(rng: Rng, deep: bool) -> Iterator[Case]:
    """lam = 1/n on digits and on letter; the smaller tol, the nearer to the pseudo optimum."""
    for name, n in (("digits", 1347), ("letter", 15_000 if deep else 2000)):
        for k in (2, 3, 5):
            yield Case(kind=name, n=n, k=k, seed=int(rng.integers(1000)))


def for_one(rng: Rng, deep: bool) -> Iterator[Case]:
    return (Case(**{**vars(c), "k": 1}) for c in pseudo_trainings(rng, deep) if c.k == 2)


@claim(
    "K19-positive-gap",
    "8",
    "Training on the pseudo top-k loss leaves a positive gap of the top-k problem where its own "
    "gap vanishes.",
    formula=r"P_{ptk}(W(A))-D(A)\to0,\quad P_{utk}(W(A))-D(A)\geq c>0",
    shapes="A: (m, n)",
    judged="the text says the gap can remain positive; on digits and letter it does, at lam = 1/n. "
    "The gap that remains is at least five times the own gap left.",
    cases=pseudo_trainings,
    planted=(
        version("for k = 1 too", cases=for_one),
        version("the gap of the top-k problem vanishes too", vanishes=True),
    ),
)
def gap_remains(case: Case, vanishes: bool = False) -> Outcome:
    rows = sample(case.kind, case.n, case.seed)
    A = trained(case.kind, case.n, case.seed, SDCA[0], case.k)
    found = values_at(rows, A, case.k, 1.0, pseudo=True)
    own, true = found.pseudo_primal - found.dual, found.true_primal - found.dual
    if vanishes:
        return at_most(true, CLEARLY * own)
    return both(less(CLEARLY * own, true), less(own, 2e-4))


def fixations(rng: Rng, deep: bool) -> Iterator[Case]:
    """C of the paper's grid 10^-3, .., 10^3, where lam = 1/(C n)."""
    for name in ("digits", "letter"):
        grid = [(0.001, 5e-5), (0.01, 5e-5), (1.0, 5e-5)]  # C, and a gap that is small enough
        for C, tol in [*grid, (10.0, 1e-3)] if deep else grid:
            for k in (2, 3, 5) if deep else (3,):
                seed = int(rng.integers(1000))
                yield Case(kind=name, n=1000, k=k, C=C, tol=tol, seed=seed)


@claim(
    "K19-fixation-rare",
    "8",
    "It is very rare that an optimal solution of the dual d_utk has only zeros as true-class "
    "entries.",
    formula=r"\max\{d_{utk}(A):\ E_y\odot A=O\}<\max_Ad_{utk}(A)",
    shapes="A, E_y: (m, n)",
    judged="rare is read as: in no problem tried, over the grid of C of section 7.4.",
    cases=fixations,
    condition=Condition(
        "lam <= 1/n; for large lam no true class is among the k largest margins, and it never "
        "counts",
        lambda case: case.C >= 1,
    ),
    planted=(
        version(
            "for k = 1",
            cases=lambda rng, deep: (
                Case(**{**vars(c), "k": 1}) for c in fixations(rng, deep) if c.C >= 1
            ),
        ),
    ),
)
def fixation_costs(case: Case) -> Outcome:
    """True if a feasible point of the one dual is above an upper bound of the other (Proposition
    7). Certainly false if near the fixed optimum no true class is among the k largest margins: W
    there is within sqrt(2 gap/lam) of the optimum, where the two risks are then the same."""
    rows = sample(case.kind, case.n, case.seed)
    run = case.kind, case.n, case.seed
    A = trained(*run, SDCA[0], case.k, case.tol, case.C)
    fixed = values_at(rows, A, case.k, case.C, pseudo=True)
    gap = fixed.pseudo_primal - fixed.dual
    radius = np.sqrt(2 * max(gap, 0.0) * case.C * case.n)
    if least_other_margin(rows, A, case.k, case.C) > 2 * radius:
        return truth(False, gap_of_topk=fixed.true_primal - fixed.dual)
    A = trained(*run, "ascent", case.k, case.tol, case.C)
    return less(fixed.pseudo_primal, values_at(rows, A, case.k, case.C, pseudo=False).dual)


def least_other_margin(rows: Rows, A: np.ndarray, k: int, C: float) -> float:
    """The least, over samples, of the k-th largest margin of the wrong classes at W(A)."""
    scores = C * rows.X @ (A.T @ rows.X).T
    places = np.arange(len(rows.y))
    margins = 1 + scores - scores[places, rows.y][:, None]
    margins[places, rows.y] = -np.inf
    return float(np.sort(margins, axis=1)[:, -k].min())


def stalls(rng: Rng, deep: bool) -> Iterator[Case]:
    """The three SDCA methods at lam = 1/n and k = 3, as in Figure 2."""
    sets = [("digits", 1347), ("letter", 15_000 if deep else 1500), ("synthetic-a", 1000)]
    for name, n in [*sets, ("news20_svd1024", 15_935)] if deep else sets:
        yield Case(kind=name, n=n, k=3, seed=int(rng.integers(1000)))


@claim(
    "K19-fig2-stall",
    "7.1",
    "The three SDCA methods converge to almost the same value, with the gap of the top-k problem "
    "above 1e-2.",
    formula=r"P_{utk}(W(A))-D(A)\geq10^{-2}",
    shapes="A: (m, n)",
    judged="at lam = 1/n and k = 3; of the paper's data the deep run has News20. Almost the same: "
    "within 1 %.",
    cases=stalls,
    corrected=version("the same positive gap, which depends on the data", level=None),
    planted=(
        version("above 1e-1", level=0.1),
        version("the gap goes on falling to 0", level=None, remains=False),
    ),
)
def sdca_stalls(case: Case, level: float | None = 1e-2, remains: bool = True) -> Outcome:
    rows, gaps, own = sample(case.kind, case.n, case.seed), [], 0.0
    for method in SDCA:
        A = trained(case.kind, case.n, case.seed, method, case.k)
        found = values_at(rows, A, case.k, 1.0, pseudo=True)
        gaps.append(found.true_primal - found.dual)
        own = max(own, found.pseudo_primal - found.dual)
    if not remains:
        return at_most(max(gaps), CLEARLY * own)
    same = at_most(max(gaps), 1.01 * min(gaps), gaps=gaps)
    return both(same, less(CLEARLY * own if level is None else level, min(gaps)))


# iterations of a method that does not get there
CAP = 2000
REACHED = 1e-3


def races(rng: Rng, deep: bool) -> Iterator[Case]:
    """lam = 1/n, k = 3; on each data set several random subsets, for an error bar."""
    sets = [("digits", 100), ("synthetic-a", 200)]
    for name, n in [*sets, ("letter", 100), ("news20_svd1024", 200)] if deep else sets:
        seeds = tuple(rng.integers(1000, size=6 if deep else 3).tolist())
        yield Case(kind=name, n=n, k=3, seeds=seeds)


@dataclass(frozen=True)
class Effort:
    """Iterations, and operations by Theorem 4 and K19-thm4-variants."""

    iterations: int
    operations: float


@lru_cache(maxsize=1024)
def effort(
    name: str, n: int, seed: int, method: str, rho: tuple[float, ...], smoothing: float = 0.0
) -> Effort:
    """Of a run to a gap of 1e-3."""
    rows, k = sample(name, n, seed), len(rho)
    problem = problem_on(rows, fwlab.WeightedTopK(rho), smoothing=smoothing)
    trace = fwlab.solve(problem, method, tol=REACHED, max_iter=CAP, check_every=1).trace
    held = 0 if method == "fw" else int(trace.active.sum())
    iterations, d = int(trace.iteration[-1]), rows.X.shape[1]
    products = 8 * n * rows.m * (min(n, d) + np.log2(rows.m)) * iterations
    return Effort(iterations, float(products + 2 * n * (k + 1) * held))


def log_ratios(case: Case, one: Callable[[int], float], two: Callable[[int], float]) -> np.ndarray:
    """log(one/two) for the seeds of a case."""
    return np.log([one(seed) / two(seed) for seed in case.seeds])


def flat(k: int) -> tuple[float, ...]:
    return (1 / k,) * k


def clearly_above(logs: np.ndarray, threshold: float = 0.0) -> Outcome:
    """The mean is above the threshold by two standard errors."""
    mean, error = np.mean(logs), np.std(logs, ddof=1) / np.sqrt(np.size(logs))
    return less(threshold, float(mean - 2 * error), mean=float(mean), error=float(error))


@claim(
    "K19-fig2-order",
    "7.1",
    "Without smoothing the standard Frank-Wolfe method reaches a gap of 1e-3 sooner than the "
    "away-step and the pairwise method.",
    formula=r"t_{FW}<\min(t_{AFW},t_{PFW})",
    judged="in operations, counted; AFW and PFW pay for their search for an away vertex. At "
    "lam = 1/n and k = 3; means of log ratios over random subsets, with two standard errors.",
    cases=races,
    planted=(
        version("later than the away-step method", sign=-1, others=("afw",)),
        version("later than the pairwise method", sign=-1, others=("pfw",)),
    ),
)
def standard_is_first(case: Case, sign: int = 1, others: Sequence[str] = ("afw", "pfw")) -> Outcome:
    def cost(method: str, seed: int) -> float:
        return effort(case.kind, case.n, seed, method, flat(case.k)).operations

    return both(
        *[
            clearly_above(sign * log_ratios(case, partial(cost, other), partial(cost, "fw")))
            for other in others
        ]
    )


@claim(
    "K19-fig3-gamma",
    "7.2",
    "The larger the smoothing, the fewer iterations every Frank-Wolfe method takes to a gap of "
    "1e-3.",
    formula=r"t(\gamma=10^{-1})<t(\gamma=0)",
    judged="smallest and largest smoothing of Figure 3; at lam = 1/n and k = 3. Means "
    "of log ratios over random subsets, with two standard errors.",
    cases=lambda rng, deep: (
        Case(**{**vars(case), "method": method})
        for case in races(rng, deep)
        for method in ("fw", "afw", "pfw")
    ),
    planted=(version("the more iterations", sign=-1),),
)
def smoothing_is_faster(case: Case, sign: int = 1) -> Outcome:
    def time(smoothing: float, seed: int) -> float:
        rho = flat(case.k)
        return effort(case.kind, case.n, seed, case.method, rho, smoothing).iterations

    return clearly_above(sign * log_ratios(case, partial(time, 0.0), partial(time, 0.1)))


@claim(
    "K19-fig4-weights",
    "7.3",
    "Flat, linear and exponential weights make no significant difference to the convergence of "
    "the standard Frank-Wolfe method.",
    formula=r"\frac{1}{2}\leq\frac{t_{linear}}{t_{flat}},\frac{t_{exp}}{t_{flat}}\leq2",
    judged="significant is read as: a factor of 2 in the iterations to a gap of 1e-3, two standard "
    "errors included; at lam = 1/n and k = 3.",
    cases=races,
    planted=(
        version("the same to 1 %", factor=1.01),
        version("k = 3 against the max hinge", other="hinge"),
    ),
)
def weights_are_alike(case: Case, factor: float = 2.0, other: str = "weights") -> Outcome:
    def time(rho: tuple[float, ...], seed: int) -> float:
        return effort(case.kind, case.n, seed, "fw", rho).iterations

    k, outcomes = case.k, []
    others = [fwlab.weights.linear(k), fwlab.weights.exponential(k)]
    for rho in [fwlab.weights.flat(1)] if other == "hinge" else others:
        logs = log_ratios(case, partial(time, tuple(rho.tolist())), partial(time, flat(k)))
        outcomes += [clearly_above(sign * logs, -float(np.log(factor))) for sign in (1, -1)]
    return both(*outcomes)


NUMBERS = {"ALOI": 2, "Caltech101": 3, "CUB": 4, "Indoor67": 5, "Letter": 6, "News20": 7}
PROPOSED = ("UTk (ours)", "WTk (linear)", "WTk (exp)")
EXISTING = ("UTk (Lapin)", "UTk (Chu)")


def best_entries(rng: Rng, deep: bool) -> Iterator[Case]:
    """Printed entries beside the best over k of the data set's own table, and the best accuracy of
    the proposed and of the existing methods in each column, printed and ours."""
    table = stored_table("kato2019_table1")
    for data, column in product(NUMBERS, ("top-1", "top-3", "top-5", "top-10")):
        own = stored_table(f"kato2019_table{NUMBERS[data]}")
        highest: dict[str, list[float]] = {"": [], PAPER: []}
        for methods, source in product((PROPOSED, EXISTING), highest):
            lines = [table.line(data=data, method=method) for method in methods]
            entries = [line[column + source] for line in lines]
            if all(entries):
                highest[source].append(max(map(number, entries)))
        for method in (*PROPOSED, *EXISTING):
            each = own.beginning("method", f"{method[:-1]},")
            best = max(number(line[column + PAPER]) for line in each)
            entry = number(table.line(data=data, method=method)[column + PAPER])
            yield Case(kind="printed, best of its table", data=data, entry=entry, best=best)
        for source, found in highest.items():
            if len(found) == 2 and data != "Letter":
                kind = f"{table.kind() if source == '' else 'printed'}, highest"
                yield Case(kind=kind, data=data, proposed=found[0], existing=found[1])


@claim(
    "K19-table1",
    "Table 1",
    "Table 1 holds the best entries of Tables 2 to 7, and the proposed methods are highest except "
    "on Letter.",
    judged="highest: in each column the best proposed method is at least as accurate as the best "
    "SDCA one, as printed and in our table, with the features that are to be had.",
    cases=best_entries,
    from_table=True,
    planted=(
        version("higher by 0.2", more=0.2),
        version("Table 1 holds entries larger by 0.01", larger=0.01),
    ),
)
def best_accuracies(case: Case, more: float = 0.0, larger: float = 0.0) -> Outcome:
    if "entry" in vars(case):
        return equal(case.entry, case.best + larger)
    return at_most(case.existing + more, case.proposed)
