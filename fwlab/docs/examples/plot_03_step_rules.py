"""
Three step rules for Frank-Wolfe, and one of your own
=====================================================

A step rule is an object: it is called with a direction, which knows the slope and the curvature of
the dual along it, and returns how far to go.
"""

import matplotlib.pyplot as plt

import fwlab


class Cautious(fwlab.StepRule):
    """Half of the exact step."""

    def __call__(self, direction, memory):
        if direction.slope <= 0:
            return 0.0
        if direction.slope >= 2 * direction.limit * direction.curvature:
            return direction.limit
        return 0.5 * direction.slope / direction.curvature


data = fwlab.datasets.load("digits", normalize="unit")
problem = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(3), lam=0.01)
rules = {
    "exact": "exact",
    "open loop": fwlab.OpenLoop(2),
    "adaptive": "adaptive",
    "half": Cautious(),
}
runs = {
    name: fwlab.solve(problem, fwlab.FrankWolfe(step=rule), max_iter=300, tol=1e-3, check_every=1)
    for name, rule in rules.items()
}

# %%
# The certified gap, iteration by iteration.

fig, ax = plt.subplots()
for name, run in runs.items():
    ax.loglog(run.trace.iteration[1:], run.trace.gap[1:], label=name)
ax.set(xlabel="iteration", ylabel="certified gap")
ax.legend()
plt.show()
