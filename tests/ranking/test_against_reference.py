"""fwlab.ranking against cvxpy: certified intervals of 248 small problems; 72 of them are not
left to the deep runs."""

import numpy as np
import pytest

from fwlab import ranking
from tests.ranking.instances import OVER_ALL, random_instance

TOL = 1e-8


# the first 60 take turns through all objectives, surrogates and kernels, twice
SEEDS = [*range(60), *OVER_ALL]
DEEP = [*range(60, 200), *range(OVER_ALL.stop, OVER_ALL.stop + 36)]
SEEDS += [pytest.param(seed, marks=pytest.mark.deep) for seed in DEEP]


@pytest.mark.turns
@pytest.mark.parametrize("seed", SEEDS)
def test_the_default_method_certifies_and_agrees(seed):
    instance = random_instance(seed)
    result = ranking.solve(**instance.arguments(), tol=TOL, max_iter=200)
    assert result.success, result.message
    assert 0 <= result.gap + 1e-12 * result.primal <= 1.01 * TOL * result.primal
    optimum = instance.reference().optimum()
    assert result.dual <= optimum.value_upper and optimum.value_lower <= result.primal
    slack = TOL * abs(result.primal)
    assert optimum.contains(result.primal, slack) and optimum.contains(result.dual, slack)


@pytest.mark.parametrize("seed", [*range(0, 200, 7), *OVER_ALL])
def test_primal_dual_and_threshold_are_the_definitions(seed):
    instance = random_instance(seed)
    reference = instance.reference()
    result = ranking.solve(**instance.arguments(), tol=0.0, max_iter=seed // 20 % 10)
    alpha, beta = result.alpha, result.beta
    w = reference.positives.T @ alpha - reference.counted.T @ beta
    assert result.primal == pytest.approx(reference.primal(w), rel=1e-9)
    delta = 0.0 if result.delta is None else result.delta
    size = float(w @ w) + result.primal
    assert result.dual == pytest.approx(reference.lagrangian(alpha, beta, delta), abs=1e-9 * size)
    threshold = reference.threshold(reference.counted @ w)
    assert result.threshold == pytest.approx(threshold, rel=1e-8, abs=1e-8 * np.abs(w).sum())
