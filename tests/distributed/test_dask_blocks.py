"""A block at a worker moves once per version, and has the same bits when it is opened again."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from on_cluster import on_cluster
from scipy.sparse import csr_array, vstack
from solvers.solver_table import Case

from fwlab import distributed
from fwlab.distributed.dask.driver import bytes_of
from fwlab.distributed.dask.proposals import QuarterPass, Vertices
from fwlab.distributed.dask.state import ROUNDS_KEPT
from fwlab.distributed.dask.worker import (
    Opening,
    Request,
    Round,
    Stale,
    VersionPoint,
    answer,
    open_block,
)

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def opening(client, driver_here):
    """A partition of several pieces at A = 0, and its rows of X."""
    problem = Case(n=40, smoothing=0.5).problem()
    cluster = on_cluster(problem, client, 2)
    setup = cluster.setups()[1]
    assert len(setup.parts) > 1
    rows = [csr_array((part.n_samples, 4)) for part in setup.parts]
    return problem.X[20:], Opening(setup, rows, 0)


def rows_at(block, X, point):
    return vstack(answer(block, X, Request("rows", point))).toarray()


@pytest.mark.parametrize("proposers", [
    [Vertices(), Vertices(), Vertices()], [QuarterPass(3, turn) for turn in range(3)],
], ids=["vertices", "passes"])  # fmt: skip
def test_a_lost_block_is_opened_again_with_the_same_bits(proposers, opening):
    X, first = opening
    rng, block = np.random.default_rng(0), open_block(*opening)
    W, steps, past = rng.normal(size=(4, X.shape[1])), (0.5, 1.0, 0.25), []
    point = VersionPoint(0, 0.0, W)
    for version, (proposer, step) in enumerate(zip(proposers, steps, strict=True)):
        request = Request("propose", point, (proposer,))
        once, twice = answer(block, X, request), answer(block, X, request)
        assert_array_equal(once.product, twice.product)
        past.append(Round(proposer, point.W, step))
        point = VersionPoint(version + 1, step, point.W + rng.normal(size=W.shape))
        rows = rows_at(block, X, point)
        assert_array_equal(rows_at(block, X, point), rows)
        again = open_block(X, Opening(first.setup, first.rows, 0, tuple(past)))
        assert_array_equal(rows_at(again, X, point), rows)
        pieces = [csr_array(piece) for piece in first.setup.pieces(rows)]
        middle = open_block(X, Opening(first.setup, pieces, version + 1))
        assert_array_equal(rows_at(middle, X, point), rows)
    assert rows.any()


def test_a_block_of_another_version_says_so(opening):
    X, _ = opening
    block, W = open_block(*opening), np.zeros((4, X.shape[1]))
    assert answer(block, X, Request("rows", VersionPoint(1, 0.5, W))) == Stale(0), (
        "nothing was proposed"
    )
    answer(block, X, Request("propose", VersionPoint(0, 0.0, W), (Vertices(),)))
    assert answer(block, X, Request("rows", VersionPoint(2, 0.5, W))) == Stale(0)
    assert rows_at(block, X, VersionPoint(1, 0.5, W)).any()
    assert answer(block, X, Request("rows", VersionPoint(0, 0.0, W))) == Stale(1)


class Killed(Exception):
    """Stands for the end of the driver."""


@pytest.mark.parametrize("method", ["ascent", "fw"])
def test_a_killed_driver_goes_on_from_its_checkpoint(method, client, driver_here, tmp_path):
    problem = Case(n=40).problem()
    cluster = on_cluster(problem, client, 3)
    plain = distributed.solve(cluster, method, tol=0.0, max_iter=6)
    options = {"checkpoint": tmp_path / "run.npz", "checkpoint_every": 0.0}

    def kill(progress):
        past = progress.state.driver.past
        assert len(past) < ROUNDS_KEPT
        if progress.iteration == 4:
            raise Killed

    with pytest.raises(Killed):
        distributed.solve(
            cluster, method, tol=0.0, max_iter=6, callback=kill, check_every=1, **options
        )
    run = distributed.solve(cluster, method, tol=0.0, max_iter=6, **options)
    assert "Resumed after iteration" in run.message
    assert_array_equal(run.W, plain.W)
    assert_array_equal(run.A.toarray(), plain.A.toarray())
    other = on_cluster(problem, client, 3, -problem.X)  # whose rows have the same norms
    with pytest.raises(ValueError, match="holds another run: its X is"):
        distributed.solve(other, method, tol=0.0, **options)


def test_the_bytes_of_a_message_hold_the_rows_of_a():
    pytest.importorskip("dask", reason="the sizes come from Dask")
    rows = csr_array(np.eye(1000))
    arrays = rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes
    assert arrays <= bytes_of(rows) <= arrays + 1000
    assert 2 * arrays <= bytes_of((1, [rows, rows])) <= 2 * arrays + 2000
    opening = Opening(None, [rows], 0, ())
    assert arrays <= bytes_of(opening) <= arrays + 2000
