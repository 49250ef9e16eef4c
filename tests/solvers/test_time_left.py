"""The time left: at most what the limits allow, less if the gap falls fast enough."""

import pytest

from fwlab.result import Certificate
from fwlab.solvers import time_left
from fwlab.solvers.stopping import Limits
from fwlab.solvers.time_left import TimeLeft


def said(monkeypatch, limits, checkpoints):
    """Return the last sentence after checkpoints (seconds, iteration, gap)."""
    left, sentence = TimeLeft(limits, began=0.0), None
    for seconds, iteration, gap in checkpoints:
        monkeypatch.setattr(time_left.time, "monotonic", lambda now=seconds: now)
        sentence = left.sentence(Certificate(1.0, 1.0 - gap, gap, gap), iteration)
    return sentence


@pytest.mark.parametrize(
    ("limits", "checkpoints", "sentence"),
    [
        (Limits(0.0, False, 100, None), [(0.0, 0, 1.0)], ""),
        (Limits(0.0, False, 100, None), [(2.0, 20, 1.0)], ", at most 8 s left"),
        (Limits(0.0, False, 10**6, 60.0), [(2.0, 20, 1.0)], ", at most 58 s left"),
        (Limits(0.0, False, 10**6, 1.0), [(2.0, 20, 1.0)], ", at most 0 s left"),
        (Limits(0.0, False, 3620, None), [(1.0, 20, 1.0)], ", at most 3.0 min left"),
        # a tenth per second in the second half of the run, so five more seconds to 1.2e-8
        (
            Limits(1.2e-8, False, 10**6, 603.0),
            [(0.0, 0, 0.1), (1.0, 1, 0.1), (2.0, 2, 1e-2), (3.0, 3, 1e-3)],
            ", at most 10.0 min left, 5 s if the gap goes on so",
        ),
        # a gap that rises promises nothing
        (Limits(1e-8, False, 100, 9.0), [(1.0, 50, 0.1), (2.0, 60, 0.2)], ", at most 2 s left"),
    ],
)
def test_time_left(monkeypatch, limits, checkpoints, sentence):
    assert said(monkeypatch, limits, checkpoints) == sentence
