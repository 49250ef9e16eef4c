"""The figure of rates: its fits on errors of known rates, and a short run from end to end."""

import numpy as np
import pytest

import fwlab
from figures.kit.script import script
from figures.kit.study import Study
from figures.own import rates

T = np.arange(2001)


def fit(errors):
    return dict(zip(rates.COLUMNS[2:], rates.fitted(T, errors), strict=True))


@pytest.mark.parametrize("order", [0.5, 1.0, 2.0])
def test_a_power_is_found(order):
    found = fit(3.0 * np.maximum(T, 1.0) ** -order)
    assert (found["order"], found["fits better"]) == (f"{order:.2f}", "power")
    assert found["from"] == "200"


@pytest.mark.parametrize("factor", [0.5, 0.9, 0.999])
def test_a_geometric_rate_is_found(factor):
    found = fit(0.3 * factor**T)
    assert (found["factor"], found["fits better"]) == (f"{factor:.6f}", "geometric")
    assert 0.3 * factor ** int(found["to"]) > rates.FLOOR


def test_errors_after_the_floor_do_not_count():
    errors = np.where(T < 40, 0.5**T, 1e-16 * (1 + T % 3))
    assert fit(errors)["factor"] == "0.500000"
    assert fit(np.zeros(2001))["fits better"] == "too short"


@pytest.mark.parametrize("setting", rates.SETTINGS, ids=lambda setting: setting.name)
def test_the_optimum_is_where_the_setting_says(setting):
    problem = setting.problem()
    A = fwlab.solve(problem, tol=1e-12, max_iter=1000).A
    assert rates.is_interior(problem, A) == setting.interior
    assert not rates.is_interior(problem, np.zeros_like(A))


def test_run_and_plot(tmp_path, monkeypatch):
    monkeypatch.setitem(rates.ITERATIONS, "quick", 20)
    monkeypatch.setattr(rates, "SETTINGS", rates.SETTINGS[1:3])
    study = Study("rates", "quick", tmp_path)
    script("rates").compute(study)
    for value in study.values.values():
        for found in value["methods"].values():
            errors = found["error"]
            assert found["iteration"][-1] <= 20
            assert min(errors) >= -1e-14
            assert errors[-1] < errors[1] < 100.0
    for path in rates.plot(study):
        assert path.stat().st_size > 300


def test_thinning_keeps_the_ends():
    value = rates.solve_setting(rates.SETTINGS[2], ["fw"], 2000)["methods"]["fw"]
    assert value["iteration"][0] == 0 and value["iteration"][-1] == 2000
    assert rates.POINTS < len(value["iteration"]) <= 2 * rates.POINTS
    assert value["fit"][5] == "200"
