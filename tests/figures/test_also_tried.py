"""Other readings of K19 that were tried: counts and controls follow from stored runs."""

import pytest

from figures.kato2019 import news20, statements
from figures.kato2019.machines import KS, grid, machine
from figures.kato2019.printed import TABLES
from figures.kit import study as _study
from figures.own import also_tried, printed_tables
from figures.own.printed_tables import NOT_MEASURED

CS = grid("standard").protocol.Cs


def run(gaps, primal=0.5):
    reached = {"1e-3": [1, 0.1]} if gaps[-1] <= 1e-3 else {}
    iterations = [*range(len(gaps))]
    return {"iteration": iterations, "gap": gaps, "last_primal": primal, "reached": reached}


def choosing(reading, gap):
    """Return the choosing runs of a reading: SDCA ends with this gap, all others are near."""
    near = run([1.0, 1e-4])
    values = {news20.cell_name(reading, m): near for m in ("auto", "fw")}
    values[news20.cell_name(reading, "fw", note="linear")] = near
    values[news20.cell_name(reading, "fw", 0.1)] = near
    sdca = run([1.0, gap], 0.5 + statements.SDCA_ABOVE)
    return values | {news20.cell_name(reading, "sdca-lapin"): sdca}


@pytest.mark.parametrize(("gap", "near", "would"), [(1.34e-2, 8, "would"), (1.0, 7, "would not")])
def test_a_dropped_scaling_is_told_beside_the_chosen_one(gap, near, would):
    figures, values = {}, {}
    for one in news20.READINGS:
        figures |= choosing(one.name, 0.1)
    for one in also_tried.BOTH:
        values |= choosing(one.name, gap)
    told = also_tried.told_scaling(values, figures)
    assert f"{near} of 8 with rows of mean square 1, " in told
    assert "7 of 8 with rows of length 1." in told and f"{would} have been chosen." in told


def test_either_smoothing_of_a_dropped_scaling_may_be_the_nearest():
    figures, values = {}, {}
    for one in news20.READINGS:
        figures |= choosing(one.name, 0.1)
    for one in also_tried.BOTH:
        values |= choosing(one.name, 1.34e-2)
    values[news20.cell_name(also_tried.DROPPED.name, "fw", 0.1)] = run([1.0, 0.9])
    told = also_tried.told_scaling(values, figures)
    assert "7 of 8 with rows of mean square 1, " in told and "would have been chosen." in told


@pytest.mark.parametrize(("times", "near"), [(0.9, 16), (1.1, 0)])
def test_an_accuracy_agrees_within_two_standard_errors(times, near):
    values = grid_values(0.95, 0.0)
    for k, printed in zip(KS, TABLES["Letter"]["ours"], strict=True):
        name = f"{also_tried.LABEL}, {machine('ours', k, 0.0)}, fold test"
        margins = [4 * (p * (1 - p) / 10_000) ** 0.5 + 0.0005 for p in printed]
        far = [p - times * m for p, m in zip(printed, margins, strict=True)]
        values[name] = fits([far] * len(CS))
    assert also_tried.near(values, (0.0,)) == f"{near} of 16"


def fits(accuracies):
    return [{"accuracy": row, "gap": 0.0, "own_gap": None, "n_test": 5000} for row in accuracies]


def grid_values(best, gamma, unit=""):
    """Return fits of UTk (ours) with this smoothing: the fold has `best`, the test the print."""
    values = {}
    for k, printed in zip(KS, TABLES["Letter"]["ours"], strict=True):
        name = f"{also_tried.LABEL}, {machine('ours', k, gamma, unit)}, fold"
        values[f"{name} 0"] = fits([[best] * 4] * len(CS))
        values[f"{name} test"] = fits([[p - 0.5 * (best < 0.9) for p in printed]] * len(CS))
    return values


def test_the_grid_of_gamma_has_the_stored_table_as_its_control():
    table = grid_values(0.8, 0.0) | grid_values(0.7, 1e-3, "n")
    values = grid_values(0.7, 1e-3) | grid_values(0.95, 1e-2) | grid_values(0.7, 1e-1)
    assert also_tried.told_grid(values, table) == (
        "K19, Table 6, accuracies of UTk (ours) that agree: 16 of 16 with gamma in 0, 0.001, 0.01, "
        "0.1, 0 of 16 without smoothing, 0 of 16 with n gamma."
    )


def test_cells_are_those_of_the_dropped_scaling_and_of_gamma():
    names = [cell.name for cell in also_tried.cells("standard")]
    assert len(names) == len(set(names)) == 6 + len(KS) * len(also_tried.GAMMAS) * 2
    assert also_tried.cells("quick") == []
    assert also_tried.is_stored(dict.fromkeys(names)) and not also_tried.is_stored({})


def test_what_is_not_stored_is_not_told(tmp_path, monkeypatch):
    monkeypatch.setattr(_study, "KEPT", tmp_path)
    told = printed_tables.tried({}, "standard", tmp_path)
    assert len(told) == 3 and all(NOT_MEASURED in one for one in told)
