"""Seconds of the first solve in a new process, with an empty cache of machine code and a full one.

Each line is two processes, one after the other: `import fwlab` and a solve of 200 x 20 random
numbers. The first process compiles, the second one loads what it stored; both may store Python's
bytecode, too. Rows of more than 64 classes have projections of their own, which take longer to
compile. "libraries" is the part of the import that numpy, numba and scipy.sparse take, which a
program without fwlab pays as well; a process of its own measures it.

A separate measurement: three quarters of the cold time of `ascent` is the compilation of one
kernel, an iteration over dense rows that calls about 100 functions. numba's front end takes two
thirds of it and LLVM a third; a third of the instructions only pass on tuples of arrays. Handling
faces in the same kernel and projecting without a sort save time in every later call, but made the
compilation longer.
"""

import json
import os
import subprocess
import sys
import tempfile

from figures.benchmarks.timing import print_line

LIBRARIES = """
import time
began = time.perf_counter()
import numpy, numba, scipy.sparse
print(time.perf_counter() - began)
"""
RUNS = (
    ("ascent", "dense", 5),
    ("ascent", "sparse", 5),
    ("fw", "dense", 5),
    ("bcfw", "dense", 5),
    ("bcpfw", "dense", 5),
    ("auto", "dense", 5),
    ("ascent", "dense", 100),
    ("auto", "dense", 100),
)
PROGRAM = """
import json, sys, time
began = time.perf_counter()
import fwlab
imported = time.perf_counter()
import numpy as np, scipy.sparse
method, storage, classes = sys.argv[1:]
rng = np.random.default_rng(0)
X, y = rng.standard_normal((200, 20)), np.arange(200) % int(classes)
X = scipy.sparse.csr_matrix(X) if storage == "sparse" else X
called = time.perf_counter()
fwlab.solve(fwlab.Problem(X, y, fwlab.TopK(2), 0.01), method, tol=1e-3, max_iter=50)
print(json.dumps([imported - began, time.perf_counter() - called]))
"""


def seconds(method: str, storage: str, classes: int, cache: str) -> tuple[float, float]:
    """Return the seconds of the import and of the first solve in a new process."""
    imported, solved = json.loads(printed(cache, PROGRAM, method, storage, str(classes)))
    return imported, solved


def printed(cache: str, program: str, *arguments: str) -> str:
    """Return the output of a program in a new process with this cache of machine code."""
    command = [sys.executable, "-c", program, *arguments]
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return done.stdout


def run(quick: bool) -> None:
    """Print the table in Markdown, line by line."""
    header = ("method", "X", "classes", "cold", "warm", "import", "libraries")
    print_line(header)
    print_line("---" for _ in header)
    for made in RUNS[: 1 if quick else None]:
        with tempfile.TemporaryDirectory() as cache:
            _, cold = seconds(*made, cache)
            imported, warm = seconds(*made, cache)
            libraries = float(printed(cache, LIBRARIES))
        times = cold, warm, imported, libraries
        print_line((*map(str, made), *(f"{one:.2f}" for one in times)))
