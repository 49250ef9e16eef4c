"""The curvature of proximal dual steps in W: sum_i f_i J_i (x) x_i x_i^T, row by row.

J_i is given by its pools and normal (kernels.projection_jacobian). It meets few classes, those that
share a pool or have an entry in the normal, and only they cost anything. `index` names the rows of
X with J_i not 0; pools, normals and factors f have one row each.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.jacobian import apply_jacobian, pool_sizes
from fwlab.kernels.products.blocks import add_multiple, dot


@compiled
def touched_classes(pools, normal, sizes, touched):
    """Write the classes that J meets; return how many. sizes become those of the pools."""
    pool_sizes(pools, sizes)
    count = 0
    for j in range(len(pools)):
        if sizes[pools[j]] > 1 or normal[j] != 0.0:
            touched[count] = j
            count += 1
    return count


@compiled(allocates=True)
def dense_curvature_product(pools, normals, factors, index, X, V, out):
    """out += sum_i f_i J_i (x) x_i x_i^T applied to V (m, d), for dense X (n, d)."""
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
def sparse_curvature_product(pools, normals, factors, index, data, indices, indptr, V_T, out_T):
    """The same for the rows of a CSR matrix and transposed V and out, (d, m)."""
    m = V_T.shape[1]
    sizes, touched = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    scores, image, sums = np.zeros(m), np.empty(m), np.empty(m)
    for i in range(len(index)):
        start, stop = indptr[index[i]], indptr[index[i] + 1]
        count = touched_classes(pools[i], normals[i], sizes, touched)
        scores[:] = 0.0
        for place in range(start, stop):
            for j in touched[:count]:
                scores[j] += data[place] * V_T[indices[place], j]
        apply_jacobian(pools[i], normals[i], sizes, touched[:count], scores, sums, image)
        for place in range(start, stop):
            for j in touched[:count]:
                out_T[indices[place], j] += factors[i] * image[j] * data[place]


@compiled(allocates=True)
def add_curvature(pools, normals, factors, X, H):
    """H[j, :, k, :] += sum_i f_i J_i[j, k] x_i x_i^T; H (m, d, m, d)."""
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
