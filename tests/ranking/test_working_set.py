"""The growing set of rows ends at the optimum of all rows, whatever it begins with."""

import numpy as np
import pytest

from fwlab.ranking import solve, working_set
from fwlab.ranking.gram import RbfGram
from tests.ranking.instances import OVER_ALL, random_instance


@pytest.mark.turns
@pytest.mark.parametrize("seed", [*range(60), *OVER_ALL])
def test_a_small_first_set_grows_to_the_optimum(seed, monkeypatch):
    monkeypatch.setattr(working_set, "FIRST", 1)
    arguments = random_instance(seed).arguments()
    best = solve(**arguments, tol=1e-8)
    result = solve(**arguments, method="working-set", tol=1e-7, max_iter=100)
    assert result.success, result.message
    assert result.dual == pytest.approx(best.dual, rel=2e-7)


def test_columns_on_demand_are_those_of_the_stored_matrix():
    X, c = np.random.default_rng(0).normal(size=(9, 3)), np.arange(9.0) - 4
    stored, on_demand = RbfGram(X, 0.4, 2**20), RbfGram(X, 0.4, 2 * 8 * 9)
    assert stored.stored is not None and on_demand.stored is None
    assert on_demand.product(c) == pytest.approx(stored.product(c), rel=1e-13)
    assert len(on_demand.kept) == 2
    assert on_demand.product(c[::-1] ** 2) == pytest.approx(stored.product(c[::-1] ** 2), rel=1e-13)
    for i in (0, 3, 3, 5, 0):
        assert on_demand.column(i) == pytest.approx(stored.column(i), rel=1e-13)
        assert len(on_demand.kept) <= 2
    rows = np.array([1, 4, 8])
    assert on_demand.block(rows) == pytest.approx(stored.block(rows), rel=1e-13)
    assert on_demand.restricted(rows) == pytest.approx(stored.restricted(rows), rel=1e-13)
