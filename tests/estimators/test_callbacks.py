"""Callbacks and metadata routing of scikit-learn around the fits of the estimators."""

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fwlab
from fwlab.estimators.callbacks import fit_task

X, Y = load_iris(return_X_y=True)
OMEGA = np.random.default_rng(0).uniform(0.5, 2.0, 150)
GROUPS = np.arange(150) % 5
callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")


class Listener:
    """Write down each hook, and stop after some tasks of a name."""

    def __init__(self, name="", after=0):
        self.calls, self.machines, self.name, self.after = [], [], name, after

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None):
        self.data, self.parts = (X, y, metadata), context.max_subtasks
        self.calls.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.calls.append(f"end {context.task_name}")
        self.machines.append(fitted_estimator)
        is_one = context.task_name == self.name
        return is_one and self.after <= self.calls.count(f"end {self.name}")


class Propagated(Listener):
    """A listener that reaches estimators inside others."""

    max_propagation_depth = None


def test_a_fit_tells_its_begin_its_checkpoints_and_its_end():
    listener = Listener()
    machine = fwlab.TopKClassifier(tol=1e-9).set_callbacks(listener)
    machine.fit(X, Y, sample_weight=OMEGA)
    first, begin, *parts, end, last = listener.calls
    assert (first, begin, end, last) == ("setup", "begin fit", "end fit", "teardown")
    assert len(parts) > 4 and parts == ["begin checkpoint", "end checkpoint"] * (len(parts) // 2)
    given, labels, metadata = listener.data
    np.testing.assert_array_equal(given, X)
    np.testing.assert_array_equal(labels, Y)
    np.testing.assert_array_equal(metadata["sample_weight"], OMEGA)
    assert set(vars(machine)) == set(vars(fwlab.TopKClassifier().fit(X, Y))) | {"_skl_callbacks"}


def test_callbacks_get_the_machine_of_each_checkpoint():
    listener = Listener()
    for machine in (fwlab.TopKClassifier(tol=1e-9), fwlab.TopKSVC(kernel="rbf", method="bcfw")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.set_params(max_iter=30).set_callbacks(listener).fit(X, Y)
        *before, last = listener.machines
        scores = [other.decision_function(X) for other in before]
        np.testing.assert_array_equal(last.decision_function(X), machine.decision_function(X))
        np.testing.assert_allclose(scores[-1], machine.decision_function(X), atol=1e-12)
        assert np.abs(scores[0] - scores[-1]).max() > 1e-3
        assert before[0].gap_error_ == np.inf and before[0].duality_gap_ > machine.duality_gap_
        listener.machines.clear()


def test_callbacks_change_no_bit():
    machine = fwlab.TopKSVC(random_state=0, k=2)
    plain, heard = clone(machine), clone(machine).set_callbacks(Listener())
    np.testing.assert_array_equal(plain.fit(X, Y).coef_, heard.fit(X, Y).coef_)


def test_a_callback_stops_a_fit_with_its_certificate():
    listener = Listener("checkpoint", 3)
    machine = fwlab.TopKClassifier(tol=1e-9).set_callbacks(listener)
    with pytest.warns(ConvergenceWarning, match="stopped at a duality gap"):
        machine.fit(X, Y)
    assert listener.calls.count("end checkpoint") == 3 and machine.duality_gap_ > 1e-9


def test_the_choice_of_C_has_a_part_per_fold_and_one_for_all_samples():
    listener = Listener()
    fwlab.TopKSVCCV([0.1, 1.0], cv=3).set_callbacks(listener).fit(X, Y)
    told = [call for call in listener.calls if "checkpoint" not in call]
    folds = ["begin fold", "end fold"] * 3
    assert told == ["setup", "begin fit", *folds, "begin refit", "end refit", "end fit", "teardown"]
    assert listener.calls.count("end checkpoint") > 0


@pytest.mark.parametrize("kind", [fwlab.TopPushClassifier, fwlab.PatMatClassifier])
def test_rankings_tell_their_checkpoints(kind):
    listener = Listener()
    machine = kind().set_callbacks(listener).fit(X, Y > 0)
    assert listener.calls[:2] == ["setup", "begin fit"]
    assert listener.calls[-2:] == ["end fit", "teardown"]
    assert listener.calls.count("end checkpoint") == len(listener.machines) - 1 > 0
    *before, last = listener.machines
    assert set(before) == {None}
    np.testing.assert_array_equal(last.predict(X), machine.predict(X))


def test_a_callback_stops_the_folds():
    listener = Listener("fold", 2)
    machine = fwlab.TopKSVCCV([0.1, 1.0], cv=3).set_callbacks(listener).fit(X, Y)
    assert machine.scores_.shape == (2, 2) and listener.calls[-1] == "teardown"


def test_callbacks_are_torn_down_after_a_fit_that_fails():
    for machine in (fwlab.TopKClassifier(C=-1), fwlab.TopKSVCCV([1.0], cv=[([0, 1], [2])])):
        listener = Listener()
        with pytest.raises(ValueError):
            machine.set_callbacks(listener).fit(X, Y)
        assert listener.calls.count("setup") == listener.calls.count("teardown")


def test_a_search_passes_its_callbacks_on():
    listener = Propagated()
    search = GridSearchCV(make_pipeline(StandardScaler(), fwlab.TopKSVC()), {"topksvc__C": [0.1]})
    search.set_callbacks(listener).fit(X, Y)
    assert listener.calls.count("end checkpoint") > 5 and listener.calls.count("setup") == 1


def test_the_progress_bar_and_the_monitor_of_scores():
    monitor = callback.ScoringMonitor(scoring="neg_log_loss")
    fwlab.TopKClassifier(tol=1e-9).set_callbacks(monitor).fit(X, Y)
    scores = monitor.get_logs().data_as_pandas["neg_log_loss"]
    # of the first checkpoint; the fit itself comes before it
    assert scores.iloc[1] == pytest.approx(-np.log(3)) and scores.iloc[0] > -0.5
    pytest.importorskip("rich", reason="the bar needs rich")
    for machine in (fwlab.TopKClassifier(), fwlab.TopKSVCCV([0.1]), fwlab.TopPushClassifier()):
        machine.set_callbacks(callback.ProgressBar()).fit(X, Y > 0)


def test_what_is_no_callback_is_refused():
    with pytest.raises(TypeError, match="FitCallback"):
        fwlab.TopKSVC().set_callbacks(print)


def test_an_estimator_without_callbacks_has_tasks_that_nobody_hears():
    with fit_task(object(), X, Y, None) as task:
        assert task.each_checkpoint(dict) is None
        assert not task.part("fold").end() and not task.end({})


# ---------------------------------------------------------------- metadata


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def folds_by_hand(weigh):
    """Return the scores of the folds of the groups, of one C."""
    scores = []
    for train, test in GroupKFold(3).split(X, Y, GROUPS):
        machine = fwlab.TopKSVC(C=0.1, random_state=0).fit(X[train], Y[train], OMEGA[train])
        scores.append(machine.score(X[test], Y[test], OMEGA[test] if weigh else None))
    return np.array(scores)[:, None]


def test_groups_reach_the_splitter():
    machine = fwlab.TopKSVCCV([0.1], cv=GroupKFold(3), random_state=0)
    machine.fit(X, Y, sample_weight=OMEGA, groups=GROUPS)
    np.testing.assert_allclose(machine.scores_, folds_by_hand(weigh=False))


def test_routed_groups_reach_the_splitter_and_routed_weights_the_scorer(routing):
    scorer = get_scorer("accuracy").set_score_request(sample_weight=True)
    machine = fwlab.TopKSVCCV([0.1], cv=GroupKFold(3), scoring=scorer, random_state=0)
    machine.fit(X, Y, sample_weight=OMEGA, groups=GROUPS)
    np.testing.assert_allclose(machine.scores_, folds_by_hand(weigh=True))
    scorer.set_score_request(sample_weight=False)
    machine.fit(X, Y, sample_weight=OMEGA, groups=GROUPS)
    np.testing.assert_allclose(machine.scores_, folds_by_hand(weigh=False))


def test_a_pipeline_routes_groups_and_weights_to_the_choice_of_C(routing):
    scorer = get_scorer("accuracy").set_score_request(sample_weight=True)
    machine = fwlab.TopKSVCCV([0.1], cv=GroupKFold(3), scoring=scorer, random_state=0)
    pipeline = make_pipeline(machine.set_fit_request(sample_weight=True))
    pipeline.fit(X, Y, sample_weight=OMEGA, groups=GROUPS)
    np.testing.assert_allclose(pipeline[0].scores_, folds_by_hand(weigh=True))


def test_what_nobody_requests_is_refused(routing):
    with pytest.raises(TypeError, match="unexpected argument"):
        fwlab.TopKSVCCV([0.1]).fit(X, Y, weights=OMEGA)


def test_more_arguments_need_metadata_routing():
    with pytest.raises(ValueError, match=r"params need .*routing=True\); got weights"):
        fwlab.TopKSVCCV([0.1]).fit(X, Y, weights=OMEGA)
