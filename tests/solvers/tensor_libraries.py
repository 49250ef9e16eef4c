"""The libraries whose tensors the tests use; torch only where it is installed."""

import importlib.util
from functools import partial
from types import SimpleNamespace

import array_api_strict
import numpy as np
import pytest

import fwlab

LOSS = fwlab.CrossEntropy()

HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="torch is not installed (extra torch)")


# numpy cannot read its arrays, so that each conversion has to be meant
ELSEWHERE = array_api_strict.Device("device1")


def strict() -> SimpleNamespace:
    """Return the functions of array_api_strict that the tests need, for a device of its own."""
    return SimpleNamespace(
        name="array_api_strict",
        tensor=partial(array_api_strict.asarray, device=ELSEWHERE),
        kind=type(array_api_strict.asarray([0.0])),
    )


def torch() -> SimpleNamespace:
    """Return the same functions of torch."""
    import torch

    return SimpleNamespace(
        name="torch", tensor=lambda a: torch.asarray(np.ascontiguousarray(a)), kind=torch.Tensor
    )


LIBRARIES = [strict, pytest.param(torch, marks=needs_torch)]


def data(seed=0, n=300, d=6, m=4, dtype="f8"):
    rng = np.random.default_rng(seed)
    means, y = rng.normal(size=(m, d)), rng.integers(0, m, n)
    return (0.5 * means[y] + rng.normal(size=(n, d))).astype(dtype), y


def both(library, X, y, loss=LOSS, **settings):
    """Return the problem on tensors and the one on arrays."""
    there = fwlab.Problem(library.tensor(X), library.tensor(y), loss, **settings)
    return there, fwlab.Problem(X.astype(np.float64), y, loss, **settings)
