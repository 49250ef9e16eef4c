"""Products of a few rows of X with W, kept in registers: the whole cost of a dense pass.

The sums may be reordered (leaf reductions), so the compiler fills vector registers with them.
"""

import numpy as np

from fwlab.kernels._jit import VECTOR_REGISTERS, compiled

# sums of a tile stay in registers: twenty of them, or ten where 16 registers must do
ROWS, CLASSES = 4 if VECTOR_REGISTERS >= 32 else 2, 5


@compiled
def copy_entries(source, target):
    """Set the first rows and columns of `target` to `source`.

    numba compiles loops in a tenth of the time that an assignment of slices takes it.
    """
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


@compiled
def copy(source, target):
    """Set the first entries of `target` to `source`."""
    for j in range(len(source)):
        target[j] = source[j]


@compiled(fastmath=True)
def dot(a, b):
    """Return <a, b>, summed in float64."""
    total = 0.0
    for j in range(len(a)):
        total += np.float64(a[j]) * b[j]
    return total


@compiled(fastmath=True)
def bring_near(X, sums):
    """Read the rows of X once, in whole groups of four; the `sums` are not used.

    Kernels that compute while they read load a block from memory at less than half of this speed.
    Reading first saves up to a fifteenth of a pass over 4096 features.
    """
    for i in range(0, len(X) - 3, 4):
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        total = 0.0
        for j in range(len(x0)):
            total += (np.float64(x0[j]) + x1[j]) + (np.float64(x2[j]) + x3[j])
        sums[i] = total


@compiled(fastmath=True)
def add_multiple(target, factor, source):
    """Add factor * source to target."""
    for j in range(len(source)):
        target[j] += factor * source[j]


@compiled(fastmath=True, inline=True)
def _four_by_five(x0, x1, x2, x3, w0, w1, w2, w3, w4, out, row, column):
    """Set out[row:row+4, column:column+5] to the products of four rows of X with five of W.

    Sums have the type of W.

    Twenty sums at once: each number that is loaded enters four or five of them. The nine rows are
    arguments of their own, so that the compiler keeps their addresses and the sums in registers.
    """
    zero = w0.dtype.type(0.0)
    s00 = s01 = s02 = s03 = s04 = zero
    s10 = s11 = s12 = s13 = s14 = zero
    s20 = s21 = s22 = s23 = s24 = zero
    s30 = s31 = s32 = s33 = s34 = zero
    for j in range(len(w0)):
        a, b, c, d = x0[j], x1[j], x2[j], x3[j]
        w = w0[j]
        s00, s10, s20, s30 = s00 + a * w, s10 + b * w, s20 + c * w, s30 + d * w
        w = w1[j]
        s01, s11, s21, s31 = s01 + a * w, s11 + b * w, s21 + c * w, s31 + d * w
        w = w2[j]
        s02, s12, s22, s32 = s02 + a * w, s12 + b * w, s22 + c * w, s32 + d * w
        w = w3[j]
        s03, s13, s23, s33 = s03 + a * w, s13 + b * w, s23 + c * w, s33 + d * w
        w = w4[j]
        s04, s14, s24, s34 = s04 + a * w, s14 + b * w, s24 + c * w, s34 + d * w
    first, second, third, fourth = out[row], out[row + 1], out[row + 2], out[row + 3]
    first[column], first[column + 1], first[column + 2] = s00, s01, s02
    first[column + 3], first[column + 4] = s03, s04
    second[column], second[column + 1], second[column + 2] = s10, s11, s12
    second[column + 3], second[column + 4] = s13, s14
    third[column], third[column + 1], third[column + 2] = s20, s21, s22
    third[column + 3], third[column + 4] = s23, s24
    fourth[column], fourth[column + 1], fourth[column + 2] = s30, s31, s32
    fourth[column + 3], fourth[column + 4] = s33, s34


@compiled(fastmath=True, inline=True)
def _two_by_five(x0, x1, w0, w1, w2, w3, w4, out, row, column):
    """Set out[row:row+2, column:column+5] to the products of two rows of X with five of W.

    Sums have the type of W.

    With AVX2 this takes 0.5 to 0.7 of the time of _four_by_five, whose sums do not fit.
    """
    zero = w0.dtype.type(0.0)
    s00 = s01 = s02 = s03 = s04 = zero
    s10 = s11 = s12 = s13 = s14 = zero
    for j in range(len(w0)):
        a, b = x0[j], x1[j]
        v, w = w0[j], w1[j]
        s00, s10, s01, s11 = s00 + a * v, s10 + b * v, s01 + a * w, s11 + b * w
        v, w = w2[j], w3[j]
        s02, s12, s03, s13 = s02 + a * v, s12 + b * v, s03 + a * w, s13 + b * w
        w = w4[j]
        s04, s14 = s04 + a * w, s14 + b * w
    first, second = out[row], out[row + 1]
    first[column], first[column + 1], first[column + 2] = s00, s01, s02
    first[column + 3], first[column + 4] = s03, s04
    second[column], second[column + 1], second[column + 2] = s10, s11, s12
    second[column + 3], second[column + 4] = s13, s14


@compiled(inline=True)
def four_rows_of_scores(X, W, i, j, out):
    """Set out[i:i+4, j:j+5] to the products of these rows of X and W."""
    d = X.shape[1]
    v0, v1, v2, v3, v4 = W[j, :d], W[j + 1, :d], W[j + 2, :d], W[j + 3, :d], W[j + 4, :d]
    _four_by_five(X[i], X[i + 1], X[i + 2], X[i + 3], v0, v1, v2, v3, v4, out, i, j)


@compiled(inline=True)
def two_rows_of_scores(X, W, i, j, out):
    """Set out[i:i+2, j:j+5] to the products of these rows of X and W."""
    d = X.shape[1]
    v0, v1, v2, v3, v4 = W[j, :d], W[j + 1, :d], W[j + 2, :d], W[j + 3, :d], W[j + 4, :d]
    _two_by_five(X[i], X[i + 1], v0, v1, v2, v3, v4, out, i, j)


rows_of_scores = four_rows_of_scores if ROWS == 4 else two_rows_of_scores


@compiled
def block_scores(X, W, out):
    """Set out[:len(X)] = X W^T for W (m, >= d).

    The last group of rows or classes overlaps the group before it.
    """
    count, d, m = X.shape[0], X.shape[1], W.shape[0]
    if count < ROWS or m < CLASSES:
        for i in range(count):
            for j in range(m):
                out[i, j] = dot(X[i], W[j, :d])
        return
    for group in range(0, m, CLASSES):
        j = min(group, m - CLASSES)
        for rows in range(0, count, ROWS):
            rows_of_scores(X, W, min(rows, count - ROWS), j, out)


@compiled(fastmath=True)
def _add_two(target, f, X, rows):
    f0, f1 = f[rows[0]], f[rows[1]]
    x0, x1 = X[rows[0]], X[rows[1]]
    for j in range(len(target)):
        target[j] += f0 * x0[j] + f1 * x1[j]


@compiled(fastmath=True)
def _add_four(target, f0, f1, f2, f3, X, rows):
    x0, x1, x2, x3 = X[rows[0]], X[rows[1]], X[rows[2]], X[rows[3]]
    for j in range(len(target)):
        target[j] += (f0 * x0[j] + f1 * x1[j]) + (f2 * x2[j] + f3 * x3[j])


@compiled
def add_entries(target, entries, X, rows):
    """Add the sum of entries[place] times X[rows[place]] to target."""
    place = 0
    while place <= len(rows) - 4:
        e0, e1, e2, e3 = entries[place], entries[place + 1], entries[place + 2], entries[place + 3]
        _add_four(target, e0, e1, e2, e3, X, rows[place:])
        place += 4
    while place < len(rows):
        add_multiple(target, entries[place], X[rows[place]])
        place += 1


@compiled
def nonzero(values, places):
    """Fill `places` with the indices of the entries that are not 0; return their number."""
    count = 0
    for j in range(len(values)):
        places[count] = j
        count += values[j] != 0.0
    return count


@compiled
def _add_listed(target, f, X, rows):
    """Add f^T X over the listed rows to target, up to four rows per update."""
    place = 0
    while place + 4 <= len(rows):
        i0, i1, i2, i3 = rows[place], rows[place + 1], rows[place + 2], rows[place + 3]
        _add_four(target, f[i0], f[i1], f[i2], f[i3], X, rows[place:])
        place += 4
    if place + 2 <= len(rows):
        _add_two(target, f, X, rows[place:])
        place += 2
    if place < len(rows):
        add_multiple(target, f[rows[place]], X[rows[place]])


@compiled(fastmath=True)
def _add_eight_to_two(v, w, F, X, row, column):
    """Add F^T X over eight rows from `row` on to v and w, for columns `column` and `column` + 1.

    Each number of X that is loaded enters two sums. This takes two thirds of the time of one class
    at a time over eight rows.
    """
    f0, f1, f2, f3 = F[row, column], F[row + 1, column], F[row + 2, column], F[row + 3, column]
    f4, f5, f6, f7 = F[row + 4, column], F[row + 5, column], F[row + 6, column], F[row + 7, column]
    right = column + 1
    g0, g1, g2, g3 = F[row, right], F[row + 1, right], F[row + 2, right], F[row + 3, right]
    g4, g5, g6, g7 = F[row + 4, right], F[row + 5, right], F[row + 6, right], F[row + 7, right]
    x0, x1, x2, x3 = X[row], X[row + 1], X[row + 2], X[row + 3]
    x4, x5, x6, x7 = X[row + 4], X[row + 5], X[row + 6], X[row + 7]
    for j in range(len(v)):
        a, b, c, d = x0[j], x1[j], x2[j], x3[j]
        e, f, g, h = x4[j], x5[j], x6[j], x7[j]
        v[j] += ((f0 * a + f1 * b) + (f2 * c + f3 * d)) + ((f4 * e + f5 * f) + (f6 * g + f7 * h))
        w[j] += ((g0 * a + g1 * b) + (g2 * c + g3 * d)) + ((g4 * e + g5 * f) + (g6 * g + g7 * h))


@compiled
def add_block(F, X, W, rounded, changes, touched):
    """Add F[:len(X)]^T X to W (m, >= d); `rounded`, if it has rows, follows in its own type.

    changes (m,) and touched (len(X),) are scratch.

    Two classes at a time over all rows, if the number of rows is a multiple of eight and F has at
    least that number of non-zeros in the two; else one class at a time, over the rows that change
    it.
    """
    count, d, m = X.shape[0], X.shape[1], W.shape[0]
    _count_nonzeros(F, count, changes)
    for j in range(0, m, 2):
        last = min(j + 1, m - 1)
        if count % 8 == 0 and j < last and changes[j] + changes[last] >= count:
            for i in range(0, count, 8):
                _add_eight_to_two(W[j, :d], W[last, :d], F, X, i, j)
        else:
            for c in range(j, last + 1):
                if changes[c] > 0:
                    f = F[:count, c]
                    _add_listed(W[c, :d], f, X, touched[: nonzero(f, touched)])
        for c in range(j, last + 1):
            if len(rounded) > 0 and changes[c] > 0:
                copy(W[c, :d], rounded[c])


@compiled
def _count_nonzeros(F, rows, numbers):
    """Set numbers[j] to the number of non-zeros of column j in the first rows of F."""
    for j in range(F.shape[1]):
        numbers[j] = 0
    for i in range(rows):
        for j in range(F.shape[1]):
            numbers[j] += F[i, j] != 0.0
