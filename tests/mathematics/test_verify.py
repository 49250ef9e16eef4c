"""fwlab.verify: enclosures of stored results, and what it refuses."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import fwlab
from fwlab.balls import Balls

flint = pytest.importorskip("flint", reason="python-flint, the extra verify, is not installed")


def problem_and_result():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), np.arange(12) % 4
    problem = fwlab.Problem(X, y, fwlab.TopK(2), 0.1)
    return problem, fwlab.solve(problem, tol=1e-9)


def test_a_result_that_was_saved_is_enclosed_alike(tmp_path):
    problem, result = problem_and_result()
    result.save(tmp_path / "run.npz")
    enclosure = fwlab.verify(problem, result)
    assert fwlab.verify(problem, fwlab.Result.load(tmp_path / "run.npz")) == enclosure
    for low, high in (enclosure.primal, enclosure.dual, enclosure.gap):
        assert low < high < low + 1e-14


def test_a_wrong_number_in_a_result_shows():
    problem, result = problem_and_result()
    moved = replace(result, W=result.W * (1 + 1e-3))
    assert fwlab.verify(problem, moved).primal[0] > fwlab.verify(problem, result).primal[1]
    assert fwlab.verify(problem, replace(result, gap=-1.0)) == fwlab.verify(problem, result)


def test_an_exact_case():
    """One sample, two classes, A = 0: the primal and the gap are 1, the dual 0."""
    problem = fwlab.Problem(np.ones((1, 1)), np.array([0]), fwlab.MaxHinge(), 1.0, n_classes=2)
    enclosure = fwlab.verify(problem, fwlab.solve(problem, max_iter=0))
    for ends, value in ((enclosure.primal, 1), (enclosure.dual, 0), (enclosure.gap, 1)):
        assert ends[0] < value < ends[1]
        assert ends[1] - ends[0] < 1e-15


def fractions(*numbers):
    return [flint.fmpq(round(4 * number), 4) for number in numbers]


def judge_with(upper, lower):
    judge = Balls(flint, *problem_and_result())
    judge.upper, judge.lower = fractions(*upper), fractions(*lower)
    return judge


def test_the_zeta_that_entries_allow_by_hand():
    """4, 2, 1 need zeta 2 by 4/2 and 6/3, and allow 12/5 by 3/(5/4)."""
    entries, judge = fractions(1, 4, 2), judge_with([2, 1, 1], [1, 1, 0.25])
    assert judge._range_of_zeta(entries) == (2, flint.fmpq(12, 5))
    assert judge._belongs(entries, 2) and not judge._belongs(entries, 1)
    assert judge_with([2, 1, 1], [0, 0, 0])._range_of_zeta(entries) == (2, None)


def test_the_share_of_the_mean_by_hand():
    """The mean of 4, 0, 0 is 4/3: a quarter of the rest and 3/4 of the mean are 2, 1, 1."""
    entries, total = fractions(4, 0, 0), flint.fmpq(4)
    assert judge_with([2, 1, 1], [2, 1, 1])._share_of_mean(entries, total) == flint.fmpq(3, 4)
    # the entries need zeta 4/3 and allow 0, their mean needs 2/3 and allows 16/9
    share = judge_with([3, 2, 1], [1, 1, 0.25])._share_of_mean(entries, total)
    assert share == flint.fmpq(6, 11)


def test_sums_that_cancel_between_weights_of_all_sizes_are_enclosed():
    """A link's entry is then a ball whose middle is 0."""
    X = 100 * np.array([[1, -1], [-1, 1], [-1, 1], [1, 1], [-1, -1], [-1, 1], [-1, 1], [1, 1]])
    weight = [1.0, 126840123698.62323, 2.422693815010262e-55, 516299559701.65576]
    weight += [1.0034778068863032e-130, 0.0, 5.630723260840816e-114, 0.0]
    y = [0, 1, 0, 1, 1, 0, 1, 0]
    problem = fwlab.Problem(X, y, fwlab.MaxHinge(), 480418995335.957, sample_weight=weight)
    result = fwlab.solve(problem, "bcafw", max_iter=1)
    low, high = fwlab.verify(problem, result).gap
    assert low <= result.gap + result.gap_error and result.gap - result.gap_error <= high


def test_bad_arguments_get_one_sentence(monkeypatch):
    problem, result = problem_and_result()
    other = fwlab.Problem(np.ones((3, 3)), np.arange(3), fwlab.TopK(2), 0.1)
    with pytest.raises(TypeError, match="problem must be a Problem"):
        fwlab.verify(3, result)
    with pytest.raises(TypeError, match="got NoneType"):
        fwlab.verify(problem, None)
    with pytest.raises(ValueError, match=r"A of shape \(3, 3\); got shape \(12, 4\)"):
        fwlab.verify(other, result)
    with pytest.raises(ValueError, match=r"W of shape \(4, 3\); got None"):
        fwlab.verify(problem, replace(result, W=None))
    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(ImportError, match=r"pip install 'fwlab\[verify\]'"):
        fwlab.verify(problem, result)


def test_the_dual_norm_by_hand():
    """p = 3/2 has q = 3: the square norm of rows of length 1 and 2 is 9^(2/3); p = 1 takes 4."""
    judge = judge_with([2, 1, 1], [1, 1, 0.25])
    squares = [flint.arb(1), flint.arb(4)]
    for p, right in ((1.5, 9 ** (2 / 3)), (2.0, 5.0), (1.0, 4.0)):
        judge.problem = SimpleNamespace(regularizer=fwlab.LpNorm(p))
        assert float(judge._dual_square_norm(squares)) == pytest.approx(right, rel=1e-14)
