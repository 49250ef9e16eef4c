"""How many validation samples can be right between two machines: by hand."""

import numpy as np
import pytest
import scipy.sparse

import fwlab.choice.validation as module
from fwlab.choice.validation import Leads, Validation

# three classes, one feature each: the scores are the columns of W at the sample's feature
X = np.array([[2.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
CODES = np.array([0, 1, 0, 2, -1])
W = np.array([[1.0, 0.0], [3.0, 2.0], [0.0, 5.0]])


def counts(kind=np.asarray):
    return Validation.of(kind(X), CODES)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix])
def test_samples_that_no_machine_decides_are_set_aside(kind):
    found = counts(kind)
    assert found.n_always == 1
    assert found.codes.tolist() == [0, 1]
    assert found.norms == pytest.approx([2.0, 1.0], rel=0.01)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix])
def test_a_row_of_negative_numbers_is_not_0(kind):
    X = kind(np.array([[-1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]))
    assert module._is_zero(X).tolist() == [False, True, False]


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix])
def test_the_leads_by_hand(kind):
    found = counts(kind).leads(W)
    # scores (2, 6, 0) and (0, 2, 5)
    assert found.leads.tolist() == [[-np.inf, 4.0, -2.0], [-2.0, -np.inf, 3.0]]
    assert found.n_right == 1
    assert (found.errors > 0).all() and (found.errors < 1e-13).all()


def test_a_correct_prediction_counts():
    found = counts().leads(W[[1, 2, 0]])
    # scores (6, 0, 2) and (2, 5, 0)
    assert found.n_right == 3
    assert found.leads.max(axis=1).tolist() == [-4.0, -3.0]


def test_a_tie_belongs_to_the_first_class():
    found = counts().leads(np.zeros((3, 2)))
    assert found.n_right == 2


def test_the_errors_by_hand(monkeypatch):
    monkeypatch.setattr(module, "UNIT", 1e-2)
    monkeypatch.setattr(module, "MARGIN", 1.5)
    monkeypatch.setattr(module, "score_errors", lambda features, x, W: np.array([0.5, 0.25]))
    found = counts().leads(W)
    assert found.errors == pytest.approx([1.5 * (1 + 0.08 * 6), 1.5 * (0.5 + 0.08 * 5)])


def test_margins_by_hand():
    leads = Leads(np.array([[-np.inf, 4.0], [-3.0, -np.inf]]), np.array([1.0, 0.5]), 0)
    expected = [3.0 / (2 * np.sqrt(2)), -3.5 / np.sqrt(2)]
    assert leads.margins(np.array([2.0, 1.0])) == pytest.approx(expected)


def of_leads(left, right, norms, errors=(0.0, 0.0)):
    """Return the samples, and the leads of two machines, label 0 for all."""
    n = len(left)
    samples = Validation(counts().features, np.zeros(n, int), np.array(norms), 2)
    ends = (
        Leads(np.column_stack([np.full(n, -np.inf), values]), np.full(n, error), 0)
        for values, error in zip((left, right), errors, strict=True)
    )
    return samples, *ends


def test_a_lead_beyond_the_reach_is_wrong_on_the_whole_stretch():
    reach = 1 / np.sqrt(2) / 1.01
    for lead, expected in ((0.999, 3), (1.001, 2)):
        given = of_leads([[lead, -9.0]], [[lead, -9.0]], [1.0])
        assert given[0].most_right(*given[1:], reach) == expected
    # twice the norm moves a lead twice as far
    given = of_leads([[1.001, -9.0]], [[1.001, -9.0]], [2.0])
    assert given[0].most_right(*given[1:], reach) == 3


def test_the_larger_error_of_both_ends_counts():
    for errors in ((0.5, 0.0), (0.0, 0.5)):
        for lead, expected in ((0.49, 3), (0.51, 2)):
            given = of_leads([[lead, -9.0]], [[lead, -9.0]], [1.0], errors)
            assert given[0].most_right(*given[1:], 0.0) == expected


def test_leads_of_different_classes_may_close_a_sample_from_both_sides():
    """Class 1 leads up to t = 3/4, class 2 from t = 1/4 on."""
    given = of_leads([[3.0, -1.0]], [[-1.0, 3.0]], [1.0])
    assert given[0].most_right(*given[1:], 0.0) == 2
    # up to 1/4, and from 3/4 on
    given = of_leads([[1.0, -3.0]], [[-3.0, 1.0]], [1.0])
    assert given[0].most_right(*given[1:], 0.0) == 3


def test_samples_that_are_right_at_different_places_do_not_add_up():
    """One is right up to t = 1/2, the other from a little later on."""
    left, right = [[-1.0, -9.0], [1.2, -9.0]], [[1.0, -9.0], [-1.0, -9.0]]
    given = of_leads(left, right, [1.0, 1.0])
    assert given[0].most_right(*given[1:], 0.0) == 3
    # with this reach they overlap
    assert given[0].most_right(*given[1:], 0.1) == 4


def test_ends_that_meet_overlap():
    left, right = [[-1.0, -9.0], [1.0, -9.0]], [[1.0, -9.0], [-1.0, -9.0]]
    given = of_leads(left, right, [1.0, 1.0])
    assert given[0].most_right(*given[1:], 0.0) == 4


def test_an_infinite_reach_excludes_nothing():
    given = of_leads([[5.0, 5.0]], [[5.0, 5.0]], [1.0])
    assert given[0].most_right(*given[1:], np.inf) == 3


def test_counts_agree_with_a_fine_grid():
    """The largest count on a grid of t is the bound, or below it where intervals are short."""
    rng = np.random.default_rng(0)
    grid = np.linspace(0, 1, 2001)[:, None, None]
    same = 0
    for _ in range(200):
        n, reach = int(rng.integers(1, 8)), rng.random()
        left, right = rng.normal(size=(2, n, 3)) + 0.7
        norms = rng.random(n) + 0.1
        given = of_leads(left, right, norms)
        found = given[0].most_right(*given[1:], reach)
        limit = 1.01 * np.sqrt(2) * reach * norms
        right_at = (((1 - grid) * left + grid * right).max(axis=2) <= limit).sum(axis=1)
        assert right_at.max() + 2 <= found
        same += right_at.max() + 2 == found
    assert same >= 190
