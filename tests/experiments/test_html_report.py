"""The interactive page of a comparison: its curves, tables and bad input, without a browser."""

import re
from pathlib import Path

import numpy as np
import pytest

import fwlab
from fwlab.experiments.curves import MOST_POINTS, X_LABELS, band, curves_of, x_of
from fwlab.experiments.html_report import (
    BUTTONS,
    SYMBOLS,
    check_html_report,
    curve,
    dash_of,
    figure_of,
    html_report,
    plotly_styles,
)
from fwlab.plot import STYLES

pytest.importorskip("plotly", reason="plotly is not installed: pip install 'fwlab[report]'")


@pytest.fixture(scope="module")
def comparison():
    data = fwlab.datasets.load("digits", normalize="unit")
    X, y = data.X_train[:40], data.y_train[:40]
    problems = {"<one>": fwlab.Problem(X, y, fwlab.TopK(2), lam=0.1)}
    return fwlab.compare(problems, ["fw", "ascent"], tol=1e-3, max_iter=30)


def test_the_page_holds_every_number_of_the_table(comparison):
    page = html_report(comparison, comparison.cells())
    for line in comparison.cells()[1]:
        for text in line[1:]:
            assert f"<td>{text}</td>" in page
    assert "&lt;one&gt;" in page and "<one>" not in page
    # the library itself can name the function in a sentence
    assert len(re.findall(r'Plotly\.newPlot\(\s*"', page)) == 1


def test_a_curve_begins_at_iteration_1_and_is_thinned_evenly():
    data = fwlab.datasets.load("digits", normalize="unit")
    problem = fwlab.Problem(data.X_train[:20], data.y_train[:20], fwlab.TopK(2), lam=0.1)
    result = fwlab.solve(problem, "fw", tol=0, max_iter=3 * MOST_POINTS, check_every=1)
    points = curve(result, problem.n_samples)
    assert points[0, 0] == 1 and points[-1, 0] == result.nit
    assert MOST_POINTS / 2 < len(points) <= MOST_POINTS
    assert (np.diff(points[:, 0]) > 0).all()


def test_every_method_has_a_look_of_its_own():
    looks = plotly_styles(list(STYLES))
    assert len({str(look) for look in looks.values()}) == len(STYLES)
    assert {look["marker"]["symbol"] for look in looks.values()} == set(SYMBOLS)
    assert dash_of((0, (8, 2))) == "16px,4px"


@pytest.mark.parametrize("name", [".", "no/such/folder/page.html"])
def test_a_page_that_cannot_be_written_is_named_before_any_work(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="html must be a file in a folder that exists; got"):
        check_html_report(Path(name))


def digits(**options):
    data = fwlab.datasets.load("digits", normalize="unit")
    problem = fwlab.Problem(data.X_train[:40], data.y_train[:40], fwlab.TopK(2), lam=0.1)
    return fwlab.compare(problem, ["fw", "ascent"], tol=1e-3, max_iter=9, **options)


def test_several_runs_are_a_median_on_its_band():
    runs = digits(rng=[0, 1, 2])
    figure = figure_of(runs.finished("problem"), runs.methods, 40, "cpu")
    fw_band, fw, ascent_band, ascent = figure.data
    assert [trace.name for trace in figure.data] == [None, "fw", None, "ascent"]
    assert fw_band.fill == "toself" and not fw_band.showlegend
    assert fw_band.legendgroup == fw.legendgroup != ascent_band.legendgroup
    median = band(curves_of(runs.finished("problem"), "cpu", "gap", 40)["ascent"])
    np.testing.assert_array_equal(ascent.x, median.x)
    np.testing.assert_array_equal(ascent.y, median.median)
    np.testing.assert_array_equal(ascent_band.y, [*median.high, *median.low[::-1]])
    page = html_report(runs, runs.cells())
    assert "the curve is the median" in page and "<td>0, 1, 2</td>" in page


def test_the_buttons_of_x_change_every_curve(comparison):
    runs = comparison.finished("<one>")
    figure = figure_of(runs, comparison.methods, 40, "cpu")
    buttons = figure.layout.updatemenus[0].buttons
    names = ["CPU s", "wall s", "iterations", "calls", "passes"]
    assert [button.label for button in buttons] == names
    for button, x in zip(buttons, BUTTONS, strict=True):
        data, layout = button.args
        assert layout == {"xaxis.title.text": X_LABELS[x]}
        for found, (result,) in zip(data["x"], runs.values(), strict=True):
            np.testing.assert_array_equal(found, x_of(result, x, 40)[1:])
    assert figure.layout.updatemenus[0].active == 0
    assert figure.layout.xaxis.title.text == X_LABELS["cpu"]
