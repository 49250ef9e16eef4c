"""Compute the cross-entropy of scores and its gradient, on any device.

With the margins z_j = s_j - s_y, their maximum z (at least 0, as z_y = 0), e_j = exp(z_j - z) and
rest = the sum of e_j over the classes j != y,

    log sum_j exp(s_j - s_y) = z + log(rest + e_y)    if z > 0,    log(1 + rest)    if z = 0,
    a_j = -e_j / (rest + e_y),  j != y,               a_y = rest / (rest + e_y).

No exponent is positive and rest + e_y is at least 1, so nothing overflows. The loss and the dual
row a = e_y - p of a sample that is almost certain keep all their digits, because 1 - p_y is never
computed as a difference.

The functions take arrays of any library that follows the array API standard.
"""

from typing import Any


def cross_entropies(scores: Any, y: Any) -> tuple[Any, Any]:
    """Return the losses (n,) and minus their gradients (n, m) at scores (n, m), labels y (n,)."""
    xp = scores.__array_namespace__()
    classes = xp.arange(scores.shape[1], dtype=y.dtype, device=y.device)
    is_label = classes[None, :] == y[:, None]
    margins = scores - xp.take_along_axis(scores, y[:, None], axis=1)
    largest = xp.max(margins, axis=1, keepdims=True)
    margins -= largest
    rest = xp.exp(margins)
    rest[is_label] = 0.0
    others, label = xp.sum(rest, axis=1, keepdims=True), xp.exp(-largest)
    total = others + label
    losses = xp.where(largest > 0, largest + xp.log(total), xp.log1p(others))
    rest /= -total
    rest[is_label] = (others / total)[:, 0]
    return losses[:, 0], rest
