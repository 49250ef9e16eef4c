"""Runs of the sweep that were defects once; if `draw` changes, they are other runs."""

import numpy as np
import pytest

from sweep.cases import draw
from sweep.judge import FINE, outcome

pytest.importorskip("flint", reason="python-flint, the extra verify, is not installed")
FOUND = {
    9: (16316, 18430, 28662, 29508, 32067, 33736, 43101, 44111, 44796),
    10: (25165, 25909, 27527, 40842),
    11: (21055,),
    12: (11421,),
    559070: (16,),
    223551: (4, 47653),
}


@pytest.mark.turns
@pytest.mark.parametrize(("seed", "index"), [(s, i) for s, runs in FOUND.items() for i in runs])
def test_it_is_none_any_more(seed, index):
    found = outcome(draw(np.random.default_rng([seed, index])))
    assert found.kind in FINE, found
