"""fwlab.testing.check_method: methods that pass, and planted mistakes that it names."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from guest.methods import Blend, Damped, DampedFrankWolfe

import fwlab
from fwlab.testing import check_method

LARGEST = {"n": 0}


@pytest.mark.turns
@pytest.mark.parametrize(
    "method",
    [
        DampedFrankWolfe(),
        Blend(),
        fwlab.Pairwise(step=Damped()),
        fwlab.AwayStep(step="short"),
        fwlab.FrankWolfe(step="adaptive"),
        fwlab.FrankWolfe(step=fwlab.OpenLoop("log")),
    ],
    ids=repr,
)
def test_methods_of_visitors_pass(method):
    check_method(method)


@pytest.mark.turns
@pytest.mark.parametrize("name", [n for n in fwlab.methods() if n not in ("fw", "afw", "pfw")])
def test_methods_of_fwlab_pass(name):
    check_method(name)


# ---------------------------------------------------------------- planted mistakes


class AboveItsLimit(fwlab.StepRule):
    def __call__(self, direction, memory):
        return 1.5 * direction.limit


class Counts(fwlab.StepRule):
    """A step rule that keeps its memory in itself."""

    def __init__(self):
        self.calls = 0

    def __call__(self, direction, memory):
        self.calls += 1
        return direction.limit / (1.0 + self.calls)


class Leaves(Blend):
    def iterate(self, state, workspace):
        super().iterate(state, workspace)
        state.A *= 1.25
        state.refresh()


class LeavesIdleRows(Blend):
    """It treats samples without weight like all others."""

    def iterate(self, state, workspace):
        super().iterate(state, workspace)
        idle = state.problem.sample_weight == 0
        state.A[idle] = 0.25 * (1.0 - 2.0 * np.eye(state.A.shape[1])[state.problem.y[idle]])
        state.refresh()


class OwnRandom(Blend):
    """It draws from a generator that is not the run's."""

    def iterate(self, state, workspace):
        if np.random.default_rng().random() < 0.5:
            super().iterate(state, workspace)


class LinkBehind(Blend):
    def iterate(self, state, workspace):
        link, scores = state.link.copy(), state.scores.copy()
        super().iterate(state, workspace)
        state.link, state.scores = link, scores


class ScoresBehind(Blend):
    def iterate(self, state, workspace):
        scores = state.scores.copy()
        super().iterate(state, workspace)
        state.scores = scores


class FallingDual(Blend):
    """Its open-loop steps are no line search."""

    monotone = True


class NotANumber(Blend):
    def iterate(self, state, workspace):
        state.A[0] = np.nan


class OtherArray(Blend):
    def iterate(self, state, workspace):
        state.A = state.A.astype(np.float32)


class CountsBackwards(Blend):
    def iterate(self, state, workspace):
        super().iterate(state, workspace)
        state.n_steps = -state.n_steps


class RefusesOddly(Blend):
    def refuses(self, problem):
        return False


class RefusesAll(Blend):
    def refuses(self, problem):
        return "it takes nothing."


class NoSentence(Blend):
    sentence = None


class Fails(Blend):
    def iterate(self, state, workspace):
        raise KeyError("a")


@dataclass(frozen=True)
class Remembers(Blend):
    """A frozen dataclass whose list is not frozen."""

    seen: list = field(default_factory=list, hash=False)

    def iterate(self, state, workspace):
        self.seen.append(1)
        super().iterate(state, workspace)


class Learns(Blend):
    """It remembers other problems, but not in its options."""

    def iterate(self, state, workspace):
        LARGEST["n"] = max(LARGEST["n"], state.problem.n_samples)
        if LARGEST["n"] < 6:
            super().iterate(state, workspace)


class OnlyFamily(Blend):
    """It says that it takes any loss, and calls compiled functions of the family."""

    def iterate(self, state, workspace):
        assert state.problem.row_polytopes
        super().iterate(state, workspace)


PLANTED = {
    "a step above its limit": (
        fwlab.FrankWolfe(step=AboveItsLimit()),
        r"raises ValueError: step must be in \[0, 1\], .* iteration 0; the step rule AboveItsLimit",
    ),
    "a step rule with state": (fwlab.FrankWolfe(step=Counts()), r"a run changes the options of Fr"),
    "infeasible": (
        Leaves(),
        r"state.A leaves the domain at iteration \d+: row 0 with label 0, .*, is "
        r"\[ 1.\d+, -1.\d+\]; the nearest feasible row is \[ 1., -1.\]",
    ),
    "infeasible without weight": (
        LeavesIdleRows(),
        r"row 1 of state.A must be 0, as its sample has no weight; it is .*sample_weight=\[1, 0",
    ),
    "own random numbers": (OwnRandom(), r"two runs from the seed 0 differ at iteration \d+: row 0"),
    "a link behind": (
        LinkBehind(),
        r"state.link does not follow A at iteration 1: row 0 is \[0.\], and recomputed \[",
    ),
    "scores behind": (ScoresBehind(), r"state.scores does not follow A at iteration 1: row 0 is"),
    "a falling dual": (
        FallingDual(share=1.0),
        r"the dual falls from \S+ to \S+ at iteration \d+, but the method says that it is monotone",
    ),
    "NaN": (NotANumber(), r"row 0 of state.A must be finite; it is \[nan, nan\] at iteration 1"),
    "another array": (OtherArray(), r"must stay an array \(1, 2\) of float64; it is .* float32"),
    "counters": (CountsBackwards(), r"state.n_steps falls from 0 to -1 at iteration 1"),
    "an odd answer": (RefusesOddly(), r"refuses of RefusesOddly.* or None; got False"),
    "takes nothing": (RefusesAll(), r"RefusesAll.* refuses all problems"),
    "no sentence": (NoSentence(), r"sentence of NoSentence.* must be a str; got None"),
    "an exception": (Fails(), r"a run of Fails\(share=0.5\) raises KeyError: 'a'"),
    "a list": (Remembers(), r"a run changes the options of Remembers"),
    "memory of other problems": (Learns(), r"Learns.* gives another result after runs on other pr"),
    "a loss outside the family": (
        OnlyFamily(),
        r"raises TypeError: loss must be a fwlab.Loss here",
    ),
}


@pytest.mark.turns
@pytest.mark.parametrize("name", PLANTED)
def test_mistakes_are_named_with_the_smallest_problem(name, monkeypatch):
    monkeypatch.setitem(LARGEST, "n", 0)
    method, sentence = PLANTED[name]
    with pytest.raises(AssertionError, match=f"(?s){sentence}") as found:
        check_method(method)
    last = str(found.value).splitlines()[-1]
    if last.startswith("The smallest problem found"):
        classes = (
            3 if "the dual falls" in str(found.value) or "no weight" in str(found.value) else 2
        )
        assert f"n_classes={classes}" in last and "rng=0" in last


class LinkBehindForFourClasses(Blend):
    def iterate(self, state, workspace):
        link = state.link.copy()
        super().iterate(state, workspace)
        if state.A.shape[1] == 4:
            state.link = link


def test_a_mistake_of_large_problems_is_shown_on_a_small_one():
    with pytest.raises(AssertionError, match=r"X=\[\[-?\d\]\], y=\[\d\], lam=0.25, n_classes=4"):
        check_method(LinkBehindForFourClasses())


def test_a_negative_gap_is_seen(monkeypatch):
    """The certificate of a wrong objective."""
    plain = fwlab.Problem.objective
    monkeypatch.setattr(fwlab.Problem, "objective", lambda *a: plain(*a) - 1.0)
    with pytest.raises(
        AssertionError, match=r"the gap is \S+ at iteration \d+, below 0 by more th"
    ):
        check_method(Blend())


def test_bad_arguments_are_one_sentence():
    with pytest.raises(ValueError, match=r"method must be one of .*, or a fwlab.Method; got"):
        check_method(Blend)
