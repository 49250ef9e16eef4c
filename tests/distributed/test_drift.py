"""Rounding errors are mended and damaged numbers end a run, out of core and on a cluster."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from on_cluster import on_cluster
from out_of_core import out_of_core
from solvers.solver_table import Case

import fwlab
from fwlab import distributed
from fwlab.distributed import DriftError
from fwlab.distributed.checkpoint import Checkpoint
from fwlab.distributed.dask.state import DaskState
from fwlab.distributed.state import OutOfCoreState, drift_bound
from fwlab.operators.sums import gamma

pytestmark = pytest.mark.filterwarnings("ignore")

# with this large lam every row of the optimal A is a vertex
CASE = Case(n=40, lam=100.0)
PLACES = {"out of core": OutOfCoreState, "cluster": DaskState}
SOLVE = partial(distributed.solve, tol=0.0, max_iter=3, check_every=1)


@pytest.fixture(params=PLACES)
def place(request):
    return request.param


@pytest.fixture
def problem(place, request):
    inside = CASE.problem()
    if place == "cluster":
        return on_cluster(inside, request.getfixturevalue("client"), 3)
    return out_of_core(inside, 14)


def test_rows_that_rounding_moved_off_the_domain_are_put_back(problem):
    inside, rng = CASE.problem(), np.random.default_rng(0)
    feasible = inside.nearest_feasible(rng.standard_normal((40, 4)), slice(None))
    A0 = feasible + 1e-12 * rng.standard_normal(feasible.shape)
    assert inside.infeasibility(A0) > 1e-13
    result = SOLVE(problem, A0=A0, max_iter=0)
    A = result.A.toarray()
    assert inside.infeasibility(A) <= 1e-14 and result.infeasibility <= 1e-14
    np.testing.assert_allclose(A, feasible, atol=1e-11)
    np.testing.assert_allclose(inside.weights(A), result.W, atol=1e-14)


def test_a_w_of_rows_that_were_put_back_is_no_drift(problem):
    """Rows at the edge of what counts as feasible move W by more than rounding explains."""
    inside, rng = CASE.problem(), np.random.default_rng(0)
    feasible = inside.nearest_feasible(rng.standard_normal((40, 4)), slice(None))
    A0 = feasible + 1e-10 * np.sign(rng.standard_normal(feasible.shape))
    result = SOLVE(problem, A0=A0, max_iter=0)
    moved = np.linalg.norm(inside.weights(A0) - result.W)
    assert moved > drift_bound(problem, 40)
    assert result.infeasibility <= 1e-14


def test_the_drift_that_rounding_explains_by_hand():
    X, y = np.array([[3.0, 4.0], [0.0, 2.0], [1.0, 0.0]]), np.array([0, 1, 2])
    problem = distributed.OutOfCoreProblem(
        X, y, fwlab.TopK(2), lam=0.5, sample_weight=[1.0, 2.0, 4.0], chunk_rows=2
    )
    # lam n = 1.5, the entries of a vertex sum to 1, and sum_i omega_i |x_i| = 5 + 2 2 + 4 1
    size = 4 / 1.5 * 1.0 * (5.0 + 2 * 2.0 + 4 * 1.0)
    assert drift_bound(problem, 7) == pytest.approx(8 * gamma(7 + 3) * size, rel=1e-12, abs=0)


def halve_a_block(block):
    """Halve the rows of A that a worker holds, which leaves them feasible."""
    block.held = replace(block.held, rows=[0.5 * rows for rows in block.held.rows])


def test_a_tracked_w_that_changed_is_an_error(problem):
    def damage(progress):
        progress.state.link = progress.state.link * (1 + 1e-9)

    with pytest.raises(DriftError, match=r"W is .* away from A\^T X / \(lam n\), and rounding"):
        SOLVE(problem, callback=damage)


def test_rows_of_a_that_changed_are_an_error(problem, place):
    def damage(progress):
        state = progress.state
        if progress.iteration != 2:
            return
        if place == "out of core":
            state.packed[1] = 0.5 * state.packed[1]
            return
        home, client = problem.placement.homes[1], problem.client
        block = state.driver._blocks[1]
        client.submit(halve_a_block, block, workers=[home], pure=False).result()

    with pytest.raises(DriftError, match=r"W is .* away from A\^T X / \(lam n\), and rounding"):
        SOLVE(problem, callback=damage)


@pytest.mark.wrong_gaps
def test_a_negative_gap_is_an_error(problem, place, monkeypatch):
    """A W that is halved between the two passes of a certificate proves too much."""
    kind = PLACES[place]
    plain = kind._certificate

    def damaged(state):
        state.link = 0.5 * state.link
        return plain(state)

    monkeypatch.setattr(kind, "_certificate", damaged)
    with pytest.raises(DriftError, match=r"Nothing is certified: the gap is -\S+, and rounding"):
        SOLVE(problem)


def test_a_stored_w_that_changed_is_an_error_before_the_run_goes_on(problem, tmp_path):
    file, seen = tmp_path / "run.npz", []
    SOLVE(problem, checkpoint=file)
    checkpoint = Checkpoint.load(file)
    replace(checkpoint, link=checkpoint.link * (1 + 1e-9)).save(file)
    with pytest.raises(DriftError, match=r"W is .* away from A\^T X / \(lam n\), and rounding"):
        SOLVE(problem, checkpoint=file, max_iter=5, callback=seen.append)
    assert not seen
