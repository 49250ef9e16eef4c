"""A server that runs pytest on the library with a passage of one module replaced in memory.

    NUMBA_DISABLE_JIT=1 python planting.py

A line of its input is a JSON object with the arguments of `in_a_fork`. Each request is run in a
fork of this process, which has imported all that the tests need but the library. The fork writes
to the file `output`, and the answer is a line with its exit code and its seconds of the processor,
which other work on the machine does not change. The exit code is pytest's: 0 if all tests passed, 1
if one failed. It is 70 if `old` does not occur exactly once in the module (the code has moved on
and the defect must follow), and negative if the fork took too long. The library's files are not
touched.

An inner compiled function cannot be replaced under a caller that is compiled already, hence no JIT.
With the JIT, NUMBA_CACHE_DIR must be an empty folder: the cache is keyed by the files, which do not
hold the defect.
"""

import importlib
import json
import os
import signal
import sys
import traceback
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType

import pytest

NOT_PLANTED = 70
PACKAGES = ("cvxpy", "hypothesis", "numba", "scipy.optimize", "sklearn.datasets")


class Replacing(SourceFileLoader):
    """A loader that replaces a passage of the source and leaves no trace in any cache."""

    old: str
    new: str

    def get_code(self, fullname: str) -> CodeType:
        source = self.get_data(self.path).decode()
        if source.count(self.old) != 1:
            print(f"{self.path} holds {source.count(self.old)} times: {self.old}")
            raise SystemExit(NOT_PLANTED)
        return compile(source.replace(self.old, self.new), self.path, "exec")


class Planter(MetaPathFinder):
    """Finds one module as usual and gives it the replacing loader."""

    def __init__(self, module: str, old: str, new: str) -> None:
        self.module, self.old, self.new = module, old, new

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        if name != self.module:
            return None
        spec = PathFinder.find_spec(name, path)
        loader = Replacing(name, spec.origin)
        loader.old, loader.new = self.old, self.new
        spec.loader = loader
        return spec


def run(module: str, old: str, new: str, arguments: list[str]) -> int:
    """Return pytest's exit code, or NOT_PLANTED."""
    sys.meta_path.insert(0, Planter(module, old, new))
    try:
        __import__(module)
    except SystemExit as error:
        return int(error.code)
    return int(pytest.main(arguments))


def in_a_fork(
    module: str, old: str, new: str, arguments: list[str], output: str, seconds: int
) -> tuple[int, float]:
    """Return the exit code and the seconds of `run` in a process that is killed after `seconds`.

    They are seconds of the processor. A process that waits is killed after twenty times as many.
    """
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.alarm(20 * seconds)
        code = 1
        with open(output, "w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        try:
            code = run(module, old, new, arguments)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    _, status, used = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime


if __name__ == "__main__":
    for package in PACKAGES:
        importlib.import_module(package)
    for line in sys.stdin:
        print(*in_a_fork(**json.loads(line)), flush=True)
