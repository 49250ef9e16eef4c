"""Check `value`, `lmo` and costs of a loss; each check raises a Contradiction.

With u = lmo(s + delta), a point of the negated domain,

    Phi(s) = -<s + delta, u>  >=  -<s + delta, u'>  for every other point u' of it,

and -u is a subgradient of Phi at s.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fwlab.arrays import Floats
from fwlab.testing.shrinking import Contradiction, Inputs
from fwlab.testing.tried_loss import TriedLoss, text


@dataclass(frozen=True)
class LossCheck:
    """A check and the names of the points (n, m) that it draws."""

    run: Callable[[TriedLoss, Inputs], None]
    draws: tuple[str, ...]


def products(left: Floats, right: Floats) -> Floats:
    """Return <row of left, row of right>, (n,)."""
    return np.asarray(np.einsum("ij,ij->i", left, right))


def answers(tried: TriedLoss, inputs: Inputs) -> None:
    """Check that costs, value and lmo return proper arrays and change no argument."""
    points, y = inputs.points["scores"], inputs.y
    tried.costs(y, inputs.n_classes)
    tried.value(points, y)
    tried.lmo(points, y)


def rows_alone(tried: TriedLoss, inputs: Inputs) -> None:
    """Compare the answers for each row in a batch with the answers for the row alone."""
    scores, y = inputs.points["scores"], inputs.y
    delta = tried.costs(y, inputs.n_classes)
    values, vertices = tried.value(scores, y), tried.lmo(scores, y)
    for i in range(len(y)):
        row = slice(i, i + 1)
        alone = {
            "costs": (delta[row], tried.costs(y[row], inputs.n_classes)),
            "value": (values[row], tried.value(scores[row], y[row])),
        }
        u = tried.lmo(scores[row], y[row])
        # another minimiser is as good
        alone["<gradient, lmo>"] = products(scores[row], vertices[row]), products(scores[row], u)
        slack = _slack(tried, scores[row], delta[row], u, vertices[row])
        for name, (among, single) in alone.items():
            if (np.abs(among - single) > slack + tried.rounding(1, np.abs(single))).any():
                raise Contradiction(
                    f"rows {name}",
                    f"{name} of {tried.name} depends on other rows: row {i} with label {y[i]} "
                    f"gives {text(single[0])} alone, but {text(among[0])} among these rows.",
                )


def lmo_is_lowest(tried: TriedLoss, inputs: Inputs) -> None:
    """Compare the points that lmo returns at two gradients and their negatives."""
    gradient, y = inputs.points["gradient"], inputs.y
    u, others = tried.lmo(gradient, y), inputs.points["other"]
    for other in (others, -gradient):
        w = tried.lmo(other, y)
        slack = _slack(tried, gradient, 0 * gradient, u, w)
        excess = products(gradient, u) - products(gradient, w)
        i = int(np.argmax(excess - slack))
        if excess[i] > slack[i]:
            highest = " (it maximises)" if _maximises(tried, inputs) else ""
            raise Contradiction(
                "lowest",
                f"lmo of {tried.name} must minimise <gradient, u>{highest}: for row {i} with label "
                f"{y[i]} it returns {text(u[i])} with product {products(gradient, u)[i]:.10g}, but "
                f"its point {text(w[i])} for the gradient {text(other[i])} has product "
                f"{products(gradient, w)[i]:.10g}.",
            )


def value_against_lmo(tried: TriedLoss, inputs: Inputs) -> None:
    """Compare value with -<s + delta, u> at lmo's point u."""
    scores, y = inputs.points["scores"], inputs.y
    delta = tried.costs(y, inputs.n_classes)
    value, u = tried.value(scores, y), tried.lmo(scores + delta, y)
    attained, slack = -products(scores + delta, u), _slack(tried, scores, delta, u)
    slack += tried.rounding(inputs.n_classes, np.abs(value))
    difference = value - attained
    i = int(np.argmax(np.abs(difference) - slack))
    if abs(difference[i]) <= slack[i]:
        return
    above = difference[i] > 0
    who = "lmo" if above else "value"
    forgotten = _classes_without_entry(tried, int(y[i]), inputs.n_classes) if above else []
    more = f": for this label none has an entry at class {forgotten[0]}" if forgotten else ""
    raise Contradiction(
        f"value above {above}",
        f"value of {tried.name} contradicts its lmo: for row {i} with label {y[i]} the value is "
        f"{value[i]:.10g}, but -<scores + delta, u> is {attained[i]:.10g} at lmo's point "
        f"u = {text(u[i])}, with delta = {text(delta[i])} ({who} misses a point of the domain"
        f"{more}, or they belong to two losses).",
    )


def convexity(tried: TriedLoss, inputs: Inputs) -> None:
    """Compare the value halfway between two points with the mean of their values."""
    (s, t), y = inputs.points.values(), inputs.y
    middle = tried.value((s + t) / 2, y)
    mean = (tried.value(s, y) + tried.value(t, y)) / 2
    delta = tried.costs(y, inputs.n_classes)
    u, w = tried.lmo(s + delta, y), tried.lmo(t + delta, y)
    slack = _slack(tried, np.abs(s) + np.abs(t), delta, u, w)
    i = int(np.argmax(middle - mean - slack))
    if middle[i] - mean[i] > slack[i]:
        raise Contradiction(
            "convexity",
            f"value of {tried.name} is not convex: for row {i} with label {y[i]} it is "
            f"{middle[i]:.10g} halfway between two points, more than {mean[i]:.10g}, the mean of "
            f"its values there.",
        )


def subgradients(tried: TriedLoss, inputs: Inputs) -> None:
    """Compare the value at t with the tangent at s, whose slope is minus lmo's point."""
    (s, t), y = inputs.points.values(), inputs.y
    delta = tried.costs(y, inputs.n_classes)
    u = tried.lmo(s + delta, y)
    tangent, value = tried.value(s, y) - products(u, t - s), tried.value(t, y)
    slack = _slack(tried, np.abs(s) + np.abs(t), delta, u, tried.lmo(t + delta, y))
    i = int(np.argmax(tangent - value - slack))
    if tangent[i] - value[i] > slack[i]:
        raise Contradiction(
            "subgradient",
            f"-lmo(s + delta) of {tried.name} is no subgradient at s: for row {i} with label "
            f"{y[i]} and lmo's point {text(u[i])} the tangent is {tangent[i]:.10g} at t, above "
            f"the value {value[i]:.10g}.",
        )


def fenchel_young(tried: TriedLoss, inputs: Inputs) -> None:
    """Compare the value with what points of the domain attain, vertices and combinations."""
    scores, y = inputs.points["scores"], inputs.y
    delta, value = tried.costs(y, inputs.n_classes), tried.value(scores, y)
    first, second = (tried.lmo(inputs.points[name], y) for name in ("g", "h"))
    for share in (1.0, 0.25):
        u = share * first + (1 - share) * second
        attained, slack = -products(scores + delta, u), _slack(tried, scores, delta, first, second)
        slack += tried.rounding(inputs.n_classes, np.abs(value))
        i = int(np.argmax(attained - value - slack))
        if attained[i] - value[i] > slack[i]:
            raise Contradiction(
                "fenchel",
                f"value of {tried.name} contradicts a point of its domain: for row {i} with label "
                f"{y[i]} it is {value[i]:.10g}, below {attained[i]:.10g}, which is "
                f"-<scores + delta, u> at u = {text(u[i])}, made of lmo's points at g and h.",
            )


VALUE_CHECKS = (
    LossCheck(answers, ("scores",)),
    LossCheck(rows_alone, ("scores",)),
    LossCheck(lmo_is_lowest, ("gradient", "other")),
    LossCheck(value_against_lmo, ("scores",)),
    LossCheck(convexity, ("s", "t")),
    LossCheck(subgradients, ("s", "t")),
    LossCheck(fenchel_young, ("scores", "g", "h")),
)


def _slack(tried: TriedLoss, points: Floats, delta: Floats, *vertices: Floats) -> Floats:
    """Return the rounding errors of sums of (point + delta) times entries of the vertices, (n,)."""
    largest = np.max([np.abs(u).max(axis=1) for u in vertices], axis=0)
    sizes = (np.abs(points) + np.abs(delta)).sum(axis=1)
    return tried.rounding(points.shape[1], largest * sizes)


def _maximises(tried: TriedLoss, inputs: Inputs) -> bool:
    """Return whether no point of lmo has a larger product than the one it returns."""
    gradient, y = inputs.points["gradient"], inputs.y
    product = products(gradient, tried.lmo(gradient, y))
    pool = [tried.lmo(g, y) for g in (-gradient, inputs.points["other"])]
    return bool(all((products(gradient, u) <= product).all() for u in pool))


def _classes_without_entry(tried: TriedLoss, y: int, m: int) -> list[int]:
    """Return the classes at which no vertex of a label has an entry."""
    gradients = np.vstack([np.eye(m), -np.eye(m)])
    touched = np.abs(tried.lmo(gradients, np.full(2 * m, y))).max(axis=0)
    return [int(j) for j in np.flatnonzero(touched == 0.0)]
