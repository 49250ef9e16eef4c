"""K19 sections 7.1 and 8 on data: what the pseudo domain costs.

Of the data of Figure 2, FMD is not public; News20 is re-derived, see the package's data notes.
"""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

import fwlab
from paper_checks.cases import Rng
from paper_checks.kato2019.data import Rows, problem_on, sample, values_at
from paper_checks.ledger import Case, Experiment, Outcome, Tier, claim, version
from paper_checks.outcomes import at_most, both, less, truth

SDCA = ("sdca-lapin", "sdca-chu-newton", "sdca-chu-fixing")
FIGURE_2 = Experiment(data=("FMD", "News20"))
NEWS20 = {"kind": "News20", "data": "News20", "name": "news20_svd1024", "n": 15_935}
# a gap that stays is at least this multiple of what is left of the method's own gap
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
    """Yield lam = 1/n on News20 with the paper's k = 3, and on other data."""
    yield Case(**NEWS20, k=3, seed=0)
    for name, n in (("digits", 1347), ("letter", 15_000))[: 2 if deep else 1]:
        for k in (2, 3, 5):
            yield Case(kind=name, data=name, name=name, n=n, k=k, seed=int(rng.integers(1000)))


def for_one(rng: Rng, deep: bool) -> Iterator[Case]:
    cases = pseudo_trainings(rng, deep)
    return (Case(**{**vars(c), "k": 1}) for c in cases if c.k == 2)


@claim(
    "K19-positive-gap",
    "8",
    "Training on the pseudo top-k loss leaves a positive gap of the top-k problem where its own "
    "gap vanishes.",
    formula=r"P_{ptk}(W(A))-D(A)\to0,\quad P_{utk}(W(A))-D(A)\geq c>0",
    shapes="A: (m, n)",
    judged="the text says the gap can remain positive; tried at lam = 1/n on News20, as in section "
    "7.1. The gap that remains is at least five times the own gap left.",
    cases=pseudo_trainings,
    experiment=FIGURE_2,
    not_proved="an experiment",
    planted=(
        version("for k = 1 too", cases=for_one),
        version("the gap of the top-k problem vanishes too", vanishes=True),
    ),
)
def gap_remains(case: Case, vanishes: bool = False) -> Outcome:
    rows = sample(case.name, case.n, case.seed)
    A = trained(case.name, case.n, case.seed, SDCA[0], case.k)
    found = values_at(rows, A, case.k, 1.0, pseudo=True)
    own, true = found.pseudo_primal - found.dual, found.true_primal - found.dual
    if vanishes:
        return at_most(true, CLEARLY * own)
    return both(less(CLEARLY * own, true), less(own, 2e-4))


def fixations(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield News20 at lam = 1/n, as in section 7.1; and, as other data, small sets over C of the
    grid of section 7.4, 10^-3, .., 10^3, where lam = 1/(C n)."""
    yield Case(**NEWS20, k=3, C=1.0, tol=1e-3, seed=0)
    for name in ("digits", "letter"):
        grid = [(0.001, 5e-5), (0.01, 5e-5), (1.0, 5e-5)]  # C, and a gap that is small enough
        for C, tol in [*grid, (10.0, 1e-3)] if deep else grid:
            for k in (2, 3, 5) if deep else (3,):
                case = {"kind": f"{name}, C = {C:g}", "data": name, "name": name, "n": 1000}
                yield Case(**case, k=k, C=C, tol=tol, seed=int(rng.integers(1000)))


@claim(
    "K19-fixation-rare",
    "8",
    "It is very rare that an optimal solution of the dual d_utk has only zeros as true-class "
    "entries.",
    formula=r"\max\{d_{utk}(A):\ E_y\odot A=O\}<\max_Ad_{utk}(A)",
    shapes="A, E_y: (m, n)",
    judged="rare is read as: not so on the data of section 7.1, at its lam = 1/n and k = 3. It is "
    "no rule: for large lam no true class is among the k largest margins, and fixing its entries "
    "costs nothing, as digits and letter show at C <= 0.01 (other data).",
    cases=fixations,
    experiment=FIGURE_2,
    not_proved="an experiment",
    planted=(
        version(
            "for k = 1",
            cases=lambda rng, deep: (
                Case(**{**vars(c), "k": 1})
                for c in fixations(rng, deep)
                if c.C == 1 and c.data == "digits"
            ),
        ),
    ),
)
def fixation_costs(case: Case) -> Outcome:
    """True if a feasible point of the one dual is above an upper bound of the other (Proposition
    7). Certainly false if near the fixed optimum no true class is among the k largest margins: W
    there is within sqrt(2 gap/lam) of the optimum, where the two risks are then the same."""
    rows = sample(case.name, case.n, case.seed)
    run = case.name, case.n, case.seed
    A = trained(*run, SDCA[0], case.k, case.tol, case.C)
    fixed = values_at(rows, A, case.k, case.C, pseudo=True)
    gap = fixed.pseudo_primal - fixed.dual
    radius = np.sqrt(2 * max(gap, 0.0) * case.C * case.n)
    if least_other_margin(rows, A, case.k, case.C) > 2 * radius:
        return truth(False, Tier.FLOAT, gap_of_topk=fixed.true_primal - fixed.dual)
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
    """Yield the three SDCA methods at lam = 1/n and k = 3, as in Figure 2."""
    yield Case(**NEWS20, k=3, seed=0)
    sets = [("digits", 1347), ("letter", 15_000), ("synthetic-a", 1000)]
    for name, n in sets if deep else sets[:1]:
        yield Case(kind=name, data=name, name=name, n=n, k=3, seed=int(rng.integers(1000)))


@claim(
    "K19-fig2-stall",
    "7.1",
    "The three SDCA methods converge to almost the same value, with the gap of the top-k problem "
    "above 1e-2.",
    formula=r"P_{utk}(W(A))-D(A)\geq10^{-2}",
    shapes="A: (m, n)",
    judged="at lam = 1/n and k = 3, with rows scaled to length 1, which the text does not say. "
    "Almost the same: within 1 %. The methods end at an own gap of 1e-4, before epoch 1000.",
    cases=stalls,
    experiment=FIGURE_2,
    not_proved="an experiment",
    corrected=version("the same positive gap, which depends on the data", level=None),
    planted=(
        version("above 1e-1", level=0.1),
        version("the gap goes on falling to 0", level=None, remains=False),
    ),
)
def sdca_stalls(case: Case, level: float | None = 1e-2, remains: bool = True) -> Outcome:
    rows, gaps, own = sample(case.name, case.n, case.seed), [], 0.0
    for method in SDCA:
        A = trained(case.name, case.n, case.seed, method, case.k)
        found = values_at(rows, A, case.k, 1.0, pseudo=True)
        gaps.append(found.true_primal - found.dual)
        own = max(own, found.pseudo_primal - found.dual)
    if not remains:
        return at_most(max(gaps), CLEARLY * own)
    same = at_most(max(gaps), 1.01 * min(gaps), gaps=gaps)
    return both(same, less(CLEARLY * own if level is None else level, min(gaps)))
