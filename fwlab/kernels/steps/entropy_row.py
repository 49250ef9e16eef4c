"""Maximise the dual of the cross-entropy over one row, the others fixed.

With the shares q of the row, a = omega (e_y - q), its scores s, and kappa = omega |x|^2 / (lam n),
n times the dual rises by omega times

    <c, q> - kappa/2 |q|^2 - sum_j q_j log q_j,    c = s + kappa q_old,

up to a constant. At the maximiser over the simplex log q_j + kappa q_j = c_j - mu for every class.
Let b be the class with the largest c_j, which has the largest share, and t the sum of the others,
so that q_b = 1 - t keeps its digits. The equation of b gives

    nu(t) = kappa t - log(1 - t),    log q_j + kappa q_j = h_j - nu(t),    h_j = c_j - c_b + kappa,

and t solves t = sum of q_j over j != b.

Newton's method in all log q_j and t. With a guess p of the shares, e_j = exp(h_j - nu - kappa p_j),
w_j = 1 / (1 + kappa e_j) and nu' = kappa + 1 / (1 - t), it goes to

    q_j = e_j (1 + d_j),    d_j = w_j (kappa (p_j - e_j) - nu' (t_new - t)),
    t_new = (T + D nu' t) / (1 + D nu'),    T = sum_j e_j + e_j w_j kappa (p_j - e_j),
    D = sum_j e_j w_j,

whose sum is t_new. The first guess is the old row, so that e is the softmax of the scores. Let the
spread be the largest difference between two entries of the gradient c - kappa q - log q at the new
row. It is at most the square of the largest of |d_j| and |nu' (t_new - t)|, if that is at most 1/2,
because 0 >= log(1 + d) - d >= -d^2. The objective is strongly concave, with the constant 1 in the
norm |.|_1, and so it rises by

    |q - q_old|_1 (|q - q_old|_1 - spread) / 2

at least. The search ends when the spread is at most the part ENOUGH of |q - q_old|_1.

If this does not converge soon, because kappa is large and the row far from its maximiser, e is the
exact q(nu) of the second equation instead (`_shares_at`), with p = e: the sum T falls in t, and
Newton's method has a bracket. With u_j = kappa q_j, u_j + log u_j = h_j - nu + log kappa, which is
Wright's omega function.
"""

import math

from fwlab.kernels._jit import compiled
from fwlab.kernels.products.blocks import copy
from fwlab.kernels.steps.exponentials import exponentials

# a share of |q - q_old|_1: the row misses at most a 30th of the largest rise
ENOUGH = 0.3
# of a square d^2
LARGEST = 0.25
# of t, below which its changes are rounding
ROUNDING = 1e-15
# steps of Newton's method in all shares, and of the one in t
TRIES, MOST_STEPS = 8, 200
# below this, five terms of the series of Lambert's function are right to rounding
SERIES = -7.0
# the relative residual of omega that a step of fourth order leaves at rounding; most such steps
SMALL, CORRECTIONS = 5e-4, 8
# beyond this its first guess is right to rounding
ASYMPTOTIC = 1e16


@compiled(inline=True)
def lambert_series(z):
    """Return W(z) / z for Lambert's function at 0 <= z <= exp(SERIES)."""
    return 1.0 - z * (1.0 - z * (1.5 - z * (8.0 / 3.0 - z * (125.0 / 24.0))))


@compiled(inline=True)
def wright_omega(v):
    """Return the u with u + log u = v, for v >= SERIES   (Fritsch, Shafer and Crowley 1973)."""
    if v < 1.0:
        z = math.exp(v)
        u = z * (1.0 + 0.5 * z) / (1.0 + 1.5 * z)
    else:
        log = math.log(v)
        u = v - log + log / v
        if v > ASYMPTOTIC:
            return u
    for _ in range(CORRECTIONS):
        residual = v - u - math.log(u)
        w = 1.0 + u
        g = 2.0 * w * (w + 2.0 / 3.0 * residual)
        u *= 1.0 + residual / w * (g - residual) / (g - 2.0 * residual)
        # the relative change of u is residual / w; rounding leaves a residual of about u 2^-53
        if abs(residual) <= SMALL * w:
            break
    return u


@compiled
def _read_row(scores, y, kappa, shares, scratch):
    """Set scratch.lifts to h and scratch.old to the old shares; return b and t.

    shares (m,) holds at y the sum of the others. The entries at b become -inf and 0, so that sums
    leave them out.
    """
    b, old, lifts = 0, scratch.old, scratch.lifts
    for j in range(len(scores)):
        old[j] = shares[j] if j != y else 1.0 - shares[j]
        if (scores[j] - scores[b]) + kappa * (old[j] - old[b]) > 0.0:
            b = j
    t = shares[y] if b == y else 1.0 - shares[b]
    for j in range(len(scores)):
        lifts[j] = (scores[j] - scores[b]) + kappa * (old[j] + t)
    lifts[b], old[b] = -math.inf, 0.0
    return b, t


@compiled
def _exponents(nu, kappa, lifts, guess, e):
    for j in range(len(e)):
        e[j] = (lifts[j] - nu) - kappa * guess[j]


@compiled(fastmath=True)
def _sums(kappa, guess, e, steps):
    """Return T and D, and set steps to w."""
    total, slope = 0.0, 0.0
    for j in range(len(e)):
        w = 1.0 / (1.0 + kappa * e[j])
        total += e[j] + e[j] * w * kappa * (guess[j] - e[j])
        slope += e[j] * w
        steps[j] = w
    return total, slope


@compiled(fastmath=True)
def _move(shift, kappa, scratch):
    """Set new to e (1 + d) and steps to d, from the guess in `new` and w in steps.

    Return |new - old|_1.
    """
    new, e, old, steps, moved = scratch.new, scratch.e, scratch.old, scratch.steps, 0.0
    for j in range(len(new)):
        d = steps[j] * (kappa * (new[j] - e[j]) - shift)
        new[j] = e[j] + e[j] * d
        steps[j] = d
        moved += abs(new[j] - old[j])
    return moved


@compiled
def _exceed(steps, limit):
    """Return how many squares exceed the limit."""
    count = 0
    for j in range(len(steps)):
        count += steps[j] * steps[j] > limit
    return count


@compiled(inline=True)
def _multiplier(t, kappa):
    """Return nu(t) and its derivative."""
    return kappa * t - math.log1p(-t), kappa + 1.0 / (1.0 - t)


@compiled(inline=True)
def _next_sum(t, rate, total, slope):
    """Return t_new, without a difference of large numbers."""
    return (total + slope * rate * t) / (1.0 + slope * rate)


@compiled
def _try_newton(t, kappa, scratch):
    """Set scratch.new to the other shares than b's; return their sum, or -1 without success."""
    new, e, most = scratch.new, scratch.e, 1.0 - 0.5 / len(scratch.new)
    copy(scratch.old, new)
    for _ in range(TRIES):
        nu, rate = _multiplier(t, kappa)
        _exponents(nu, kappa, scratch.lifts, new, e)
        exponentials(e)
        total, slope = _sums(kappa, new, e, scratch.steps)
        after = _next_sum(t, rate, total, slope)
        if not 0.0 <= after <= most:
            return -1.0
        shift = rate * (after - t)
        moved = _move(shift, kappa, scratch)
        limit = min(LARGEST, ENOUGH * moved)
        if shift * shift <= limit and _exceed(scratch.steps, limit) == 0:
            return after
        t = after
    return -1.0


@compiled
def _shares_at(nu, kappa, log_kappa, lifts, e):
    """Set e to q(nu)."""
    for j in range(len(e)):
        x = lifts[j] - nu
        v = x + log_kappa
        if v < SERIES:
            q = math.exp(x)
            e[j] = q * lambert_series(kappa * q)
        else:
            e[j] = wright_omega(v) / kappa


@compiled
def _search(t, kappa, scratch):
    """Set scratch.new as _try_newton does, from the exact shares at each t."""
    log_kappa = math.log(kappa) if kappa > 0.0 else -math.inf
    new, e = scratch.new, scratch.e
    low, high = 0.0, 1.0 - 0.5 / len(new)
    for _ in range(MOST_STEPS):
        nu, rate = _multiplier(t, kappa)
        _shares_at(nu, kappa, log_kappa, scratch.lifts, e)
        copy(e, new)
        total, slope = _sums(kappa, new, e, scratch.steps)
        after = _next_sum(t, rate, total, slope)
        if total > t:
            low = t
        else:
            high = t
        if abs(after - t) <= ROUNDING * t or high - low <= ROUNDING * high:
            # with a large kappa a change of t by rounding may have a shift above 1
            return total
        shift = rate * (after - t)
        moved = _move(shift, kappa, scratch)
        # no |d_j| is larger than |shift| here
        if shift * shift <= min(LARGEST, ENOUGH * moved):
            return after
        t = after if low <= after < high else 0.5 * (low + high)
    return -1.0


@compiled
def maximise_row(scores, y, kappa, shares, scratch):
    """Set scratch.new to the shares of the maximiser, at y to the sum of the others.

    Return whether they are found.
    """
    b, t = _read_row(scores, y, kappa, shares, scratch)
    t = min(t, 1.0 - 1.0 / len(scores))
    after = _try_newton(t, kappa, scratch)
    if after < 0.0:
        after = _search(t, kappa, scratch)
    new, total = scratch.new, 0.0
    new[b] = 1.0 - after
    for j in range(len(new)):
        total += new[j] if j != y else 0.0
    new[y] = min(total, 1.0)
    return after >= 0.0
