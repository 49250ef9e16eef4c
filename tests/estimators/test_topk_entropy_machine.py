"""TopKClassifier with the top-k entropy loss: its objective, its k, its lack of probabilities."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fwlab

pytestmark = pytest.mark.small
RNG = np.random.default_rng(0)
Y = np.tile([0, 1, 2, 3], 6)
X = RNG.normal(size=(24, 3)) + 0.7 * np.eye(4, 3)[Y]


def trained(loss="topk-entropy", **options):
    return fwlab.TopKClassifier(loss, **{"C": 0.5, "tol": 1e-9, **options}).fit(X, Y)


def test_the_machine_is_the_solution_of_its_problem():
    problem = fwlab.Problem(X, Y, fwlab.TopKEntropy(2), C=0.5)
    result = fwlab.solve(problem, "lbfgs", tol=1e-9)
    for machine in (trained(k=2), trained(fwlab.TopKEntropy(2))):
        assert_array_equal(machine.coef_, result.W)
        assert machine.duality_gap_ == result.gap <= 1e-9
    assert trained(k=2).predict_topk(X).shape == (24, 2)
    low, high = trained(k=2).proved_accuracy(X, Y, k=2)
    assert low <= fwlab.metrics.topk_accuracy(Y, X @ result.W.T, 2) <= high


def test_one_guess_is_the_cross_entropy_with_its_probabilities():
    plain = trained("cross-entropy")
    for machine in (trained(k=1), trained(fwlab.TopKEntropy(1), k=3)):
        assert_array_equal(machine.coef_, plain.coef_)
        assert_array_equal(machine.predict_proba(X), plain.predict_proba(X))
        assert machine.to_model().has_probabilities
        assert_allclose(machine.to_model().predict_proba(X), plain.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize(("loss", "k"), [("topk-entropy", 2), (fwlab.TopKEntropy(2), 1)])
def test_more_guesses_have_no_probabilities(loss, k):
    for machine in (fwlab.TopKClassifier(loss, k=k), trained(loss, k=k)):
        for name in ("predict_proba", "predict_log_proba"):
            with pytest.raises(AttributeError, match=f"has no attribute '{name}'") as caught:
                getattr(machine, name)
            assert str(caught.value.__cause__) == (
                'probabilities need loss="cross-entropy": the shares of the classes in a top-k '
                "entropy depend on the label for k > 1; got k = 2."
            )
    model = trained(loss, k=k).to_model()
    assert not model.has_probabilities
    with pytest.raises(ValueError, match="probabilities need a model of the cross-entropy; got"):
        model.predict_proba(X)


def test_what_it_does_not_take_is_refused():
    for options, match in (
        ({"k": 4}, r"k must be in 1\.\.3; got 4\."),
        ({"kernel": "rbf"}, "its kernel must be None, as it works on W; got 'precomputed'"),
        ({"norm": 1.5}, r"its regularizer must be LpNorm\(2\)"),
        ({"smoothing": 0.1}, "smoothing must be 0 with TopKEntropy"),
        ({"weights": "linear"}, 'weights must be "flat" with loss="topk-entropy"'),
        ({"method": "ascent"}, r"it does not take TopKEntropy\(k=2\), .*; use lbfgs\."),
    ):
        with pytest.raises(ValueError, match=match):
            trained(**{"k": 2, **options})
    for loss in ("topk-entropy", fwlab.TopKEntropy(2)):
        with pytest.raises(ValueError, match=r"a hinge in TopKSVC; .*, which fwlab.TopKClassifier"):
            fwlab.TopKSVC(loss=loss, k=2).fit(X, Y)


def test_a_path_and_the_choice_of_C_train_it():
    for machine in fwlab.TopKClassifier.path(X, Y, [1.0, 0.1], loss="topk-entropy", k=2, tol=1e-9):
        assert machine.duality_gap_ <= 1e-9
    search = fwlab.TopKSVCCV([0.1, 1.0], loss="topk-entropy", k=2, method="auto", cv=2)
    assert search.fit(X, Y).C_ in (0.1, 1.0)
