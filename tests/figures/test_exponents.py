"""Measured exponents and the t-test of T20's Table 1."""

import numpy as np
import pytest
from scipy.stats import t

from figures.kit.exponents import exponent, line
from figures.tajima2020.table1 import OPTIMUM, ChosenFits, Plan, cell_name, choose, marked, p_values

pytestmark = pytest.mark.small


def test_an_exact_power_is_found_with_no_error():
    sizes = np.array([1, 2, 4, 8])
    slope, half = exponent(sizes, 3 * sizes**1.5)
    assert slope == pytest.approx(1.5) and half == pytest.approx(0, abs=1e-6)


def test_two_sizes_have_no_interval():
    assert exponent([1, 2], [1, 4]) == (pytest.approx(2), np.inf)


def test_the_interval_holds_the_exponent_as_often_as_it_says():
    rng, sizes = np.random.default_rng(0), np.geomspace(1, 16, 5)
    fits = [exponent(sizes, sizes * np.exp(0.1 * rng.standard_normal(5))) for _ in range(400)]
    held = np.mean([abs(slope - 1) <= half for slope, half in fits])
    assert 0.92 <= held <= 0.98


def test_the_t_test_is_paired_and_against_the_best():
    shared = np.array([0.3, 0.1, 0.5, 0.2])
    worse = shared + np.array([0.02, 0.01, 0.03, 0.02])
    best, p = p_values([worse, shared, shared])
    difference = worse - shared
    statistic = difference.mean() / (difference.std(ddof=1) / 2)
    assert best == 1
    assert p == [pytest.approx(2 * t.sf(statistic, 3)), 1.0, 1.0]


def test_the_folds_and_not_the_judging_half_choose_lam():
    plan = Plan(trials=2, iterations=1, Cs=(1.0, 2.0), n_folds=2, n_held_out=1)

    def entries(first, second):
        return [{"error": [e] * 4, "gap": g} for e, g in ((first, 10.0), (second, 20.0))]

    values = {
        cell_name("x", 0, "PG", 0): entries(0.1, 0.2),
        cell_name("x", 0, "PG", "test"): entries(0.7, 0.3),
        cell_name("x", 1, "PG", 0): entries(0.2, 0.1),
        cell_name("x", 1, "PG", "test"): entries(0.4, 0.6),
    }
    found = choose(values, "x", "PG", plan)
    assert isinstance(found, ChosenFits)
    assert found.errors.tolist() == [[0.7] * 4, [0.6] * 4]
    assert found.gaps.tolist() == [[10.0] * 4, [20.0] * 4]


def test_marks_tell_a_tie_and_a_cap():
    gaps = np.array([1e-4, 0.5])
    assert [marked("PG", gaps, p) for p in (0.01, 0.2, None)] == ["", "=", ""]
    assert [marked(OPTIMUM, g, None) for g in (gaps, gaps[:1])] == ["*", ""]


def test_a_constant_is_no_part_of_the_growth():
    """12 + n/4: the slope of the logarithms is far below 1."""
    sizes = np.array([10.0, 50.0, 100.0, 200.0])
    found = line(sizes, 12 + sizes / 4)
    assert (found.constant, found.per_size) == (pytest.approx(12), pytest.approx(0.25))
    assert found.left < 1e-9 < 0.05 < found.left_by_power
    assert exponent(sizes, 12 + sizes / 4)[0] < 0.6
    power = line(sizes, sizes**0.5)
    assert power.left_by_power < 1e-9 < 0.05 < power.left


def test_a_line_has_no_negative_constant_and_counts_relative_errors():
    """The best line through (1, 1) and (2, 4) is 6/5 n: (b - 1)^2 + (b/2 - 1)^2 is least."""
    found = line([1.0, 2.0], [1.0, 4.0])
    assert found.constant == 0.0 and found.per_size == pytest.approx(1.2)
    assert found.left == pytest.approx(np.sqrt((0.2**2 + 0.4**2) / 2))
