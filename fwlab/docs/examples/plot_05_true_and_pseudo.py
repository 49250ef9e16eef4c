"""
The true and the pseudo top-k loss on a triangle
================================================

The published SDCA methods for the top-k SVM work on a smaller domain, so that they end at the
optimum of another problem. With three classes a row of A has two free entries: both domains are
drawn here, with the points where two methods end.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwlab

X = np.array([[-2.0, -2.0], [-2.0, 2.0], [-2.0, -1.0], [-2.0, 1.0]])
y = np.array([0, 1, 2, 0])
problem = fwlab.Problem(X, y, fwlab.TopK(2), lam=0.4)
ends = {
    name: fwlab.solve(problem, name, tol=1e-8, max_iter=2000) for name in ("ascent", "sdca-lapin")
}
for name, end in ends.items():
    print(f"{name}: gap of the top-2 SVM {end.gap:.2g}, {end.status.name}")

# %%
# Each row of A sums to 0. Minus the entries of the other two classes are drawn, for sample 0.

fig, ax = plt.subplots()
for loss, style in ((fwlab.TopK(2), "-"), (fwlab.PseudoTopK(2), "--")):
    corners = -loss.vertices(3, 0)[:, 1:]
    order = np.argsort(np.arctan2(*(corners - corners.mean(axis=0)).T))
    ax.plot(*corners[order[[*range(len(order)), 0]]].T, style, label=repr(loss))
for (name, end), marker in zip(ends.items(), "os", strict=True):
    ax.plot(*-end.A[0, 1:], marker, label=name)
ax.set(xlabel=r"$-a_{01}$", ylabel=r"$-a_{02}$", aspect="equal")
ax.legend()
plt.show()
