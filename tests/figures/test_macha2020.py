"""M20's figure and table store the numbers that a run gives."""

from types import SimpleNamespace

import numpy as np
import pytest

from figures.benchmarks import pair_steps
from figures.macha2020 import figure3
from figures.macha2020 import figure3 as macha2020_figure3
from figures.macha2020 import table4 as macha2020_table4
from figures.macha2020.program import CHECKS, first_point, gaps, offset_of
from fwlab import ranking
from fwlab.experiments.data_name import DataName
from fwlab.ranking.pairwise import repeat_loop

DATA = DataName("digits", "unit", rows=60)


def test_values_are_the_best_so_far():
    found = macha2020_figure3.solved(DATA, 0, ranking.TopPushK(2), "interior-point", 12)
    data = DATA.load()
    y = (data.y_train == 0).astype(int)
    result = ranking.solve(data.X_train, y, ranking.TopPushK(2), 1.0, tol=1e-10, max_iter=12)
    assert list(found["iteration"]) == list(range(1, result.nit + 1))
    assert found["primal"][-1] == result.trace.primal.min()
    assert found["dual"][-1] == result.trace.dual.max()
    assert found["gap"][-1] >= (found["primal"][-1] - found["dual"][-1]) / found["primal"][-1]


def test_an_iteration_from_the_programs_start_is_n_loops():
    found = macha2020_figure3.from_the_start(DATA, 0, 1.0, 1200, seed=1)
    assert found["iteration"] == [100 * (check + 1) / 60 for check in range(2 * CHECKS)]
    X = DATA.load().X_train
    y = (DATA.load().y_train == 0).astype(int)
    problem = ranking.Problem(X @ X.T, y, ranking.PatMat(0.05, over="all"), 1.0, "precomputed")
    start = first_point(problem, np.random.default_rng(1))
    ends = [found["gap"][CHECKS - 1], found["gap"][-1]]
    expected = gaps(problem, 1200, np.random.default_rng(1))
    assert offset_of(problem, start) > 1 and ends[0] > 0.1
    assert ends == pytest.approx([*expected.values()], abs=1e-12)


def test_the_table_sets_printed_numbers_beside_ours():
    value = {"n": 176, "loop": 2e-5, "deviation": 1e-6, "candidate": 1e-7}
    line = macha2020_table4.row("ionosphere|TopPushK", value)
    assert str(line[3]) == "0.0200 (0.0300, -0.0100)"
    assert line[4] == "0.0010" and str(line[5]) == "1.0e-07"
    assert [str(entry) for entry in line[6:]] == ["-", "-"]


def test_a_loop_has_the_time_of_the_least_batch(monkeypatch):
    monkeypatch.setattr(macha2020_table4, "loop_times", lambda *asked: np.array([4.0, 2.0, 9.0]))
    found = macha2020_table4.times(DATA, 0, ranking.TopPush(), True, [20, 3])
    assert (found["loop"], found["candidate"]) == (2.0, 2.0 / 60)


def test_all_batches_make_the_same_loops(monkeypatch):
    """Otherwise the least would be of the cheapest loops, not of the least disturbed ones."""
    X, y = DATA.load().X_train, DATA.load().y_train == 0
    problem = pair_steps.stored(X, y.astype(int), ranking.TopPush())
    drawn, points = [], []

    def loop(k, state, workspace):
        drawn.append(k)
        points.append(workspace.z.copy())
        repeat_loop(k, state, workspace)

    monkeypatch.setattr(pair_steps, "repeat_loop", loop)
    assert len(pair_steps.loop_times(problem, 5, 2)) == 2
    assert len(set(drawn[:5])) > 1 and drawn == 3 * drawn[:5]
    assert np.array_equal(points[:5], points[5:10]) and not np.array_equal(points[0], points[4])


def test_slopes_of_our_times_and_of_the_printed_ones():
    sizes = {"ionosphere": 100, "spambase": 400, "winequality_white": 900, "winequality_red": 1600}
    values = {
        f"{name}|{label}": {"n": n, "loop": 3e-6 * n**0.5}
        for name, n in sizes.items()
        for label in macha2020_table4.OBJECTIVES
    }
    ours, printed = macha2020_table4.slopes(values)
    assert ours == pytest.approx([0.5] * 3)
    logs = [
        np.log([macha2020_table4.PRINTED[name][2] for name in sizes]),
        np.log([*sizes.values()]),
    ]
    assert printed[2] == pytest.approx(np.polyfit(logs[1], logs[0], 1)[0])


def test_the_printed_times_pass_the_rule_of_ours():
    rows = zip(macha2020_table4.PRINTED.items(), (176, 2301, 2449, 800, 50_000), strict=True)
    values = {
        f"{name}|{label}": {"n": n, "loop": 1e-3 * times[place]}
        for (name, times), n in rows
        for place, label in enumerate(macha2020_table4.OBJECTIVES)
    }
    assert macha2020_table4.finding(values, "standard").outcome == "agrees"


def test_gaps_are_told_from_the_least_to_the_largest():
    assert figure3.between([0.04, 0.02, 0.03]) == "2e-02 to 4e-02"
    assert figure3.between([0.021, 0.02]) == "2e-02"


def clock(seconds):
    """Return a module `time` whose processor takes these seconds from one reading to the next."""
    readings = iter(np.cumsum([0.0, *seconds]).tolist())
    return SimpleNamespace(process_time=lambda: next(readings))


def test_a_loop_has_its_share_of_a_batch_and_a_choice_the_least_time(monkeypatch):
    part = DATA.load()
    y = (part.y_train == 0).astype(int)
    problem = pair_steps.stored(part.X_train, y, ranking.TopPush())
    # the first batch compiles; between two batches 1 s passes
    monkeypatch.setattr(pair_steps, "time", clock([70.0, 1.0, 10.0, 1.0, 20.0]))
    assert pair_steps.loop_times(problem, 5, 2) == pytest.approx([2.0, 4.0])
    monkeypatch.setattr(pair_steps, "time", clock([70.0, 1.0, 4.0, 1.0, 3.0, 1.0, 8.0]))
    assert pair_steps.choice_time(problem, 3) == 3.0


def loops(times):
    """Return values of Table 4: {data set: seconds} for each objective."""
    sizes = dict(zip(macha2020_table4.PRINTED, (176, 2301, 2449, 800, 50_000), strict=True))
    return {
        f"{name}|{label}": {"n": n, "loop": times(name, n)}
        for name, n in sizes.items()
        for label in macha2020_table4.OBJECTIVES
    }


def test_the_constant_part_of_a_loop_is_told_in_microseconds():
    found = macha2020_table4.finding(loops(lambda name, n: 1e-5 + 2e-8 * n), "standard")
    assert found.outcome == "explained" and "constant part: 10 to 10 us, " in found.because


def test_a_constant_part_explains_no_other_growth_than_the_printed(monkeypatch):
    printed = {name.split("|")[0]: [v["loop"]] * 3 for name, v in loops(lambda _, n: n**2).items()}
    monkeypatch.setattr(macha2020_table4, "PRINTED", printed)
    found = macha2020_table4.finding(loops(lambda name, n: 500.0 + n), "standard")
    assert found.outcome == "not explained"


def test_a_constant_part_above_a_time_explains_nothing():
    times = {"ionosphere": 0.129, "winequality_red": 0.557, "spambase": 0.238}
    times |= {"winequality_white": 1.345, "fashion_mnist": 9.0}
    found = macha2020_table4.finding(loops(lambda name, n: times[name]), "standard")
    assert found.outcome == "not explained"
