"""
The lp-norm machine over p
==========================

Lei et al. (2015) couple the classes by a norm :math:`|W|_{2,p}`. At p = 2 the machine is Crammer
and Singer's.
"""

import matplotlib.pyplot as plt

import fwlab

data = fwlab.datasets.load("digits", normalize="unit")
accuracies = {}
for p in (1.1, 1.33, 1.67, 2.0):
    problem = fwlab.Problem(
        data.X_train, data.y_train, fwlab.MaxHinge(), lam=0.001, regularizer=fwlab.LpNorm(p)
    )
    result = fwlab.solve(problem, "direct" if p < 2 else "ascent", tol=1e-4)
    accuracies[p] = (result.predict(data.X_test) == data.y_test).mean()
    print(f"p = {p}: gap {result.gap:.1e} after {result.nit} iterations")

# %%
# Test accuracy over p.

fig, ax = plt.subplots()
ax.plot(list(accuracies), list(accuracies.values()), "o-")
ax.set(xlabel="p", ylabel="test accuracy")
plt.show()
