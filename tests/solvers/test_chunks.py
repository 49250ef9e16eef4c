"""Values that Problem computes a chunk of rows at a time do not depend on where the chunks end."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from solvers.solver_table import GRID, M, random_feasible

import fwlab.operators.scores
import fwlab.primal_dual
from fwlab.certificate import certificate_of

pytestmark = pytest.mark.small


@pytest.mark.turns
@pytest.mark.parametrize("chunk", [1, 5, 11])
@pytest.mark.parametrize("case", GRID, ids=str)
def test_chunks_do_not_show(case, chunk, monkeypatch):
    problem, rng = case.problem(), np.random.default_rng(0)
    A, W = random_feasible(case, rng), rng.normal(size=(M, case.d))
    wrong = A.copy()
    wrong[-1, case.y[-1]] += 0.5
    wrong[-2] *= 3.0

    def values():
        certificate, whole = problem.certificate(A), certificate_of(problem, A)
        return [
            whole.primal,
            whole.augmented_gap,
            whole.distance,
            problem.primal(W),
            certificate.primal,
            certificate.dual,
            certificate.augmented_gap,
            problem.infeasibility(A),
            problem.infeasibility(wrong),
            problem.is_feasible(A),
            problem.is_feasible(wrong),
        ]

    whole, error = values(), certificate_of(problem, A).gap_error
    monkeypatch.setattr(fwlab.primal_dual, "CHUNK", chunk)
    monkeypatch.setattr(fwlab.operators.scores, "ROWS", chunk)
    monkeypatch.setattr(fwlab.operators.scores, "ENTRIES", 1)
    assert_allclose(values(), whole, atol=1e-14)
    # the bound depends a little on the errors that it bounds
    assert certificate_of(problem, A).gap_error == pytest.approx(error, rel=0.01)
    assert whole[-2:] == [True, False]
    assert whole[-3] > 0.1
