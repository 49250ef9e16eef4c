"""Problems with a block norm: what the methods promise beside the optimum, for that see cross."""

import numpy as np
import pytest
from solvers.solver_table import FORMS, LOSSES, Case, each_form, in_form, random_feasible

import fwlab
from fwlab.identity import digest
from fwlab.solvers.direct import PASSES_BETWEEN, Direct
from fwlab.solvers.method import State
from fwlab.solvers.registry import REGISTRY
from fwlab.text import describe_problem

pytestmark = pytest.mark.small

METHODS = ("alternate", "direct")
OTHERS = tuple(name for name in fwlab.methods() if name not in METHODS)
each = pytest.mark.parametrize("method", METHODS)


def normed(p, form="dense", loss="MaxHinge-0", smoothing=0.0, weighted=False):
    case = Case(loss, form, smoothing, weighted)
    X, kernel = in_form(case.X, form)
    return fwlab.Problem(
        X,
        case.y,
        case.entry.loss,
        case.lam,
        smoothing=smoothing,
        kernel=kernel,
        n_classes=4,
        sample_weight=case.sample_weight,
        regularizer=fwlab.LpNorm(p),
    )


# ---------------------------------------------------------------- which method takes what


@pytest.mark.parametrize("method", OTHERS)
def test_the_other_methods_refuse_it_before_work(method, monkeypatch):
    def never(*_):
        raise AssertionError("a run that must be refused began")

    monkeypatch.setattr("fwlab.solvers.solve.warm_up", never)
    for p in (1, 1.5, 3):
        words = (
            rf"method '{method}': its regularizer must be LpNorm\(2\) .* got LpNorm\(p={p:.1f}\)"
        )
        with pytest.raises(ValueError, match=words):
            fwlab.solve(normed(p), method)


def test_the_table_says_who_takes_it():
    assert tuple(name for name, default in REGISTRY.items() if default().any_norm) == METHODS


@pytest.mark.grid
@each
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_every_loss_with_weights_and_smoothing(method, loss, smoothing):
    for p in (1.3, 4.0):
        problem = normed(p, loss=loss, smoothing=smoothing, weighted=True)
        result = fwlab.solve(problem, method, tol=1e-3, max_iter=300, check_every=10)
        assert result.success, f"gap {result.gap}"
        assert problem.is_feasible(result.A)
        assert result.gap >= 0


# ---------------------------------------------------------------- the plain machine


@pytest.mark.turns
@each
@each_form
def test_two_is_the_plain_machine(method, form):
    plain, problem = Case("MaxHinge-0", form).problem(), normed(2, form)
    A = random_feasible(Case("MaxHinge-0"), np.random.default_rng(0))
    assert problem.certificate(A) == plain.certificate(A)
    np.testing.assert_array_equal(problem.link(A), plain.link(A))
    ours, theirs = (fwlab.solve(x, method, tol=1e-8) for x in (problem, plain))
    np.testing.assert_array_equal(ours.A, theirs.A)
    ascent = fwlab.solve(plain, "ascent", tol=1e-8, max_iter=5000)
    assert ours.success and ours.primal == pytest.approx(ascent.primal, abs=2e-8)


# ---------------------------------------------------------------- the certificate


@pytest.mark.turns
@each
@pytest.mark.parametrize("p", [1, 1.05, 1.5, 3, 6])
def test_the_dual_never_falls_and_never_exceeds_the_primal(method, p):
    trace = fwlab.solve(normed(p, loss="TopK-1"), method, tol=0.0, max_iter=60, check_every=1).trace
    assert (np.diff(trace.dual) >= -1e-13).all()
    assert trace.dual.max() <= trace.primal.min() + 1e-12
    assert trace.gap[-1] < 0.2 * trace.gap[0]


@pytest.mark.parametrize("p", [1, 1.2, 2, 5])
def test_weak_duality_at_random_points(p):
    case, problem = Case("MaxHinge-0"), normed(p)
    rng = np.random.default_rng(1)
    for scale in (0.01, 0.3, 1.0):
        A, W = random_feasible(case, rng), scale * rng.standard_normal((4, case.d))
        assert problem.dual(A) <= problem.primal(W)
        if p > 1:
            assert (
                0
                <= problem.gap(A)
                == pytest.approx(problem.primal(problem.weights(A)) - problem.dual(A), abs=1e-13)
            )
        assert problem.dual(A + 1e-3) == -np.inf


@pytest.mark.parametrize("p", [1.2, 5])
def test_the_gap_is_that_of_the_frank_wolfe_direction(p):
    """<grad D(A), U - A> with U the LMO at the scores of the mapped W."""
    case, problem = Case("TopK-1"), normed(p, loss="TopK-1")
    A = random_feasible(case, np.random.default_rng(2))
    scores = case.X @ problem.weights(A).T
    gradient = -problem.polytopes.add_costs(scores) / case.n
    gradient[np.arange(case.n), case.y] = -scores[np.arange(case.n), case.y] / case.n
    U = problem.loss.lmo(-gradient, case.y)
    assert problem.gap(A) == pytest.approx(np.vdot(gradient, U - A), rel=1e-10)
    step = 1e-6
    slope = (problem.dual(A + step * (U - A)) - problem.dual(A)) / step
    assert slope == pytest.approx(problem.gap(A), rel=1e-3)


@each
@pytest.mark.parametrize("p", [1, 1.5, 3])
def test_the_result_is_what_its_parts_say(method, p, tmp_path):
    case, problem = Case("MaxHinge-0"), normed(p)
    result = fwlab.solve(problem, method, tol=1e-3, relative=True, max_iter=500)
    assert result.success
    assert result.dual == pytest.approx(problem.dual(result.A), abs=1e-14)
    assert result.primal == pytest.approx(problem.primal(result.W), abs=1e-14)
    if method == "direct" and p > 1:
        np.testing.assert_allclose(result.W, problem.weights(result.A), atol=1e-12)
    result.save(tmp_path / "run.npz")
    loaded = fwlab.Result.load(tmp_path / "run.npz")
    assert (loaded.primal, loaded.dual, loaded.status) == (
        result.primal,
        result.dual,
        result.status,
    )
    np.testing.assert_array_equal(loaded.predict(case.X), result.predict(case.X))


@each
@pytest.mark.parametrize("p", [1, 1.5, 3])
def test_the_form_of_the_data_changes_nothing(method, p):
    runs = [fwlab.solve(normed(p, form), method, tol=0.0, max_iter=20) for form in FORMS]
    for run in runs[1:]:
        np.testing.assert_allclose(run.A, runs[0].A, atol=1e-9)
        assert run.gap == pytest.approx(runs[0].gap, abs=1e-9)
    case = Case("MaxHinge-0")
    K = case.X @ case.X.T
    scores, rows = case.X @ runs[0].W.T, np.arange(case.n)
    # at an optimum classes can tie
    np.testing.assert_allclose(scores[rows, runs[3].predict(K)], scores.max(axis=1), atol=1e-9)
    if p > 1:
        problem = normed(p, "precomputed")
        np.testing.assert_allclose(
            problem.scores(runs[0].A, K), normed(p).scores(runs[0].A, case.X), atol=1e-9
        )


@each
@pytest.mark.parametrize("p", [1, 1.5, 3])
def test_a_start_is_not_lost(method, p):
    problem = normed(p)
    first = fwlab.solve(problem, method, tol=1e-3, max_iter=500, check_every=1)
    second = fwlab.solve(problem, method, A0=first.A, tol=0.0, max_iter=3, check_every=1)
    assert (second.trace.dual >= first.dual - 1e-13).all()


# ---------------------------------------------------------------- p = 1


@pytest.mark.parametrize("name", ["weights", "gap", "augmented_gap"])
def test_at_one_there_is_no_representer_map(name):
    problem, case = normed(1), Case("MaxHinge-0")
    with pytest.raises(ValueError, match=rf"^{name} needs one W\(A\), but with LpNorm\(1\)"):
        getattr(problem, name)(np.zeros((case.n, 4)))
    with pytest.raises(ValueError, match=r"LpNorm\(1\)"):
        normed(1, "precomputed").scores(np.zeros((case.n, 4)), np.eye(case.n))


def test_at_one_dual_and_primal_stay():
    case, problem = Case("MaxHinge-0"), normed(1)
    A = random_feasible(case, np.random.default_rng(3))
    V = A.T @ case.X / (case.lam * case.n)
    linear = A[np.arange(case.n), case.y].mean()
    largest = (V**2).sum(axis=1).max()
    assert problem.dual(A) == pytest.approx(linear - case.lam / 2 * largest)
    norms = np.linalg.norm(V, axis=1).sum()
    hinge = problem.loss.value(case.X @ V.T, case.y).mean()
    assert problem.primal(V) == pytest.approx(case.lam / 2 * norms**2 + hinge)


@each
@pytest.mark.parametrize("p", [1.0001, 1.01, 1.03])
@pytest.mark.parametrize("loss", ["MaxHinge-0", "TopK-1"])
def test_just_above_one(method, p, loss):
    problem = normed(p, loss=loss)
    result = fwlab.solve(problem, method, tol=1e-5, relative=True, max_iter=1500, check_every=10)
    assert result.success, f"gap {result.gap}"


def test_the_map_goes_to_one_continuously():
    """The optimal values for p' > 1 fall to the value for p = 1."""
    values = [
        fwlab.solve(normed(p), "alternate", tol=1e-6, max_iter=3000, check_every=20).primal
        for p in (1.2, 1.1, 1.05)
    ]
    at_one = fwlab.solve(normed(1), "direct", tol=1e-4, max_iter=3000, check_every=20)
    assert at_one.success
    assert values[0] < values[1] < values[2] < at_one.primal + 1e-6


# ---------------------------------------------------------------- classes without rows


@each
@pytest.mark.parametrize("p", [1.5, 1.8])
def test_a_class_that_vanishes_in_the_first_pass_returns(method, p):
    """LP15-alg1-converges: all rows go to their bounds, where u_2 = 0, but w_2 != 0 at the optimum
    for C between the one at which the start's weights give the first row the margin 1 and the one
    at which the weights of a w with w_2 = 0 do."""
    X, y = np.array([[2.0], [-1.0], [1.0]]), np.array([0, 1, 2])
    C = 1 / (2 * (0.8 * 3 ** (1 - 2 / p) + 0.2 * 2 ** (1 - 2 / p)))
    problem = fwlab.Problem(X, y, fwlab.MaxHinge(), 1 / (3 * C), regularizer=fwlab.LpNorm(p))
    result = fwlab.solve(problem, method, tol=1e-6, relative=True, max_iter=1000)
    assert result.success, f"gap {result.gap}"
    assert np.abs(result.W[2]).max() > 1e-3


@each
@pytest.mark.parametrize("p", [1, 1.5, 2.5, 6])
def test_a_class_without_rows_may_stay_zero(method, p):
    X, y = np.array([[1.0], [-1.0]]), np.array([0, 1])
    problem = fwlab.Problem(
        X, y, fwlab.MaxHinge(), 1 / 0.6, n_classes=3, regularizer=fwlab.LpNorm(p)
    )
    result = fwlab.solve(problem, method, tol=1e-5, relative=True, max_iter=1000)
    assert result.success, f"gap {result.gap}"


@each
@pytest.mark.parametrize("p", [1, 1.5, 4])
def test_a_row_of_zeros_and_one_class_only(method, p):
    X, y = np.zeros((3, 2)), np.zeros(3, dtype=int)
    X[1] = 1.0
    problem = fwlab.Problem(X, y, fwlab.MaxHinge(), 0.5, n_classes=3, regularizer=fwlab.LpNorm(p))
    result = fwlab.solve(problem, method, tol=1e-4, max_iter=500)
    assert result.success, f"gap {result.gap}"
    assert np.isfinite(result.W).all()


def test_the_callback_sees_w():
    for p in (1.5, 3):
        problem, seen = normed(p), []
        fwlab.solve(problem, "direct", max_iter=2, callback=lambda s, seen=seen: seen.append(s.W))
        assert np.linalg.norm(seen[-1]) > 0
        final = fwlab.solve(problem, "direct", max_iter=2)
        np.testing.assert_allclose(seen[-1], final.W, atol=1e-12)


def test_paths_and_comparisons_take_it():
    runs = fwlab.path(normed(1.5), [0.1, 1.0], method="direct", tol=1e-6, max_iter=2000)
    assert all(run.success for run in runs)
    comparison = fwlab.compare({"a": normed(1), "b": normed(3)}, ["direct", "fw"], tol=1e-2)
    statuses = [row["status"] for row in comparison.rows()]
    assert statuses == ["CONVERGED", "refused"] * 2
    assert "regularizer = LpNorm(p=3.0)" in describe_problem("a", normed(3))
    assert digest(normed(3)) != digest(normed(4))


# ---------------------------------------------------------------- scales


@each
@pytest.mark.parametrize("p", [1, 1.04, 3, 50])
@pytest.mark.parametrize("size", [1e-100, 1e-30])
@pytest.mark.parametrize("weight", [1.0, 1e-150])
def test_features_whose_squares_vanish(method, p, size, weight):
    """The dual is linear to rounding: one pass reaches its vertex, where W = 0 is optimal."""
    X, y = size * np.array([[1.0], [-1.0], [2.0]]), np.array([0, 1, 2])
    problem = fwlab.Problem(
        X,
        y,
        fwlab.MaxHinge(),
        1.0,
        sample_weight=np.full(3, weight),
        regularizer=fwlab.LpNorm(p),
    )
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        result = fwlab.solve(problem, method, tol=1e-9, relative=True, max_iter=30)
    assert result.success, f"gap {result.gap}"
    assert result.primal == pytest.approx(weight, rel=1e-9)


def test_an_extrapolation_continues_from_the_last_one():
    """The change of the passes since then is what an extrapolation follows."""
    made, method = normed(1.5), Direct()
    state = State(made, np.zeros((made.n_samples, made.n_classes)), np.random.default_rng(0))
    workspace = method.start(state)
    for iteration in range(1, 7):
        before = workspace.last.copy()
        method.iterate(state, workspace)
        moved = iteration % PASSES_BETWEEN == 0
        np.testing.assert_array_equal(workspace.last, state.A if moved else before)
    assert state.A.any()
