"""`certify`: machines from elsewhere, every status, intercepts, hints and input."""

from dataclasses import replace
from math import nextafter
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from given_hinge import GivenHinge
from heads import D, M, N, X, Y
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import LinearSVC

import fwlab
from fwlab import certification, excess
from fwlab.excess import ExcessTest, excess_bounds
from fwlab.result import Certificate


def linear_svc():
    model = LinearSVC(multi_class="crammer_singer", C=0.5, fit_intercept=False, max_iter=10**5)
    return fwlab.MaxHinge(), model.fit(X, Y).coef_


def logistic_regression():
    model = LogisticRegression(C=0.5, fit_intercept=False)
    return fwlab.CrossEntropy(), model.fit(X, Y).coef_


def stochastic_gradient():
    model = SGDClassifier(loss="log_loss", fit_intercept=False, random_state=0)
    return fwlab.CrossEntropy(), model.fit(X, Y).coef_


def gradient_descent():
    """Descend as a loop in torch does: float32, weight decay, a fixed rate."""
    W, lam = np.zeros((M, D), dtype=np.float32), np.float32(1 / (0.5 * N))
    for _ in range(300):
        shares = np.exp(X.astype(np.float32) @ W.T)
        shares /= shares.sum(axis=1, keepdims=True)
        shares[np.arange(N), Y] -= 1
        W = W - np.float32(0.3) * (shares.T @ X.astype(np.float32) / N + lam * W)
    return fwlab.CrossEntropy(), W


HEADS = [linear_svc, logistic_regression, stochastic_gradient, gradient_descent]


@pytest.mark.parametrize("head", HEADS)
def test_heads_of_other_programs(head):
    loss, W = head()
    problem = fwlab.Problem(X, Y, loss, C=0.5)
    found = fwlab.certify(problem, W)
    best = fwlab.solve(problem, "auto", tol=1e-13)
    assert found.status in (fwlab.ExcessStatus.KNOWN, fwlab.ExcessStatus.NEGLIGIBLE)
    excess = problem.primal(W) - best.primal
    assert found.excess_low - 1e-13 <= excess <= found.excess <= 1.1 * excess + 1e-13
    assert np.linalg.norm(W - best.W) - best.distance <= found.distance
    # a run that goes on for longer proves labels, and sees those that a bad head has wrong
    found = fwlab.certify(problem, W, factor=1 + 1e-6)
    proved, same = found.proved(X), (X @ W.T).argmax(axis=1) == best.predict(X)
    assert proved.sum() >= 0.9 * same.sum() > 0
    assert ((X @ W.T).argmax(axis=1) == best.predict(X))[proved].all()
    low, high = found.proved_accuracy(X, Y)
    accuracy = fwlab.metrics.topk_accuracy(Y, X @ best.W.T, 1)
    assert low <= accuracy <= high and high - low < 1


def test_a_head_from_a_file(tmp_path):
    problem = fwlab.Problem(X, Y, fwlab.TopK(2), C=0.5)
    fwlab.solve(problem, tol=1e-3).save(tmp_path / "run.npz")
    found = fwlab.certify(problem, fwlab.Result.load(tmp_path / "run.npz").W)
    assert found.status is fwlab.ExcessStatus.KNOWN and found.excess <= 1e-3


@pytest.mark.parametrize(
    "form",
    [
        {"loss": fwlab.TopK(2), "smoothing": 0.5},
        {"loss": fwlab.Usunier(2), "kernel": "linear"},
        {"loss": fwlab.CrossEntropy(), "kernel": "linear"},
        {"loss": fwlab.CrossEntropy(), "storage": "float32"},
        {"loss": fwlab.TopK(1), "regularizer": fwlab.LpNorm(1.5)},
        {"loss": fwlab.TopK(1), "regularizer": fwlab.LpNorm(3.0)},
        {"loss": GivenHinge(), "n_classes": M},
    ],
    ids=str,
)
def test_every_form_of_a_problem(form):
    problem = fwlab.Problem(X, Y, lam=0.5, **form)
    W = np.random.default_rng(0).normal(size=(M, D))
    found = fwlab.certify(problem, W, factor=1.5)
    assert found.status is fwlab.ExcessStatus.KNOWN
    assert found.excess <= 1.5 * found.excess_low
    plain = form.get("regularizer", fwlab.LpNorm(2)).p <= 2
    assert (found.distance < np.inf) == plain
    best = fwlab.solve(problem.at_data, found.result.method, tol=1e-3, max_iter=5000)
    assert found.distance >= np.linalg.norm(W - best.W) - best.distance
    assert plain or not found.proved(X).any()


def test_a_sparse_x_is_certified_as_a_dense_one():
    W = np.ones((M, D))
    found = [
        fwlab.certify(fwlab.Problem(form(X), Y, fwlab.CrossEntropy(), C=0.5), W)
        for form in (np.asarray, scipy.sparse.csr_matrix)
    ]
    assert found[0].excess_low <= found[1].excess and found[1].excess_low <= found[0].excess


# ------------------------------------------------------------------ the bounds


def test_the_bounds_of_the_excess_by_hand():
    own = Certificate(8.0, 3.0, 5.0, 5.0, gap_error=0.25)
    other = Certificate(4.0, 3.0, 1.0, 1.0, gap_error=0.5)
    high, low = excess_bounds(own, other)
    assert high == nextafter(5.25, np.inf) and low == nextafter(3.25, 0)
    assert excess_bounds(other, own)[1] == 0.0


def with_factor(factor=1.5):
    return ExcessTest(None, None, -1e6, factor)


def test_the_statuses_by_hand():
    known, negligible, floor, undecided, _ = fwlab.ExcessStatus
    assert with_factor().status(3.0, 2.0, 0.0) is known
    assert with_factor().status(3.01, 2.0, 0.0) is undecided
    assert with_factor().status(2.99, 2.0, 0.0, share=0.5) is undecided
    assert with_factor().status(2.5, 2.0, 0.0, share=0.5) is known
    assert with_factor().status(1e-6, 0.0, 0.0) is negligible
    assert with_factor().status(1.1e-6, 0.0, 0.0) is undecided
    assert with_factor().status(0.9e-6, 0.0, 0.0, share=0.5) is undecided
    assert with_factor().status(2e-3, 0.0, 1e-3) is negligible
    assert with_factor().status(2.1e-3, 0.0, 1e-3) is undecided
    # a millionth of P is 1: rounding errors do not make more than that negligible
    assert with_factor().status(1.0, 0.5, 1e3) is negligible
    assert with_factor().status(1.1, 0.5, 1e3) is undecided
    assert with_factor().status(0.9, 0.5, 0.1, at_floor=True) is floor
    assert with_factor().status(1.1, 0.5, 0.1, at_floor=True) is undecided
    assert with_factor().status(0.6, 0.5, 0.1, at_floor=True) is known


def test_rounding_counts_before_a_run_ends(monkeypatch):
    """The last test with rounding errors is not repeated before the gap has halved."""
    asked, error = [], 1.0

    def certificate(self, A, W):
        asked.append(W)
        return Certificate(0.0, 0.0, 3.0 if W == "W" else 0.1, 0.0, gap_error=error)

    monkeypatch.setattr(ExcessTest, "certificate", certificate)
    problem = SimpleNamespace(has_tensors=False, has_entropy=False, in_family=False)
    run = ExcessTest(problem, "W", 5.0, 1.1)

    def progress(gap):
        state = SimpleNamespace(A=None, weights=lambda: "best")
        return SimpleNamespace(state=state, dual=2.0, gap=gap)

    for gap, count in ((0.4, 0), (0.2, 2), (0.15, 2), (0.1, 4)):
        run.end_if_known(progress(gap))
        assert len(asked) == count
    error = 1e-3
    with pytest.raises(StopIteration):
        run.end_if_known(progress(0.05))


def test_a_tighter_factor_takes_a_longer_run():
    problem = fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=50.0)
    runs = [fwlab.certify(problem, np.zeros((M, D)), factor=f) for f in (4.0, 1.1, 1.0001)]
    assert runs[0].result.nit < runs[1].result.nit < runs[2].result.nit
    assert all(run.status is fwlab.ExcessStatus.KNOWN for run in runs)
    assert runs[2].excess <= 1.0001 * runs[2].excess_low


def test_the_optimum_itself_has_a_bound_alone():
    problem = fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=0.5)
    best = fwlab.solve(problem, "auto", tol=1e-14)
    found = fwlab.certify(problem, best.W)
    assert found.status is fwlab.ExcessStatus.NEGLIGIBLE and found.excess_low == 0
    assert found.excess <= max(1e-12 * best.primal, 2 * found.gap_error)
    assert "bounded from above alone" in found.message
    assert found.proved(X).all()


def test_no_time_leaves_valid_bounds():
    problem = fwlab.Problem(X, Y, fwlab.MaxHinge(), C=50.0)
    W = np.ones((M, D))
    found, best = (fwlab.certify(problem, W, time_limit=limit) for limit in (0, None))
    assert found.status is fwlab.ExcessStatus.OPEN and "time limit" in found.message
    assert found.excess_low <= best.excess and best.excess_low <= found.excess
    assert found.distance >= np.linalg.norm(W - best.result.W) - best.result.distance


def test_ctrl_c_leaves_valid_bounds(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ExcessTest, "end_if_known", interrupt)
    found = fwlab.certify(fwlab.Problem(X, Y, fwlab.MaxHinge(), C=5.0), np.ones((M, D)))
    assert found.result.status is fwlab.Status.INTERRUPTED
    assert found.status is fwlab.ExcessStatus.OPEN and 0 < found.excess < np.inf


@pytest.mark.wrong_gaps
def test_a_contradiction_certifies_nothing(monkeypatch):
    own = excess.certificate_of

    def wrong(*arguments):
        return own(*arguments).contradicted("the loss is wrong.")

    monkeypatch.setattr(excess, "certificate_of", wrong)
    W = np.random.default_rng(0).normal(size=(M, D))
    found = fwlab.certify(fwlab.Problem(X, Y, fwlab.MaxHinge(), C=5.0), W)
    assert found.status is fwlab.ExcessStatus.INCONSISTENT and "the loss is wrong." in found.message
    assert (found.excess, found.excess_low, found.distance) == (np.inf, 0.0, np.inf)
    assert not found.proved(X).any()


@pytest.mark.wrong_gaps
def test_a_run_that_contradicts_itself_certifies_nothing(monkeypatch):
    def contradicted(*arguments, **options):
        result = fwlab.solve(*arguments, **options)
        return replace(result, status=fwlab.Status.INCONSISTENT, message="The LMO is wrong.")

    monkeypatch.setattr(certification, "solve", contradicted)
    found = fwlab.certify(fwlab.Problem(X, Y, fwlab.MaxHinge(), C=5.0), np.ones((M, D)))
    assert found.status is fwlab.ExcessStatus.INCONSISTENT
    assert "The LMO is wrong." in found.message and found.excess == np.inf


# ------------------------------------------------------------------ labels


def test_a_label_that_only_the_optimum_has_is_not_shared():
    problem = fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=0.5)
    best = fwlab.solve(problem, "auto", tol=1e-14)
    turned = np.roll(best.W, 1, axis=0)
    found = fwlab.certify(problem, turned, factor=1.001)
    same = (X @ turned.T).argmax(axis=1) == best.predict(X)
    assert not found.proved(X)[~same].any()
    # ties of W have no label that is certain
    tied = fwlab.certify(problem, np.zeros((M, D)), factor=1 + 1e-6)
    assert (best.predict(X) == 0).any() and not tied.proved(X).any()
    assert np.diff(tied.proved_accuracy(X, Y))[0] < 0.1


def test_the_top_k_accuracy_of_the_optimum():
    problem = fwlab.Problem(X, Y, fwlab.TopK(2), C=0.5)
    best = fwlab.solve(problem, tol=1e-12)
    found = fwlab.certify(problem, np.roll(best.W, 1, axis=0), factor=1 + 1e-6)
    for k in (1, 2, 3):
        low, high = found.proved_accuracy(X, Y, k)
        assert low <= fwlab.metrics.topk_accuracy(Y, X @ best.W.T, min(k, 3)) <= high
    with pytest.raises(ValueError, match=r"k must be in 1..3; got 4"):
        found.proved_accuracy(X, Y, 4)
    with pytest.raises(ValueError, match="X_new must have 4 columns; got 2"):
        found.proved(X[:, :2])


def test_a_rounding_error_without_a_bound_certifies_nothing(monkeypatch):
    honest = excess.certificate_of
    monkeypatch.setattr(
        excess, "certificate_of", lambda *pair: replace(honest(*pair), gap_error=np.inf)
    )
    problem = fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=0.5)
    found = fwlab.certify(problem, np.ones((M, D)), time_limit=0)
    assert (found.excess, found.excess_low, found.distance) == (np.inf, 0.0, np.inf)
    assert found.status is fwlab.ExcessStatus.OPEN


# ------------------------------------------------------------------ intercepts


def with_constant(value):
    return np.column_stack([X, np.full(N, value)])


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix])
def test_a_regularised_intercept_is_a_constant_feature(form):
    model = LinearSVC(
        multi_class="crammer_singer", C=0.5, intercept_scaling=2.0, max_iter=10**5, tol=1e-6
    ).fit(X, Y)
    problem = fwlab.Problem(form(with_constant(2.0)), Y, fwlab.MaxHinge(), C=0.5)
    found = fwlab.certify(problem, model.coef_, model.intercept_)
    assert found.excess < 1e-4
    np.testing.assert_array_equal(found.W[:, -1], model.intercept_ / 2)


def test_no_intercept_is_certified_in_silence():
    problem = fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=0.5)
    W, b = np.ones((M, D)), np.array([0.0, 0.5, -0.25])
    with pytest.raises(ValueError, match=r"intercept must be 0 or None, .* append a column of 1"):
        fwlab.certify(problem, W, b)
    np.testing.assert_array_equal(fwlab.certify(problem, W, np.zeros(M)).W, W)
    with pytest.raises(ValueError, match=r"intercept must be \(m,\) = \(3,\); got shape \(2,\)"):
        fwlab.certify(problem, W, b[:2])
    zero = fwlab.Problem(with_constant(0.0), Y, fwlab.CrossEntropy(), C=0.5)
    varied = fwlab.Problem(np.column_stack([X, X[:, 0]]), Y, fwlab.CrossEntropy(), C=0.5)
    for other in (zero, varied):
        with pytest.raises(ValueError, match="X must end in a constant feature"):
            fwlab.certify(other, W, b)


# ------------------------------------------------------------------ input


def test_bad_input_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(certification, "solve", None)
    problem, W = fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=0.5), np.ones((M, D))
    for wrong, sentence in [
        ({"W": W[:, :2]}, r"W must be \(m, d\) = \(3, 4\); got shape \(3, 2\)"),
        ({"W": W[0]}, "W must be 2-D; got shape"),
        ({"W": np.full((M, D), np.nan)}, "W must be finite"),
        ({"factor": 1.0}, "factor must be above 1; got 1.0"),
        ({"time_limit": -1.0}, "time_limit must be finite and >= 0"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            fwlab.certify(problem, **{"W": W, **wrong})
    with pytest.raises(TypeError, match=r"problem must be a fwlab\.Problem; got 3"):
        fwlab.certify(3, W)
    kernel = fwlab.Problem(X @ X.T, Y, fwlab.TopK(1), C=0.5, kernel="precomputed")
    with pytest.raises(ValueError, match="certify needs W, which kernel="):
        fwlab.certify(kernel, W)
    norm = fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=0.5, regularizer=fwlab.LpNorm(1.5))
    with pytest.raises(ValueError, match="its regularizer must be LpNorm"):
        fwlab.certify(norm, W)
    two = fwlab.Problem(X, Y > 0, fwlab.CrossEntropy(), C=0.5)
    with pytest.raises(ValueError, match="a binary machine w has the rows -w / 2 and w / 2"):
        fwlab.certify(two, W[:1])


@pytest.mark.parametrize("intercept", [1.0, 1e10])
def test_an_intercept_beyond_all_floats_is_refused(intercept):
    problem = fwlab.Problem(with_constant(1e-300), Y, fwlab.MaxHinge(), C=0.5)
    W = np.zeros((3, problem.n_features - 1))
    with pytest.raises(ValueError, match="intercept must be at most"):
        fwlab.certify(problem, W, intercept=[intercept * 1e9, 0.0, 0.0])


def test_half_of_a_binary_vector_is_an_optimum_at_half_of_its_constant():
    y = (Y > 0).astype(int)
    w = LogisticRegression(C=3.0, fit_intercept=False, tol=1e-10).fit(X, y).coef_
    problem = fwlab.Problem(X, y, fwlab.CrossEntropy(), C=1.5)
    assert fwlab.certify(problem, np.vstack([-w / 2, w / 2])).excess < 1e-10


def test_it_shows_what_it_knows():
    found = fwlab.certify(fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=0.5), np.ones((M, D)))
    assert f"excess = {found.excess:.6g}" in repr(found) and "KNOWN" in repr(found)
    assert "<td>excess_low</td>" in found._repr_html_()


# ------------------------------------------------------------------ balls


def test_the_balls_of_both_pairs(monkeypatch):
    """Each pair has its own gap, with its rounding error."""
    problem = fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=0.5)
    W = np.ones((M, D))
    best = fwlab.solve(problem, "auto", tol=1e-3)
    best = replace(best, gap=0.25, gap_error=0.125, distance=7.0)
    own = Certificate(9.0, 4.0, 5.0, 5.0, gap_error=0.5, distance=8.0, link_error=0.0)
    given = []
    monkeypatch.setattr(certification, "ball_of_pair", lambda *pair: given.append(pair))
    balls = list(certification._balls(problem, W, problem.weights(best.A), own, best))
    assert [(ball.centre is W, ball.radius) for ball in balls[:2]] == [(True, 8.0), (False, 7.0)]
    assert [(pair[0] is W, *pair[2:]) for pair in given] == [
        (True, 5.5, problem.lam, 0.0),
        (False, 0.375, problem.lam, 0.0),
    ]
    np.testing.assert_array_equal(given[0][1], problem.weights(best.A))


def test_the_distance_is_that_of_the_nearest_ball():
    problem = fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=50.0)
    found = fwlab.certify(problem, np.ones((M, D)), factor=1.0001)
    best = fwlab.solve(problem, "auto", tol=1e-13)
    away = np.linalg.norm(found.W - best.W)
    # the first ball alone is far larger
    assert found.distance <= 1.1 * away < 0.7 * np.sqrt(2 * found.excess / problem.lam)


def test_ties_of_the_centre_leave_an_interval():
    found = fwlab.certify(fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=50.0), np.ones((M, D)))
    # the ball alone
    vars(found)["ellipsoid"] = None
    low, high = found.proved_accuracy(X, Y)
    assert low < high
