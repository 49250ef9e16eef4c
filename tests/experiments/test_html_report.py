"""The interactive page of a comparison: its curves, tables and bad input, without a browser."""

import re
from pathlib import Path

import numpy as np
import pytest

import fwlab
from fwlab.experiments.html_report import (
    MOST_POINTS,
    SYMBOLS,
    check_html_report,
    curve,
    dash_of,
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
