"""A function that kernels call is compiled there, and by itself only if Python calls it, too."""

import ast
import pickle
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numba import config
from numba.core.compiler import DefaultPassBuilder, Flags

from fwlab import kernels
from fwlab.kernels._jit import compiled
from fwlab.kernels._lowered import UNUSED_PASSES, FlatCompiler
from fwlab.kernels.products.blocks import dot

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled without the JIT")


@compiled(fastmath=True)
def mean(values):
    total = 0.0
    for j in range(len(values)):
        total += values[j]
    return total / len(values)


@compiled
def spread(values):
    low, high = mean(values), mean(values)
    for j in range(len(values)):
        low, high = min(low, values[j]), max(high, values[j])
    return high - low


@compiled(allocates=True)
def spreads(rows):
    out = np.empty(len(rows))
    for i in range(len(rows)):
        out[i] = spread(rows[i])
    return out


@compiled
def last_but(values, count):
    return values[len(values) - 1 - count]


@compiled
def twice_last_but(values, count):
    return 2.0 * last_but(values, count)


def test_only_the_function_that_python_calls_has_machine_code():
    rows = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(spreads(rows), 3.0)
    assert len(spreads.overloads) == 1
    for inner in (mean, spread):
        assert not inner.overloads and len(inner.lowered.overloads) == 1
    assert mean(rows[0]) == 1.5
    assert len(mean.overloads) == 1


def test_each_type_of_arguments_is_compiled_once():
    for values in (np.ones(3), np.ones(4), np.ones(3, np.float32)):
        assert twice_last_but(values, 0) == 2.0
    assert len(twice_last_but.overloads) == len(last_but.lowered.overloads) == 2


def test_kernels_need_none_of_the_passes_left_out():
    comprehensions = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    refused = (ast.Lambda, ast.With, ast.Raise, ast.Try, ast.Assert, *comprehensions)
    modules = sorted(Path(kernels.__file__).parent.glob("*/*.py"))
    assert len(modules) > 30
    for path in modules:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            assert not isinstance(node, refused), f"{path}:{node.lineno}"
            if isinstance(node, ast.FunctionDef):
                inner = [one for one in ast.walk(node) if isinstance(one, ast.FunctionDef)]
                assert inner == [node], f"{path}:{node.lineno}"


def test_the_passes_left_out_are_passes_of_numba():
    state = SimpleNamespace(func_ir=None, flags=Flags())
    every = {one[0].__name__ for one in DefaultPassBuilder.define_nopython_pipeline(state).passes}
    assert every >= UNUSED_PASSES
    (kept,) = FlatCompiler.define_pipelines(SimpleNamespace(state=state))
    assert {one[0].__name__ for one in kept.passes} == every - UNUSED_PASSES


def test_a_kernel_is_pickled_with_its_function():
    assert pickle.loads(pickle.dumps(dot))(np.ones(3), np.ones(3)) == 3.0


def test_an_error_in_a_function_that_a_kernel_calls_is_raised(monkeypatch):
    monkeypatch.setattr(config, "BOUNDSCHECK", 1)

    @compiled
    def first(values):
        return values[len(values)]

    @compiled
    def outer(values):
        return first(values) + 1.0

    with pytest.raises(IndexError, match="out of bounds"):
        outer(np.ones(2))
