"""
A certificate to 1e-9, checked in ball arithmetic
=================================================

The gap is recomputed from the dual variables, and ``gap_error`` bounds its rounding error.
``verify`` encloses primal, dual and gap without rounding at all (it needs the extra ``verify``).
"""

import fwlab

data = fwlab.datasets.load("digits", normalize="unit")
problem = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(3), lam=1 / len(data.y_train))
result = fwlab.solve(problem, "auto", tol=1e-9)
print(result.message)
print(f"gap {result.gap:.3e}, its rounding error at most {result.gap_error:.1e}")

# %%
# The enclosures hold for the real numbers that the floats stand for.

enclosure = fwlab.verify(problem, result)
print("primal within", enclosure.primal)
print("dual within", enclosure.dual)
print("gap within", enclosure.gap)

# %%
# The gap proves that the exact optimum certainly shares these labels.

proved = result.proved(data.X_test)
print(f"{proved.sum()} of {len(proved)} test labels are proved")
