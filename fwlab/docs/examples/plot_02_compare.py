"""
Compare methods, and repeat the comparison
==========================================

With ``out`` each finished run is stored, and ``fwlab compare --again DIR`` repeats them all with
the settings in ``DIR/comparison.toml``.
"""

import tempfile
from pathlib import Path

import fwlab

data = fwlab.datasets.load("digits", normalize="unit")
problem = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(3), lam=1 / len(data.y_train))
folder = Path(tempfile.mkdtemp()) / "results"
methods = ["fw", "fw-open-loop", "bcfw", "ascent"]
comparison = fwlab.compare(problem, methods, tol=1e-5, max_iter=300, out=folder)
comparison.plot(x=["cpu", "calls"])

# %%
# Every gap in the table was recomputed from the dual variables at the end of its run.

print(comparison.table())

# %%
# The second call reads the stored runs: it shows the seconds of the first call.

again = fwlab.compare(problem, methods, tol=1e-5, max_iter=300, out=folder)
print(again.table())
