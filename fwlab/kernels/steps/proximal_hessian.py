"""The Hessian of proximal dual steps in W: sum_i f_i J_i (x) x_i x_i^T, row by row.

J_i is given by its pools and normal (kernels.domains.jacobian). It meets few classes: the ones that
share a pool or have an entry in the normal. Only they cost time. `rows` is a layouts.JacobianRows.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.jacobian import apply_jacobian, pool_sizes
from fwlab.kernels.products.blocks import add_multiple, dot


@compiled
def touched_classes(pools, normal, sizes, touched):
    """Write the classes that J meets and the sizes of the pools; return how many classes."""
    pool_sizes(pools, sizes)
    count = 0
    for j in range(len(pools)):
        if sizes[pools[j]] > 1 or normal[j] != 0.0:
            touched[count] = j
            count += 1
    return count


@compiled(allocates=True)
def dense_hessian_product(rows, X, V, out):
    """Add the sum applied to V (m, d) to `out`, for dense X (n, d)."""
    pools, normals, factors, index = rows
    m = len(V)
    sizes, touched = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    scores, image, sums = np.zeros(m), np.empty(m), np.empty(m)
    for i in range(len(index)):
        x = X[index[i]]
        count = touched_classes(pools[i], normals[i], sizes, touched)
        for j in touched[:count]:
            scores[j] = dot(x, V[j])
        apply_jacobian(pools[i], normals[i], sizes, touched[:count], scores, sums, image)
        for j in touched[:count]:
            add_multiple(out[j], factors[i] * image[j], x)


@compiled(allocates=True)
def sparse_hessian_product(rows, csr, V_T, out_T):
    """Add the sum applied to V to `out`, for the rows of a CSR matrix; both transposed, (d, m)."""
    pools, normals, factors, index = rows
    values, indices, indptr = csr
    m = V_T.shape[1]
    sizes, touched = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    scores, image, sums = np.zeros(m), np.empty(m), np.empty(m)
    for i in range(len(index)):
        start, stop = indptr[index[i]], indptr[index[i] + 1]
        count = touched_classes(pools[i], normals[i], sizes, touched)
        scores[:] = 0.0
        for place in range(start, stop):
            for j in touched[:count]:
                scores[j] += values[place] * V_T[indices[place], j]
        apply_jacobian(pools[i], normals[i], sizes, touched[:count], scores, sums, image)
        for place in range(start, stop):
            for j in touched[:count]:
                out_T[indices[place], j] += factors[i] * image[j] * values[place]


@compiled(allocates=True)
def add_hessian(rows, X, H):
    """Add the sum to H: H[j, :, k, :] += sum_i f_i J_i[j, k] x_i x_i^T; H (m, d, m, d).

    X holds only the rows with J_i not 0.
    """
    pools, normals, factors, _ = rows
    m, d = pools.shape[1], X.shape[1]
    sizes, touched = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    for i in range(len(X)):
        count = touched_classes(pools[i], normals[i], sizes, touched)
        for j in touched[:count]:
            for k in touched[:count]:
                entry = normals[i, j] * normals[i, k] + (j == k)
                if pools[i, j] == pools[i, k]:
                    entry -= 1.0 / sizes[pools[i, j]]
                for p in range(d):
                    add_multiple(H[j, p, k], factors[i] * entry * X[i, p], X[i])
