"""Compute the cross-entropy of scores and its gradient, on any device.

With the margins z_j = s_j - s_y, a shift c >= 0, e_j = exp(z_j - c) and rest the sum of e_j over
the classes j != y,

    log sum_j exp(s_j - s_y) = c + log(rest + e_y)    if c > 0,    log(1 + rest)    if c = 0,
    a_j = -e_j / (rest + e_y),  j != y,               a_y = rest / (rest + e_y).

c is 0 unless a margin is above MOST, and then the largest margin, so that nothing overflows; in
float32 the limit is MOST_SINGLE. The
loss and the dual row a = e_y - p of a sample that is almost certain keep all their digits, because
1 - p_y is never computed as a difference.

With the largest score s_b, z_j = s_j - s_b and rest the sum of exp(z_j) over the classes j != b,

    log p_j = z_j - log(1 + rest).

The functions follow the array API standard, so that they take tensors of other libraries, too.
"""

from typing import Any

from fwlab.arrays import namespace_of, with_entries

# exp of them is 10^217 and 10^28, far from the largest numbers
MOST, MOST_SINGLE = 500.0, 64.0


def cross_entropies(scores: Any, y: Any) -> tuple[Any, Any]:
    """Return the losses (n,) and minus their gradients (n, m) at scores (n, m), labels y (n,)."""
    xp = namespace_of(scores)
    n, m = scores.shape
    rows = xp.arange(n, device=scores.device)
    margins = scores - scores[rows, y][:, None]
    shift = xp.zeros(n, dtype=scores.dtype, device=scores.device)
    most = MOST if scores.dtype == xp.float64 else MOST_SINGLE
    if n and xp.max(margins) > most:
        largest = xp.max(margins, axis=1)
        shift = xp.where(largest > most, largest, shift)
        margins -= shift[:, None]
    margins = with_entries(margins, y, -xp.inf)
    duals = xp.exp(margins)
    rest = duals @ xp.ones(m, dtype=scores.dtype, device=scores.device)
    total = rest + xp.exp(-shift)
    losses = xp.where(shift > 0, shift + xp.log(total), xp.log1p(rest))
    duals *= (-1.0 / total)[:, None]
    return losses, with_entries(duals, y, rest / total)


def log_probabilities(scores: Any) -> Any:
    """Return the logarithms of the probabilities (n, m) at scores (n, m).

    The largest one keeps all its digits, because 1 - p is never computed as a difference.
    """
    xp = namespace_of(scores)
    rows, best = xp.arange(scores.shape[0], device=scores.device), xp.argmax(scores, axis=1)
    logs = scores - scores[rows, best][:, None]
    others = with_entries(xp.exp(logs), best, 0.0)
    return logs - xp.log1p(xp.sum(others, axis=1))[:, None]
