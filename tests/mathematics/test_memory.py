"""Memory of a run: X, A, W and at most three more arrays of A's shape; n x n only when asked for.

tracemalloc sees every numpy array; scratch inside compiled code is a few rows.
"""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse

import fwlab
from fwlab.solvers.registry import REGISTRY

N, D, M = 20_000, 20, 50


def runs():
    """Yield every method with and without smoothing where it takes such a problem."""
    for smoothing in (0.0, 0.1):
        tiny = fwlab.Problem(np.eye(M), np.arange(M), fwlab.TopK(3), 0.1, smoothing=smoothing)
        yield from (
            (m, smoothing) for m, default in REGISTRY.items() if default().refuses(tiny) is None
        )


def bytes_of(X):
    if scipy.sparse.issparse(X):
        return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return X.nbytes


@pytest.fixture(scope="module", params=["dense", "sparse"])
def features(request):
    X = np.random.default_rng(0).normal(size=(N, D))
    return scipy.sparse.csr_matrix(X * (X > 0)) if request.param == "sparse" else X


@pytest.mark.turns
@pytest.mark.parametrize("method, smoothing", list(runs()))
def test_a_run_holds_three_more_arrays_like_A(features, method, smoothing):
    y = np.random.default_rng(1).integers(0, M, N)

    def run(X, labels):
        problem = fwlab.Problem(X, labels, fwlab.TopK(3), 0.1, smoothing=smoothing, n_classes=M)
        return fwlab.solve(problem, method, tol=1e-12, max_iter=2)

    run(features[:4], y[:4])  # compiles, which takes memory of its own
    tracemalloc.start()
    try:
        result = run(features, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.nit == 2
    X, W, A = bytes_of(features), result.W.nbytes, result.A.nbytes
    # X was there before; it is not copied
    assert X + peak <= 1.1 * (X + W + A + 3 * A), f"{(peak - W - A) / A:.2f} more arrays"


def test_only_gram_mode_makes_a_gram_matrix():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(1500, 3)), np.arange(1500) % 3
    gram = X.shape[0] ** 2 * 8
    for kernel in (None, "linear"):
        fwlab.solve(fwlab.Problem(X[:6], y[:6], fwlab.TopK(2), 0.1, kernel=kernel), max_iter=1)
        tracemalloc.start()
        try:
            problem = fwlab.Problem(X, y, fwlab.TopK(2), 0.1, kernel=kernel)
            fwlab.solve(problem, max_iter=1)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert (peak >= gram) == (kernel == "linear")
        assert kernel == "linear" or peak < gram / 10
