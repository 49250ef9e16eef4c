"""Runs of tests on the library with a passage replaced, through the server in planting.py."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from planted_defects import ROOT, Defect, full_name

SERVER = Path(__file__).with_name("planting.py")
# of the processor, after which a run is stopped; compilation alone may take minutes
SECONDS, COMPILED_SECONDS = 120, 900
# Of the certificate tests, which run all methods on all losses, two losses run: the joint one
# without smoothing, the entrywise one with it, both with and without weights. The tests of single
# methods run whole.
LOSSES_OR_OTHERS = (
    "WeightedTopK-7 and not smoothing or Usunier-3 and smoothing"
    " or not test_certificates or vertex or visits"
)
OPTIONS = ("-x", "-q", "--tb=line", "-p", "no:cacheprovider", "-k", LOSSES_OR_OTHERS)


@dataclass(frozen=True)
class Outcome:
    """Exit code and output of the tests up to the first failure, and the processor's seconds."""

    code: int
    output: str
    seconds: float

    @property
    def failed(self) -> str:
        """The first test that failed, or "" if none did."""
        found = re.search(r"^FAILED (\S+?::[^\n]*?)(?: - .*)?$", self.output, re.MULTILINE)
        return found[1] if found and self.code == 1 else ""


@dataclass
class Planting:
    """A running server and the file for the output of its forks."""

    server: subprocess.Popen[str]
    output: Path
    limit: int

    def run(
        self, module: str, old: str, new: str, tests: Iterable[str], seconds: int | None = None
    ) -> Outcome:
        """Run the tests with a passage of a module replaced."""
        request = {"module": full_name(module), "old": old, "new": new}
        request |= {"seconds": self.limit if seconds is None else seconds}
        request |= {"output": str(self.output), "arguments": [*tests, *OPTIONS]}
        assert self.server.stdin is not None and self.server.stdout is not None
        self.output.unlink(missing_ok=True)
        print(json.dumps(request), file=self.server.stdin, flush=True)
        answer = self.server.stdout.readline()
        assert answer, f"the server died of {request}"
        code, used = answer.split()
        return Outcome(int(code), self.output.read_text(), float(used))

    def plant(self, defect: Defect) -> Outcome:
        """Run the test that must see a defect."""
        return self.run(defect.module, defect.old, defect.new, [defect.test])

    def leave(self, tests: Iterable[str]) -> Outcome:
        """Run tests on the library as it is."""
        return self.run("weights", "def flat(", "def flat(", dict.fromkeys(tests))


@contextmanager
def server(compiled: bool = False, root: Path = ROOT) -> Iterator[Planting]:
    """Start a server without the JIT, or with it and an empty cache of machine code.

    root is the checkout whose library and tests run. The server's environment is its own. Options
    for this run are not for that one: coverage would end ours, plugins take a second each time, and
    another profile would draw more examples.
    """
    with tempfile.TemporaryDirectory() as folder:
        own = {"PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(root)}
        own |= {"HYPOTHESIS_PROFILE": "planted", "NUMBA_DISABLE_JIT": "0" if compiled else "1"}
        own |= {"NUMBA_CACHE_DIR": folder}
        own |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")  # no thread to fork
        with subprocess.Popen(
            [sys.executable, SERVER],
            cwd=root,
            env={**os.environ, **own},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            limit = COMPILED_SECONDS if compiled else SECONDS
            yield Planting(process, Path(folder) / "output", limit)
