"""Scores in float32: where they are allowed, what they change, and that runs end in float64."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

import fwlab
from fwlab.kernels.products.blocks import block_scores
from fwlab.solvers import ascent, blocks
from fwlab.solvers.single_precision import suits_float32

pytestmark = pytest.mark.small
EPS = np.finfo(np.float32).eps
N, D, M = 160, 130, 7


def rows(scale=1.0):
    X = np.random.default_rng(0).normal(size=(N, D)) * scale / np.sqrt(D)
    return X.astype(np.float32)


def problem(X=None, storage="float32"):
    X = rows() if X is None else X
    return fwlab.Problem(X, np.arange(N) % M, fwlab.TopK(2), 0.01, storage=storage, n_classes=M)


@pytest.fixture
def choices(monkeypatch):
    """Record for each pass whether its scores may be in float32."""
    made = []

    def recorded(*arguments):
        made.append(suits_float32(*arguments))
        return made[-1]

    for module in (ascent, blocks):
        monkeypatch.setattr(module, "suits_float32", recorded)
    return made


# ---------------------------------------------------------------- the products


@pytest.mark.parametrize(("count", "m"), [(8, 10), (5, 7), (4, 5)])
def test_sums_of_float32_rows_err_by_the_bound_of_float32(count, m):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(count, D)).astype(np.float32)
    W = rng.normal(size=(m, D)).astype(np.float32)
    out = np.empty((count, m))
    block_scores(X, W, out)
    exact = X.astype(np.float64) @ W.T.astype(np.float64)
    sizes = np.abs(X).astype(np.float64) @ np.abs(W.T).astype(np.float64)
    assert np.all(np.abs(out - exact) <= D * EPS / 2 * sizes)
    assert np.any(out != exact)
    assert_array_equal(out, out.astype(np.float32))


@pytest.mark.turns
@pytest.mark.parametrize("method", ["ascent", "bcfw", "bcpfw", "dicg"])
def test_a_single_pass_follows_the_changes_of_w(method, monkeypatch):
    """A copy of W that stays behind makes errors of the size of the steps."""
    results = {}
    for single in (False, True):
        for module in (ascent, blocks):
            monkeypatch.setattr(module, "suits_float32", lambda *_, single=single: single)
        results[single] = fwlab.solve(problem(), method, tol=0, max_iter=2, check_every=1)
    double, single = results[False], results[True]
    assert_allclose(single.A, double.A, rtol=0, atol=1e-3)
    assert not np.array_equal(single.A, double.A)
    assert single.W.dtype == single.A.dtype == np.float64


# ---------------------------------------------------------------- the choice


def test_large_changes_suit_float32_and_small_ones_do_not():
    p = problem()
    W = np.random.default_rng(2).normal(size=(M, D))
    assert suits_float32(p, W, np.full(N, 0.1))
    assert not suits_float32(p, W, np.full(N, 1e-9))
    assert not suits_float32(p, W, np.zeros(N))


def largest_error(p, W, d):
    """E: the three classes of a block with k = 2 err by eps |x_i| max |w_j|, more in long rows."""
    largest = np.linalg.norm(W, axis=1).max()
    return N * p.lam_n * 3 * max(1, d / 1024) * (EPS * largest) ** 2


@pytest.mark.parametrize("d", [D, 2048])
@pytest.mark.parametrize("scale", [0.5, 1.0, 8.0])
@pytest.mark.parametrize("lam", [0.01, 3.0])
def test_float32_ends_where_half_of_the_gain_is_not_sure(d, scale, lam):
    """E = S / 16, with S the sum of |x_i|^2 / (lam n) (|step_i|_1 / 2)^2."""
    rng = np.random.default_rng(4)
    X = scale * rng.uniform(0.2, 5, (N, 1)) * rng.normal(size=(N, d))
    W = rng.uniform(0.2, 5, (M, 1)) * rng.normal(size=(M, d))
    p = fwlab.Problem(X, np.arange(N) % M, fwlab.TopK(2), lam, storage="float32")
    curvatures = np.linalg.norm(p.X.astype(float), axis=1) ** 2 / p.lam_n
    steps = rng.random(N)
    steps *= np.sqrt(16 * largest_error(p, W, d) / (curvatures @ (steps / 2) ** 2))
    assert suits_float32(p, W, 1.001 * steps)
    assert not suits_float32(p, W, 0.999 * steps)


def test_half_of_the_gain_exactly_suits_float32():
    """All rows and classes have the norm 1, lam n is 4, a block 3 + 1 classes: floats hold all."""
    X, W = np.eye(128, dtype=np.float32), np.eye(M, 128)
    p = fwlab.Problem(X, np.arange(128) % M, fwlab.TopK(3), 2.0**-5, storage="float32")
    # (step / 2)^2 / 4 = 16 * 4 * 4 eps^2
    steps = np.full(128, 64 * float(EPS))
    assert suits_float32(p, W, steps)
    assert not suits_float32(p, W, (1 - 1e-9) * steps)


@pytest.mark.parametrize("k", [1, 3])
def test_a_pass_at_wrong_scores_keeps_the_gain_that_the_bound_promises(k):
    """D rises by q |d|^2 / 2 - |e| |d| or more, for steps d at scores that are off by e."""
    rng, loss = np.random.default_rng(5), fwlab.TopK(k)
    y, q = np.arange(N) % M, 0.7
    for size in (0.01, 0.3, 3.0):
        scores, off = rng.normal(size=(N, M)), size * rng.normal(size=(N, M))
        old = loss.project(rng.normal(size=(N, M)), y)
        delta = np.arange(M) != y[:, None]
        new = loss.project(old - (scores + off + delta) / q, y)
        step, e = np.linalg.norm(new - old, axis=1), np.linalg.norm(off, axis=1)
        gain = -q / 2 * step**2 - ((scores + delta) * (new - old)).sum(axis=1)
        assert np.all(gain >= q / 2 * step**2 - e * step - 1e-12)
        assert np.any(gain < q / 2 * step**2)


def test_rows_of_128_features_are_long():
    p = problem(rows()[:, :128])
    assert suits_float32(p, np.ones((M, 128)), np.ones(N))


def test_scores_of_w_0_are_exact_in_float32():
    assert suits_float32(problem(), np.zeros((M, D)), np.zeros(N))


@pytest.mark.parametrize(
    ("of_x", "of_lam", "suits"),
    [
        (0, 0, True),
        # W stays between |x| and 128 |x| over lam n, scores between |x|^2 and 128 |x|^2 over lam n
        (0, 53, True),
        (0, 54, False),
        (0, -60, True),
        (0, -61, False),
        (20, 0, True),
        (30, 0, False),
        (-30, 0, True),
        (-31, 0, False),
    ],
)
def test_a_first_pass_stays_in_the_range_of_float32(of_x, of_lam, suits):
    X = 2.0**of_x * np.eye(128)
    lam = 2.0 ** (-of_lam - 7)
    p = fwlab.Problem(X, np.arange(128) % M, fwlab.TopK(1), lam, storage="float32")
    assert suits_float32(p, np.zeros((M, 128)), np.zeros(128)) == suits


@pytest.mark.parametrize(
    "other",
    [
        problem(storage="float64"),
        problem(scipy.sparse.csr_matrix(rows())),
        problem(rows()[:, :127]),
    ],
    ids=["float64", "sparse", "short rows"],
)
def test_other_data_does_not_suit_float32(other):
    W = np.ones((M, other.n_features))
    assert not suits_float32(other, W, np.full(N, 1.0))


@pytest.mark.parametrize(
    ("of_x", "of_w", "suits"),
    [
        (0, 60, True),
        (0, 61, False),
        (0, -60, True),
        (0, -61, False),
        (10, 50, True),
        (11, 50, False),
        (-10, -50, True),
        (-11, -50, False),
        (20, -61, False),
        (-20, 61, False),
    ],
)
def test_sizes_beyond_the_range_of_float32_do_not_suit(of_x, of_w, suits):
    """W and the scores, |x_i| |w_j|, lie between 2^-60 and 2^60; the largest row decides."""
    X, W = np.zeros((128, 128), np.float32), np.zeros((M, 128))
    X[:, 0], W[:, 0] = 2.0 ** (of_x - 4), 2.0 ** (of_w - 4)
    X[5, 0], W[2, 0] = 2.0**of_x, 2.0**of_w
    p = fwlab.Problem(X, np.arange(128) % M, fwlab.TopK(2), 2.0**-5, storage="float32")
    assert suits_float32(p, W, np.full(128, 1e80)) == suits


# ---------------------------------------------------------------- runs


@pytest.mark.long
@pytest.mark.turns
@pytest.mark.parametrize("method", ["ascent", "bcpfw"])
def test_runs_start_in_float32_and_end_at_the_optimum_of_float64(method, choices):
    tol = 1e-9
    single = fwlab.solve(problem(), method, tol=tol, max_iter=200)
    assert any(choices)
    # other methods than ascent choose for ten passes, and a pass that compiles may come first
    assert not choices[-1] or (method != "ascent" and len(choices) <= 11)
    assert single.gap <= tol
    double = problem(rows().astype(np.float64), "float64")
    assert_allclose(double.gap(single.A), single.gap, rtol=0, atol=1e-13)
    choices.clear()
    other = fwlab.solve(double, method, tol=tol, max_iter=200)
    assert not any(choices)
    assert single.nit <= 1.1 * other.nit + 2


@pytest.mark.parametrize(("method", "most"), [("ascent", 40), ("bcfw", 10), ("bcpfw", 10)])
def test_steps_that_zigzag_gain_as_much_in_float32(method, most, choices):
    """Rows that are nearly multiples of each other take large steps back and forth."""
    rng = np.random.default_rng(3)
    X = (np.outer(rng.normal(size=N), rng.normal(size=D)) + 1e-6 * rows()).astype(np.float32)
    lam = np.mean(np.sum(X**2, axis=1)) / (30 * N)
    options = {"shrink": False} if method == "ascent" else {}
    traces = {}
    for storage in ("float32", "float64"):
        p = fwlab.Problem(X, np.arange(N) % M, fwlab.TopK(2), lam, storage=storage)
        result = fwlab.solve(p, method, tol=0, max_iter=40, check_every=1, **options)
        traces[storage] = result.trace
    # a pass that compiles may come first
    assert most - 2 <= sum(choices) <= most + 1
    assert np.all(np.diff(traces["float32"].dual) > -1e-15)
    assert np.mean(np.log(traces["float32"].gap / traces["float64"].gap)) < 0.1


@pytest.mark.turns
def test_runs_with_float32_scores_replay_bit_for_bit(choices):
    first, second = (fwlab.solve(problem(), "ascent", tol=0, max_iter=9) for _ in range(2))
    assert any(choices)
    assert_array_equal(first.A, second.A)
    assert_array_equal(first.trace.gap, second.trace.gap)


def test_a_warm_start_begins_in_float64(choices):
    p = problem()
    A = fwlab.solve(p, "ascent", tol=0, max_iter=3).A
    choices.clear()
    fwlab.solve(p, "ascent", tol=0, max_iter=1, A0=A, shrink=False)
    assert len(choices) > 0
    assert not any(choices)


@pytest.mark.turns
@pytest.mark.parametrize("order", ["uniform", "gap"])
def test_orders_that_go_row_by_row_stay_in_float64(order, choices):
    fwlab.solve(problem(), "ascent", tol=0, max_iter=3, order=order)
    assert not any(choices)
