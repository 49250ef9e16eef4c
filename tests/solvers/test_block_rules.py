"""Block rules in Python: the steps of compiled rules, and sentences for wrong ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from solvers.active_set_table import start_point
from solvers.solver_table import FORMS, Case

import fwlab
from fwlab.kernels.steps.rules import EXACT
from fwlab.solvers.blocks import ORDERS, BlockMethod
from fwlab.solvers.method import State

pytestmark = pytest.mark.small


class Towards(fwlab.BlockRule):
    """The exact step to the LMO's vertex."""

    monotone = True

    def __call__(self, block):
        d = block.lmo(block.gradient) - block.a
        slope, bend = -block.gradient @ d, block.curvature * (d @ d)
        step = slope / bend if 0.0 < slope < bend else float(slope > 0.0)
        return block.a + step * d


class Highest(fwlab.BlockRule):
    """The maximum over the block."""

    def __call__(self, block):
        if block.curvature == 0.0:
            return block.lmo(block.gradient)
        return block.project(block.a - block.gradient / block.curvature)


class Keeping(Towards):
    """Keep all blocks and the rises that they promise in the memory of the block."""

    def __call__(self, block):
        new = super().__call__(block)
        block.memory.setdefault("seen", []).append((block, block.rise(new)))
        return new


def rule_of(function):
    return type("Own", (fwlab.BlockRule,), {"__call__": lambda _, block: function(block)})


def visited(method, case, iterations=1):
    """Return the state and the workspace after some iterations from a start with atoms."""
    problem = case.problem()
    A, rng = start_point(case, "inside"), np.random.default_rng(0)
    state = State(problem, A, rng, method.needs(problem))
    workspace = method.start(state)
    workspace.moves[:] = 9.0
    for _ in range(iterations):
        method.iterate(state, workspace)
    return state, workspace


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", ORDERS)
def test_a_rule_in_python_makes_the_steps_of_bcfw(order, form):
    case = Case(form=form, smoothing=0.1 * (order == "cyclic"), weighted=True)
    # rounding errors of gaps change what is drawn by them
    passes = 1 if order == "gap" else 3
    own, own_workspace = visited(Towards(order=order), case, passes)
    other, workspace = visited(fwlab.BlockFrankWolfe(order=order), case, passes)
    # the rounding errors of a few dozen steps; other steps differ by 1e-3
    for one, two in (
        (own.A, other.A),
        (own.link, other.link),
        (own_workspace.moves, workspace.moves),
        (own_workspace.gaps, workspace.gaps),
    ):
        assert_allclose(one, two, rtol=0, atol=1e-11)
    assert own.n_rows == other.n_rows
    # no LMO is asked for rows without weight
    idle = np.count_nonzero(own.problem.sample_weight == 0)
    assert idle > 0
    if order in ("permutation", "cyclic"):
        assert own.n_lmo == other.n_lmo - passes * idle
    assert own.n_projections == 0


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_rule_in_python_makes_exact_steps(smoothing):
    case = Case(smoothing=smoothing, weighted=True)
    own, _ = visited(Highest(order="cyclic"), case, 3)
    other, _ = visited(BlockMethod(EXACT, order="cyclic"), case, 3)
    assert_allclose(own.A, other.A, rtol=0, atol=1e-11)
    idle = np.count_nonzero(own.problem.sample_weight == 0)
    assert own.n_projections == other.n_projections - 3 * idle


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_dual_rises_as_a_block_says(smoothing):
    problem = Case(smoothing=smoothing, weighted=True).problem()
    state = State(problem, np.zeros((problem.n_samples, 4)), np.random.default_rng(0))
    method = Keeping(order="cyclic")
    workspace = method.start(state)
    duals = [problem.dual(state.A)]
    for _ in range(3):
        method.iterate(state, workspace)
        duals.append(problem.dual(state.A))
    kept = [call for memory in workspace.memories for call in memory.get("seen", ())]
    rises = [sum(rise for block, rise in kept if block.iteration == t) for t in range(3)]
    assert_allclose(np.diff(duals), rises, rtol=0, atol=1e-14)
    assert min(rises) > 0.0
    for row, memory in enumerate(workspace.memories):
        assert {block.row for block, _ in memory.get("seen", ())} <= {row}


def test_a_rule_is_certified_compared_and_checked():
    problem = Case(weighted=True).problem()
    comparison = fwlab.compare(problem, {"mine": Towards(), "bcfw": "bcfw"}, tol=1e-3)
    mine, other = (comparison.results["problem", name] for name in ("mine", "bcfw"))
    assert mine.success and mine.trace.n_steps[-1] == other.trace.n_steps[-1]
    assert mine.gap == pytest.approx(problem.gap(mine.A), abs=1e-13)
    assert Towards().sentence == "The exact step to the LMO's vertex."
    assert repr(Towards(order="gap")) == "Towards(order='gap', block_size=None)"
    fwlab.testing.check_method(Towards())


def test_a_block_is_not_written_to():
    def writes(block):
        block.lmo(block.gradient)[:] = np.nan
        for array in (block.a, block.gradient):
            with pytest.raises(ValueError, match="read-only"):
                array += 1.0
        assert np.isfinite(block.gap)
        return block.a

    state, workspace = visited(rule_of(writes)(), Case(weighted=True))
    assert_allclose(state.A, start_point(Case(weighted=True), "inside"), rtol=0, atol=0)
    assert (workspace.moves == 0.0).all()


WRONG = {
    "shape": (lambda block: block.a[:1], r"a row of \d finite numbers; Own\(.*returned array"),
    "NaN": (lambda block: np.nan * block.a, "finite numbers.*nan.* for row . at iteration 0"),
    "None": (lambda block: None, "finite numbers.*returned None"),
    "outside": (
        lambda block: 2.0 * block.lmo(block.gradient),
        "a point of the block's domain; .* for row . at iteration 0, and the nearest feasible row",
    ),
    "gradient": (lambda block: block.lmo([1.0]), r"gradient must be \d finite numbers; got \[1"),
    "point": (lambda block: block.project(np.inf), "point must be . finite numbers; got inf"),
    "new": (lambda block: block.rise(None), "new must be . finite numbers; got None"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_rule_is_told_what_is_wrong(wrong):
    function, sentence = WRONG[wrong]
    with pytest.raises(ValueError, match=sentence):
        fwlab.solve(Case().problem(), rule_of(function)())


def test_a_rule_that_lowers_the_dual_is_found():
    class Lowers(fwlab.BlockRule):
        monotone = True

        def __call__(self, block):
            return block.lmo(-block.gradient)

    with pytest.raises(AssertionError, match="the dual falls from"):
        fwlab.testing.check_method(Lowers())
    assert not fwlab.BlockRule().monotone


def test_a_rule_without_call_says_so():
    with pytest.raises(NotImplementedError, match="Empty must define `__call__`"):
        fwlab.solve(Case().problem(), type("Empty", (fwlab.BlockRule,), {})())
