r"""
A rate, and the theory behind it
================================

On a simplex Frank-Wolfe with the step 2 / (t + 1) has an error of at most
:math:`2 C_D / (t + 2)`. Here :math:`C_D` is the curvature constant of the dual: the squared
diameter of the image of the domain, over :math:`\lambda n^2`.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwlab

data = fwlab.datasets.load("digits", normalize="unit")
n, lam = 300, 0.05
problem = fwlab.Problem(data.X_train[:n], data.y_train[:n], fwlab.MaxHinge(), lam)
best = fwlab.solve(problem, tol=1e-9).dual
run = fwlab.solve(problem, "fw-open-loop", tol=0, max_iter=300, check_every=1)

# %%
# Two points of a block differ by at most 2 in length, so :math:`|X^T (U - A)|_F` is at most
# :math:`2 \sum_i |x_i| = 2 n`.

t = np.asarray(run.trace.iteration[1:])
bound = 2 * (2 * n) ** 2 / (lam * n**2) / (t + 2)
error = best - np.asarray(run.trace.dual[1:])
assert (error <= bound).all()
fig, ax = plt.subplots()
ax.loglog(t, bound, "--", label="bound")
ax.loglog(t, error, label="measured")
ax.set(xlabel="iteration", ylabel="dual error")
ax.legend()
plt.show()
