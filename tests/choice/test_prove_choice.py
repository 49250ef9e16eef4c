"""fwlab.prove_choice from the outside: results, partial results, labels, arguments."""

import signal

import numpy as np
import pytest
import scipy.sparse
from matplotlib import pyplot

import fwlab
import fwlab.choice.walk as walk_module
from fwlab import ChoiceStatus
from fwlab.choice.point import TrainingSamples
from fwlab.choice.proved_choice import merged, statement

M, D = 4, 3
RNG = np.random.default_rng(1)
CENTRES = RNG.normal(size=(M, D))
WORDS = np.array(["ash", "beech", "cedar", "elm"])


def drawn(n):
    codes = RNG.integers(0, M, n)
    codes[:M] = np.arange(M)
    return CENTRES[codes] + 0.9 * RNG.normal(size=(n, D)), codes


X, Y = drawn(60)
X_NEW, Y_NEW = drawn(50)
INTERVAL = (1e-2, 1e2)
# the cheapest of the proofs here
FEW = (X[:12], Y[:12], X_NEW[:12], Y_NEW[:12], (0.1, 1.0))


def choice(C=INTERVAL, **options):
    return fwlab.prove_choice(X, Y, X_NEW, Y_NEW, C, **options)


def accuracy(C, **options):
    problem = fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=C, **options)
    result = fwlab.solve(problem, "lbfgs", tol=1e-12, max_iter=3000)
    return (result.predict(X_NEW) == Y_NEW).mean(), result.proved_accuracy(X_NEW, Y_NEW)[0]


@pytest.fixture(scope="module")
def proved():
    return choice()


def test_a_whole_interval_is_proved(proved):
    assert proved.is_proved and proved.status is ChoiceStatus.PROVED
    assert proved.proved == [INTERVAL] == [proved.interval]
    assert proved.bound <= proved.accuracy + proved.slack
    assert proved.slack == 2 / 50
    assert proved.edges[0] == INTERVAL[0] and proved.edges[-1] == INTERVAL[1]
    assert (np.diff(proved.edges) > 0).all()
    assert len(proved.bounds) == len(proved.edges) - 1
    assert proved.bound == proved.bounds.max()


def test_the_chosen_machine_has_the_accuracy(proved):
    assert (proved.machine.predict(X_NEW) == Y_NEW).mean() == proved.accuracy
    assert proved.machine.lam_n == pytest.approx(1 / proved.C)
    assert proved.accuracy == proved.accuracies.max()
    assert proved.C == proved.knots[np.argmax(proved.accuracies)]


def test_points_are_counted(monkeypatch):
    evaluated, point = [], TrainingSamples.point

    def counting(self, C, W):
        evaluated.append(C)
        return point(self, C, W)

    monkeypatch.setattr(TrainingSamples, "point", counting)
    assert fwlab.prove_choice(*FEW).n_points == len(evaluated) > 0


def test_no_C_of_a_grid_is_better(proved):
    for C in np.geomspace(*INTERVAL, 40):
        own, sure = accuracy(float(C))
        at = np.searchsorted(proved.edges, C, side="right") - 1
        bound = proved.bounds[min(at, len(proved.bounds) - 1)]
        assert max(own, sure) <= bound <= proved.accuracy + proved.slack


def test_without_slack_the_best_C_is_found():
    found = choice(slack=0.0)
    assert found.is_proved and found.slack == 0.0
    assert found.bound == found.accuracy
    assert found.accuracy >= max(accuracy(float(C))[0] for C in np.geomspace(*INTERVAL, 20))


@pytest.mark.parametrize(
    "ends",
    [
        (0.00043163303825674196, 0.00043163303825674234),
        (1.851888410834984, 1.8518884108349842),
    ],
)
def test_a_proof_stays_within_a_short_interval(ends):
    """Rounding takes a C of the first grid above its end, and one of the second below its start."""
    found = choice(ends)
    assert found.is_proved and found.proved == [ends]
    assert (found.knots.min(), found.knots.max()) == ends


def test_a_point_that_is_better_is_chosen(monkeypatch, proved):
    """With knots at the ends alone, the walk itself finds a better C."""
    monkeypatch.setattr("fwlab.choice.prove.FEWEST", 2)
    monkeypatch.setattr("fwlab.choice.prove.PER_DECADE", 0)
    found = choice(slack=0.0)
    assert found.is_proved
    assert found.accuracy == choice(slack=0.0).accuracy
    assert found.C not in INTERVAL


def test_a_plain_line(proved):
    limit = proved.accuracy + proved.slack
    told = f"no C in [0.01, 100] has a validation accuracy above {limit:.4f}"
    assert (
        repr(proved)
        == str(proved)
        == (f"ProvedChoice(C = {proved.C:.4g} with accuracy {proved.accuracy:.4f}; {told})")
    )
    assert told in proved.message and proved.status.value in proved.message


@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.coo_array])
def test_sparse_samples(kind, proved):
    found = fwlab.prove_choice(kind(X), Y, kind(X_NEW), Y_NEW, INTERVAL)
    assert (found.C, found.accuracy, found.bound) == (proved.C, proved.accuracy, proved.bound)
    assert found.is_proved


@pytest.mark.parametrize("form", [WORDS.__getitem__, lambda y: list(WORDS[y]), lambda y: y + 5.0])
def test_labels_of_any_kind(form, proved):
    found = fwlab.prove_choice(X, form(Y), X_NEW, form(Y_NEW), INTERVAL)
    assert (found.C, found.accuracy, found.bound) == (proved.C, proved.accuracy, proved.bound)
    assert set(found.machine.predict(X_NEW)) <= set(form(np.arange(M)))


def test_a_label_that_is_no_class_counts_as_wrong():
    more = [*WORDS[Y_NEW[:10]], "oak", "oak"]
    found = fwlab.prove_choice(X, WORDS[Y], X_NEW[:12], more, (0.1, 1.0))
    assert found.bound <= 10 / 12
    assert found.accuracy == (found.machine.predict(X_NEW[:12]) == np.array(more)).mean()


def test_rows_that_are_0_belong_to_the_first_class():
    new = np.zeros((5, D))
    found = fwlab.prove_choice(X, Y, new, [0, 0, 1, 2, 3], (0.1, 1.0), slack=0.0)
    assert (found.accuracy, found.bound, found.is_proved) == (0.4, 0.4, True)


def test_weights_are_repetitions():
    weights = np.ones(60)
    weights[:10] = 2.0
    found = choice((0.1, 1.0), sample_weight=weights)
    twice = fwlab.prove_choice(
        np.vstack([X, X[:10]]), np.append(Y, Y[:10]), X_NEW, Y_NEW, (0.1, 1.0)
    )
    assert (found.C, found.accuracy) == (twice.C, twice.accuracy)
    assert found.machine.W == pytest.approx(twice.machine.W, rel=1e-3)
    assert not np.allclose(found.machine.W, choice((0.1, 1.0)).machine.W, rtol=1e-3)


# ------------------------------------------------------------------ partial proofs


def test_without_time_nothing_is_proved():
    found = choice(time_limit=0)
    assert found.status is ChoiceStatus.TIME_LIMIT and not found.is_proved
    assert (found.proved, found.bound) == ([], 1.0)
    assert found.edges.tolist() == list(INTERVAL)
    assert "nothing is proved of the C in [0.01, 100]" in repr(found)
    assert (found.machine.predict(X_NEW) == Y_NEW).mean() == found.accuracy


def ended(monkeypatch, end):
    """Return a choice that `end` ends during the reach of the fifth stretch."""
    calls, reach = [], walk_module.reach

    def counted(*given):
        calls.append(given)
        if len(calls) == 5:
            end()
        return reach(*given)

    monkeypatch.setattr(walk_module, "reach", counted)
    return choice(time_limit=1e6)


def test_an_interrupted_proof_holds_as_far_as_it_got(monkeypatch, proved):
    before = signal.getsignal(signal.SIGINT)
    found = ended(monkeypatch, lambda: signal.raise_signal(signal.SIGINT))
    assert found.status is ChoiceStatus.INTERRUPTED
    (low, high), *others = found.proved
    assert (low, others) == (INTERVAL[0], [])
    assert low < high < INTERVAL[1]
    assert high in proved.edges
    assert found.bounds[-1] == found.bound == 1.0
    assert found.edges[-1] == INTERVAL[1]
    assert f"[0.01, {high:.6g}] of [0.01, 100]" in repr(found)
    assert signal.getsignal(signal.SIGINT) is before


def test_the_time_limit_ends_a_walk(monkeypatch):
    def wait():
        monkeypatch.setattr("fwlab.choice.clock.time.perf_counter", lambda: 1e9)

    found = ended(monkeypatch, wait)
    assert found.status is ChoiceStatus.TIME_LIMIT
    assert found.proved and not found.is_proved


def test_ctrl_c_in_a_run_ends_the_proof(monkeypatch):
    import fwlab.choice.knots as knots_module

    solve = knots_module.solve

    def interrupted(*given, **options):
        def press(progress):
            signal.raise_signal(signal.SIGINT)

        return solve(*given, **options, callback=press)

    monkeypatch.setattr(knots_module, "solve", interrupted)
    found = choice()
    assert found.status is ChoiceStatus.INTERRUPTED
    assert found.proved == [] and found.accuracies.shape == (1,)


def test_ties_stay_open():
    """Equal samples of two classes have equal scores, for all C, up to rounding."""
    X = np.array([[1.0, 0.5], [1.0, 0.5], [-1.0, 2.0]])
    found = fwlab.prove_choice(X, [0, 1, 2], X[[0, 0, 0]], [0, 1, 1], (0.5, 1.0), slack=0.0)
    if found.accuracy < 1.0:
        assert found.status is ChoiceStatus.OPEN
        assert found.bound == 1.0
        assert "stays above" in found.message


# ------------------------------------------------------------------ the figure


def test_the_figure_shows_bounds_and_choice(proved):
    ax = proved.plot()
    stairs = ax.patches[-1].get_data()
    assert stairs.values.tolist() == proved.bounds.tolist()
    assert stairs.edges.tolist() == proved.edges.tolist()
    assert ax.get_xscale() == "log" and ax.get_yscale() == "linear"
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["no C is better (proved)", "chosen + slack", "solved", "chosen"]
    chosen = ax.lines[-1]
    assert (chosen.get_xdata()[0], chosen.get_ydata()[0]) == (proved.C, proved.accuracy)
    assert proved.plot(ax) is ax
    pyplot.close(ax.figure)


def test_what_is_not_proved_is_shaded():
    found = choice(time_limit=0)
    ax = found.plot()
    shaded = ax.patches[0]
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[0] == "not proved"
    assert (shaded.get_x(), shaded.get_x() + shaded.get_width()) == pytest.approx(INTERVAL)
    pyplot.close(ax.figure)


# ------------------------------------------------------------------ sentences


def test_intervals_of_stretches():
    edges = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert merged(edges, np.array([True, True, False, True])) == [(1.0, 3.0), (4.0, 5.0)]
    assert merged(edges, np.zeros(4, bool)) == []


def test_a_statement_names_the_longest_intervals():
    parts = [(1.0, 1.1), (2.0, 4.0), (5.0, 9.0), (10.0, 10.5), (11.0, 30.0)]
    told = statement(parts, (1.0, 100.0), 0.5)
    assert told == (
        "no C in [2, 4], [5, 9] and [11, 30] and 2 shorter intervals of [1, 100] has a validation "
        "accuracy above 0.5000"
    )


def test_no_sentence_names_an_accuracy_above_1():
    assert statement([(1.0, 2.0)], (1.0, 2.0), 1.25).endswith("accuracy above 1.0000")


BAD = [
    ({"C": (2.0, 1.0)}, r"C must be \(low, high\) with low < high; got \(2.0, 1.0\)"),
    ({"C": (1.0, 1.0)}, r"C must be \(low, high\) with low < high"),
    ({"C": (0.0, 1.0)}, r"C must be finite and > 0; got 0.0"),
    ({"slack": -0.1}, r"slack must be finite and >= 0; got -0.1"),
    ({"slack": 1.5}, r"slack must be a share of the samples, at most 1; got 1.5"),
    ({"time_limit": -1}, r"time_limit must be finite and >= 0"),
    ({"X_validation": X_NEW[:, :2]}, r"X_validation must have 3 columns, as X has; got 2"),
    ({"X_validation": [[np.nan] * D] * 50}, r"X_validation must be finite"),
    ({"y_validation": Y_NEW[:9]}, r"y_validation must have 50 labels, one per row; got 9"),
    ({"y_validation": ["x"] * 50}, r"y_validation must hold labels of the classes 0, 1, 2"),
    ({"y_validation": [0.5] * 50}, r"y_validation must hold class labels"),
    ({"y": Y[:9]}, r"y must have one label per row of X, 60; got 9"),
    ({"y": np.zeros(60, int)}, r"y must hold at least two classes; got one class, 0\.$"),
    ({"X": np.zeros((0, D))}, r"X must have at least one row"),
    ({"sample_weight": -np.ones(60)}, r"sample_weight must be non-negative"),
]
WRONG = [
    ({"C": 1.0}, r"C must be a pair of positive numbers, \(low, high\); got 1.0"),
    ({"C": (1.0, 2.0, 3.0)}, r"C must be a pair of positive numbers"),
    ({"C": ("a", "b")}, r"C must be a real number; got 'a'"),
    ({"loss": fwlab.TopK(2)}, r"loss must be fwlab.CrossEntropy\(\), because .* got TopK\(k=2\)"),
    ({"loss": fwlab.TopKEntropy(2)}, r"loss must be .* got TopKEntropy\(k=2\)"),
    ({"loss": "cross-entropy"}, r"loss must be .* got 'cross-entropy'"),
    ({"loss": np.ones(3)}, r"loss must be .* got array\(\[1., 1., 1.\]\)"),
    ({"C": b"12"}, r"C must be a pair of positive numbers"),
    ({"slack": "0.1"}, r"slack must be a real number"),
    ({"X": [["a"] * D] * 60}, r"X must hold real numbers"),
]
GIVEN = {"X": X, "y": Y, "X_validation": X_NEW, "y_validation": Y_NEW}


@pytest.mark.parametrize("change, sentence", BAD)
def test_bad_values_are_refused(change, sentence):
    with pytest.raises(ValueError, match=rf"^{sentence}"):
        fwlab.prove_choice(**(GIVEN | change))


@pytest.mark.parametrize("change, sentence", WRONG)
def test_wrong_types_are_refused(change, sentence):
    with pytest.raises(TypeError, match=rf"^{sentence}"):
        fwlab.prove_choice(**(GIVEN | change))


def test_the_entropy_of_one_guess_is_the_cross_entropy():
    one, none = (fwlab.prove_choice(*FEW, loss=loss) for loss in (fwlab.TopKEntropy(1), None))
    assert one.bounds.tolist() == none.bounds.tolist()


def test_validation_samples_beyond_all_squares_are_refused():
    with pytest.raises(ValueError, match=r"^X_validation must be finite"):
        fwlab.prove_choice(X, Y, 1e160 * X_NEW, Y_NEW)


def test_float32_and_one_sample():
    found = fwlab.prove_choice(
        X.astype(np.float32), Y, X_NEW[:1].astype(np.float32), Y_NEW[:1], (0.1, 0.2), slack=0.0
    )
    assert found.bound in (0.0, 1.0)
