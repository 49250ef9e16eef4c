"""
Ranking at the top
==================

TopPushK counts a positive as wrong unless it scores above the mean of the K highest negatives.
"""

import matplotlib.pyplot as plt
import numpy as np

import fwlab
from fwlab import ranking

data = fwlab.datasets.load("digits", normalize="standard")
y = np.where(data.y_train == 8, 1, -1)
result = ranking.solve(data.X_train, y, ranking.TopPushK(5), C=1.0, kernel="rbf", sigma=0.01)
print(result.message, result.gap)

# %%
# Scores of test samples, relative to the threshold.

scores = result.decision_function(data.X_test)
eights = data.y_test == 8
print(f"precision at recall 0.5: {fwlab.metrics.precision_at_recall(eights, scores, 0.5):.3f}")
fig, ax = plt.subplots()
ax.hist([scores[eights], scores[~eights]], bins=30, label=["eights", "others"])
ax.axvline(0, color="black")
ax.set(xlabel="score minus threshold", ylabel="test samples", yscale="log")
ax.legend()
plt.show()
