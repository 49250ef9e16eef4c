"""Where numba lacks what _lowered needs, its public functions compile kernels to the same results.

Each test breaks a private part of numba in a process of its own.
"""

import os
import subprocess
import sys

import numba
import pytest
import tiny_package

HELPER = """
from fwlab.kernels._jit import compiled

@compiled(fastmath=True)
def helper(x):
    total = 0.0
    for j in range(len(x)):
        total += x[j] / 3.0
    return total
"""
CALLER = """
import numpy as np
from fwlab.kernels._jit import chosen_by_type, compiled
from fwlab.kernels.helper import helper

@compiled(inline=True)
def apart(x, count):
    return helper(x) - 0.1 * count

def of_matrix(rows, number):
    total = 0.0
    for i in range(len(rows)):
        total += apart(rows[i], number) / 7.0
    return total

def any_of(x, count):
    return None

@chosen_by_type(any_of)
def _any_of_type(x, count):
    return apart if x.ndim == 1 else of_matrix

@compiled(allocates=True)
def caller(rows):
    copy = np.empty_like(rows)
    copy[:] = rows
    return any_of(copy, 2) + any_of(copy[0], 3)
"""
MAIN = """
import numpy as np
from fwlab.kernels.caller import caller
value = caller(np.random.default_rng(0).normal(size=(4, 37)))
print(value, sum(caller.stats.cache_hits.values()))
"""
BREAKS = {
    "a class is gone": "import numba.core.codegen as m; del m.JITCodeLibrary",
    "a constructor has other arguments": """
from numba.core.registry import CPUDispatcher
first = CPUDispatcher.__init__
CPUDispatcher.__init__ = lambda self, *, py_func, locals=None, targetoptions=None: first(
    self, py_func, locals, targetoptions
)
""",
    "a signature has changed": """
import numba.core.compiler as m
first = m.compile_extra
def changed(typingctx, targetctx, func, args, return_type, flags, locals, **rest):
    return first(typingctx, targetctx, func, args, return_type, flags, locals, **rest)
m.compile_extra = changed
""",
    "lowering raises numba's error": """
import numba.core.compiler as m
first = m.compile_extra
def broken(*args, **rest):
    if args[5:] and args[5].no_compile:
        raise m.errors.TypingError("numba has changed")
    return first(*args, **rest)
m.compile_extra = broken
""",
    "templates are asked for another method": """
import fwlab.kernels._lowered as m
first = m.infer_global
def infer_global(function):
    def register(template):
        del template.get_impl_key
        return first(function)(template)
    return register
m.infer_global = infer_global
""",
}


def printed(folder, broken=""):
    """Return what the tiny package prints after a part of numba was broken, and its warnings.

    Its kernels add products, copy an array, and call what is chosen by type.
    """
    package = tiny_package.make(folder)
    (package / "helper.py").write_text(HELPER)
    (package / "caller.py").write_text(CALLER)
    return tiny_package.start(package, broken + MAIN).communicate()


@pytest.fixture(scope="module")
def right(tmp_path_factory):
    """Provide what is printed if nothing is broken."""
    out, warnings = printed(tmp_path_factory.mktemp("unbroken"))
    assert out and warnings == ""
    return out


@pytest.mark.turns
@pytest.mark.parametrize("broken", BREAKS)
def test_the_same_bits_where_numba_has_changed(tmp_path, right, broken):
    out, warnings = printed(tmp_path, BREAKS[broken])
    assert out == right, warnings
    assert warnings.count("RuntimeWarning: numba ") == 1
    assert warnings.count("is not as fwlab expects it to be") == 1


SOLVE = """
import fwlab, numpy as np
X, y = np.random.default_rng(0).normal(size=(60, 7)), np.arange(60) % 5
result = fwlab.solve(fwlab.Problem(X, y, fwlab.TopK(2), 0.01), "fw", max_iter=20)
print(result.primal.hex(), result.dual.hex(), np.linalg.norm(result.W).hex())
"""


@pytest.mark.turns
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled without the JIT")
def test_a_solve_has_the_same_bits_without_a_class_of_numba(tmp_path):
    def printed(program, **settings):
        command = [sys.executable, "-W", "ignore", "-c", program]
        environment = {**os.environ, **settings}
        return subprocess.run(command, env=environment, capture_output=True, check=True).stdout

    broken = BREAKS["a class is gone"] + SOLVE
    assert printed(broken, NUMBA_CACHE_DIR=str(tmp_path)) == printed(SOLVE) != b""
