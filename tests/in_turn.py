"""Long tests take turns: a commit tries an eighth of them, the deep profile all.

They are marked `turns` or `grid`. Which ones are a commit's follows from its hash, so that every
process picks the same ones. A test that is named on the command line is tried by every commit.
"""

import os
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from zlib import crc32

ROOT = Path(__file__).parents[1]
TURNS = 8


def seed_of_commit() -> int:
    """Return FWLAB_SEED, or else a number made of the commit's hash; 0 outside a checkout."""
    if "FWLAB_SEED" in os.environ:
        return int(os.environ["FWLAB_SEED"])
    command = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    try:
        commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(commit[:7], 16)


def in_turn(tests: Iterable[str], seed: int) -> set[str]:
    """Return the node ids that a commit tries: of the cases of each function, every eighth."""
    seen: Counter[str] = Counter()
    chosen = set()
    for test in tests:
        function = test.partition("[")[0]
        if (crc32(function.encode()) + seed + seen[function]) % TURNS == 0:
            chosen.add(test)
        seen[function] += 1
    return chosen
