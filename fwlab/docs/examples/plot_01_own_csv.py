"""
Train on a table of your own
============================

The last column of a table is the label, or the column that the header names ``y``, ``label`` or
``class``. Labels may be of any kind. A saved machine keeps them, together with the scaling.
"""

import csv
import tempfile
from pathlib import Path

from sklearn.datasets import load_iris

import fwlab

iris = load_iris()
folder = Path(tempfile.mkdtemp())
with open(folder / "flowers.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow([*iris.feature_names, "label"])
    writer.writerows(
        [*x, iris.target_names[y]] for x, y in zip(iris.data, iris.target, strict=True)
    )

# %%
# The rows are read and scaled; the certificate comes with the answer.

data = fwlab.datasets.load(str(folder / "flowers.csv"), normalize="standard")
print(data)
problem = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(2), C=1.0)
result = fwlab.solve(problem, tol=1e-8)
print(result)

# %%
# On the command line the same is ``fwlab solve --data flowers.csv --normalize standard -k 2
# --tol 1e-8 --save model.npz``, then ``fwlab predict --model model.npz --data new.csv``.

predicted = [data.classes[j] for j in result.predict(data.X_train[[0, 60, 120]])]
print(predicted, (result.predict(data.X_train) == data.y_train).mean())
