"""fwlab.testing.check_loss: losses that pass, and planted mistakes that it names."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from guest import losses
from guest.losses import OrderedL1, RelativeMargin, Staircase, WestonWatkins

import fwlab
from fwlab.testing import check_loss
from fwlab.testing.domain_checks import separation
from fwlab.testing.loss_checks import convexity, fenchel_young, subgradients
from fwlab.testing.shrinking import Contradiction, Inputs
from fwlab.testing.tried_loss import TriedLoss

CALLS = [0]


@dataclass(frozen=True)
class Weights(fwlab.Loss):
    """Any two weight vectors."""

    upper: tuple[float, ...]
    lower: tuple[float, ...]

    def polytope_weights(self, m):
        return np.array(self.upper), np.array(self.lower)


@pytest.mark.turns
@pytest.mark.parametrize("m", [2, 3, 6])
@pytest.mark.parametrize(
    "loss",
    [WestonWatkins(), RelativeMargin(), OrderedL1(), Staircase(), fwlab.TopK(2), fwlab.Usunier(2)],
    ids=repr,
)
def test_examples_pass(loss, m):
    check_loss(loss, m)


@pytest.mark.turns
@pytest.mark.parametrize("seed", range(12))
def test_any_two_weight_vectors_of_the_family_pass(seed):
    """Non-increasing, upper >= lower >= 0, with ties and zeros; linear programs judge m <= 7."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 7))
    draw = rng.integers(0, 4, (2, m - 1)) / 2 if seed % 2 else rng.random((2, m - 1))
    draw[0, 0] += 0.5
    lower, upper = np.sort(np.sort(draw, axis=1)[:, ::-1], axis=0)
    loss = Weights(tuple(upper), tuple(lower))
    check_loss(loss, m, rng=seed)
    vertices = loss.vertices(m, 0)
    gradients = rng.standard_normal((50, m))
    lowest = np.einsum("ij,ij->i", gradients, loss.lmo(gradients, np.zeros(50, int)))
    # the same minimum, of which either side rounds sums of m products
    bound = 4 * m * 2.0**-52 * np.abs(gradients).sum(axis=1) * upper.sum()
    assert (np.abs(lowest - (gradients @ vertices.T).min(axis=1)) <= bound).all()


@pytest.mark.turns
@pytest.mark.parametrize("method", ["fw", "bafw", "bcpfw", "ascent", "newton"])
def test_compiled_methods_solve_a_loss_with_general_weights(method):
    rng = np.random.default_rng(0)
    problem = fwlab.Problem(rng.normal(size=(20, 4)), np.arange(20) % 5, Staircase(), 0.05, 0.1)
    best = fwlab.solve(problem, "ascent", tol=1e-9)
    found = fwlab.solve(problem, method, tol=1e-3)
    assert best.success and found.success
    assert found.dual <= best.primal and best.dual <= found.primal


def test_outside_and_inside_the_family_weston_watkins_is_one_loss():
    rng = np.random.default_rng(0)
    X, y, m = rng.normal(size=(30, 4)), np.arange(30) % 3, 3
    family = fwlab.Problem(X, y, fwlab.WeightedUsunier(np.ones(m - 1)), 0.1)
    outside = fwlab.Problem(X, y, WestonWatkins(), 0.1)
    best = fwlab.solve(family, "ascent", tol=1e-9)
    for method in ("fw", "afw", "pfw", "subgradient"):
        found = fwlab.solve(outside, method, tol=1e-2, max_iter=2000)
        assert found.success and found.dual <= best.primal and best.dual <= found.primal


# ---------------------------------------------------------------- planted mistakes


class WrongShape(WestonWatkins):
    def value(self, scores, y):
        return super().value(scores, y)[:, None]


class NotFinite(WestonWatkins):
    def lmo(self, gradient, y):
        return super().lmo(gradient, y) * np.where(gradient == 1.0, np.nan, 1.0)


class ChangesItsArgument(WestonWatkins):
    def value(self, scores, y):
        scores -= scores[np.arange(len(y)), y][:, None]
        return super().value(scores, y)


class ChangesLabels(WestonWatkins):
    def lmo(self, gradient, y):
        found = super().lmo(gradient, y)
        y[:] = 0
        return found


class Maximises(WestonWatkins):
    def lmo(self, gradient, y):
        return super().lmo(-gradient, y)


class ForgetsAClass(RelativeMargin):
    def lmo(self, gradient, y):
        last = np.arange(gradient.shape[1]) == gradient.shape[1] - 1
        return super().lmo(np.where(last, -100.0, gradient), y)


class OtherValue(WestonWatkins):
    def value(self, scores, y):
        return super().value(scores, y) / scores.shape[1]


class NotConvex(WestonWatkins):
    def value(self, scores, y):
        return np.minimum(super().value(scores, y), 50.0)


class RowsTogether(WestonWatkins):
    def value(self, scores, y):
        return super().value(scores - scores.max(), y) + scores.max() - scores.max(axis=1)


class Random(WestonWatkins):
    def value(self, scores, y):
        CALLS[0] += 1
        return super().value(scores, y) + CALLS[0] % 2


class Rejects(WestonWatkins):
    def contains(self, v, y):
        return super().contains(v, y) & (v.max(axis=1) < 0.99)


class Accepts(RelativeMargin):
    def contains(self, v, y):
        return abs(v.sum(axis=1)) <= 1e-9


class NotNearest(RelativeMargin):
    def project(self, c, y):
        return super().project(c / 2, y)


class Infeasible(RelativeMargin):
    def project(self, c, y):
        return super().project(c, y) * (1 + 1e-8)


class Overshoots(RelativeMargin):
    def project(self, c, y):
        p = super().project(c, y)
        inside_a_face = (p < 0).sum(axis=1, keepdims=True) > 2
        return p + 1e-9 * (c - p) * inside_a_face


class Unmoved(RelativeMargin):
    def project(self, c, y):
        return c


class WrongInequalities(WestonWatkins):
    def inequalities(self, m, y):
        M, b = super().inequalities(m, y)
        return M, b + (b == 1.0)


class Unbounded(WestonWatkins):
    def inequalities(self, m, y):
        M, b = super().inequalities(m, y)
        return M[m - 1 :], b[m - 1 :]


class Fails(WestonWatkins):
    def value(self, scores, y):
        return super().value(scores, y)[np.arange(5)]


PLANTED = {
    WrongShape: (
        r"value of WrongShape must return numbers of shape \(1,\); got ndarray of shape \(1, 1\)",
        "scores = [[0, 0]], y = [0]",
    ),
    NotFinite: (
        r"lmo of NotFinite must return finite numbers; got nan in row 0",
        "scores = [[1, 0]], y = [0]",
    ),
    ChangesItsArgument: (
        r"value of ChangesItsArgument changes its argument scores: it was .* and is .* after",
        "scores = [[0, -1]], y = [1]",
    ),
    ChangesLabels: (
        r"lmo of ChangesLabels changes its argument y: it was \[1\], and is \[0\]",
        "scores = [[0, 0]], y = [1]",
    ),
    Maximises: (
        r"lmo of Maximises must minimise <gradient, u> \(it maximises\): for row 0 with label 0 it "
        r"returns .* with product 1, but its point .* has product 0",
        "gradient = [[0, -1]], other = [[0, 0]], y = [0]",
    ),
    ForgetsAClass: (
        r"value of ForgetsAClass contradicts its lmo: .* the value is 2, but .* is 1 at .* \(lmo "
        r"misses a point of the domain: for this label none has an entry at class 2",
        "scores = [[0, 0, 1]], y = [0]",
    ),
    OtherValue: (
        r"value of OtherValue contradicts its lmo: .* is 0.5, but .* is 1 at .* \(value misses",
        "scores = [[0, 0]], y = [0]",
    ),
    RowsTogether: (
        r"value of RowsTogether depends on other rows: row 0 with label 0 gives 1. alone, but 2. a",
        "scores = [[0, 0], [0, 1]], y = [0, 0]",
    ),
    Random: (
        r"value of Random answers differently when it is asked again: row 0 is",
        "scores = [[0, 0]], y = [0]",
    ),
    Rejects: (
        r"contains of Rejects rejects a point of the domain: .* it says False of v = .* a vertex",
        "g = [[0, 1]], h = [[0, 0]], y = [0]",
    ),
    Accepts: (
        r"contains of Accepts accepts a point outside the domain: .* it says True of v = \[",
        "gradient = [[-1, 0, 0]]",
    ),
    NotNearest: (
        r"project of NotNearest is not the nearest point: .* <c - p, u - p> is 0.125, more than 0",
        "c = [[0, 1, 0]], y = [0]",
    ),
    Infeasible: (
        r"project of Infeasible .*: for row 0 with label 0 it returns p = ",
        "c = [[0, 0]], y = [0]",
    ),
    Unmoved: (
        r"project of Unmoved leaves the domain: for row 0 with label 0 it returns p = ",
        "c = [[0, 0]], y = [0]",
    ),
    WrongInequalities: (
        r"lmo of WrongInequalities contradicts the inequalities: .* <gradient, lmo> is -1, but the "
        r"linear program has the minimum -2",
        "gradient = [[0, -1]], y = [1]",
    ),
    Unbounded: (
        r"the inequalities of Unbounded describe no bounded domain",
        "gradient = [[0, -1]], y = [0]",
    ),
    Fails: (
        r"value of Fails raises IndexError: index 1 is out of bounds",
        "scores = [[0, 0, 0]], y = [0]",
    ),
}


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.__name__)
def test_mistakes_are_named_with_a_small_input(planted):
    sentence, smallest = PLANTED[planted]
    with pytest.raises(AssertionError, match=f"(?s){sentence}") as found:
        check_loss(planted(), 3)
    assert smallest in str(found.value).splitlines()[-1]
    with pytest.raises(AssertionError) as again:
        check_loss(planted(), 3)
    assert str(again.value) == str(found.value)


def test_a_projection_that_stops_short_of_a_face_is_seen():
    """No few Frank-Wolfe steps separate a point this near to the inside of a face."""
    with pytest.raises(AssertionError, match=r"project of Overshoots leaves the domain: for row 0"):
        check_loss(Overshoots(), 6)


@pytest.mark.parametrize("check", [convexity, subgradients, fenchel_young])
def test_a_value_that_is_not_convex_meets_three_checks(check):
    """value_against_lmo, which comes before them, would report it first."""
    rng = np.random.default_rng(0)
    names = ("scores", "g", "h") if check is fenchel_young else ("s", "t")
    inputs = Inputs(np.arange(30) % 3, {n: 100 * rng.standard_normal((30, 3)) for n in names})
    check(TriedLoss(WestonWatkins(), 2.0**-52), inputs)
    with pytest.raises(Contradiction, match="of NotConvex"):
        check(TriedLoss(NotConvex(), 2.0**-52), inputs)


@pytest.mark.parametrize(
    ("upper", "lower", "sentence"),
    [
        ((1.0, 2.0), (0.0, 0.0), "upper in polytope_weights of Weights must be non-increasing"),
        ((1.0, 1.0), (0.5, 1.0), "lower in polytope_weights of Weights must be non-increasing"),
        ((1.0, 0.5), (1.0, 1.0), "must be at most upper; got 1.0 and 0.5 at entry 1"),
        ((1.0, 0.5), (0.0, -0.5), "must be non-negative; got -0.5"),
        ((0.0, 0.0), (0.0, 0.0), "must not be all zero"),
        ((1.0,), (1.0, 1.0), "must have m - 1 = 2 entries; got 1"),
    ],
)
def test_other_weights_are_refused_at_the_door(upper, lower, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_loss(Weights(upper, lower), 3)


def test_bad_arguments_are_one_sentence():
    with pytest.raises(TypeError, match=r"loss must be a fwlab.Loss or a fwlab.PolytopeLoss; got"):
        check_loss(losses.WestonWatkins, 3)
    with pytest.raises(ValueError, match="m must be"):
        check_loss(WestonWatkins(), 1)


@pytest.mark.small
def test_the_separation_from_a_segment_by_hand():
    """The segment from (-1, 0) to (1, 0) is 1 below (0, 1); no gradient of an end shows it."""
    tried = SimpleNamespace(lmo=lambda gradient, _: np.where(gradient > 0, [-1.0, 0.0], [1.0, 0.0]))
    assert separation(tried, np.array([[0.0, 1.0]]), np.zeros(1, dtype=int)) == 1.0


@pytest.mark.small
def test_a_row_with_a_large_slack_hides_no_other_row():
    """-|s_0| is not convex; scores of 1e20 round by more than the excess of the first row."""
    tried = SimpleNamespace(
        name="Roof",
        value=lambda scores, _: -np.abs(scores[:, 0]),
        lmo=lambda gradient, _: np.ones_like(gradient),
        costs=lambda y, m: np.zeros((len(y), m)),
        rounding=lambda m, sizes: 1e-15 * sizes,
    )
    points = {"s": np.array([[1.0, 0.0], [1e20, 0.0]]), "t": np.array([[-1.0, 0.0], [1e20, 0.0]])}
    with pytest.raises(Contradiction, match="not convex: for row 0"):
        convexity(tried, Inputs(np.zeros(2, dtype=int), points))
