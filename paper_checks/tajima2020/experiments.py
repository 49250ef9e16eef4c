"""T20 section 3.1: the statements about the paper's experiments, and about the sizes it prints."""

import math

import numpy as np

from paper_checks.ledger import (
    Case,
    Experiment,
    Outcome,
    claim,
    version,
)
from paper_checks.outcomes import both, effect
from paper_checks.tajima2020.runs import (
    HIGH,
    LOW,
    OTHERS,
    REMADE,
    STEPS,
    draws,
    error_after,
    interval,
    problem,
    ratio,
)
from paper_checks.trials import Tier

SHAPES = "rho_j = max(0, 6-j)/15, lambda = 1/n"
NOT_PROVED = "an experiment"
# two methods whose errors differ by less than this factor converge similarly
SIMILAR = 2.0


def similar(low: float, high: float, **seen: str | float) -> Outcome:
    """Whether a ratio with this interval of its logarithm is within the factor SIMILAR."""
    farthest = max(abs(low), abs(high))
    nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    bound = math.log(SIMILAR)
    ratio = math.exp((low + high) / 2)
    return effect(bound - farthest, bound - nearest, Tier.MONTE_CARLO, ratio=ratio, **seen)


@claim(
    "T20-lsfw-faster",
    "3.1, Figure 1",
    "On CUB200, Flower102 and Indoor67 Frank-Wolfe converges faster with the line search than with "
    "the steps 2/(t+1): after 200 iterations the objective error is smaller.",
    shapes=SHAPES,
    judged="the features of these three sets are not public, so that the ledger's cases are other "
    "data; of Caltech101 and News20 the paper says that the methods are similar, T20-lsfw-similar",
    cases=draws,
    experiment=Experiment(HIGH),
    planted=(version("the line search is slower", methods=("LSFW", "StdFW")),),
    not_proved=NOT_PROVED,
)
def line_search_is_faster(
    case: Case, methods: tuple[str, str] = ("StdFW", "LSFW"), steps: int = STEPS
) -> Outcome:
    return effect(*ratio(case, *methods, steps))


@claim(
    "T20-lsfw-similar",
    "3.1, Figure 1",
    "On Caltech101 and News20 the projected subgradient method, Frank-Wolfe with the steps 2/(t+1) "
    "and with the line search converge similarly: after 200 iterations no objective error is more "
    "than twice another.",
    shapes=SHAPES,
    judged=f"similar: within a factor of 2; {REMADE}",
    cases=lambda rng, deep: draws(rng, deep, dict.fromkeys(LOW, 200)),
    experiment=Experiment(LOW),
    planted=(version("the errors are within a factor of 2 after 10 iterations", steps=10),),
    not_proved=NOT_PROVED,
)
def methods_are_similar(case: Case, steps: int = STEPS) -> Outcome:
    pairs = (("PG", "LSFW"), ("StdFW", "LSFW"), ("PG", "StdFW"))
    found = [similar(*ratio(case, *pair, steps), methods=" / ".join(pair)) for pair in pairs]
    return min(found, key=lambda outcome: outcome.margin)


@claim(
    "T20-lsfw-pg",
    "3.1, Figure 1",
    "Frank-Wolfe with the line search converges faster than the projected subgradient method: "
    "after 200 iterations the objective error is smaller, on Caltech101 and News20, too.",
    shapes=SHAPES,
    judged="the paper says so of Figure 1 as a whole, before it calls the methods similar on these "
    f"two sets; {REMADE}",
    cases=draws,
    experiment=Experiment((*LOW, *HIGH)),
    planted=(version("the line search is slower", methods=("LSFW", "PG")),),
    not_proved=NOT_PROVED,
)
def faster_than_subgradients(
    case: Case, methods: tuple[str, str] = ("PG", "LSFW"), steps: int = STEPS
) -> Outcome:
    return effect(*ratio(case, *methods, steps))


@claim(
    "T20-moreau-faster",
    "3.1, Figure 2",
    "On Caltech101 and News20 the Moreau envelope with gamma = 0.01 makes Frank-Wolfe with the "
    "line search faster: after 200 iterations the objective error is smaller.",
    shapes=SHAPES,
    judged=REMADE,
    cases=lambda rng, deep: draws(rng, deep, dict.fromkeys(LOW, 200) | OTHERS),
    experiment=Experiment(LOW),
    planted=(
        version("much smoothing, gamma = 10, makes it slower", sign=-1, smoothing=10.0),
        version("next to no smoothing makes it faster by a factor of 2", smoothing=1e-9, factor=2),
    ),
    not_proved=NOT_PROVED,
)
def smoothing_is_faster(
    case: Case, sign: int = 1, smoothing: float = 0.01, factor: float = 1.0
) -> Outcome:
    low, high = smoothing_effect(case, smoothing)
    low, high = (low, high) if sign > 0 else (-high, -low)
    return effect(low - math.log(factor), high - math.log(factor))


def smoothing_effect(case: Case, smoothing: float) -> tuple[float, float]:
    """Return the interval of the log of the errors without and with smoothing."""
    plain, smooth = (
        [error_after("LSFW", case.data, case.rows, draw, gamma) for draw in case.draws]
        for gamma in (0.0, smoothing)
    )
    return interval(plain, smooth)


@claim(
    "T20-moreau-others",
    "3.1, Figure 2",
    "On CUB200, Flower102 and Indoor67 the Moreau envelope with gamma = 0.01 does not make "
    "Frank-Wolfe with the line search faster: after 200 iterations the objective error is not less "
    "than half.",
    shapes=SHAPES,
    judged="the features of these three sets are not public, so that the ledger's cases are other "
    "data",
    cases=lambda rng, deep: draws(rng, deep, dict.fromkeys(LOW, 200) | OTHERS),
    experiment=Experiment(HIGH),
    planted=(version("gamma = 10 does not, either", smoothing=10.0),),
    not_proved=NOT_PROVED,
)
def smoothing_is_not_faster(case: Case, smoothing: float = 0.01) -> Outcome:
    low, high = smoothing_effect(case, smoothing)
    return effect(math.log(SIMILAR) - high, math.log(SIMILAR) - low)


# rows to draw, fewer than a quarter of the features: the Gram matrix can have full rank
WITH_FEATURES_TO_SPARE = {"digits": 12, "Caltech101": 48, "News20": 60}


@claim(
    "T20-high-dim",
    "3.1",
    "More features make the dual more strongly concave, and Frank-Wolfe with the line search "
    "faster: with all features of the same rows the smallest eigenvalue of the Gram matrix is "
    "larger, and the objective error after 150 iterations smaller, than with a quarter of them.",
    formula=r"-D\ \mathrm{has\ the\ Hessian}\ \frac{1}{\lambda n^2}K\otimes I_m,"
    r"\quad K_{ij}=\langle x_i,x_j\rangle",
    shapes="K: (n, n) of rows of length 1, n < d/4",
    judged="the paper compares its five sets with each other, of which three are not public, and "
    "calls the second half a conjecture; the ledger compares parts of the features of one set",
    cases=lambda rng, deep: draws(rng, deep, WITH_FEATURES_TO_SPARE, number=8),
    experiment=Experiment(HIGH),
    planted=(version("fewer features make the dual more strongly concave", parts=(1.0, 0.25)),),
    not_proved=NOT_PROVED,
)
def more_features(case: Case, parts: tuple[float, float] = (0.25, 1.0)) -> Outcome:
    few, many = ([smallest_eigenvalue(case, draw, p) for draw in case.draws] for p in parts)
    slow, fast = (
        [error_after("LSFW", case.data, case.rows, draw, 0.0, p, 150) for draw in case.draws]
        for p in parts
    )
    concave = effect(*interval(many, few), quantity="smallest eigenvalue")
    faster = effect(*interval(slow, fast), quantity="objective error")
    return faster if faster.undecided and concave.margin >= 0 else both(concave, faster)


def smallest_eigenvalue(case: Case, draw: int, part: float) -> float:
    """Return the smallest eigenvalue of the Gram matrix, at least its entries' rounding."""
    X = problem(case.data, case.rows, draw, part=part).X
    return max(float(np.linalg.eigvalsh(X @ X.T)[0]), 1e-15)
