"""Long tests take turns: a commit tries a third of them, the deep profile all.

They are marked `turns` or `grid`. Which ones are a commit's follows from its hash, so that every
process picks the same ones. A test that is named on the command line is tried by every commit.
"""

import os
import subprocess
from pathlib import Path
from zlib import crc32

ROOT = Path(__file__).parents[1]
THIRDS = 3


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


def is_its_turn(test: str, seed: int) -> bool:
    """Return whether a commit tries the test with this node id."""
    return (crc32(test.encode()) + seed) % THIRDS == 0
