"""Curves of a comparison over any x: what is drawn, where, and in the user's style."""

from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from test_plot import comparison, drawn, result

import fwlab
from fwlab.experiments import Comparison, RunKey
from fwlab.experiments.curves import MOST_POINTS, band, best_values, curve, curves_of, x_of
from fwlab.experiments.figure import BANDS, LINES, LOOK, NOTHING, PANEL

GAP = [1.0, 0.5, 0.6, 0.1]


def run(gap=GAP, seconds=None, cpu=None, rows=None):
    """Return a run with its own clocks and counts; n_lmo is 5 an iteration, projections 2."""
    made = result(list(gap), seconds=seconds)
    n = np.arange(len(gap))
    columns = {"cpu_seconds": made.trace.seconds / 2 if cpu is None else np.array(cpu)}
    columns |= {"n_lmo": 5 * n, "n_projections": 2 * n, "n_rows": 3.0 * n if rows is None else rows}
    return replace(made, trace=replace(made.trace, **columns))


def several(*runs, method="fw"):
    """Return a comparison of one method with these runs, by seed."""
    one = comparison({("a", method): runs[0]})
    return Comparison(
        one.problems,
        one.methods,
        one.settings,
        {RunKey("a", method, seed): made for seed, made in enumerate(runs)},
    )


# ---------------------------------------------------------------- curves


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ("iteration", [0, 1, 2, 3]),
        ("wall", [0.0, 0.01, 0.02, 0.03]),
        ("cpu", [0.0, 0.005, 0.01, 0.015]),
        ("calls", [0, 7, 14, 21]),
        ("passes", [0.0, 0.5, 1.0, 1.5]),
    ],
)
def test_each_x_is_its_column(x, expected):
    np.testing.assert_allclose(x_of(run(), x, n=6), expected)


@pytest.mark.parametrize("x", ["cpu", "calls", "passes"])
def test_a_number_that_was_not_recorded_is_nan(x):
    assert np.isnan(x_of(result(GAP), x, n=6)).all()


def test_objectives_are_measured_from_the_best_bound_of_all_runs():
    trace = run().trace
    one = replace(run(), trace=replace(trace, primal=np.array([4.0, 3.0, 3.5, 2.0])))
    two = replace(run(), trace=replace(trace, dual=np.array([0.0, 1.25, 1.5, 1.0])))
    best = best_values([one, two])
    assert best == (0.6, 1.5)  # of two's primal, and of its dual
    np.testing.assert_allclose(curve(one, "iteration", "primal", 1, best).y, [2.5, 1.5, 2.0, 0.5])
    np.testing.assert_allclose(curve(two, "iteration", "dual", 1, best).y, [0.6, -0.65, -0.9, -0.4])
    np.testing.assert_array_equal(curve(one, "iteration", "gap", 1, best).y, trace.gap)


def test_the_median_is_that_of_the_best_values_so_far():
    curves = curves_of(
        {
            "fw": [
                run([9.0, 1.0, 0.5, 0.6], seconds=[0, 1, 2, 3]),
                run([9.0, 0.9, 0.8, 0.1], seconds=[0, 1, 2, 4]),
                run([9.0, 0.7], seconds=[0, 1.5]),
            ]
        },
        "wall",
        "gap",
        1,
    )["fw"]
    found = band(curves)
    # from 1.5 on, where the last run has its first value; it keeps it to the end
    np.testing.assert_allclose(found.x, [1.5, 2, 3, 4])
    np.testing.assert_allclose(found.median, [0.9, 0.7, 0.7, 0.5])
    np.testing.assert_allclose(found.low, [0.7, 0.5, 0.5, 0.1])
    np.testing.assert_allclose(found.high, [1.0, 0.8, 0.8, 0.7])


def test_a_band_ends_at_the_rounding_floor():
    curves = curves_of({"fw": [run([1.0, -1e-18]), run([1.0, 1e-3])]}, "wall", "gap", 1)["fw"]
    np.testing.assert_allclose(band(curves).low, 0.5 * np.finfo(float).eps)


def test_many_points_are_thinned():
    n = 3000
    long = [run(np.geomspace(1, 1e-3 * k, n)) for k in (1, 2)]
    found = band(curves_of({"fw": long}, "iteration", "gap", 1)["fw"])
    assert MOST_POINTS / 2 < len(found.x) <= MOST_POINTS
    assert (found.x[0], found.x[-1]) == (1, n - 1)


# ---------------------------------------------------------------- figures


def test_x_and_y_are_chosen():
    axes = comparison({("a", "fw"): run(), ("b", "fw"): run()}).plot(
        x=["calls", "passes", "cpu"], y="dual"
    )
    assert axes.shape == (2, 3)
    labels = [ax.get_xlabel().split()[0] for ax in axes[1]]
    assert labels == ["oracle", "passes", "CPU"]
    assert axes[0, 0].get_ylabel().startswith("best primal of all runs")
    every, _ = drawn(axes[0, 0])
    np.testing.assert_allclose(every[:, 0], [7, 14, 21])
    assert comparison({("a", "fw"): run()}).plot(x="calls").shape == (1, 1)


def test_the_clock_is_the_processor_s_if_all_runs_recorded_it():
    first = comparison({("a", "fw"): run(), ("a", "ascent"): run()}).plot()[0, 0]
    assert first.get_xlabel().startswith("CPU seconds")
    np.testing.assert_allclose(drawn(first)[0][:, 0], [0.005, 0.01, 0.015])
    older = comparison({("a", "fw"): run(), ("a", "ascent"): result(GAP)}).plot()[0, 0]
    assert older.get_xlabel().startswith("seconds")


def test_several_runs_are_a_median_with_a_band():
    figure = several(run(), run([1.0, 0.4, 0.3, 0.2])).plot(x="iteration")[0, 0].figure
    (ax,) = figure.axes
    (median,) = drawn(ax)
    np.testing.assert_allclose(median, [[1, 0.45], [2, 0.4], [3, 0.15]])
    (shade,) = ax.collections
    low, high = shade.get_datalim(ax.transData).get_points()
    np.testing.assert_allclose([low[1], high[1]], [0.1, 0.5])
    (legend,) = figure.legends
    assert legend.get_title().get_text() == BANDS
    assert [text.get_text() for text in legend.get_texts()] == ["fw"]


def test_a_method_without_this_x_is_named():
    runs = {("a", "fw"): run(), ("a", "ascent"): result(GAP)}
    axes = comparison(runs).plot(x="calls", labels={"ascent": "blocks"})
    title = axes[0, 0].figure.legends[0].get_title().get_text()
    assert title.splitlines() == [LINES, "Not drawn over calls: blocks, which recorded none."]
    only = comparison({("a", "ascent"): result(GAP)}).plot(x="calls")[0, 0]
    assert [text.get_text() for text in only.texts] == [NOTHING]


def test_labels_are_those_of_the_legend():
    runs = comparison({("a", "fw"): run(), ("a", "ascent"): run()})
    figure = runs.plot(labels={"fw": "Frank-Wolfe"})[0, 0].figure
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["Frank-Wolfe", "ascent"]


def test_given_axes_are_drawn_on():
    figure, (left, right) = pyplot.subplots(1, 2)
    runs = comparison({("a", "fw"): run(), ("a", "ascent"): run()})
    assert runs.plot(ax=left, x="calls", labels={"fw": "mine"}) is left
    assert runs.plot(ax=right) is right
    assert (left.get_xlabel()[:6], right.get_xlabel()[:3]) == ("oracle", "CPU")
    assert left.get_ylabel().startswith("certified gap")
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["mine", "ascent"]
    assert figure.axes == [left, right] and pyplot.get_fignums() == [figure.number]


def test_figures_belong_to_pyplot_unless_they_are_written(tmp_path):
    runs = comparison({("a", "fw"): run()})
    axes = runs.plot(figsize=(5.0, 3.0))
    figure = axes[0, 0].figure
    assert pyplot.figure(figure.number) is figure
    assert tuple(figure.get_size_inches()) == (5.0, 3.0)
    pyplot.close("all")
    runs.plot(tmp_path / "gaps", x="calls")
    assert pyplot.get_fignums() == [] and (tmp_path / "gaps.pdf").is_file()


def look_of(ax):
    line = ax.lines[1]
    grid = ax.xaxis.get_gridlines()[0]
    return line.get_linewidth(), grid.get_visible(), ax.spines["top"].get_visible()


def test_rcparams_hold():
    runs = comparison({("a", "fw"): run()})
    before = dict(matplotlib.rcParams)
    ax = runs.plot()[0, 0]
    assert look_of(ax) == (LOOK["lines.linewidth"], True, False)
    assert tuple(ax.figure.get_size_inches()) == (2 * PANEL[0], PANEL[1] + 0.9)
    own = {
        "lines.linewidth": 3.0,
        "axes.spines.top": True,
        "font.size": 7.0,
        "figure.figsize": (4, 2),
        "lines.markersize": 2.0,
    }
    # what the user sets to its default value cannot be told from what nobody set
    with pyplot.rc_context(own):
        ax = runs.plot()[0, 0]
    assert ax.lines[1].get_linewidth() == 3.0 and ax.lines[1].get_markersize() == 2.0
    assert ax.xaxis.label.get_fontsize() == 7.0
    assert tuple(ax.figure.get_size_inches()) == (8.0, 2.9)
    assert dict(matplotlib.rcParams) == before
    with pyplot.style.context("ggplot"):
        ax = runs.plot()[0, 0]
    assert ax.get_facecolor() == matplotlib.colors.to_rgba("#E5E5E5")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"x": "time"}, ValueError, r"x must be one of iteration, cpu, .*; got 'time'"),
        ({"x": 3}, ValueError, r"x must be one of .*, or a list; got 3"),
        ({"y": ["gap"]}, ValueError, r"y must be one of .*; got \['gap'\]"),
        ({"x": []}, ValueError, r"x must be one of .*, or a list; got \[\]"),
        ({"x": ["cpu", "gap"]}, ValueError, r"x must be one of .*; got \['cpu', 'gap'\]"),
        ({"y": "cpu"}, ValueError, r"y must be one of gap, primal, dual; got 'cpu'"),
        ({"figsize": 3}, TypeError, r"figsize must be a list of positive numbers; got 3"),
        ({"figsize": (3, 0)}, ValueError, r"figsize must be finite and > 0; got 0"),
        ({"figsize": (3, 4, 5)}, ValueError, r"figsize must be two numbers, .*; got \(3, 4, 5\)"),
        ({"labels": {"bcfw": "b"}}, ValueError, r"labels must name methods of fw; got 'bcfw'"),
        ({"labels": ["b"]}, TypeError, r"labels must be a dict {method: text}; got \['b'\]"),
        ({"ax": object(), "path": "a"}, ValueError, r"path must be None if ax is given"),
        (
            {"ax": object(), "x": ["cpu", "wall"]},
            ValueError,
            r"one x; got 2 problems and 2 x",
        ),
        ({"ax": object()}, ValueError, r"one x; got 2 problems and 1 x"),
    ],
)
def test_bad_input_is_one_sentence(options, error, words):
    with pytest.raises(error, match=words):
        comparison({("a", "fw"): run(), ("b", "fw"): run()}).plot(**options)
    assert pyplot.get_fignums() == []


def test_runs_of_a_loaded_machine_are_marked():
    busy = replace(run(), made_by={"load": "7.00", "processors": "2"})
    free = replace(run(), made_by={"load": "1.00", "processors": "2"})
    title = several(free, busy).plot()[0, 0].get_title(loc="left")
    assert title.splitlines()[1:] == ["1 of 2 runs on a loaded machine"]


def test_real_runs_have_every_axis():
    data = fwlab.datasets.load("digits", normalize="unit")
    problem = fwlab.Problem(data.X_train[:40], data.y_train[:40], fwlab.TopK(2), lam=0.1)
    runs = fwlab.compare(problem, ["fw", "ascent"], max_iter=5, rng=[0, 1])
    axes = runs.plot(x=["iteration", "cpu", "wall", "calls", "passes"])
    assert all(len(drawn(ax)) == 2 for ax in axes[0])
