"""Faces of the loss polytopes: the extreme vertex of the smallest face, and the largest step.

Write B for the polytope of kernels.domains.vertices, and K for its part with zeta = 1,

    K = { beta : g(S) <= beta(S) <= f(S) for all sets S },     B = union of zeta K, 0 <= zeta <= 1,

with beta(S) the sum over S, f(S) = upper_1 + .. + upper_|S| and g(S) the last |S| of lower, summed.
The weights do not increase and upper >= lower, so that f is submodular, g supermodular and

    f(S) - g(T) >= f(S - T) - g(T - S):

K is a generalised polymatroid (Frank and Tardos 1988), and B = conv(K and 0).

The zeta of a point b are an interval [low, high]. low is the largest b(S) / f(S), high the smallest
b(S) / g(S), or 1 if that is less; the top and the bottom entries of sorted b attain them. A vertex
is in the smallest face of b if it has a positive weight in some convex combination that is b:

    0          if low < 1;
    v of K     if v is in the smallest face of K at b / zeta for some zeta in [low, high].

1. low < high. b(S) = zeta f(S) holds for one zeta at most, as does b(S) = zeta g(S) with g(S) > 0.
   Between them only b(S) = 0 = g(S) is tight. The zero entries of b stay 0; all other bounds are
   free, and 0 is in the face.
2. low = high = zeta. All sets with b(S) = zeta f(S) or b(S) = zeta g(S) are tight.

The tight sets determine the vertices of K. Tight sets of f are tops of sorted b, with j_1 < .. <
j_r entries: the entries between two of them take the weights of `upper` at their places in any
order. Tight sets of g are bottoms, whose entries take `lower` likewise. Entries of equal size on
both sides of a boundary have equal weights there, so that their order is free. A top and a bottom
that overlap give, by the inequality above, a tight top and a tight bottom that do not, with upper =
lower on the overlap: tops go first here. The entries between the last top and the first bottom
range over the generalised polymatroid of `upper` and `lower` at their places. So the vertex with
the least <h, v> sorts -h in each part and pairs it with upper, with lower, or, in the middle, with
upper where -h > 0 and lower elsewhere; 0 is taken where that is less.

The largest step along d is found by Newton's method on the inequalities of B,

    beta_j >= 0,   beta(S) <= f(S),   beta(S) g(T) <= beta(T) f(S):

from a step that is too long, to the step where the violated inequality holds with equality. As b
satisfies all of them, it never returns to one that it has left, so that it ends, at the exact step.
"""

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.sorting import sort_descending
from fwlab.kernels.layouts import ZetaRange

# in units of the sum of upper: bounds that are as near count as tight; what a step may overstep
TIGHT, FEASIBLE = 1e-12, 1e-14


@compiled
def zeta_range(beta, weights, order):
    """Return the ZetaRange of a point; the first places of `order` become its descending order."""
    upper, lower, n = weights.upper, weights.lower, len(beta)
    sort_descending(beta, order[:n])
    low, high, top, bottom, top_bound, bottom_bound = 0.0, 1.0, 0, 0, 0.0, 0.0
    above, above_bound, below, below_bound = 0.0, 0.0, 0.0, 0.0
    for place in range(n):
        above += beta[order[place]]
        above_bound += upper[place]
        if above > low * above_bound:
            low, top, top_bound = above / above_bound, place + 1, above_bound
        below += beta[order[n - 1 - place]]
        below_bound += lower[n - 1 - place]
        if below_bound > 0.0 and below < high * below_bound:
            high, bottom, bottom_bound = below / below_bound, place + 1, below_bound
    return ZetaRange(low, high, top, bottom, top_bound, bottom_bound)


@compiled(inline=True)
def room_between(zeta):
    """Return high - low in units of sums of entries; it is negative for a point outside."""
    if zeta.bottom == 0:
        return (zeta.high - zeta.low) * zeta.top_bound
    bounds = zeta.top_bound * zeta.bottom_bound / (zeta.top_bound + zeta.bottom_bound)
    return (zeta.high - zeta.low) * bounds


@compiled
def mark_parts(beta, zeta, fixed, weights, scratch):
    """Mark the places of sorted beta where a tight top ends or a tight bottom starts; see above.

    Returns the number of entries of the largest top, and the place where the largest bottom starts.
    """
    order, marks = scratch.order, scratch.sizes_upper
    tight, n = TIGHT * weights.sum_upper, len(beta)
    first, stop = 0, n
    above, above_bound, below, below_bound = 0.0, 0.0, 0.0, 0.0
    marks[0] = 1
    for place in range(n):
        above += beta[order[place]]
        above_bound += weights.upper[place]
        ends = fixed and zeta.low * above_bound - above <= tight
        if ends:
            first = place + 1
        if place + 1 < n:
            marks[place + 1] = ends
    for start in range(n - 1, -1, -1):
        below += beta[order[start]]
        below_bound += weights.lower[start]
        floor = zeta.low * below_bound if fixed else 0.0
        if (fixed or below_bound == 0.0) and below - floor <= tight:
            stop = start
            marks[start] = 1
    return first, stop


@compiled
def extreme_vertex_of_face(beta, margins, weights, scratch, out):
    """Write the vertex v of the smallest face of beta with the least <margins, v>."""
    order, marks, ranks = scratch.order, scratch.sizes_upper, scratch.sizes_lower
    keys, upper, lower, n = scratch.fit_upper, weights.upper, weights.lower, len(beta)
    zeta = zeta_range(beta, weights, order)
    out[:] = 0.0
    if zeta.low <= TIGHT:
        return
    fixed = room_between(zeta) <= TIGHT * weights.sum_upper
    first, stop = mark_parts(beta, zeta, fixed, weights, scratch)
    start, value = 0, 0.0
    while start < n:
        end = start + 1
        while end < n and marks[end] == 0:
            end += 1
        for place in range(start, end):
            keys[place] = -margins[order[place]]
        sort_descending(keys[start:end], ranks[start:end])
        for place in range(start, end):
            chosen = start + ranks[place]
            takes_upper = end <= first or (start < stop and keys[chosen] > 0.0)
            entry = upper[place] if takes_upper else lower[place]
            out[order[chosen]] = entry
            value += entry * keys[chosen]
        start = end
    if value < 0.0 and (not fixed or zeta.low < 1.0 - TIGHT):
        out[:] = 0.0


@compiled
def largest_step_inside(beta, direction, wanted, weights, scratch):
    """Return the largest step up to `wanted` along which beta stays inside, and the excess there.

    The excess is by how much beta + step direction, left in scratch.fit_lower, breaks a bound.
    """
    x, order, n = scratch.fit_lower, scratch.order, len(beta)
    allowed, step = FEASIBLE * weights.sum_upper, wanted
    while True:
        for j in range(n):
            x[j] = beta[j] + step * direction[j]
        zeta = zeta_range(x, weights, order)
        below, over = -x[order[n - 1]], -room_between(zeta)
        excess = max(below, over)
        if excess <= allowed or step == 0.0:
            return step, excess
        shortest = step
        if below > allowed:
            shortest = root(step, -beta[order[n - 1]], below)
        if over > allowed:
            shortest = min(shortest, root(step, -room_at(beta, zeta, order), over))
        step = shortest


@compiled(inline=True)
def root(step, before, after):
    """Return the step of equality in a bound violated by `before` at 0, `after` at step."""
    return step * before / (before - after) if before < 0.0 else 0.0


@compiled(inline=True)
def room_at(beta, zeta, order):
    """Return room_between of beta at the top and the bottom that belong to another point.

    That is the slack of beta in beta(S) g(T) <= beta(T) f(S), over f(S) + g(T); without a bottom in
    beta(S) <= f(S).
    """
    above, below = 0.0, 0.0
    for place in range(zeta.top):
        above += beta[order[place]]
    if zeta.bottom == 0:
        return zeta.top_bound - above
    for place in range(len(beta) - zeta.bottom, len(beta)):
        below += beta[order[place]]
    slack = below * zeta.top_bound - above * zeta.bottom_bound
    return slack / (zeta.top_bound + zeta.bottom_bound)
