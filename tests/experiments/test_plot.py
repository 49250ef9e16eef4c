"""The figures: what is drawn is the trace, from iteration 1 on, and nothing is hidden."""

from pathlib import Path

import matplotlib.figure
import matplotlib.image
import numpy as np
import pytest
from matplotlib import pyplot

import fwlab
from fwlab.experiments import Comparison, Failure, RunKey, Settings
from fwlab.experiments.figure import BEHIND, NOTHING, comparison_figure
from fwlab.plot import plot_gaps, save_figure
from fwlab.result import Result, Status, Trace

SETTINGS = Settings(1e-5, False, 100, None, 0, 1)
LINES = 2  # a run: every checkpoint faint, the smallest gap so far bold


def trace(gap: list[float], seconds: list[float] | None = None) -> Trace:
    n = len(gap)
    dual = np.full(n, 0.5)
    zeros = np.zeros(n, dtype=int)
    return Trace(
        iteration=np.arange(n),
        seconds=0.01 * np.arange(n) if seconds is None else np.array(seconds),
        primal=dual + gap,
        dual=dual,
        gap=np.array(gap),
        n_lmo=zeros,
        n_steps=zeros,
        active=zeros,
        step=np.full(n, np.nan),
    )


def result(gap: list[float], method: str = "fw", seconds: list[float] | None = None) -> Result:
    columns = trace(gap, seconds)
    return Result(
        W=None,
        A=np.zeros((1, 2)),
        primal=float(columns.primal[-1]),
        dual=0.5,
        gap=gap[-1],
        infeasibility=0.0,
        success=False,
        status=Status.MAX_ITER,
        message="",
        nit=len(gap) - 1,
        seconds=float(columns.seconds[-1]),
        method=method,
        trace=columns,
        lam_n=1.0,
    )


def comparison(results: dict[tuple[str, str], Result], settings: Settings = SETTINGS) -> Comparison:
    problems = {
        name: fwlab.Problem(np.eye(3), [0, 1, 2], fwlab.TopK(2), 0.25)
        for name in dict.fromkeys(key[0] for key in results)
    } or {"a": fwlab.Problem(np.eye(3), [0, 1, 2], fwlab.TopK(2), 0.25)}
    methods = tuple(dict.fromkeys(key[1] for key in results)) or ("fw",)
    keys = [(name, method) for name in problems for method in methods]
    broken = Failure("failed", "broken")
    runs = {RunKey(*key, 0): results.get(key, broken) for key in keys}
    return Comparison(problems, methods, settings, runs)


def drawn(axes: matplotlib.axes.Axes) -> list[np.ndarray]:
    """Return the (x, y) of every line except the one at tol."""
    return [line.get_xydata() for line in axes.lines if line.get_transform() is axes.transData]


def test_two_panels_a_problem_and_one_legend_entry_a_method() -> None:
    keys = [(name, method) for name in "abc" for method in ("fw", "ascent")]
    figure = comparison_figure(comparison({key: result([1.0, 0.5, 0.1]) for key in keys}))
    assert len(figure.axes) == 6
    assert all(len(drawn(axes)) == 2 * LINES for axes in figure.axes)
    assert all((axes.get_xscale(), axes.get_yscale()) == ("log", "log") for axes in figure.axes)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["fw", "ascent"]


def test_more_than_eight_methods_have_several_rows() -> None:
    methods = tuple(fwlab.methods())[:17]
    keys = [(name, method) for name in "ab" for method in methods]
    runs = {key: result([1.0, 0.5, 0.1 + 0.01 * place]) for place, key in enumerate(keys)}
    axes = comparison(runs).plot()
    assert axes.shape == (6, 2)
    shown = []
    for row in axes:
        assert len({ax.get_ylim() for ax in row}) == 1
        legend = [text.get_text() for text in row[-1].get_legend().get_texts()]
        assert 5 <= len(legend) <= 6 and row[0].get_legend() is None
        for ax in row:
            grey = [line for line in ax.lines if line.get_color() == BEHIND["color"]]
            assert len(grey) == 17 - len(legend)
            assert len(drawn(ax)) == LINES * len(legend) + len(grey)
        shown += legend
    assert tuple(shown[:17]) == methods == tuple(shown[17:])
    # a row shows its own methods, and behind them the smallest gaps of the others
    first = [line for line in axes[0, 1].lines if line.get_color() != BEHIND["color"]]
    assert [line.get_ydata()[-1] for line in first[1 : 2 * LINES : LINES]] == [0.1, 0.11]
    behind = [line for line in axes[0, 1].lines if line.get_color() == BEHIND["color"]]
    assert behind[-1].get_xydata().tolist() == [[1.0, 0.5], [2.0, 0.1 + 0.01 * 16]]
    (legend,) = axes[0, 0].figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["the methods of the other rows"]
    titles = [ax.get_title(loc="left").partition(":")[0] for ax in axes[:, 0]]
    assert titles == ["a", "", "", "b", "", ""]
    pyplot.close("all")


def test_eight_methods_share_one_row() -> None:
    methods = tuple(fwlab.methods())[:8]
    figure = comparison_figure(comparison({("a", m): result([1.0, 0.5]) for m in methods}))
    assert len(figure.axes) == 2 and len(figure.legends[0].get_texts()) == 8
    assert all(ax.get_legend() is None for ax in figure.axes)


def test_title_and_labels_say_what_is_drawn() -> None:
    figure = comparison_figure(comparison({("mine", "fw"): result([1.0, 0.5])}))
    title = figure.axes[0].get_title(loc="left")
    assert title.replace("\N{NO-BREAK SPACE}", " ") == (
        "mine: TopK(k=2), n = 3, d = 3, m = 3, lam = 0.25"
    )
    left, right = figure.axes
    assert left.get_xlabel().startswith("seconds")
    assert right.get_xlabel().startswith("iterations")
    assert left.get_ylabel().startswith("certified gap")


def test_lines_are_the_trace_from_iteration_1_on() -> None:
    gap = [1.0, 2.0, 0.5, 0.7, 0.1]
    seconds = [0.001, 0.01, 0.02, 0.03, 0.04]
    figure = comparison_figure(comparison({("a", "fw"): result(gap, seconds=seconds)}))
    for axes, x in zip(figure.axes, ([0.01, 0.02, 0.03, 0.04], [1, 2, 3, 4]), strict=True):
        every, smallest = drawn(axes)
        np.testing.assert_allclose(every, np.column_stack([x, gap[1:]]))
        np.testing.assert_allclose(smallest, np.column_stack([x, [2.0, 0.5, 0.5, 0.1]]))


def test_a_checkpoint_at_second_0_is_not_drawn() -> None:
    figure = comparison_figure(comparison({("a", "fw"): result([1, 0.5, 0.4], seconds=[0, 0, 1])}))
    by_seconds, by_iterations = figure.axes
    assert [len(line) for line in drawn(by_seconds)] == [1, 1]
    assert [len(line) for line in drawn(by_iterations)] == [2, 2]


def test_gaps_below_rounding_stand_hollow_at_the_floor() -> None:
    figure = comparison_figure(comparison({("a", "fw"): result([1.0, 1e-3, -1e-17, 0.0])}))
    floor = 0.5 * np.finfo(float).eps
    for axes in figure.axes:
        every, _, hollow = drawn(axes)
        np.testing.assert_allclose(every[:, 1], [1e-3, floor, floor])
        np.testing.assert_allclose(hollow[:, 1], [floor, floor])
        assert axes.lines[2].get_markerfacecolor() == "white"
    assert "Hollow" in figure.legends[0].get_title().get_text()


def test_floor_is_not_explained_where_it_is_not_used() -> None:
    figure = comparison_figure(comparison({("a", "fw"): result([1.0, 0.5])}))
    assert "Hollow" not in figure.legends[0].get_title().get_text()


@pytest.mark.parametrize("results", [{}, {("a", "fw"): result([1.0])}])
def test_a_figure_without_data_says_so(results: dict) -> None:
    figure = comparison_figure(comparison(results))
    figure.draw_without_rendering()
    for axes in figure.axes:
        assert [text.get_text() for text in axes.texts] == [NOTHING]


def test_failed_runs_are_not_in_the_legend() -> None:
    results = {("a", "fw"): result([1.0, 0.5]), ("b", "ascent"): result([1.0, 0.5])}
    only = comparison({key: results[key] for key in [("a", "fw")]})
    both = Comparison(only.problems, ("fw", "ascent"), SETTINGS, only.runs)
    (legend,) = comparison_figure(both).legends
    assert [text.get_text() for text in legend.get_texts()] == ["fw"]


@pytest.mark.parametrize(
    ("tol", "relative", "levels"), [(1e-3, False, [1e-3]), (0.0, False, []), (1e-3, True, [])]
)
def test_line_at_tol_where_tol_is_a_gap(tol: float, relative: bool, levels: list[float]) -> None:
    settings = Settings(tol, relative, 100, None, 0, 1)
    figure = comparison_figure(comparison({("a", "fw"): result([1.0, 0.5, 0.2])}, settings))
    for axes in figure.axes:
        flat = [line for line in axes.lines if line.get_transform() is not axes.transData]
        assert [line.get_ydata()[0] for line in flat] == levels


def test_short_axes_show_two_powers_of_ten() -> None:
    figure = comparison_figure(
        comparison({("a", "fw"): result([1.0, 0.5, 0.4], seconds=[0, 0.023, 0.031])})
    )
    low, high = figure.axes[0].get_xlim()
    np.testing.assert_allclose([low, high], [0.01, 0.1])


def test_an_unknown_method_is_drawn_too() -> None:
    figure = comparison_figure(comparison({("a", "brand-new"): result([1.0, 0.5])}))
    assert [len(drawn(axes)) for axes in figure.axes] == [LINES, LINES]


def test_markers_are_few_and_include_the_last_point() -> None:
    n = 5000
    figure = comparison_figure(comparison({("a", "fw"): result(list(np.geomspace(1, 1e-4, n)))}))
    for axes in figure.axes:
        marked = axes.lines[1].get_markevery()
        assert 5 <= len(marked) <= 12
        assert marked[0] == 0
        assert marked[-1] == n - 2


@pytest.mark.parametrize("ending", ["", ".png", ".PDF"])
def test_png_and_pdf_stand_beside_each_other(tmp_path: Path, ending: str) -> None:
    figure = matplotlib.figure.Figure(figsize=(1.0, 1.0))
    files = save_figure(figure, tmp_path / "new" / f"v1.2{ending}")
    assert files == (tmp_path / "new" / "v1.2.png", tmp_path / "new" / "v1.2.pdf")
    assert set((tmp_path / "new").iterdir()) == set(files)


@pytest.mark.turns
def test_files_are_whole_pictures(tmp_path: Path) -> None:
    runs = comparison({("a", m): result([1.0, 0.5, -1.0]) for m in ("fw", "bcfw", "ascent")})
    png, pdf = runs.plot(tmp_path / "figure")
    pixels = matplotlib.image.imread(png)[..., :3]
    assert min(pixels.shape[:2]) > 500
    assert 0.01 < (pixels.min(axis=2) < 0.9).mean() < 0.5
    pixels[2:-2, 2:-2] = 1.0
    assert (pixels == 1.0).all(), "something reaches the border and is cut off"
    assert pdf.read_bytes().startswith(b"%PDF-")


def test_trace_draws_itself() -> None:
    columns = trace([1.0, 0.5, 0.1])
    axes = columns.plot()
    np.testing.assert_allclose(drawn(axes)[0], [[0.01, 0.5], [0.02, 0.1]])
    assert axes.get_xlabel().startswith("seconds")
    assert pyplot.figure(axes.figure.number) is axes.figure
    given = matplotlib.figure.Figure().add_subplot()
    assert plot_gaps(columns.gaps, given) is given
    assert len(drawn(given)) == LINES
