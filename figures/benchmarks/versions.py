"""CPU time of this version in units of another one's; FWLAB_OTHER is the other's folder.

The folder is a checkout or an unpacked sdist of an earlier version. Each pair is two new processes,
one of each version, which make every case in turn with one thread: the median of five calls after a
first one. "ratio" is the median of the pairs, ours by the other's, and "95 %" its interval: two of
the sorted ratios between which the median lies with that probability. An interval above 1 says that
the case has become slower.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from scipy.stats import binom

from figures.benchmarks import versions_cases
from figures.benchmarks.timing import print_line

OTHER = "FWLAB_OTHER"
OURS = Path(__file__).parents[2]
PAIRS = 11


def times(folder: Path, quick: bool) -> dict[str, float]:
    """Return the seconds of each case in a new process of the version in a folder."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    # without the folder of the cases, whose modules have names of other packages
    paths = {"PYTHONPATH": str(folder), "PYTHONSAFEPATH": "1"}
    found = subprocess.run(
        [sys.executable, str(versions_cases.__file__), *["--quick"] * quick],
        env={**os.environ, **threads, **paths},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    measured: dict[str, float] = json.loads(found.stdout)
    return measured


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """Return the narrowest two order statistics that hold the median with 95 %, or all of them."""
    ordered, n = sorted(ratios), len(ratios)
    outside = max(0, int(binom.ppf(0.025, n, 0.5)) - 1)
    return ordered[outside], ordered[n - 1 - outside]


def run(quick: bool) -> None:
    """Print the table in Markdown."""
    if OTHER not in os.environ:
        print(f"{OTHER} names no folder of another version.")
        return
    other = Path(os.environ[OTHER]).resolve()
    if not (other / "fwlab" / "__init__.py").is_file():
        # Python would import this version in its place
        sys.exit(f"{OTHER} must name a folder that holds fwlab; got {os.environ[OTHER]!r}.")
    for folder in (OURS, other):
        times(folder, quick)  # compiles
    pairs = [(times(OURS, quick), times(other, quick)) for _ in range(2 if quick else PAIRS)]
    print_line(("case", "ms", "the other's ms", "ratio", "95 %"))
    print_line("---" for _ in range(5))
    for case in pairs[0][0]:
        ours, theirs = ([pair[side][case] for pair in pairs] for side in (0, 1))
        ratios = [one / two for one, two in zip(ours, theirs, strict=True)]
        shown = (
            f"{1e3 * median(ours):.2f}",
            f"{1e3 * median(theirs):.2f}",
            f"{median(ratios):.2f}",
        )
        print_line((case, *shown, "[{:.2f}, {:.2f}]".format(*interval(ratios))))
