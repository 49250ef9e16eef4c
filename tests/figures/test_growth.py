"""The growth figure: its decades, its measured passes, and what its caption computes."""

import numpy as np
import pytest

from figures.benchmarks import growth as benchmark
from figures.own import growth

VALUES = (10, 22, 46, 100, 220, 460, 1000)


def stored(**slopes: float) -> dict[str, dict[int, dict[str, float]]]:
    """Costs that are powers of the size, with a bend of the first pass at 100."""
    return {
        name: {
            value: {
                "first": max(value, 100.0) ** slope,
                "later": 3.0 * value**slope,
                "X W^T": float(value),
                "first changes": 4.0,
                "later changes": value / 100,
            }
            for value in VALUES
        }
        for name, slope in {"n": 1.0, "d": 1.0, "m": 1.0, "k": 0.5, **slopes}.items()
    }


def test_decades_join_values_ten_times_apart():
    assert [VALUES[places] for places in benchmark.decades(VALUES)] == [
        VALUES[i : i + 4] for i in range(4)
    ]
    assert benchmark.decades((3, 7)) == [slice(0, 2)]


def test_the_caption_counts_exponents_near_one():
    told = growth.told(stored(d=0.8, m=1.05))
    assert "pass from A = 0: n 1.00, d 0.80, m 1.05, k 0.50" in told
    assert "2 of 3 in a first pass lie within 1 \N{PLUS-MINUS SIGN} 0.1, and 1 below." in told
    assert "Over all decades, from A = 0: n 0.00 to 1.00, d 0.00 to 0.80, m 0.00 to 1.05." in told
    assert "changes 1.0 to 10.0 as n grows" in told


def test_the_table_has_a_row_for_each_decade():
    rows = growth.table_of(stored()).rows
    assert [row[:2] for row in rows[:2]] == [["n", "10 to 100"], ["n", "22 to 220"]]
    assert len(rows) == 4 * 4 and rows[3][2].startswith("1.00")
    assert rows[3][-2:] == ["4.0 to 4.0", "1.0 to 10.0"]


def test_passes_start_from_zero_and_later_ones_follow(monkeypatch):
    seen = []

    def observe(call):
        call()
        seen.append(None)
        return float(len(seen))

    def refresh(state):
        starts.append(not state.A.any())
        restart(state)

    starts, restart = [], benchmark.State.refresh
    monkeypatch.setattr(benchmark, "milliseconds_of", observe)
    monkeypatch.setattr(benchmark.State, "refresh", refresh)
    costs = benchmark.pass_costs(n=30, d=8, m=5, k=2, repeats=3)
    timed = 2 * np.arange(benchmark.WARM_UP, benchmark.WARM_UP + 3)
    assert costs["first"] == np.median(timed + 1) and costs["X W^T"] == np.median(timed + 2)
    assert costs["later"] == timed[-1] + 4
    assert len(starts) >= benchmark.WARM_UP + 3 and all(starts)
    # each row of a first pass moves a few classes; 5 passes later fewer are left to move
    assert 2 <= costs["first changes"] <= 5
    assert costs["later changes"] <= costs["first changes"]


@pytest.mark.parametrize("name", benchmark.GROWING)
def test_one_size_grows_over_two_decades(name):
    values = benchmark.GROWING[name]
    assert values[-1] == 100 * values[0] and len(benchmark.decades(values)) == 4
    assert benchmark.sizes(name, 7)[name] == 7 and set(benchmark.sizes(name, 7)) == set("ndmk")
