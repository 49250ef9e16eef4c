"""The table of this version's time beside another's: cases, ratios and their intervals."""

import pytest
from scipy.stats import binom

from figures.benchmarks import versions


def test_a_ratio_is_ours_by_the_others(monkeypatch, capsys):
    turns = iter([{"a": 0.5}, {"a": 9.0}, {"a": 0.002}, {"a": 0.004}, {"a": 0.003}, {"a": 0.004}])
    monkeypatch.setattr(versions, "times", lambda folder, quick: next(turns))
    monkeypatch.setenv("FWLAB_OTHER", ".")
    versions.run(quick=True)
    assert capsys.readouterr().out.splitlines()[2] == "| a | 2.50 | 4.00 | 0.62 | [0.50, 0.75] |"


@pytest.mark.parametrize("n", [6, 9, versions.PAIRS, 30])
def test_an_interval_holds_the_median_with_its_probability(n):
    low, high = versions.interval(list(range(n))[::-1])
    assert high == n - 1 - low
    assert 2 * binom.cdf(low, n, 0.5) <= 0.05 < 2 * binom.cdf(low + 1, n, 0.5)


def test_without_another_version_there_is_no_table(monkeypatch, capsys):
    monkeypatch.delenv("FWLAB_OTHER", raising=False)
    versions.run(quick=True)
    assert capsys.readouterr().out == "FWLAB_OTHER names no folder of another version.\n"


def test_a_folder_without_fwlab_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("FWLAB_OTHER", str(tmp_path))
    with pytest.raises(SystemExit, match="FWLAB_OTHER must name a folder that holds fwlab; got "):
        versions.run(quick=True)


@pytest.mark.turns
def test_a_new_process_times_the_cases_of_a_folder():
    measured = versions.times(versions.OURS, quick=True)
    assert len(measured) == 5 and all(seconds > 0 for seconds in measured.values())
