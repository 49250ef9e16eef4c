"""Check K19 section 5: the cost of an iteration, in operations rather than seconds."""

from collections.abc import Iterator, Sequence
from math import log2

import numpy as np

import fwlab
from paper_checks.cases import Rng
from paper_checks.kato2019.counted_methods import METHODS, CountedActiveSet, CountedFrankWolfe
from paper_checks.ledger import Case, Condition, Library, Outcome, claim, version
from paper_checks.outcomes import counted, equal

# lower-order terms may raise the ratio of operations to a bound by this factor
LOWER_TERMS = 1.1
# data sets of each size, as the number of atoms after a few iterations differs between them
PROBLEMS = 3


def drawn(n: int, d: int, m: int, seed: int) -> CountedFrankWolfe:
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, d)), rng.integers(0, m, n)
    return CountedFrankWolfe(X, y, np.sort(rng.random(m))[::-1], 1.0 / n)


def operations_of(n: int, d: int, m: int, seed: int) -> int:
    """Return the operations of an iteration at random scores; ties at A = 0 make sorting cheap."""
    run = drawn(n, d, m, seed)
    run.restart(np.random.default_rng(seed).standard_normal((n, m)))
    run.operations = 0
    run.iterate()
    return run.operations


def paths(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield sizes (n, d, m) that grow by doubling, one or two of them at a time."""
    seed = int(rng.integers(1000))
    for steps in [
        [(2, 1, 2**e) for e in range(1, 12)],
        [(2**e, 2, 4) for e in range(1, 10)],
        [(4, 2**e, 4) for e in range(1, 10)],
        [(2**e, 2**e, 4) for e in range(1, 10 if deep else 9)],
        [(2**e, 3 * 2**e, 2**e) for e in range(1, 8 if deep else 7)],
    ]:
        yield Case(kind="growing sizes", sizes=steps, seed=seed)


@claim(
    "K19-thm4",
    "Theorem 4",
    "An iteration, direction and line search, takes O(nm(min(d, n) + log m)) operations.",
    formula=r"O(nm(\min(d,n)+\log m))",
    shapes="n samples, d features, m classes",
    judged="the Gram matrix, where it is used, is made once and not counted. The operations of an "
    "iteration, divided by the bound, do not grow with the sizes.",
    cases=paths,
    planted=(
        version("without log m", log=0),
        version("without min(d, n)", products=0),
        version("without n", samples=0),
    ),
    not_proved="a count of operations; sorting m numbers in O(m log m) is a theorem",
    library=Library(("fwlab.solve",), lambda case: agrees_with_the_library(case.seed)),
)
def iteration_cost(case: Case, log: int = 1, products: int = 1, samples: int = 1) -> Outcome:
    done, bounds = [], []
    for n, d, m in case.sizes:
        done.append(operations_of(n, d, m, case.seed))
        bounds.append(n**samples * m * (products * min(d, n) + log * log2(m)))
    return not_growing(done, bounds)


def not_growing(done: Sequence[int], bounds: Sequence[float]) -> Outcome:
    """State that operations divided by their bound do not grow.

    The last ratio is at most GROWTH times the largest ratio of the first half of the sizes.
    """
    ratios = [a / b for a, b in zip(done, bounds, strict=True)]
    allowed = LOWER_TERMS * max(ratios[: len(ratios) // 2]) * bounds[-1]
    return counted(done[-1], allowed, ratios=[round(r, 2) for r in ratios])


def agrees_with_the_library(seed: int, method: str = "fw", iterations: int = 5) -> Outcome:
    """State that the counted method has the same iterates as the library's."""
    start = drawn(6, 3, 4, seed)
    run = METHODS[method](start.X, start.y, start.rho, start.lam)
    for _ in range(iterations):
        run.iterate()
    problem = fwlab.Problem(run.X, run.y, fwlab.WeightedTopK(run.rho), run.lam, n_classes=4)
    return equal(run.A, fwlab.solve(problem, method, tol=0.0, max_iter=iterations).A)


def variant_runs(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield AFW and PFW with a growing number of samples, three or six iterations per sample."""
    n = [10, 20, 40, 80, 160]
    for _ in range(3 if deep else 1):
        seed = int(rng.integers(1000))
        for method in ("afw", "pfw"):
            yield Case(kind=method, n=n, iterations=[3 * size for size in n], seed=seed)
            yield Case(kind=f"{method}, six iterations", n=n, iterations=[6] * len(n), seed=seed)


def longer_vertices(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield AFW with a growing number k of positive weights.

    A larger k does not make sorting slower.
    """
    k = [1, 2, 4, 8, 16]
    seed = int(rng.integers(1000))
    yield Case(kind="afw, growing k", n=[8] * 5, iterations=[80] * 5, seed=seed, m=20, k=k)


def with_longer_vertices(rng: Rng, deep: bool) -> Iterator[Case]:
    yield from variant_runs(rng, deep)
    yield from longer_vertices(rng, deep)


def growing_runs(rng: Rng, deep: bool) -> Iterator[Case]:
    return (case for case in variant_runs(rng, deep) if not few_atoms(case))


def few_atoms(case: Case) -> bool:
    return len(set(case.iterations)) == 1


@claim(
    "K19-thm4-variants",
    "5",
    "The same techniques make every iteration of the away-step and pairwise methods efficient.",
    formula=r"O(nm(\min(d,n)+\log m))",
    shapes="n samples, d features, m classes",
    judged="efficient is read as: within the bound of Theorem 4. The away vertex is found "
    "by a search over the current atoms, whole matrices with k + 1 entries in each "
    "row; the operations of the most "
    "expensive iteration of three runs are counted.",
    sides=("operations counted", "allowed by the bound"),
    cases=variant_runs,
    condition=Condition(
        "the number of iterations, and so of current atoms, does not grow with n", few_atoms
    ),
    corrected=version(
        "O(nm(min(d, n) + log m) + n k |S|), S the current atoms",
        cases=with_longer_vertices,
        atoms=1,
        formula=r"O(nm(\min(d,n)+\log m)+nk|S|)",
    ),
    planted=(
        version("plus k |S| alone", cases=growing_runs, atoms=1, rows=0),
        version("plus n |S| alone", cases=longer_vertices, atoms=1, entries=0),
    ),
    not_proved="a count of operations",
    library=Library(("fwlab.solve",), lambda case: agrees_with_the_library(case.seed, "afw", 120)),
)
def variant_cost(case: Case, atoms: int = 0, rows: int = 1, entries: int = 1) -> Outcome:
    d, m = 4, getattr(case, "m", 3)
    done, bounds = [], []
    for n, k, iterations in zip(
        case.n, getattr(case, "k", [1] * len(case.n)), case.iterations, strict=True
    ):
        rho = np.array([1.0 / k] * k + [0.0] * (m - k))
        most, held = 0, 0
        for seed in range(case.seed, case.seed + PROBLEMS):
            data = fwlab.datasets.synthetic(n, d, m, 0.0, rng=seed)
            run = METHODS[case.kind[:3]](
                data.X_train, data.y_train, rho, 1.0 / n, sorting=hasattr(case, "k")
            )
            assert isinstance(run, CountedActiveSet)
            for _ in range(iterations):
                before, size = run.operations, len(run.atoms)
                run.iterate()
                most, held = max(most, run.operations - before), max(held, size)
        done.append(most)
        bounds.append(n * m * (min(d, n) + log2(m)) + atoms * held * n**rows * (k + 1) ** entries)
    return not_growing(done, bounds)
