"""The clock on the terminal while a first call compiles."""

import io
import subprocess
import sys
import threading
import time

import numba
import pytest

from fwlab.solvers import compiling
from fwlab.solvers.compiling import compiling_shown


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown_during(work, stream, monkeypatch):
    """Return the text that stderr, replaced by `stream`, gets during the work and 0.1 s more."""
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(compiling, "SECONDS_UNSEEN", 0.01)
    with compiling_shown():
        work()
        time.sleep(0.1)
    return stream.getvalue()


def words_of(program):
    """Return the words that a program prints in a new process."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.split()


def compile_something():
    numba.njit(lambda x: x + 1)(2)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing compiles")
def test_a_clock_runs_while_something_compiles(monkeypatch):
    lines = shown_during(compile_something, Terminal(), monkeypatch).split("\r")
    assert "Compiling: 0 s" in lines
    assert lines[-1] == "" and set(lines[-2]) == {" "}


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing compiles")
def test_one_line_a_process_tells_that_something_compiles(monkeypatch, caplog):
    monkeypatch.setattr(compiling, "told", threading.Event())
    for _ in range(2):
        # a pipe shows no clock
        assert shown_during(compile_something, io.StringIO(), monkeypatch) == ""
        (line,) = caplog.records
        assert line.name == "fwlab" and line.getMessage() == compiling.TOLD


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_nothing_is_said_where_nothing_compiles(stream, monkeypatch, caplog):
    monkeypatch.setattr(compiling, "told", threading.Event())
    assert shown_during(lambda: None, stream(), monkeypatch) == "" and not caplog.records


COMPILES = """
import time, numba
from fwlab.solvers import compiling
compiling.SECONDS_UNSEEN = 0.01
with compiling.compiling_shown():
    numba.njit(lambda x: x + 1)(2)
    time.sleep(0.1)
"""


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing compiles")
@pytest.mark.parametrize("silent", [False, True])
def test_the_line_is_on_stderr_unless_a_program_silences_its_logger(silent):
    """In a new process, without the handlers of pytest."""
    before = "import logging; logging.getLogger('fwlab').setLevel(logging.ERROR)" * silent
    command = [sys.executable, "-c", before + COMPILES]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ("" if silent else f"{compiling.TOLD}\n")


@pytest.mark.turns
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled without the JIT")
@pytest.mark.parametrize(("d", "direct"), [(5, 1), (300, 0)])
def test_only_the_newton_steps_of_this_size_are_compiled(d, direct):
    """In a new process: H is factorised for few unknowns and only multiplied for many."""
    program = (
        "import fwlab\n"
        f"data = fwlab.datasets.synthetic(40, {d}, 4, 0.5, rng=0)\n"
        "problem = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(2), C=1.0)\n"
        "fwlab.solve(problem, 'newton', max_iter=0)\n"
        "from fwlab.kernels.steps.proximal_hessian import add_hessian, dense_hessian_product\n"
        "print(len(add_hessian.overloads), len(dense_hessian_product.overloads))\n"
    )
    assert words_of(program) == [str(direct), str(1 - direct)]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled without the JIT")
def test_the_kernels_of_faces_are_there_before_the_clock_runs():
    """In a new process; a run reaches them in its second iteration."""
    program = (
        "import fwlab\n"
        "data = fwlab.datasets.synthetic(200, 5, 4, 0.5, rng=0)\n"
        "problem = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(2), C=1.0)\n"
        "fwlab.solve(problem, max_iter=0)\n"
        "from fwlab.kernels.steps.ascent_passes import dense_ascent\n"
        "before = len(dense_ascent.overloads)\n"
        "fwlab.solve(problem, tol=0.0, max_iter=5)\n"
        "print(before, len(dense_ascent.overloads))\n"
    )
    assert words_of(program) == ["1", "1"]


PRODUCTS = """
import fwlab
data = fwlab.datasets.synthetic(80, {d}, 4, 0.5, rng=0)
problem = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(2), C=1.0, kernel={kernel!r})
fwlab.solve(problem, "fw", max_iter=0)
from fwlab.kernels.products.dense import nonzeros_product, scores_product
before = len(nonzeros_product.overloads), len(scores_product.overloads)
fwlab.solve(problem, "fw", tol=0.0, max_iter=5)
print(*before, before == (len(nonzeros_product.overloads), len(scores_product.overloads)))
"""


@pytest.mark.turns
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled without the JIT")
@pytest.mark.parametrize(
    ("d", "kernel", "compiled"), [(20, None, "0 0"), (140, None, "1 1"), (140, "linear", "1 1")]
)
def test_products_of_long_rows_are_there_before_the_clock_runs(d, kernel, compiled):
    assert words_of(PRODUCTS.format(d=d, kernel=kernel)) == [*compiled.split(), "True"]


CERTIFIED = """
import sys
import numpy as np, scipy.sparse
import fwlab
from fwlab import certification

def versions():
    modules = [module for name, module in sys.modules.items() if name.startswith("fwlab.kernels")]
    kernels = {id(k): k for module in modules for k in vars(module).values()}
    return sum(len(getattr(kernel, "overloads", ())) for kernel in kernels.values())

rng, own, seen = np.random.default_rng(0), certification.warm_up, []
certification.warm_up = lambda *form: (seen.append(versions()), own(*form), seen.append(versions()))
X, y, W = rng.normal(size=(200, DD)), np.arange(200) % 3, rng.normal(size=(3, DD))
X = scipy.sparse.csr_matrix(X) if "sparse" in FORM else X
for name in FORM.split():
    array = X if name == "X" else getattr(X, name, None)
    if array is not None:
        array.flags.writeable = False
fwlab.certify(fwlab.Problem(X, y, fwlab.LOSS, C=1.0), W)
print(seen[0] < seen[1], versions() - seen[1])
"""


@pytest.mark.turns
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled without the JIT")
@pytest.mark.parametrize(
    ("form", "d", "loss"),
    [
        ("sparse", 5, "CrossEntropy()"),
        ("sparse data indices indptr", 5, "CrossEntropy()"),
        ("sparse indices", 5, "CrossEntropy()"),
        ("X", 150, "CrossEntropy()"),
        ("dense", 150, "TopK(2)"),
    ],
)
def test_what_certify_calls_is_there_before_its_clock_runs(form, d, loss):
    program = CERTIFIED.replace("DD", str(d)).replace("FORM", repr(form)).replace("LOSS", loss)
    assert words_of(program) == ["True", "0"]
