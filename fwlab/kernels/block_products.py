"""Products of a few rows of X with W, kept in registers: the whole cost of a dense pass.

The sums may be reordered (leaf reductions), so the compiler fills vector registers with them.
"""

import numpy as np

from fwlab.kernels._jit import kernel

ROWS, CLASSES = 4, 5


@kernel(fastmath=True)
def dot(a, b):
    total = 0.0
    for j in range(len(a)):
        total += np.float64(a[j]) * b[j]
    return total


@kernel(fastmath=True)
def bring_near(X, sums):
    """Read the rows of X once in the order of memory; nobody wants their `sums`.

    Kernels that read several rows side by side get them from memory at less than half of that
    speed: it saves up to a tenth of a pass over 1024 or 4096 features.
    """
    for i in range(len(X)):
        x, total = X[i], 0.0
        for j in range(len(x)):
            total += np.float64(x[j])
        sums[i] = total


@kernel(fastmath=True)
def add_multiple(target, factor, source):
    """target += factor * source."""
    for j in range(len(source)):
        target[j] += factor * source[j]


@kernel(fastmath=True)
def _four_by_five(x0, x1, x2, x3, w0, w1, w2, w3, w4, out, row, column):
    """out[row:row+4, column:column+5] = products of four rows of X with five of W.

    Twenty sums at once: each number that is loaded enters four or five of them.
    """
    s00 = s01 = s02 = s03 = s04 = 0.0
    s10 = s11 = s12 = s13 = s14 = 0.0
    s20 = s21 = s22 = s23 = s24 = 0.0
    s30 = s31 = s32 = s33 = s34 = 0.0
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


@kernel
def block_scores(X, W, out):
    """out[:len(X)] = X W^T for W (m, >= d). The last group of rows or classes overlaps the one
    before it."""
    count, d, m = X.shape[0], X.shape[1], W.shape[0]
    if count < ROWS or m < CLASSES:
        for i in range(count):
            for j in range(m):
                out[i, j] = dot(X[i], W[j, :d])
        return
    for group in range(0, m, CLASSES):
        j = min(group, m - CLASSES)
        for rows in range(0, count, ROWS):
            i = min(rows, count - ROWS)
            _four_by_five(
                X[i],
                X[i + 1],
                X[i + 2],
                X[i + 3],
                W[j, :d],
                W[j + 1, :d],
                W[j + 2, :d],
                W[j + 3, :d],
                W[j + 4, :d],
                out,
                i,
                j,
            )


@kernel(fastmath=True)
def _add_two(target, f, X, rows):
    f0, f1 = f[rows[0]], f[rows[1]]
    x0, x1 = X[rows[0]], X[rows[1]]
    for j in range(len(target)):
        target[j] += f0 * x0[j] + f1 * x1[j]


@kernel(fastmath=True)
def _add_four(target, f, X, rows):
    f0, f1, f2, f3 = f[rows[0]], f[rows[1]], f[rows[2]], f[rows[3]]
    x0, x1, x2, x3 = X[rows[0]], X[rows[1]], X[rows[2]], X[rows[3]]
    for j in range(len(target)):
        target[j] += (f0 * x0[j] + f1 * x1[j]) + (f2 * x2[j] + f3 * x3[j])


@kernel(fastmath=True)
def _add_eight(target, f, X, rows):
    """Two thirds of the time of two fours, where all rows change a class."""
    f0, f1, f2, f3 = f[rows[0]], f[rows[1]], f[rows[2]], f[rows[3]]
    f4, f5, f6, f7 = f[rows[4]], f[rows[5]], f[rows[6]], f[rows[7]]
    x0, x1, x2, x3 = X[rows[0]], X[rows[1]], X[rows[2]], X[rows[3]]
    x4, x5, x6, x7 = X[rows[4]], X[rows[5]], X[rows[6]], X[rows[7]]
    for j in range(len(target)):
        target[j] += ((f0 * x0[j] + f1 * x1[j]) + (f2 * x2[j] + f3 * x3[j])) + (
            (f4 * x4[j] + f5 * x5[j]) + (f6 * x6[j] + f7 * x7[j])
        )


@kernel
def add_block(F, X, W, touched):
    """W += F[:len(X)]^T X for W (m, >= d), a class at a time over the rows that change it, up to
    eight rows an update; touched is scratch for as many indices as X has rows."""
    for j in range(W.shape[0]):
        w, f = W[j, : X.shape[1]], F[:, j]
        count = 0
        for i in range(len(X)):
            touched[count] = i
            count += F[i, j] != 0.0
        place = 0
        while place + 8 <= count:
            _add_eight(w, f, X, touched[place:])
            place += 8
        if place + 4 <= count:
            _add_four(w, f, X, touched[place:])
            place += 4
        if place + 2 <= count:
            _add_two(w, f, X, touched[place:])
            place += 2
        if place < count:
            add_multiple(w, f[touched[place]], X[touched[place]])


@kernel
def block_grams(X, block_size, out):
    """out[i, r] = <x_i, x_{base + r}> with base the first row of the block of row i."""
    n = X.shape[0]
    for i in range(n):
        base = i // block_size * block_size
        for r in range(base, min(base + block_size, n)):
            out[i, r - base] = dot(X[i], X[r])


@kernel
def block_entries(K, block_size, out):
    """block_grams where the products are the entries of a Gram matrix."""
    n = K.shape[0]
    for i in range(n):
        base = i // block_size * block_size
        for r in range(base, min(base + block_size, n)):
            out[i, r - base] = K[i, r]
