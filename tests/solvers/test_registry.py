"""Names for methods from outside: which names and constructors are taken."""

import threading
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from solvers.solver_table import Case

import fwlab
from fwlab.solvers import registry

pytestmark = pytest.mark.small


class Halving(fwlab.StepRule):
    """Half of the exact step, and a count of its calls, which a rule should not keep."""

    def __init__(self):
        self.calls = 0

    def __call__(self, direction, memory):
        self.calls += 1
        return min(direction.limit, direction.slope / direction.curvature / 2**self.calls)


@pytest.fixture
def own_names():
    """Forget the names that a test registers."""
    before = dict(registry.REGISTRY)
    yield
    registry.REGISTRY.clear()
    registry.REGISTRY.update(before)


@pytest.mark.parametrize("name", ["", " ", "a,b", "all", "a\nb", " fw", "fw", "pfw"])
def test_names_that_are_refused(own_names, name):
    with pytest.raises(ValueError, match="name must"):
        fwlab.register_method(name, fwlab.FrankWolfe)


@pytest.mark.parametrize("cls", [3, "fw", lambda: 3, fwlab.TopK])
def test_constructors_that_are_refused(own_names, cls):
    with pytest.raises(TypeError):
        fwlab.register_method("mine", cls)
    assert "mine" not in fwlab.methods()


def test_a_constructor_with_any_options_takes_them(own_names):
    fwlab.register_method("mine", lambda **options: fwlab.FrankWolfe(**options))
    result = fwlab.solve(Case().problem(), "mine", step="short", max_iter=2)
    assert result.method == "mine"


def test_a_broken_entry_point_is_named_and_harms_nobody(monkeypatch):
    broken = {
        "absent": EntryPoint("absent", "no_such_module:Method", registry.GROUP),
        "number": EntryPoint("number", "math:pi", registry.GROUP),
    }
    monkeypatch.setattr(registry, "_installed", lambda: broken)
    for name in broken:
        assert name in fwlab.methods() and name not in registry.visitors()
        with pytest.raises(ValueError, match=f"method '{name}' is .* which cannot be loaded"):
            fwlab.solve(Case().problem(), name)
    assert fwlab.solve(Case().problem(), "fw", max_iter=1).nit == 1


def test_each_run_of_a_comparison_begins_with_the_method_as_given():
    rule = Halving()
    problems = {name: Case().problem() for name in ("first", "second")}
    comparison = fwlab.compare(problems, fwlab.FrankWolfe(rule), max_iter=4, tol=0.0)
    first, second = comparison.results.values()
    assert rule.calls == 0 and np.array_equal(first.A, second.A)


@dataclass(frozen=True)
class Locked(fwlab.FrankWolfe):
    """A method with something that no other process can have."""

    lock: object = field(default_factory=threading.Lock)


def test_what_cannot_be_sent_to_a_worker_is_a_failed_run():
    comparison = fwlab.compare(Case().problem(), ["fw", Locked()], max_iter=2, n_jobs=2)
    [failure] = comparison.failures.values()
    assert failure.kind == "failed" and "cannot be sent to a worker process" in failure.message
    assert [key[1] for key in comparison.results] == ["fw"]
