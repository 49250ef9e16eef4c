"""The proved rates that fwlab holds as data are those that figures/exact proves."""

import json

import pytest

from figures.exact import rates


def test_the_file_is_fresh():
    pytest.importorskip("sympy", reason="sympy is not installed")
    assert rates.FILE.read_text("utf-8") == rates.text_of(rates.proved_rates())


def test_a_rate_without_a_proof_is_not_written(monkeypatch):
    monkeypatch.setattr(rates, "usual_constant", lambda ell: ell**2 / (2 * (ell - 1)) / 2)
    with pytest.raises(RuntimeError, match="ell = 2 is not proved"):
        rates.proved_rates()
    monkeypatch.setattr(rates, "prove_for_every_numerator", lambda: False)
    with pytest.raises(RuntimeError, match="the rate of open-loop steps is not proved"):
        rates.proved_rates()


def test_the_file_says_how_it_was_written():
    written = json.loads(rates.FILE.read_text("utf-8"))["written by"]
    assert written == "python -m figures.exact.rates"
