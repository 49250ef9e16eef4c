"""Test the display in a notebook: a few lines of main facts, tables in HTML, axes and frames."""

import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.figure import Figure

import fwlab
from fwlab import ranking

DIGITS = fwlab.datasets.load("digits", normalize="unit")
X, Y = DIGITS.X_train, DIGITS.y_train
PROBLEM = fwlab.Problem(X, Y, fwlab.TopK(3), C=1.0)
RESULT = fwlab.solve(PROBLEM, tol=1e-3)
LETTERS = fwlab.Problem(X[:60], np.array(list("abcdefghij"))[Y[:60]], fwlab.MaxHinge(), 0.1)
COMPARISON = fwlab.compare({"digits": PROBLEM, "<b>": LETTERS}, ["fw", "ascent"], max_iter=3)
SWEEP = fwlab.path(LETTERS, [0.01, 0.1, 1.0])
RANKED = ranking.solve(X[:90], Y[:90] == 8, ranking.TopPush(), C=1.0)
MODEL = fwlab.Model.of(RESULT, range(10), DIGITS.scaling)


@pytest.fixture(scope="module")
def folds(tmp_path_factory):
    machines = {"top-1": {"loss": fwlab.TopK(1)}}
    out = tmp_path_factory.mktemp("cells")
    return fwlab.cross_validate(DIGITS, machines, [0.01, 0.1], n_folds=2, tol=0.1, out=out)


SHOWN = [
    (PROBLEM, ["TopK(k=3)", "n = 1347", "d = 64", "m = 10", "lam = 0.0007424"]),
    (RESULT, ["ascent", "CONVERGED", f"gap = {RESULT.gap:.3g}", f"most {RESULT.gap_error:.2g}"]),
    (RESULT, [f"iterations = {RESULT.nit}", f"seconds = {RESULT.wall_seconds:.3g}", "W = 10 x 64"]),
    (replace(RESULT, W=None), ["A = 1347 x 10"]),
    (RESULT.trace, [f"{len(RESULT.trace.gap)} checkpoints", "iteration, seconds, primal"]),
    (COMPARISON, ["digits", "fw, ascent", "tol = 1e-05", "4 of 4 runs finished"]),
    (DIGITS, ["1347 train", "450 test", "m = 10", "normalize = unit"]),
    (MODEL, ["d = 64", "m = 10", "classes = 0, 1, 2, 3, 4, ..", "normalize = unit", "gap = "]),
    (SWEEP, ["C", "0.01", "0.1", "1", SWEEP[0].status.name, f"{SWEEP[2].gap:.2e}"]),
    (RANKED, ["ranking.Result", "CONVERGED", f"threshold = {RANKED.threshold:.6g}", "gap = "]),
]


@pytest.mark.parametrize(("thing", "parts"), SHOWN, ids=lambda value: type(value).__name__)
def test_a_representation_is_short_and_says_what_matters(thing, parts):
    text = " ".join(repr(thing).split())
    assert len(repr(thing).splitlines()) <= 5 and len(text) < 500
    assert [part for part in parts if part not in text] == []


def test_a_cross_validation_shows_its_protocol(folds):
    shown = " ".join(repr(folds).split())
    assert len(shown) < 200
    for part in ("digits", "top-1", "2 C from 0.01 to 0.1", "2 of 2 folds", "k = 1"):
        assert part in shown


def test_a_long_name_is_cut():
    lengthy = replace(RESULT, method="my " + "very " * 500 + "long method")
    assert len(repr(lengthy)) < 500 and "CONVERGED" in repr(lengthy)


class Cells(HTMLParser):
    """The tags that are open and the texts of the cells."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.tags = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        assert not attributes  # no links, scripts or images
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if data.strip():
            self.texts.append(data)


@pytest.mark.parametrize("thing", [RESULT, COMPARISON, RANKED], ids=lambda thing: type(thing))
def test_html_is_one_plain_table(thing):
    cells = Cells(thing._repr_html_())
    assert cells.open == [] and cells.tags <= {"table", "caption", "tr", "th", "td"}
    assert {"MAX_ITER", "CONVERGED"} & set(cells.texts)


def test_html_of_a_comparison_has_every_run_and_is_escaped():
    cells = Cells(COMPARISON._repr_html_())
    assert cells.texts.count("<b>") == cells.texts.count("digits") == 2
    assert cells.texts.count("ascent") == 2 and "wall_seconds" in cells.texts


def test_plot_returns_axes():
    axes = COMPARISON.plot()
    assert axes.shape == (2, 2)
    assert all(ax.get_xlabel().startswith("CPU seconds") for ax in axes[:, 0])
    assert all(ax.get_xlabel().startswith("iterations") for ax in axes[:, 1])
    assert axes[1, 0].get_title(loc="left").startswith("<b>")
    assert isinstance(axes[1, 0].figure, Figure)  # which has savefig


@pytest.mark.turns
def test_plot_with_a_path_writes_two_files(tmp_path):
    png, pdf = COMPARISON.plot(tmp_path / "figure")
    assert (png, pdf) == (tmp_path / "figure.png", tmp_path / "figure.pdf")
    assert png.is_file() and pdf.is_file()


def test_a_frame_has_a_row_per_run():
    pytest.importorskip("pandas", reason="frames need pandas")
    frame = COMPARISON.to_frame()
    assert frame.to_dict("records") == COMPARISON.rows()
    assert frame.dtypes["gap"] == np.float64


def test_a_frame_without_pandas_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"^to_frame needs pandas: pip install pandas\.$"):
        COMPARISON.to_frame()


def test_one_problem_and_one_method_are_a_comparison():
    comparison = fwlab.compare(LETTERS, "fw", max_iter=2)
    assert list(comparison.results) == [("problem", "fw")]


# ---------------------------------------------------------------- C


def test_C_is_one_over_lam_n():
    assert fwlab.Problem(X, Y, fwlab.TopK(1), C=4.0).lam == 1 / (4.0 * len(Y))
    assert fwlab.Problem(X, Y, fwlab.TopK(1), 0.25).lam == 0.25


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({}, TypeError, "lam must be a real number, or C with lam = 1 / (C n); got None for both."),
        (
            {"lam": 0.5, "C": 1.0},
            ValueError,
            "lam must be None if C is given; got lam=0.5 and C=1.0.",
        ),
        ({"C": 0.0}, ValueError, "C must be finite and > 0; got 0.0."),
        ({"C": "1"}, TypeError, "C must be a real number; got '1'."),
        ({"C": 1e149}, ValueError, "lam = 1 / (C n) with C = 1e+149 must be between"),
    ],
)
def test_lam_or_C(options, kind, message):
    with pytest.raises(kind, match=f"^{re.escape(message)}"):
        fwlab.Problem(X, Y, fwlab.TopK(1), **options)
