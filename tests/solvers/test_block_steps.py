"""Step rules in Python for block methods: the steps of the compiled rules, one row at a time."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose
from solvers.active_set_table import each_case, start_point
from solvers.solver_table import FORMS, Case

import fwlab
from fwlab.solvers.block_frank_wolfe import BlockStepMethod
from fwlab.solvers.blocks import ORDERS
from fwlab.solvers.method import State
from fwlab.solvers.step_rules import Adaptive, Short

pytestmark = pytest.mark.small

CLASSES = {
    "bcfw": fwlab.BlockFrankWolfe,
    "bcafw": fwlab.BlockAwayStep,
    "bcpfw": fwlab.BlockPairwise,
    "bbpfw": fwlab.BlockBlendedPairwise,
}
each_name = pytest.mark.parametrize("name", CLASSES)


@dataclass(frozen=True)
class Own(fwlab.StepRule):
    """A multiple of the exact step."""

    factor: float = 1.0
    monotone = True

    def __call__(self, direction, memory):
        if direction.slope <= 0.0:
            return 0.0
        if self.factor * direction.slope >= direction.limit * direction.curvature:
            return direction.limit
        return self.factor * direction.slope / direction.curvature


class Given(fwlab.StepRule):
    """A given step."""

    def __init__(self, step):
        self.step = step

    def __call__(self, direction, memory):
        return self.step


class Keeping(fwlab.StepRule):
    """Three quarters of the limit, or all of it in odd passes; the memory keeps the directions."""

    def __init__(self):
        self.memories = []

    def start(self, state):
        self.memories.append([])
        return self.memories[-1]

    def __call__(self, direction, memory):
        step = direction.limit if direction.iteration % 2 else 0.75 * direction.limit
        rise = direction.rise(step)
        memory.append((direction, direction.dual, rise))
        return step


@pytest.mark.turns
@each_name
@each_case
def test_an_exact_step_in_python_is_the_compiled_one(name, case):
    A0 = start_point(case, "inside")
    for order in ORDERS:
        # rounding errors of gaps change what is drawn by them
        limits = {"tol": 0, "max_iter": 1 if order == "gap" else 4}
        runs = [
            fwlab.solve(case.problem(), CLASSES[name](step=step, order=order), A0=A0, **limits)
            for step in ("exact", Own())
        ]
        # the rounding errors of a few dozen steps; other steps differ by 1e-3
        assert_allclose(runs[1].A, runs[0].A, rtol=0, atol=1e-11)
        assert runs[1].trace.active[-1] == runs[0].trace.active[-1]
        assert runs[1].trace.n_lmo[-1] == runs[0].trace.n_lmo[-1]


@each_name
@pytest.mark.parametrize("form", FORMS)
def test_the_dual_never_falls_and_the_gap_is_certified(name, form):
    problem = Case(form=form, smoothing=0.1, weighted=True).problem()
    for factor in (1.0, 0.5):
        method = CLASSES[name](step=Own(factor))
        result = fwlab.solve(problem, method, tol=1e-3, max_iter=2000, check_every=1)
        assert result.success and method.monotone
        assert np.diff(result.trace.dual).min() >= -1e-14
        assert result.gap == pytest.approx(problem.gap(result.A), abs=1e-13)


@each_name
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_each_step_raises_the_dual_as_its_direction_says(name, form, smoothing):
    problem, rule = Case(form=form, smoothing=smoothing, weighted=True).problem(), Keeping()
    method = CLASSES[name](step=rule, order="cyclic")
    result = fwlab.solve(problem, method, tol=0, max_iter=4)
    assert len(rule.memories) == problem.n_samples
    kept = [call for memory in rule.memories for call in memory]
    kept.sort(key=lambda call: (call[0].iteration, call[0].row))
    duals = [dual for _, dual, _ in kept] + [result.dual]
    rises = [rise for _, _, rise in kept]
    assert len(kept) > 2 * problem.n_samples
    assert {direction.iteration for direction, _, _ in kept} == {0, 1, 2, 3}
    assert_allclose(np.diff(duals), rises, rtol=0, atol=1e-14)
    assert result.infeasibility < 1e-13


@each_name
def test_moves_and_gaps_are_noted(name):
    """The compiled pass notes the same; rows at rest have not moved."""
    problem, A0 = Case(weighted=True).problem(), start_point(Case(weighted=True), "inside")
    for order in ("cyclic", "gap"):
        noted = []
        for step in ("exact", Own()):
            method = CLASSES[name](step=step, order=order)
            state = State(problem, A0.copy(), np.random.default_rng(0), method.needs(problem))
            workspace = method.start(state)
            workspace.moves[:] = 9.0
            method.iterate(state, workspace)
            noted.append((workspace.moves, workspace.gaps, state.link))
        for one, other in zip(*noted, strict=True):
            assert_allclose(one, other, rtol=0, atol=1e-12)


def test_each_block_has_its_own_memory():
    """So the adaptive steps of Python are the compiled ones, with one estimate per block."""
    problem = Case(smoothing=0.1, weighted=True).problem()
    runs = [
        fwlab.solve(problem, fwlab.BlockFrankWolfe(step=step), tol=0, max_iter=9)
        for step in ("adaptive", Adaptive())
    ]
    assert_allclose(runs[1].A, runs[0].A, rtol=0, atol=1e-11)


@each_name
def test_the_short_step_of_a_block_is_the_exact_one(name):
    problem = Case(smoothing=0.1, weighted=True).problem()
    runs = [
        fwlab.solve(problem, CLASSES[name](step=step), tol=0, max_iter=4).A
        for step in ("exact", "short", Short())
    ]
    assert np.array_equal(runs[0], runs[1])
    assert_allclose(runs[2], runs[0], rtol=0, atol=1e-11)


def test_open_loop_steps_count_the_passes():
    """2n / (k + 2n) at the first step k of a pass (Lacoste-Julien et al. 2013); it converges."""
    problem = Case().problem()
    gaps = [
        fwlab.solve(problem, "bcfw", step="open-loop", tol=0, max_iter=count).gap
        for count in (5, 50, 500)
    ]
    assert gaps[1] < 0.3 * gaps[0] and gaps[2] < 0.3 * gaps[1]


@each_name
def test_a_step_outside_is_named_as_for_whole_directions(name):
    problem = Case().problem()
    for step, error in ((np.nan, "nan"), (-0.5, "-0.5"), (1.5, "1.5")):
        sentences = []
        for method in (fwlab.FrankWolfe, CLASSES[name]):
            with pytest.raises(ValueError, match=rf"returned {error}\.$") as caught:
                fwlab.solve(problem, method(step=Given(step)))
            sentences.append(str(caught.value))
        assert sentences[0] == sentences[1]
    with pytest.raises(TypeError, match=r"step must be a number; .* returned 'far'"):
        fwlab.solve(problem, CLASSES[name](step=Given("far")))


@each_name
def test_names_and_sentences(name):
    method = CLASSES[name](step=fwlab.OpenLoop())
    assert isinstance(method, BlockStepMethod) and not method.monotone
    assert method.sentence.endswith("with the step 2/(t+1), t = 1, 2, ..")
    assert "step=OpenLoop" in repr(method) and "rule" not in repr(method)
    assert CLASSES[name]().sentence == fwlab.methods()[name]
    with pytest.raises(ValueError, match=r"step must be one of exact, .* got 'long'"):
        CLASSES[name](step="long")


@each_name
def test_visitors_pass_the_trial(name):
    fwlab.testing.check_method(CLASSES[name](step=Own(0.5)))
