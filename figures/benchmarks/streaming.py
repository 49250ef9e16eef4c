"""Seconds of a pass over a file, beside reading the file and beside a pass in memory.

1 000 000 x 1024 float32 features of 100 classes (4 GB): class means plus noise, rows of length 1,
made in a temporary folder. TopK(3), C = 1, one thread, a process for each of the two runs. The
wall seconds of a run of four passes, less the seconds of a run of one, divided by three, give the
seconds per pass, without shrinking.
The file leaves the page cache before it is read. The gap is the certified one after four passes
with shrinking, and the memory is the largest resident size of the process.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import fwlab
from figures.benchmarks.out_of_core import write
from figures.benchmarks.timing import print_line
from fwlab import distributed

SIZE = {"n": 1_000_000, "d": 1024, "m": 100}
QUICK = {"n": 20_000, "d": 64, "m": 10}
MAX_MEMORY = "300MB"
PASSES, READS = 4, 3
READ_AT_ONCE = 2**25


def seconds_to_read(file: Path) -> float:
    """Return the seconds that it takes to read a file that is not in the page cache."""
    buffer = bytearray(READ_AT_ONCE)
    with file.open("rb", buffering=0) as stream:
        os.fsync(stream.fileno())
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        began = time.perf_counter()
        while stream.readinto(buffer):
            pass
        return time.perf_counter() - began


def run_from(folder: Path, where: str) -> Callable[..., fwlab.Result]:
    """Return a function that trains on the features in a file, or on a copy of them in memory."""
    file, y, loss = folder / "X_train.npy", np.load(folder / "y_train.npy"), fwlab.TopK(3)
    if where == "file":
        streamed = distributed.OutOfCoreProblem(file, y, loss, C=1.0, max_memory=MAX_MEMORY)
        return lambda **options: distributed.solve(streamed, tol=0.0, **options)
    problem = fwlab.Problem(np.load(file), y, loss, C=1.0, storage="float32")
    return lambda **options: fwlab.solve(problem, tol=0.0, **options)


def peak_megabytes() -> float:
    """Return the largest resident size of this process so far, as reported by Linux."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(re.findall(r"VmHWM:\s*(\d+) kB", status)[0]) * 1024e-6


def measured(folder: str, where: str) -> dict[str, Any]:
    """Return seconds per pass, the gap after the passes and the peak of this process's memory."""
    train = run_from(Path(folder), where)
    result = train(max_iter=PASSES)
    peak = peak_megabytes()
    several, one = (
        train(max_iter=count, check_every=100, shrink=False).wall_seconds for count in (PASSES, 1)
    )
    seconds = (several - one) / (PASSES - 1)
    return {"seconds": seconds, "gap": result.gap, "megabytes": peak}


def in_own_process(folder: str, where: str) -> dict[str, Any]:
    """Run `measured` in a new process and return its result."""
    code = "import json, sys; from figures.benchmarks.streaming import measured\n"
    code += "print(json.dumps(measured(*sys.argv[1:])))"
    words = [sys.executable, "-c", code, folder, where]
    out = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    found: dict[str, Any] = json.loads(out)
    return found


def run(quick: bool) -> None:
    """Print the table in Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), **QUICK if quick else SIZE)
        file = Path(folder) / "X_train.npy"
        reading = median(seconds_to_read(file) for _ in range(READS))
        runs = {where: in_own_process(folder, where) for where in ("file", "memory")}
    print_line(("", "seconds", "gap after four passes", "peak memory, MB"))
    print_line(["---"] * 4)
    print_line(("reading the file", f"{reading:.1f}", "", ""))
    for where, found in runs.items():
        gap, peak = f"{found['gap']:.2e}", f"{found['megabytes']:.0f}"
        print_line((f"a pass, X in {where}", f"{found['seconds']:.1f}", gap, peak))
    slower = max(reading, runs["memory"]["seconds"])
    ratio = runs["file"]["seconds"] / slower
    print(f"\na pass over the file / the slower of the other two: {ratio:.2f}")
