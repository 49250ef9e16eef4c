"""Compute the top-k entropy loss of scores and its gradient, on any device.

With the margins h_j = s_j - s_y of the m - 1 classes j != y, let B be the maximum of

    <h, z> + H(z),    H(z) = -sum_j z_j log z_j,    over    sum_j z_j = 1,  0 <= z_j <= 1/k.

A multiplier for the sum gives z_j = min(1/k, exp(h_j - theta)). With g_j = h_j - h_[k], the margins
less the k-th largest, e_j = exp(g_j), and K = exp(theta - h_[k]) / k, this is

    z_j = min(e_j, K) / (k K),    k K = sum_j min(e_j, K).

Let E_c be the sum of the e_j without the c largest ones. If c classes are at the bound, then
K = E_c / (k - c). This quotient falls in c as long as the next entry exceeds it, and never falls
after that, so that

    K = min over c < k of E_c / (k - c).

Fewer than k classes are at the bound, since e_[k] <= E_{k-1}. As k - c entries of E_c are at least
1, K lies between 1 and m. Therefore an entry far above m counts as exp(MOST), in float32 as
exp(MOST_SINGLE). K depends on each e_j
by at most a factor of its own change, so that it has the digits of a sum of exponentials. Put into
the objective,

    B = h_[k] + log k + log K + (1/k) sum_j max(0, g_j - log K).

The conjugate at v = b - t e_y with t = sum_j b_j <= 1 and 0 <= b_j <= t/k is
sum_j b_j log b_j + (1 - t) log(1 - t). With b = t z the loss is the maximum over t of
t B - t log t - (1 - t) log(1 - t), which is

    Phi = log(1 + exp(B)) = max(B, 0) + log(1 + exp(-|B|)),    t = 1 / (1 + exp(-B)).

The maximiser is unique, so Phi has the gradient v, with b = t z. It is Lipschitz with constant 1,
from the largest entry to the sum of sizes, because the negated entropy is strongly convex. For
k = 1 no bound is below 1 and B = log sum_j exp(h_j): fwlab.operators.softmax has that case.

The loss is the top-k entropy loss of Lapin, Hein and Schiele, "Loss functions for top-k error:
analysis and insights" (2016).
"""

from math import log
from typing import Any

import numpy as np

from fwlab.arrays import namespace_of
from fwlab.operators.softmax import MOST, MOST_SINGLE


def topk_entropies(scores: Any, y: Any, k: int) -> tuple[Any, Any]:
    """Return the losses (n,) and minus their gradients (n, m) at scores (n, m), labels y (n,).

    1 <= k < m.
    """
    xp = namespace_of(scores)
    m, device = scores.shape[1], scores.device
    labels = xp.arange(m, dtype=y.dtype, device=device)[None, :] == y[:, None]
    own = xp.sum(xp.where(labels, scores, 0.0), axis=1)
    margins = xp.where(labels, -xp.inf, scores - own[:, None])
    top = largest_entries(margins, k)
    least = top[:, 0]
    top, margins = top - least[:, None], margins - least[:, None]
    below, terms = margins < 0, _exponentials(margins)
    ones = xp.ones(m, dtype=scores.dtype, device=device)
    ties = xp.sum(xp.where(below, 0.0, ones), axis=1) - k  # with the k-th largest margin, after it
    others = xp.where(below, terms, 0.0) @ ones + ties
    level = cap_level(others, _exponentials(top))
    log_level = xp.log(level)
    mean = xp.sum(xp.clip(top - log_level[:, None], 0.0, None), axis=1) / k
    bound = least + (log(k) + log_level) + mean
    losses, share = _softplus(bound)
    probabilities = xp.minimum(terms, level[:, None]) * (share / (k * level))[:, None]
    return losses, xp.where(labels, share[:, None], -probabilities)


def largest_entries(rows: Any, k: int) -> Any:
    """Return a copy of the k largest entries of each row (n, m) in ascending order, (n, k)."""
    xp, m = namespace_of(rows), rows.shape[1]
    if xp is np:
        rows = xp.partition(rows, m - k, axis=1)[:, m - k :]
    return xp.sort(rows, axis=1)[:, -k:]


def largest_and_sum_of_others(rows: Any, k: int) -> tuple[Any, Any]:
    """Return `largest_entries`, and the sum of the other entries of each row, (n,)."""
    xp, m = namespace_of(rows), rows.shape[1]
    parted = xp.partition(rows, m - k, axis=1) if xp is np else xp.sort(rows, axis=1)
    return xp.sort(parted[:, m - k :], axis=1), xp.sum(parted[:, : m - k], axis=1)


def cap_level(others: Any, top: Any) -> Any:
    """Return the largest K with k K <= sum_j min(e_j, K), (n,), for rows of entries e_j >= 0.

    `top` (n, k) are the k largest entries in ascending order, `others` (n,) the sum of the others.
    """
    xp, total = namespace_of(others), others
    levels = None
    for count in range(1, top.shape[1] + 1):
        total = total + top[:, count - 1]
        levels = total if levels is None else xp.minimum(levels, total / count)
    return levels


def _exponentials(exponents: Any) -> Any:
    """Return exp of the exponents, or of MOST for larger ones."""
    xp = namespace_of(exponents)
    most = MOST if exponents.dtype == xp.float64 else MOST_SINGLE
    return xp.exp(xp.clip(exponents, None, most))


def _softplus(bound: Any) -> tuple[Any, Any]:
    """Return log(1 + exp(B)) and its derivative, (n,), for B (n,)."""
    xp = namespace_of(bound)
    small = xp.exp(-xp.abs(bound))
    losses = xp.clip(bound, 0.0, None) + xp.log1p(small)
    return losses, xp.where(bound > 0, 1.0, small) / (1.0 + small)
