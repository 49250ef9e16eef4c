"""Entries far beyond the weights: shorter gaps between them leave the projection as it is.

With c_y = 0 the candidates b of kernels.domains.projection need weights of size R = sum(upper) at
most, and v_y = sum(beta) lies in [0, R]. For every zeta in [0, 1]:

    an entry b_j > 2 R is in the prefix, because A_j >= b_j - upper_1 > R;
    an entry b_j < 0 is in the suffix, because B_j <= b_j < 0;
    a gap of more than upper_1 in b separates two pools: in a pool no prefix has a mean of
    b - zeta upper above the mean of the rest.

So the pools, and with them beta at a given zeta, stay the same if every gap above 4 R, and every
gap below -4 R, is cut to at most 4 R. Half the slope in zeta loses a constant, the sum of
w_j (b_j - short b_j) with w = upper above and w = lower below. Differences of near entries are
exact in floating point, while b - zeta upper is not: from b = 1e16 on it has no digit for a weight
of 1/2.
"""

from fwlab.kernels._jit import compiled
from fwlab.kernels.layouts import PolytopeWeights

# rows are left alone up to this multiple of R: pools lose ten bits there at most
LARGE = 1024.0
# the longest gap left, in units of R
GAP = 4.0


@compiled(inline=True)
def shorten_gaps(count, polytope, b):
    """Cut the gaps of the first `count` sorted entries; return the constant for half the slope."""
    large = LARGE * polytope.sum_upper
    if b[0] <= large and b[count - 1] >= -large:
        return 0.0
    return _cut(count, PolytopeWeights(*polytope), b)


@compiled
def _cut(count, polytope, b):
    longest, lost = GAP * polytope.sum_upper, 0.0
    above = 0
    while above < count and b[above] > longest:
        above += 1
    below = count
    while below > above and b[below - 1] < -longest:
        below -= 1
    last = max(0.0, b[above]) if above < count else 0.0
    short = last
    for j in range(above - 1, -1, -1):
        entry = b[j]
        short += min(longest, entry - last)
        b[j], last = short, entry
        lost += polytope.upper[j] * (entry - short)
    last = min(0.0, b[below - 1]) if below > 0 else 0.0
    short = last
    for j in range(below, count):
        entry = b[j]
        short -= min(longest, last - entry)
        b[j], last = short, entry
        lost += polytope.lower[j] * (entry - short)
    return lost


@compiled
def shorten_all_gaps(values, longest):
    """Cut every gap of the descending `values` to at most `longest`; the last becomes 0."""
    last, short = values[-1], 0.0
    for j in range(len(values) - 1, -1, -1):
        entry = values[j]
        short += min(longest, entry - last)
        values[j], last = short, entry
