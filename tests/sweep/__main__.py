"""Sweep random problems:  python -m tests.sweep [--seed 7] [--runs 2000] [--first 0] [--jobs 2]

Each run is judged in ball arithmetic (fwlab.verify) or refused with a sentence. Prints a table and
every defect with the command that repeats it; the exit code is 1 if there is one. Run i of a seed
depends on nothing but the seed and i. Lines of progress on stderr name the last run: --first with
the number after it goes on with a sweep that was stopped.
"""

import argparse
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from sweep.cases import draw
from sweep.judge import FINE, Outcome, outcome

MOST_REFUSED = 1 / 1000  # of the runs at ordinary scale
BETWEEN_LINES = 30.0  # seconds between two lines of progress


@dataclass(frozen=True)
class Run:
    """One run of the sweep, with its outcome."""

    index: int
    ordinary: bool
    case: str
    found: Outcome


def run(seed: int, index: int) -> Run:
    """Draw and judge one run."""
    case = draw(np.random.default_rng([seed, index]))
    return Run(index, case.ordinary, case.describe(), outcome(case))


def runs(options: argparse.Namespace) -> Iterator[Run]:
    """Yield the runs in order."""
    last = options.first + options.runs
    indices = range(options.first, last) if options.only is None else [options.only]
    if options.jobs == 1:
        yield from (run(options.seed, index) for index in indices)
        return
    with ProcessPoolExecutor(options.jobs) as pool:
        yield from pool.map(partial(run, options.seed), indices, chunksize=4)


def main() -> int:
    """Run the sweep and return the exit code."""
    options = _options()
    print(f"seed {options.seed}", flush=True)
    counts: Counter[tuple[str, str, str]] = Counter()
    refused, defects, ordinary = [], 0, 0
    began = told = time.perf_counter()
    for one in runs(options):
        found = one.found
        counts[found.kind, "ordinary" if one.ordinary else "extreme", found.status] += 1
        ordinary += one.ordinary
        if found.kind == "refused" and (one.ordinary or options.only is not None):
            refused.append(one)
        if found.kind not in FINE:
            defects += 1
            _show(options.seed, one)
        if time.perf_counter() - told > BETWEEN_LINES:
            told = time.perf_counter()
            seconds = f"{told - began:.0f} s, {defects} defects"
            print(f"runs {options.first} to {one.index}: {seconds}", file=sys.stderr, flush=True)
    _print_table(counts)
    print(f"{counts.total()} runs in {time.perf_counter() - began:.0f} s, {defects} defects")
    for one in refused:
        print(f"refused, run {one.index}: {one.found.detail}")
    too_many = options.only is None and len(refused) > max(1, MOST_REFUSED * ordinary)
    return int(defects > 0 or too_many)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.sweep", description=__doc__)
    parser.add_argument("--seed", type=int, default=None, help="default: a fresh one, printed")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="index of the first run")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--only", type=int, default=None, help="repeat the run with this index")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = secrets.randbelow(10**6)
    return options


def _show(seed: int, one: Run) -> None:
    print(f"{one.found.kind} ({one.found.status}): {one.case}\n    {one.found.detail}")
    print(f"    python -m tests.sweep --seed {seed} --only {one.index}", flush=True)


def _print_table(counts: Counter[tuple[str, str, str]]) -> None:
    print(f"{'outcome':<20} {'scale':<10} {'status':<22} {'runs':>6}")
    for (kind, scale, status), number in sorted(counts.items()):
        print(f"{kind:<20} {scale:<10} {status:<22} {number:>6}")


if __name__ == "__main__":
    sys.exit(main())
