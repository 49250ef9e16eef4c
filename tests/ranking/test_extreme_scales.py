"""Scales at which floats end: a run is certified, or refused in one sentence, and never fails."""

import numpy as np
import pytest
import scipy.sparse

from fwlab import ranking
from fwlab.ranking import PatMat, Problem, Result, TopPush, TopPushK, interior_point, working_set
from fwlab.ranking.newton_systems import StoredSystem
from fwlab.ranking.registry import METHODS
from fwlab.ranking.start import inner_point

pytestmark = pytest.mark.small

RNG = np.random.default_rng(5)
X = RNG.normal(size=(12, 3))
Y = np.arange(12) % 3 == 0
OBJECTIVES = [
    *(TopPush(), TopPush("hinge"), TopPushK(3), PatMat(0.3), PatMat(0.3, "hinge")),
    *(PatMat(0.3, over="all"), PatMat(0.3, "hinge", over="all")),
]


def scaled_run(scale, C, objective, kernel, **options):
    """Return a run on rows of another scale, in the same units: C grows as the rows shrink."""
    rows = scale * X
    sigma = 0.4 / scale**2 if kernel == "rbf" else None
    arguments = (rows @ rows.T if kernel == "precomputed" else rows, Y, objective, C, kernel, sigma)
    return Problem(*arguments), ranking.solve(*arguments, **options)


@pytest.mark.turns
@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
@pytest.mark.parametrize("scale", [1e-60, 1e-10, 1e10, 1e60])
def test_the_scale_of_the_rows_is_a_unit(scale, kernel, objective):
    """C times the squared scale is what counts: the dual grows with the square; rbf rows stay."""
    unit = 1.0 if kernel == "rbf" else scale**2
    _, plain = scaled_run(1.0, 2.0, objective, kernel)
    _, other = scaled_run(scale, 2.0 / unit, objective, kernel)
    assert other.success, other.message
    assert other.dual * unit == pytest.approx(plain.dual, rel=3e-6)
    assert other.gap_error <= 1e-9 * other.primal


@pytest.mark.grid
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("objective", OBJECTIVES[1:4], ids=str)
@pytest.mark.parametrize("scale, C", [(1e-150, 1.0), (1e-80, 1e12), (1.0, 1e-12), (1e3, 1e12)])
def test_any_scale_of_floats_ends_with_numbers(scale, C, objective, method):
    flint = pytest.importorskip("flint", reason="python-flint is not installed: no ball arithmetic")
    assert flint
    from fwlab.ranking.verify import enclose

    for kernel in ("linear", "precomputed"):
        problem, result = scaled_run(scale, C, objective, kernel, method=method, max_iter=6)
        for values in (result.alpha, result.beta, result.primal, result.dual, result.threshold):
            assert np.isfinite(values).all()
        low, high = enclose(problem, result)[2]
        slack = 2 * np.spacing(max(abs(low), abs(high)))
        assert max(result.gap - low, high - result.gap) - slack <= result.gap_error
        if result.success:
            assert high <= 1e-6 * max(abs(result.primal), abs(result.dual)) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("scale", "C", "theta", "sentence"),
    [
        (1e120, 1e-100, 1.0, r"X must have squared norms k\(x, x\) of at most 1e\+200; got \d"),
        (1e20, 1.0, 1.0, r"C must be such that C theta\^2 k\(x, x\) is at most 1e\+30, .* C=1 "),
        (1.0, 1e140, 1e50, r"C theta\^2 is between 1e-200 and 1e\+200; .* theta=1e\+50"),
        (1.0, 1e-100, 1e-60, r"C theta\^2 is between 1e-200 and 1e\+200; got C=1e-100"),
    ],
)
def test_scales_beyond_floats_are_refused(scale, C, theta, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        ranking.solve(scale * X, Y, TopPush(theta=theta), C)
    assert "\n" not in str(caught.value) and str(caught.value).endswith(".")


@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
def test_a_kernel_matrix_whose_digits_cancel_is_no_crash(objective):
    """All entries are 1e16: K + diag(D) is singular in floats, and the true optimum is at w = 0."""
    result = ranking.solve(np.full((12, 12), 1e16), Y, objective, 0.1, "precomputed", max_iter=60)
    assert not np.isnan([result.gap, result.gap_error]).any() and not result.success


def test_a_ridge_makes_an_indefinite_system_definite():
    Q = np.full((12, 12), 1e20)
    system = StoredSystem(Q, np.ones((1, 12)), np.ones(12))
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(Q + np.eye(12))
    system.factorise(np.ones(12))
    x, v = system.solve(np.zeros(12), np.ones(1))
    assert np.isfinite(v).all() and x.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("memory", [2**30, 0])
def test_a_constant_feature_does_not_change_an_rbf_kernel(memory, sparse):
    """1e6 in every row: without centring, squared distances of some 1 lose four digits."""
    wide = np.column_stack([X, np.full(12, 1e6)])
    new = np.column_stack([X[:5] + 0.1, np.full(5, 1e6)])
    if sparse:
        wide[0, 0] = 0.0
        plain = ranking.solve(wide[:, :3], Y, TopPushK(2), 1.0, "rbf", 0.4)
        wide = scipy.sparse.csr_matrix(wide)
    else:
        plain = ranking.solve(X, Y, TopPushK(2), 1.0, "rbf", 0.4)
    result = ranking.solve(wide, Y, TopPushK(2), 1.0, "rbf", 0.4, max_gram_memory=memory)
    assert result.success and result.gap_error <= 1e-10 * result.primal
    assert result.dual == pytest.approx(plain.dual, rel=2e-6)
    rows = scipy.sparse.csr_matrix(new) if sparse else new
    machine, c = result.machine, np.zeros(12)
    c[Y], c[~Y] = result.alpha, -result.beta
    trained = X.copy()
    trained[0, 0] *= not sparse
    distances = ((new[:, None, :3] - trained) ** 2).sum(axis=2)
    assert machine.scores(rows) == pytest.approx(np.exp(-0.4 * distances) @ c, abs=1e-12)
    assert scipy.sparse.issparse(machine.rows) == sparse


def test_files_from_before_the_shift_load(tmp_path):
    result = ranking.solve(X, Y, TopPush(), 1.0, "rbf", 0.4)
    result.save(tmp_path / "new.npz")
    with np.load(tmp_path / "new.npz") as stored:
        old = {k: v for k, v in stored.items() if k not in ("gap_error", "machine_shift")}
    np.savez(tmp_path / "old.npz", **old)
    again, before = Result.load(tmp_path / "new.npz"), Result.load(tmp_path / "old.npz")
    assert again.gap_error == result.gap_error and np.isnan(before.gap_error)
    assert before.machine.shift is None
    scores = result.decision_function(X)
    assert np.array_equal(again.decision_function(X), scores)
    assert before.decision_function(X) == pytest.approx(scores, abs=1e-12)


def test_a_kernel_matrix_that_is_symmetric_to_rounding_is_made_symmetric():
    K = X @ X.T
    K[0, 5] *= 1 + 1e-10
    problem = Problem(K, Y, TopPush(), 1.0, "precomputed")
    assert np.array_equal(problem.gram.K, problem.gram.K.T)


@pytest.mark.parametrize("objective", [TopPush("hinge"), TopPushK(3, "hinge"), PatMat(0.2)])
def test_a_primal_far_beyond_the_dual_does_not_drive_it_away(objective, monkeypatch):
    """C theta^2 k is 1e24: the first primal is as far above the dual, and mu would be, too."""
    rows = 1e6 * np.where(Y, 1.0, -1.0)[:, None] * (1 + 0.1 * np.abs(X))
    monkeypatch.setattr(interior_point, "PATIENCE", 0)  # barrier steps alone
    point = inner_point(Problem(rows, Y, objective, 1e12))

    def run():
        start = (point.alpha, point.beta, point.delta)
        return ranking.solve(rows, Y, objective, 1e12, start=start, max_iter=60)

    bounded = run()
    monkeypatch.setattr(interior_point, "MOST_GAP", np.inf)
    assert bounded.success and 1.3 * bounded.nit <= run().nit


def test_a_distance_beyond_floats_has_the_kernel_0():
    problem = Problem(1e100 * X, Y, PatMat(0.2), 1.0, "rbf", 1e149)
    assert np.array_equal(problem.gram.product(np.arange(12.0)), np.arange(12.0))


def test_a_set_of_rows_whose_goal_is_hidden_by_rounding_ends(monkeypatch):
    """Steps that only make noise end with a look at the rounding error."""
    counted, iterate = [], working_set.InteriorPoint.iterate
    monkeypatch.setattr(
        working_set.InteriorPoint, "iterate", lambda *a: counted.append(1) or iterate(*a)
    )
    options = {"method": "working-set", "tol": 1e-9, "max_iter": 2}

    def steps():
        counted.clear()
        for objective in (TopPush(), PatMat(0.2)):
            ranking.solve(1e11 + X @ X.T, Y, objective, 1e6, "precomputed", **options)
        return len(counted)

    looking = steps()
    assert looking <= 4 * working_set.STEPS_BETWEEN
    monkeypatch.setattr(working_set, "STEPS_BETWEEN", 10**9)
    assert 2 * looking <= steps()


def test_subgradient_steps_that_grow_without_end_stop_within_floats():
    """Rounding makes <c, K c> negative along a step: its length no longer bounds it."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=(9, 2)), np.full(9, 1e8)])
    for seed in range(6):
        y = np.random.default_rng(seed).permutation(np.arange(9) % 2)
        for objective in (TopPushK(2), PatMat(0.3)):
            arguments = (rows @ rows.T, y, objective, 100.0, "precomputed", None, "subgradient")
            result = ranking.solve(*arguments, max_iter=100)
            assert np.isfinite([result.primal, result.threshold]).all() and not result.success


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("surrogate", ["quadratic", "hinge"])
def test_degenerate_rows(method, surrogate):
    """Zero or equal rows, one positive, one negative, K = n_negative: no gap is below its error."""
    one = np.arange(12) == 4
    for rows, y, objective in (
        (0 * X, Y, TopPush(surrogate)),
        (X[np.zeros(12, int)], Y, TopPushK(8, surrogate)),
        (X, one, TopPushK(11, surrogate)),
        (X, one, PatMat(1e-15, surrogate)),
        (X, one, PatMat(1 - 1e-16, surrogate, budget="negatives")),
        (X, one, PatMat(1 - 1e-16, surrogate, over="all")),
        (X, ~one, PatMat(1e-15, surrogate, over="all")),
        (X[np.zeros(12, int)], Y, PatMat(0.2, surrogate, over="all")),
    ):
        result = ranking.solve(rows, y, objective, 1.0, method=method, max_iter=40)
        assert np.isfinite([result.primal, result.dual, result.threshold]).all()
        assert result.gap >= -result.gap_error
        if method == "interior-point":
            assert result.success, (objective, result.message)
