"""TopKClassifier with tensors where they are: scikit-learn's array_api_dispatch."""

import pickle
import warnings
from functools import partial

import array_api_strict
import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils import estimator_checks
from solvers.tensor_libraries import ELSEWHERE, LIBRARIES, data, needs_torch

import fwlab
from fwlab.arrays import on_host
from fwlab.operators.tensor_rows import RowsWithConstant

TIGHT = {"tol": 1e-9, "max_iter": 500}


@pytest.fixture(params=LIBRARIES)
def library(request):
    return request.param()


@pytest.fixture
def dispatch(monkeypatch):
    """Switch array_api_dispatch on; scikit-learn asks for scipy's switch, too."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        yield


def both(library, X, y, **parameters):
    """Return the machine of tensors and the one of arrays."""
    machine = fwlab.TopKClassifier(**TIGHT | parameters)
    there = clone(machine).fit(library.tensor(X), library.tensor(y))
    return there, machine.fit(np.asarray(X, dtype=np.float64), y)


def agrees(found, expected, library, abs=1e-4):
    assert isinstance(found, library.kind) and found.dtype == library.tensor(np.ones(1)).dtype
    assert on_host(found) == pytest.approx(expected, abs=abs)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", ["cross-entropy", "topk-entropy"])
def test_answers_are_in_kind(library, dispatch, classes, fit_intercept, loss):
    X, y = data(m=classes, dtype="f4")
    there, here = both(library, X, y, loss=loss, fit_intercept=fit_intercept, intercept_scaling=3.0)
    rows = library.tensor(X)
    for name in ("coef_", "intercept_"):
        agrees(getattr(there, name), getattr(here, name), library)
    agrees(there.decision_function(rows), here.decision_function(X), library, abs=1e-3)
    if loss == "cross-entropy":
        agrees(there.predict_proba(rows), here.predict_proba(X), library)
        agrees(there.predict_log_proba(rows), here.predict_log_proba(X), library, abs=1e-3)
    for name in ("predict", "predict_topk", "proved"):
        found = getattr(there, name)(rows)
        assert isinstance(found, library.kind)
        assert (on_host(found) == getattr(here, name)(X)).mean() > 0.99
    assert isinstance(there.classes_, library.kind)
    assert on_host(there.classes_).tolist() == here.classes_.tolist()
    assert there.score(rows, library.tensor(y)) == pytest.approx(here.score(X, y), abs=0.011)
    ends = there.proved_accuracy(rows, library.tensor(y)), here.proved_accuracy(X, y)
    assert np.abs(np.subtract(*ends)).max() <= 0.011
    assert there.duality_gap_ + there.gap_error_ <= 1e-9


def test_the_objective_is_that_of_arrays(library, dispatch):
    X, y = data()
    weights = np.linspace(0, 2, len(y))
    parameters = {"class_weight": {0: 2.0, 3: 0.5}, "fit_intercept": True, "C": 3.0}
    machine = fwlab.TopKClassifier(**TIGHT | parameters)
    there = clone(machine).fit(library.tensor(X), y, sample_weight=library.tensor(weights))
    here = machine.fit(X, y, sample_weight=weights)
    agrees(there.coef_, here.coef_, library)
    agrees(there.intercept_, here.intercept_, library)


def test_the_constant_feature_is_not_stored(library):
    X, y = data(n=50, d=3)
    rows = RowsWithConstant(library.tensor(X), 2.0)
    there = fwlab.Problem(rows, y, fwlab.CrossEntropy(), C=1.0)
    here = fwlab.Problem(np.column_stack([X, np.full(50, 2.0)]), y, fwlab.CrossEntropy(), C=1.0)
    assert there.n_features == 4 and there.features.X is rows.X
    assert there.features.square_norms() == pytest.approx(here.features.square_norms(), rel=1e-15)
    W = np.random.default_rng(0).normal(size=(4, 4))
    scores = on_host(there.features.scores(there.features.here(W)))
    assert scores == pytest.approx(here.X @ W.T, rel=1e-12, abs=1e-13)
    found, expected = (fwlab.solve(p, "lbfgs", tol=1e-9, time_limit=60) for p in (there, here))
    assert on_host(found.W) == pytest.approx(expected.W, abs=1e-4)
    b = np.arange(4.0)
    assert fwlab.certify(there, W[:, :3], b).W[:, 3].tolist() == (b / 2).tolist()


def test_the_constant_has_the_type_of_the_samples(library, dispatch):
    X, y = data(dtype="f4")
    machine = fwlab.TopKClassifier(fit_intercept=True, intercept_scaling=0.1)
    machine.fit(library.tensor(X), y)
    assert machine._trained.kernel.constant == float(np.float32(0.1)) != 0.1
    with pytest.raises(ValueError, match=r"intercept_scaling must be from 1.18e-38 to 3.4e\+38"):
        machine.set_params(intercept_scaling=1e40).fit(library.tensor(X), y)


@pytest.mark.parametrize("names", [["a", "b", "c", "d"], [True, False], [3, 5, 7, 9]])
def test_labels_of_any_kind(library, dispatch, names):
    X, y = data(m=len(names))
    labels = np.array(names)[y]
    machine = fwlab.TopKClassifier().fit(library.tensor(X), labels)
    predicted = machine.predict(library.tensor(X))
    is_text = isinstance(names[0], str)
    assert isinstance(predicted, np.ndarray if is_text else library.kind)
    assert isinstance(machine.classes_, np.ndarray)
    assert (on_host(predicted) == labels).mean() > 0.4
    assert set(on_host(machine.predict_topk(library.tensor(X), 2)).ravel()) == set(names)
    low, high = machine.proved_accuracy(library.tensor(X), labels)
    # scikit-learn takes the mean of torch's answers in float32
    rounding = 2.0**-23
    assert low - rounding <= machine.score(library.tensor(X), labels) <= high + rounding
    assert machine.to_model().predict(X).tolist() == on_host(predicted).tolist()


def test_nothing_of_the_size_of_x_leaves_the_device(dispatch, monkeypatch):
    """numpy cannot read these tensors, so that all transfers go through to_device."""
    X, y = data(n=400, d=5, m=3)
    rows, labels = (array_api_strict.asarray(a, device=ELSEWHERE) for a in (X, y))
    moved, move = [], type(rows).to_device

    def watched(self, *args, **options):
        moved.append(self.shape)
        return move(self, *args, **options)

    monkeypatch.setattr(type(rows), "to_device", watched)
    machine = fwlab.TopKClassifier(fit_intercept=True).fit(rows, labels)
    for name in ("predict", "predict_topk", "predict_proba", "decision_function", "proved"):
        assert getattr(machine, name)(rows).device == ELSEWHERE
    machine.proved_accuracy(rows, labels)
    machine.score(rows, labels)
    assert moved and max(int(np.prod(shape)) for shape in moved) <= 400


# ------------------------------------------------------------------ arrays and tensors


def test_without_dispatch_tensors_of_the_host_are_arrays():
    X, y = data()
    there = fwlab.TopKClassifier().fit(*map(array_api_strict.asarray, (X, y)))
    here = fwlab.TopKClassifier().fit(X, y)
    assert isinstance(there.coef_, np.ndarray) and (there.coef_ == here.coef_).all()
    assert (there.predict(array_api_strict.asarray(X)) == here.predict(X)).all()


def elsewhere(array):
    return array_api_strict.asarray(array, device=ELSEWHERE)


def test_other_devices_need_the_switch():
    X, y = data()
    switch = r"or leave it there with sklearn.set_config\(array_api_dispatch=True\)"
    with pytest.raises(TypeError, match=rf"^X must be an array.* {switch} or with fwlab.solve\.$"):
        fwlab.TopKClassifier().fit(elsewhere(X), y)
    for name, arguments in (
        ("y", (X, elsewhere(y))),
        ("sample_weight", (X, y, elsewhere(1.0 + y))),
    ):
        with pytest.raises(TypeError, match=rf"^{name} must be an array.* an array of numpy\.$"):
            fwlab.TopKClassifier().fit(*arguments)


@pytest.mark.parametrize(
    ("machine", "reason"),
    [
        (fwlab.TopKSVC(), "loss must be cross-entropy or topk-entropy; got 'topk'"),
        (fwlab.TopKClassifier("usunier"), "loss must be cross-entropy or .*; got 'usunier'"),
        (fwlab.TopKClassifier(method="ascent"), "method must be lbfgs or auto; got 'ascent'"),
        (fwlab.TopKClassifier(kernel="rbf"), "kernel must be 'linear'; got 'rbf'"),
        (fwlab.TopKClassifier(norm=3), "norm must be 2; got 3"),
        (fwlab.TopKClassifier(storage="float32"), "storage must be None; got 'float32'"),
        (fwlab.TopKSVCCV(), "the estimator must be TopKClassifier; got TopKSVCCV"),
        (fwlab.TopPushClassifier(), "the estimator must be TopKClassifier; got TopPushClassifier"),
    ],
)
def test_other_estimators_take_arrays_alone(dispatch, machine, reason):
    X, y = data(m=2)
    with pytest.raises(
        TypeError, match=rf"^X must be .*, or leave it there, for which {reason}\.$"
    ):
        machine.fit(elsewhere(X), y)


def test_the_tag_says_which_machines_keep_tensors():
    if not hasattr(sklearn.utils, "get_tags"):
        pytest.skip("tags are objects from scikit-learn 1.6 on")
    for machine, expected in (
        (fwlab.TopKClassifier(), True),
        (fwlab.TopKClassifier(fwlab.TopKEntropy(2), method="lbfgs"), True),
        (fwlab.TopKClassifier(method=None), False),
        (fwlab.TopKSVC(), False),
    ):
        assert sklearn.utils.get_tags(machine).array_api_support is expected


def test_labels_and_weights_follow_arrays(dispatch):
    X, y = data()
    weights = np.linspace(0, 2, len(y))
    here = fwlab.TopKClassifier().fit(X, y, weights)
    there = fwlab.TopKClassifier().fit(X, elsewhere(y), elsewhere(weights))
    assert isinstance(there.classes_, np.ndarray) and (there.coef_ == here.coef_).all()


def test_a_machine_of_tensors_predicts_beside_them(dispatch):
    X, y = data()
    machine = fwlab.TopKClassifier().fit(elsewhere(X), y)
    sentence = (
        r"X of TopKClassifier.{}\(\) must use the same namespace and the same device as coef_"
    )
    for name in ("predict", "predict_topk", "decision_function", "predict_proba", "proved"):
        for rows in (X, array_api_strict.asarray(X)):
            with pytest.raises(ValueError, match=sentence.format(name)):
                getattr(machine, name)(rows)
    with pytest.raises(ValueError, match=r"got a value of type ndarray\.$"):
        machine.proved_accuracy(X, y)


def test_without_dispatch_a_machine_of_tensors_predicts_from_arrays(monkeypatch):
    X, y = data()
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        machine = fwlab.TopKClassifier().fit(elsewhere(X), elsewhere(y))
        expected = on_host(machine.predict(elsewhere(X)))
    for fitted in (machine, pickle.loads(pickle.dumps(machine))):
        assert isinstance(fitted.predict(X), np.ndarray)
        assert (fitted.predict(X) == expected).all()
        assert isinstance(fitted.proved(X), np.ndarray) and fitted.proved_accuracy(X, y)[0] > 0
    with pytest.raises(TypeError, match=r"leave it there with sklearn.set_config.*True\)\.$"):
        machine.predict(elsewhere(X))


def test_a_machine_may_be_moved(dispatch):
    """As scikit-learn's move_estimator_to does: the attributes go, and the certificate stays."""
    X, y = data()
    machine = fwlab.TopKClassifier(fit_intercept=True).fit(elsewhere(X), elsewhere(y))
    proved = on_host(machine.proved(elsewhere(X)))
    for name in ("coef_", "intercept_", "classes_"):
        setattr(machine, name, on_host(getattr(machine, name)))
    assert (machine.proved(X) == proved).all() and machine.duality_gap_ > 0
    machine.coef_ = elsewhere(2 * machine.coef_)
    with pytest.raises(AttributeError, match=r"coef_ has changed"):
        _ = machine.duality_gap_
    doubled = X @ on_host(machine.coef_).T
    scores = on_host(machine.decision_function(elsewhere(X)))
    assert scores == pytest.approx(doubled + machine.intercept_, abs=1e-12)


# ------------------------------------------------------------------ fits in a row


def test_warm_starts_keep_the_machine(library, dispatch):
    X, y = data()
    rows = library.tensor(X)
    machine = fwlab.TopKClassifier(warm_start=True, tol=1e-7).fit(rows, y)
    assert machine.n_iter_ > 0 and machine.fit(rows, y).n_iter_ == 0
    assert machine.fit(rows[:200, :], y[:200]).n_iter_ > 0
    machine.fit(library.tensor(X[:, :5]), y)
    # arrays after tensors, and tensors after arrays
    machine.fit(X, y)
    assert isinstance(machine.coef_, np.ndarray)
    assert isinstance(machine.fit(rows, y).coef_, library.kind)


def test_a_square_machine_is_no_start(library, dispatch):
    X, y = np.eye(3), np.arange(3)
    machine = fwlab.TopKClassifier(warm_start=True).fit(library.tensor(X), y)
    assert machine.fit(library.tensor(X), y).n_iter_ > 0


def test_a_path_is_that_of_arrays(library, dispatch):
    X, y = data()
    Cs = [0.1, 1.0, 10.0]
    there = fwlab.TopKClassifier(tol=1e-9).path(library.tensor(X), library.tensor(y), Cs)
    here = fwlab.TopKClassifier(tol=1e-9).path(X, y, Cs)
    for found, expected in zip(there, here, strict=True):
        agrees(found.coef_, expected.coef_, library)
    assert there[1].n_iter_ < fwlab.TopKClassifier(tol=1e-9).fit(library.tensor(X), y).n_iter_ + 1


def test_a_pipeline_and_an_unfinished_fit(library, dispatch):
    X, y = data()
    pipe = make_pipeline(Normalizer(), fwlab.TopKClassifier())
    pipe.fit(library.tensor(X), library.tensor(y))
    assert isinstance(pipe.predict(library.tensor(X)), library.kind)
    with pytest.warns(ConvergenceWarning, match=r"stopped at a duality gap"):
        fwlab.TopKClassifier(max_iter=1, tol=1e-9).fit(library.tensor(X), y)


# ------------------------------------------------------------------ bad samples


def test_bad_tensors_are_refused(library, dispatch):
    X, y = data()
    fit = fwlab.TopKClassifier().fit
    with pytest.raises(ValueError, match=r"y must have 300 labels, one per row of X; got 3\."):
        fit(library.tensor(X), y[:3])
    with pytest.raises(ValueError, match=r"y must hold class labels"):
        fit(library.tensor(X), library.tensor(X[:, 0]))
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN"):
        fit(library.tensor(X), y)
    machine = fit(library.tensor(X[1:]), y[1:])
    with pytest.raises(ValueError, match=r"contains NaN"):
        machine.predict(library.tensor(X))
    with pytest.raises(ValueError, match=r"X has 5 features, but TopKClassifier is expecting 6"):
        machine.predict(library.tensor(X[1:, :5]))
    whole = machine.predict(library.tensor(np.ones((2, 6), dtype=int)))
    assert (
        on_host(whole).tolist()
        == on_host(machine.predict(library.tensor(np.ones((2, 6))))).tolist()
    )


@needs_torch
def test_kinds_of_torch(dispatch):
    import torch

    X, y = data()
    rows = torch.asarray(X).to(torch.bfloat16).requires_grad_()
    machine = fwlab.TopKClassifier().fit(rows, torch.asarray(y)[:, None][:, 0])
    assert machine.predict(rows).shape == (300,) and not machine.coef_.requires_grad
    with pytest.raises(TypeError, match=r"X must be a dense tensor; got layout torch.sparse_coo"):
        fwlab.TopKClassifier().fit(torch.asarray(X).to_sparse(), y)
    with pytest.raises(ValueError, match=r"got a tensor of torch on meta\.$"):
        machine.predict(torch.asarray(X).to("meta"))
    with pytest.warns(sklearn.exceptions.DataConversionWarning):
        fwlab.TopKClassifier().fit(rows, torch.asarray(y)[:, None])


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_scikit_learns_checks_of_tensors(dispatch, fit_intercept):
    machine = fwlab.TopKClassifier(fit_intercept=fit_intercept)
    check = partial(estimator_checks.check_array_api_input, "TopKClassifier", machine)
    check("array_api_strict")
    if hasattr(estimator_checks, "check_array_api_same_namespace"):
        check("array_api_strict", "device1", "float32")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            same = estimator_checks.check_array_api_same_namespace
            same("TopKClassifier", machine, "array_api_strict")
