"""Other readings of News20 for K19 Table 7: what is counted, and with which C."""

import pytest

from figures.kato2019 import machines, news20, news20_table, tables
from figures.kato2019.news20_table import TRIALS, TRIED_KS
from figures.kato2019.printed import TABLES
from fwlab.experiments import DataName


def fits(trial, k, near):
    """Return a fit for each C: printed accuracies where `near` is true of it, others elsewhere."""
    printed = TABLES["News20"]["ours"][machines.KS.index(k)]
    rows = [[p - 0.5 * (not near(C)) for p in printed] for C in trial.Cs]
    return [{"accuracy": row, "gap": 0.0, "own_gap": None, "n_test": 4000} for row in rows]


def stored(preferred):
    """Return trials whose test part repeats the print with C = 10 alone; folds prefer another."""
    values = {}
    for trial in TRIALS:
        for k in TRIED_KS:
            values[trial.test_cell(k)] = fits(trial, k, lambda C: C == 10.0)
            fold = trial.test_cell(k).replace("fold test", "fold 0")
            if trial.validated:
                values[fold] = fits(trial, k, lambda C: C == preferred)
    return values


@pytest.mark.parametrize(("preferred", "near"), [(0.1, 0), (10.0, 12)])
def test_the_fixed_c_and_the_one_that_a_fold_prefers_are_both_told(preferred, near):
    (told,) = tables.told_trials(stored(preferred))
    half, parts, standard = told.split(": ", 1)[1].split("; ")
    assert half == (
        "rows as they are, a random half of n rows trains, of 12: 0 with C = 0.01, 0 with C = 0.1, "
        f"0 with C = 1, 12 with C = 10, {near} with the C that a fold prefers"
    )
    assert parts == "rows as they are, the usual parts, of 12: 12 with C = 10"
    assert f"12 with C = 10, 0 with C = 100, {near} with the C that" in standard


def test_trials_are_told_in_the_finding_of_table_7_alone(monkeypatch):
    monkeypatch.setattr(tables, "readings", lambda name: [])
    monkeypatch.setattr(tables, "judge", lambda tried, tolerance, what, because, *rest: because)
    monkeypatch.setattr(tables, "stored_sets", lambda values, names: names)
    values = stored(0.1)
    assert "for k = 1, 3 and 10 alone" in tables.finding(values, "standard", "News20")
    assert "alone" not in tables.finding(values, "standard", "Letter")
    del values[TRIALS[1].test_cell(3)]
    assert "alone" not in tables.finding(values, "standard", "News20")


def test_cells_are_on_the_rows_of_their_trial():
    cells = {cell.name: cell for cell in news20_table.cells()}
    assert len(cells) == len(TRIED_KS) * (2 + 1 + 2)
    half, parts, standard = (cells[trial.test_cell(3)] for trial in TRIALS)
    assert half.settings["half_of"] == news20.N and parts.settings["half_of"] is None
    assert half.settings["data"] == parts.settings["data"] == DataName("news20_svd1024")
    assert half.function is machines.fit_rows and standard.settings["smoothing"] == 1e-3
    assert standard.function is machines.fit_with_n_gamma
    names = [cell.name for cell in tables.cells_of_table("standard", "News20")]
    assert cells.keys() <= {*names} and len(names) == len(set(names))
    assert tables.cells_of_table("quick", "News20") == []
    assert not cells.keys() & {one.name for one in tables.cells_of_table("standard", "Letter")}
