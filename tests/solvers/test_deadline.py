"""A time limit counts the certificate: their clock stands still except at given times."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import scipy.sparse
from given_hinge import GivenHinge
from solvers.solver_table import Case

import fwlab
from fwlab import Status, ranking
from fwlab.certificate import certificate_of
from fwlab.ranking.state import State as RankingState
from fwlab.result import Certificate
from fwlab.solvers import certificate_time, deadline
from fwlab.solvers.certificate_time import some_samples
from fwlab.solvers.interrupt import Interrupt
from fwlab.solvers.loop import run_loop
from fwlab.solvers.method import Method, Needs, State
from fwlab.solvers.recorder import Progress, Recorder, Reporter
from fwlab.solvers.run_state import RunState
from fwlab.solvers.stopping import checked_limits

TOO_LARGE = Certificate(primal=2.0, dual=1.0, gap=1.0, augmented_gap=1.0)


@dataclass
class Clock:
    """Shows the seconds that the parts of a run are said to take."""

    now: float = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("time.perf_counter", clock)
    return clock


@dataclass(eq=False)
class Timed(RunState):
    """A run whose parts take these seconds; nothing is computed."""

    clock: Clock
    iteration: float = 1.0
    judging: float = 0.5
    certifying: float = 3.0
    predicted: float = 3.0 / deadline.MARGIN
    asked: list = field(default_factory=list)
    done: list = field(default_factory=list)

    def judge(self):
        self.clock.now += self.judging
        self.done.append("judgement")
        return TOO_LARGE

    def certify(self):
        self.clock.now += self.certifying
        self.done.append("certificate")
        return Certificate(2.0, 1.0, 1.0, 1.0, from_scratch=True, gap_error=1e-9)

    def seconds_to_certify(self, judgement):
        self.asked.append((self.clock.now, judgement))
        return self.predicted


@dataclass(frozen=True)
class Waits(Method):
    def iterate(self, state, workspace):
        state.clock.now += state.iteration
        state.done.append("iteration")


def run(state, limit, callback=None, check_every=1, max_iter=10**6):
    limits = checked_limits(1e-3, False, max_iter, limit, check_every)
    recorder = Recorder(Reporter("waits", callback, 0, Progress))
    return run_loop(Waits(), state, limits, recorder, 0.0, Interrupt())


@pytest.mark.parametrize("limit, iterations, seconds", [
    (20.0, 11, 19.5),  # an iteration takes 1 s, a judgement 0.5 s, the certificate 3 s
    (19.5, 10, 18.0),  # the 11th one would end at the limit
    (19.4, 10, 18.0),
    (6.5, 2, 6.0),
    (6.0, 1, 4.5),
])  # fmt: skip
def test_the_certificate_comes_within_the_limit(clock, limit, iterations, seconds):
    state = Timed(clock)
    end = run(state, limit)
    assert (end.status, end.iteration, clock.now) == (Status.TIME_LIMIT, iterations, seconds)
    # the last iteration is judged by the certificate alone
    assert state.done[-2:] == ["iteration", "certificate"]
    assert end.times.wall == iterations


@pytest.mark.parametrize("certifying", [0.25, 4.0, 9.0])
@pytest.mark.parametrize("judging", [0.0, 0.125, 3.0])
@pytest.mark.parametrize("check_every", [1, 4, 100, "auto"])
@pytest.mark.parametrize("predicted", ["right", "too high"])
def test_no_time_is_lost_either(clock, certifying, judging, check_every, predicted):
    guess = 1e9 if predicted == "too high" else certifying / deadline.MARGIN
    state = Timed(clock, judging=judging, certifying=certifying, predicted=guess)
    end = run(state, 30.0, check_every=check_every)
    assert end.status is Status.TIME_LIMIT and clock.now <= 30.0
    assert clock.now + judging + state.iteration >= 30.0
    assert state.done.count("certificate") <= 2


@pytest.mark.parametrize("limit, iterations, seconds", [
    (1.0, 1, 4.5),  # the first iteration is made, and then the certificate
    (0.5, 0, 3.5),  # the judgement of the start takes all the time
    (0.0, 0, 3.5),
])  # fmt: skip
def test_the_first_iteration_is_made_unless_the_time_is_over(clock, limit, iterations, seconds):
    end = run(Timed(clock), limit)
    assert (end.status, end.iteration, clock.now) == (Status.TIME_LIMIT, iterations, seconds)


def test_a_judgement_counts_only_where_one_comes(clock):
    end = run(Timed(clock), 20.0, check_every=100)
    # the judgement of the start, 16 iterations and the certificate
    assert (end.iteration, clock.now) == (16, 19.5)


def test_without_a_limit_nothing_is_predicted(clock):
    state = Timed(clock)
    end = run(state, None, max_iter=30)
    assert (end.status, state.asked) == (Status.MAX_ITER, [])


def test_the_time_is_predicted_again_when_the_run_has_taken_four_times_as_long(clock):
    state = Timed(clock)
    run(state, 60.0)
    assert state.asked == [(1.5, 0.5), (6.0, 0.5), (24.0, 0.5)]


def test_a_certificate_that_was_computed_tells_the_time(clock):
    """The gap may be hidden by rounding, so that the state is certified on the way."""

    class Certified(Timed):
        def judge(self):
            return self.certify()

    state = Certified(clock)
    end = run(state, 20.0, check_every=4)
    # 3 s, 4 iterations and 3 s, 4 iterations and 3 s are 17 s
    assert (end.iteration, clock.now, state.asked) == (8, 17.0, [])


def test_a_callback_that_takes_its_time_is_counted(clock):
    def wait(progress):
        clock.now += 2.0

    end = run(Timed(clock), 20.0, callback=wait)
    # 2.5 s, three times 3.5 s, an iteration, the certificate and the callback
    assert (end.iteration, clock.now) == (4, 19.0)


# ------------------------------------------------------- the time of a certificate of a part


FORMS = {
    "dense": {},
    "sparse": {},
    "float32": {"storage": "float32"},
    "smoothed": {"smoothing": 0.5},
    "linear": {"kernel": "linear"},
    "precomputed": {"kernel": "precomputed"},
    "norm": {"regularizer": fwlab.LpNorm(1.5)},
    "given loss": {},
}


def problem_of(form, rows=slice(None), lam=0.1):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 6)), np.arange(600) % 4
    weight = rng.uniform(0.5, 1.5, 600)
    loss = GivenHinge() if form == "given loss" else fwlab.TopK(2)
    X = X[rows]
    X = scipy.sparse.csr_matrix(X) if form == "sparse" else X
    X = X.astype(np.float32) if form == "float32" else X
    X = X @ X.T if form == "precomputed" else X
    options = {"n_classes": 4, "sample_weight": weight[rows], **FORMS[form]}
    return fwlab.Problem(X, y[rows], loss, lam, **options)


@pytest.mark.parametrize("form", FORMS)
def test_some_samples_are_a_problem_of_their_own(form):
    rows = np.arange(0, 600, 3)
    part = some_samples(problem_of(form), rows)
    alone = problem_of(form, rows, lam=0.1 * 3)
    A = alone.lowest(np.zeros((200, 4)))[0]
    dual = np.zeros((200, 4))
    A.add_to(dual, 0.5)
    found, expected, gram = (
        certificate_of(part, dual),
        certificate_of(alone, dual),
        form == "precomputed",
    )
    assert found.gap == pytest.approx(expected.gap, rel=1e-6)
    # the whole Gram matrix allows a larger shift
    assert found.gap_error == pytest.approx(expected.gap_error, rel=10 if gram else 0.1)
    np.testing.assert_allclose(part.curvatures, alone.at_data.curvatures, rtol=1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("needs", [Needs(), Needs(scores=True, best_primal=True)], ids=str)
def test_a_prediction_changes_nothing_and_counts_all_samples(form, needs, monkeypatch):
    work = []

    def second(part):
        part()
        work.append(part)
        return 1.0

    monkeypatch.setattr(certificate_time, "shortest", second)
    problem = problem_of(form)
    if form == "precomputed" and needs.best_primal:
        pytest.skip("there is no W to keep")
    state = State(problem, np.zeros((600, 4)), np.random.default_rng(0), needs)
    problem.lowest(np.zeros((600, 4)))[0].add_to(state.A, 0.5)
    state.refresh()
    before = state.A.copy(), state.link.copy(), state.rng.bit_generator.state
    seconds = state.seconds_to_certify(0.0)
    products = 1 if problem.kernel is None else 2
    assert len(work) == products and seconds == 2 * products  # every second sample
    np.testing.assert_array_equal(state.A, before[0])
    np.testing.assert_array_equal(state.link, before[1])
    assert state.rng.bit_generator.state == before[2] and state.judged is None


def test_a_ranking_run_predicts_from_some_columns(monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(400, 3)), np.arange(400) % 2 * 2 - 1
    problem = ranking.problem.Problem(X, y, ranking.TopPushK(2), 1.0, "rbf", 0.5)
    point = ranking.problem.Point(np.ones(200), np.r_[np.ones(150), np.zeros(50)], None)
    state, counts = RankingState(problem, point, np.random.default_rng(0)), []
    plain = type(problem.gram).product_with_errors

    def counted(gram, c):
        counts.append(np.count_nonzero(c))
        return plain(gram, c)

    monkeypatch.setattr(type(problem.gram), "product_with_errors", counted)
    monkeypatch.setattr("fwlab.ranking.state.shortest", lambda work: work() and 1.0)
    assert state.seconds_to_certify(7.0) == 350 / 64
    assert counts == [64]
    linear = ranking.problem.Problem(X, y, ranking.TopPushK(2), 1.0)
    assert RankingState(linear, point, state.rng).seconds_to_certify(7.0) == 35.0


def test_real_work_takes_time():
    problem = Case().problem()
    state = State(problem, np.zeros((problem.n_samples, 4)), np.random.default_rng(0))
    assert state.seconds_to_certify(0.0) > 0.0
