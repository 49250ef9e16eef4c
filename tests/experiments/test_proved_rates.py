"""Proved rates beside runs: the bound of the curvature, the shares of runs, and the file."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tiny_suite import make_tiny

import fwlab
from fwlab.experiments.proved_rates import (
    Rate,
    Share,
    curvature_bound,
    rate_of,
    rates,
    share_of,
    shares,
)
from fwlab.experiments.suite_report import SuiteReport
from fwlab.experiments.suite_tables import share_lines

LOSSES = {
    "max hinge": fwlab.MaxHinge(),
    "top-2": fwlab.TopK(2),
    "usunier": fwlab.WeightedUsunier([1.0, 0.5]),
    "pseudo": fwlab.PseudoTopK(2),
    "structured": fwlab.StructuredHinge(np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))),
}


def problem_of(loss, smoothing=0.0, lam=0.1, **options):
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(7, 3)), np.array([0, 1, 2, 3, 0, 1, 2])
    return fwlab.Problem(X, y, loss, lam, smoothing=smoothing, n_classes=4, **options)


@pytest.mark.parametrize("smoothing", [0.0, 2.0])
@pytest.mark.parametrize("name", LOSSES)
def test_the_curvature_is_below_its_bound(name, smoothing):
    problem = problem_of(LOSSES[name], smoothing)
    bound, n = curvature_bound(problem), problem.n_samples
    generator = np.random.default_rng(1)
    for _ in range(50):
        direction = generator.normal(size=(n, 4))
        V = problem.loss.lmo(direction, problem.y) - problem.loss.lmo(-direction, problem.y)
        square = problem.lam * np.sum(problem.weights(V) ** 2)
        assert square + smoothing * np.sum(V**2) / n <= bound


@pytest.mark.parametrize("name", LOSSES)
def test_the_bound_is_reached(name):
    """One sample: the curvature is that of the two vertices that are farthest apart."""
    problem = fwlab.Problem([[3.0, 4.0]], [1], LOSSES[name], lam=0.5, smoothing=25.0, n_classes=4)
    vertices = LOSSES[name].vertices(4, 1)
    square = np.max(np.sum((vertices[:, None] - vertices[None]) ** 2, axis=2))
    exact = 25 / 0.5 * square + 25 * square
    assert exact <= curvature_bound(problem) <= (1 + 1e-9) * exact


def test_the_bound_adds_the_lengths_of_samples():
    """Samples that all agree: W grows with the sum of their lengths."""
    X, y = np.array([[1.0], [2.0], [5.0]]), np.array([0, 0, 0])
    problem = fwlab.Problem(X, y, fwlab.MaxHinge(), lam=0.5, n_classes=2)
    exact = 2 * 8**2 / (0.5 * 3**2)
    assert exact <= curvature_bound(problem) <= (1 + 1e-9) * exact
    gram = fwlab.Problem(X @ X.T, y, fwlab.MaxHinge(), 0.5, kernel="precomputed", n_classes=2)
    assert curvature_bound(gram) == pytest.approx(curvature_bound(problem))


def test_what_the_bound_does_not_cover():
    assert curvature_bound(problem_of(fwlab.CrossEntropy())) is None
    assert curvature_bound(problem_of(fwlab.TopK(2), regularizer=fwlab.LpNorm(1.5))) is None
    weights = np.r_[2.0, np.ones(6)]
    assert curvature_bound(problem_of(fwlab.TopK(2), sample_weight=weights)) is None


def test_rates_belong_to_the_steps():
    two = Rate(Fraction(2), Fraction(2))
    assert rate_of(fwlab.FrankWolfe()) == two and str(two) == "2 C / (t + 2)"
    assert rate_of(fwlab.FrankWolfe(step="open-loop")) == two
    assert rate_of(fwlab.FrankWolfe(step=fwlab.OpenLoop(4))) == Rate(Fraction(8, 3), Fraction(4))
    assert rate_of(fwlab.FrankWolfe(step=fwlab.OpenLoop("log"))) is None
    assert rate_of(fwlab.FrankWolfe(step=fwlab.OpenLoop(2.5))) is None
    assert rate_of(fwlab.FrankWolfe(step="short")) is None
    assert rate_of(fwlab.Pairwise()) is None

    class Own(fwlab.FrankWolfe):
        """May do anything."""

    assert rate_of(Own()) is None


@pytest.mark.parametrize("step", ["exact", *(fwlab.OpenLoop(ell) for ell in (2, 3, 6))], ids=str)
def test_runs_are_below_their_bounds(step):
    method, runs = fwlab.FrankWolfe(step=step), {}
    problems = {name: problem_of(loss, 0.5) for name, loss in LOSSES.items()}
    for name, problem in problems.items():
        runs[name] = {
            "fw": fwlab.solve(problem, method, tol=0.0, max_iter=30, check_every=1),
            "ascent": fwlab.solve(problem, tol=1e-10),
        }
    found = shares(problems, runs, "fw", rate_of(method))
    assert [share.problem for share in found] == list(problems)
    assert all(0 < share.least <= share.most <= 1 for share in found)
    # what is certain is nearly all there is
    assert all(share.least > 0.99 * share.most for share in found)


def test_a_share_is_counted_by_hand():
    problem = problem_of(fwlab.TopK(2))
    run = fwlab.solve(problem, "fw", tol=0.0, max_iter=5, check_every=1)
    best = fwlab.solve(problem, tol=0.0, max_iter=1)
    run, best = replace(run, gap_error=0.03), replace(best, gap_error=0.05)
    both = [run, best]
    share = share_of("p", run, both, Rate(Fraction(3), Fraction(4)), 0.01)
    high = min(one.primal + one.gap_error for one in both)
    parts = [(high - run.trace.dual[t]) * (t + 4) / 0.03 for t in range(6)]
    assert share.most == pytest.approx(max(parts[1:]), rel=1e-12)
    assert share.iteration == 1 + int(np.argmax(parts[1:]))
    low = max(one.dual - one.gap_error for one in both) - 0.03
    parts = [(low - run.trace.dual[t]) * (t + 4) / 0.03 for t in range(6)]
    assert share.least == pytest.approx(max(parts[1:]), rel=1e-12)
    still = fwlab.solve(problem, "fw", tol=0.0, max_iter=0)
    assert share_of("p", still, [still], Rate(Fraction(2), Fraction(2)), 1.0) is None


def test_only_what_is_certain_is_a_defect():
    above, near = Share("p", 3, 1.7, 1.1), Share("q", 1, 1.5, 0.9)
    assert above.is_defect and not near.is_defect
    assert share_lines({"fw": [above, near], "mine": [near]}) == [
        ["p", "1.7 at t = 3 DEFECT", "-"],
        ["q", "1.5 at t = 1", "1.5 at t = 1"],
    ]


def test_a_defect_is_a_note_of_the_suite(monkeypatch):
    make_tiny(monkeypatch, 3)
    report = fwlab.suite("fw-open-loop", problems=["tall top-3 C=0.1"])
    assert set(report.rates) == {"fw", "fw-open-loop"}
    assert [share.problem for share in report.shares["fw"]] == ["tall top-3 C=0.1"]
    assert not any("DEFECT" in note for note in report.notes)
    monkeypatch.setattr("fwlab.experiments.proved_rates.curvature_bound", lambda problem: 1e-6)
    fresh = SuiteReport(report.comparison, report.method, report.suite, report.tried)
    defect = "DEFECT: fw on tall top-3 C=0.1 is above its proved bound."
    assert defect in fresh.notes


def test_every_rate_of_the_file_is_used():
    assert set(rates()) == {"exact", *(f"open-loop {ell}" for ell in range(2, 7))}
