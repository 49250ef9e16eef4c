"""A tiny package that borrows the library's decorator: a caller and its helper in two files."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from fwlab.kernels import _jit, _lowered, _machine_code, _plain, _stored_code

MODULES = (_jit, _lowered, _machine_code, _plain, _stored_code)

HELPER = "from fwlab.kernels._jit import compiled\n\n@compiled\ndef helper(x):\n    return {body}\n"
CALLER = """
from fwlab.kernels._jit import compiled
from fwlab.kernels.helper import helper

@compiled
def caller(x):
    return helper(x) + 1.0
"""
MAIN = """
import numpy as np
from fwlab.kernels.caller import caller
value = caller(np.zeros(3))
print(value, sum(caller.stats.cache_hits.values()))
"""


def make(parent: Path) -> Path:
    """Write the package, without its helper, and return the folder of its kernels."""
    folder = parent / "fwlab" / "kernels"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "__init__.py").touch()
    for module in MODULES:
        shutil.copy(module.__file__, folder)
    (folder / "caller.py").write_text(CALLER)
    return folder


def write_helper(package, body):
    (package / "helper.py").write_text(HELPER.format(body=body))


def start(package, main=MAIN, **settings):
    """Start a process of its own that runs `main`."""
    switches = ("NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK", "COVERAGE_PROCESS_START")
    environment = {name: value for name, value in os.environ.items() if name not in switches}
    environment |= {"NUMBA_CACHE_DIR": str(package.parents[1] / "cache"), **settings}
    environment["TMPDIR"] = str(package.parents[1])
    return subprocess.Popen(
        [sys.executable, "-c", main],
        cwd=package.parents[1],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer(process):
    """Return (value, cache hits) that a process prints, or its error."""
    out, errors = process.communicate()
    if process.returncode:
        return errors.strip().splitlines()[-1]
    value, hits = out.split()
    return float(value), int(hits)


def run(package, main=MAIN, **settings):
    """Return (value, cache hits) that `main` prints in a process of its own, or its error."""
    return answer(start(package, main, **settings))
