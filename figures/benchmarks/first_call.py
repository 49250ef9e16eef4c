"""Seconds of the first solve in a new process, with an empty cache of machine code and a full one.

Each line is two processes, one after the other: `import fwlab` and a solve of 200 x 20 random
numbers with five classes. The first process compiles, the second one loads what it stored; both
may store Python's bytecode, too.
"""

import json
import os
import subprocess
import sys
import tempfile

from figures.benchmarks.timing import print_line

RUNS = (
    ("ascent", "dense"),
    ("ascent", "sparse"),
    ("fw", "dense"),
    ("bcfw", "dense"),
    ("bcpfw", "dense"),
    ("auto", "dense"),
)
PROGRAM = """
import json, sys, time
began = time.perf_counter()
import fwlab
imported = time.perf_counter()
import numpy as np, scipy.sparse
method, storage = sys.argv[1:]
rng = np.random.default_rng(0)
X, y = rng.standard_normal((200, 20)), rng.integers(0, 5, 200)
X = scipy.sparse.csr_matrix(X) if storage == "sparse" else X
called = time.perf_counter()
fwlab.solve(fwlab.Problem(X, y, fwlab.TopK(2), 0.01), method, tol=1e-3, max_iter=50)
print(json.dumps([imported - began, time.perf_counter() - called]))
"""


def seconds(method: str, storage: str, cache: str) -> tuple[float, float]:
    """Seconds of the import and of the first solve in a new process."""
    command = [sys.executable, "-c", PROGRAM, method, storage]
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    imported, solved = json.loads(done.stdout)
    return imported, solved


def run(quick: bool) -> None:
    """Print the table in Markdown, line by line."""
    header = ("method", "X", "cold", "warm", "import")
    print_line(header)
    print_line("---" for _ in header)
    for method, storage in RUNS[: 1 if quick else None]:
        with tempfile.TemporaryDirectory() as cache:
            _, cold = seconds(method, storage, cache)
            imported, warm = seconds(method, storage, cache)
        print_line((method, storage, *(f"{one:.2f}" for one in (cold, warm, imported))))
