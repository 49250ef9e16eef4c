"""Which method takes which problem; the others are refused with a reason, before any work.

The problems with the cross-entropy, and lbfgs, which takes no others, are in test_lbfgs.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from solvers.solver_table import FORMS, LOSSES, SMOOTHINGS, WEIGHTED, Case

import fwlab
from fwlab.experiments import compare
from fwlab.solvers.method import Method

pytestmark = pytest.mark.small


@dataclass(frozen=True)
class Takes:
    """The losses, smoothings and storages of a method; all sample weights go with them."""

    losses: frozenset[str] | None = None  # None: every loss
    smoothing: bool = True
    kernels: bool = True

    def __contains__(self, case: Case) -> bool:
        kind = case.loss.split("-")[0]
        return (self.losses is None or kind in self.losses) and (
            (self.smoothing or case.smoothing == 0)
            and (self.kernels or case.form in ("dense", "sparse"))
        )


EVERYTHING = Takes()
TOP_K = Takes(frozenset({"TopK", "PseudoTopK"}), smoothing=False)
# a method that is not named here takes everything, and a test below runs it on all of that
NOT_EVERYTHING = {
    "newton": Takes(kernels=False),
    "lbfgs": Takes(losses=frozenset()),
    "sdca-lapin": TOP_K,
    "sdca-chu-newton": TOP_K,
    "sdca-chu-fixing": TOP_K,
}
TABLE = dict.fromkeys(fwlab.methods(), EVERYTHING) | NOT_EVERYTHING
CASES = [
    Case(loss, form, smoothing, weighted, n=8, d=3)
    for loss, form, smoothing, weighted in product(LOSSES, FORMS, SMOOTHINGS, WEIGHTED)
    # the pseudo domain needs k < m
    if loss != "TopK-3"
]
each_method = pytest.mark.parametrize("method", fwlab.methods())


def never(*_):
    raise AssertionError("a run that must be refused began")


def test_the_table_names_only_methods():
    assert set(NOT_EVERYTHING) <= set(fwlab.methods())


@pytest.mark.turns
@pytest.mark.long
@pytest.mark.parametrize("method", [name for name in fwlab.methods() if name != "lbfgs"])
def test_what_is_in_the_table_runs(method):
    taken = [case for case in CASES if case in TABLE[method]]
    assert len(taken) >= 24
    for case in taken:
        result = fwlab.solve(case.problem(), method, tol=0.0, max_iter=2)
        assert np.isfinite(result.gap), case
        assert result.nit == 2


@each_method
def test_what_is_not_in_the_table_is_refused_before_work(method, monkeypatch):
    monkeypatch.setattr("fwlab.solvers.solve.warm_up", never)
    monkeypatch.setattr("fwlab.solvers.solve.run_loop", never)
    refused = [case for case in CASES if case not in TABLE[method]]
    assert bool(refused) == (TABLE[method] is not EVERYTHING)
    for case in refused:
        with pytest.raises(ValueError, match="problem") as caught:
            fwlab.solve(case.problem(), method)
        message = str(caught.value)
        assert method in message
        words = (str(case.smoothing), type(case.entry.loss).__name__, repr(case.form))
        assert any(word in message for word in words)
        assert message.endswith(".")
        assert ". " not in message and "\n" not in message


@pytest.mark.parametrize("method", [name for name, takes in TABLE.items() if takes is TOP_K])
def test_the_pseudo_domain_needs_k_below_m(method):
    problem = Case("TopK-3").problem()
    assert problem.loss == fwlab.TopK(4)
    with pytest.raises(ValueError, match="k must be at most m - 1 = 3; got 4"):
        fwlab.solve(problem, method)


def test_compare_shows_what_is_refused():
    problem = Case("MaxHinge-0").problem()
    comparison = compare({"a": problem}, ["ascent", "sdca-lapin"], tol=0.1)
    rows = comparison.rows()
    assert rows[0]["status"] == "CONVERGED"
    assert rows[1]["status"] == "refused"
    assert "must be TopK or PseudoTopK; got MaxHinge" in rows[1]["message"]


def test_a_method_takes_all_problems_unless_it_says_no():
    assert Method().refuses(Case().problem()) is None
