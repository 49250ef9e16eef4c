"""X in the memory of the host: the run equals the run on a tensor."""

import numpy as np
import pytest
from solvers.tensor_libraries import LOSS, needs_torch

import fwlab
from fwlab.arrays import on_host
from fwlab.operators import tensor_rows
from fwlab.operators.host_rows import HostRows

pytestmark = needs_torch


@pytest.mark.parametrize("kind", ["array", "backwards", "big-endian", "memory map", "tensor"])
def test_runs_are_those_of_a_tensor(kind, tmp_path, monkeypatch):
    import torch

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)).astype("f4"), rng.integers(0, 3, 200)
    np.save(tmp_path / "X.npy", X)
    rows = {
        "array": X,
        "backwards": X[::-1].copy()[::-1],
        "big-endian": X.astype(">f4"),
        "memory map": np.load(tmp_path / "X.npy", mmap_mode="r"),
        "tensor": torch.asarray(X),
    }[kind]
    monkeypatch.setattr(tensor_rows, "ENTRIES_ON_HOST", 100)
    there = fwlab.Problem(HostRows(rows, "cpu"), y, LOSS, C=1.0)
    here = fwlab.Problem(torch.asarray(X), y, LOSS, C=1.0)
    found, expected = (fwlab.solve(p, "lbfgs", tol=1e-9) for p in (there, here))
    assert found.success and isinstance(found.W, torch.Tensor)
    assert (on_host(found.W) == on_host(expected.W)).all() and found.gap == expected.gap
    assert fwlab.certify(there, found.W).excess == fwlab.certify(here, found.W).excess


def test_an_intercept_is_found():
    X = np.column_stack([np.random.default_rng(0).normal(size=(20, 2)), np.full(20, 2.0)])
    problem = fwlab.Problem(HostRows(X, "cpu"), np.arange(20) % 2, LOSS, C=1.0)
    found = fwlab.certify(problem, np.ones((2, 2)), np.array([1.0, 3.0]))
    assert found.W[:, 2].tolist() == [0.5, 1.5]


def test_integers_are_refused():
    with pytest.raises(TypeError, match=r"X must be a tensor of a floating type; got int64"):
        fwlab.Problem(HostRows(np.ones((4, 2), dtype=int), "cpu"), [0, 1, 0, 1], LOSS, C=1.0)


def test_bad_rows_and_devices_are_refused():
    with pytest.raises(TypeError, match=r"X must be an array, a memory map or a torch tensor; got"):
        HostRows([[1.0]], "cpu")
    with pytest.raises(TypeError, match=r"X must be a type of at most 64 bits; got float128"):
        HostRows(np.ones((2, 2), dtype=np.longdouble), "cpu")
    with pytest.raises(ValueError, match=r"target must name a device of torch; got 'nonsense'"):
        HostRows(np.ones((2, 2)), "nonsense")


def test_torch_s_own_kinds(monkeypatch):
    import torch

    X, y = torch.ones(4, 2), [0, 1, 0, 1]
    with pytest.raises(TypeError, match=r"X must be a dense tensor; got layout torch.sparse_coo"):
        fwlab.Problem(X.to_sparse(), y, LOSS, C=1.0)
    problem = fwlab.Problem(torch.randn(4, 2).to(torch.bfloat16), y, LOSS, C=1.0)
    head = torch.nn.Linear(2, 2, bias=False).to(torch.bfloat16)
    assert fwlab.certify(problem, head.weight).status is fwlab.ExcessStatus.KNOWN
    torch.set_flush_denormal(True)
    try:
        with pytest.raises(RuntimeError, match=r"torch.set_flush_denormal\(False\)"):
            fwlab.certify(problem, head.weight)
    finally:
        torch.set_flush_denormal(False)
