"""Rates of the machine beside the tables of times: flops and bytes in the seconds of a call."""

import pytest

from figures.benchmarks import page


def test_rates_are_flops_and_bytes_per_second(monkeypatch):
    monkeypatch.setattr(page, "SIDE", 50)
    monkeypatch.setattr(page, "BYTES", 2**20)
    seconds = iter([1.0, 0.5, 1.0, 1.0])
    monkeypatch.setattr(page, "seconds", lambda call: next(seconds))
    flops = 2e-9 * 50**3
    assert page.rates() == pytest.approx((flops, 2 * flops, 8e-6 * 2**15, 1e-9 * 2**20))
