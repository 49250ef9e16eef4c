"""Dask clusters of the tests."""

from collections.abc import Iterator
from typing import Any

import pytest
from on_cluster import DriverHere, client_of

from fwlab.distributed.dask import problem as dask_problem
from fwlab.distributed.dask import state as dask_state


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """Provide a client with two workers."""
    with client_of(2) as client:
        yield client


@pytest.fixture
def driver_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs ask blocks in this thread, each of several small pieces."""
    monkeypatch.setattr(dask_state, "Driver", DriverHere)
    monkeypatch.setattr(dask_problem, "LEAST_ROWS", 5)
    monkeypatch.setattr(dask_problem, "CHUNK_BYTES", 1)
