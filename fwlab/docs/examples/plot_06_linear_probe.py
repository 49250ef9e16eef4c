"""
A linear probe, trained for top-5
=================================

A probe classifies frozen features. Here random features of the digits stand for the features of a
network; ``k`` is the number of guesses that the measure allows.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize

import fwlab

X, y = load_digits(return_X_y=True)
features = normalize(np.maximum(X @ np.random.default_rng(0).normal(size=(64, 256)), 0))
X_train, X_test, y_train, y_test = train_test_split(features, y, random_state=0)

# %%
# The probe's accuracy, and the interval in which the exact optimum's accuracy certainly lies.

for k in (1, 5):
    probe = fwlab.TopKSVC(k=k, C=10.0, tol=1e-6, max_iter=3000).fit(X_train, y_train)
    score = fwlab.metrics.make_topk_scorer(5)(probe, X_test, y_test)
    print(
        f"trained for top-{k}: top-5 accuracy {score:.3f}, gap {probe.duality_gap_:.1e},",
        f"top-1 of the optimum within {probe.proved_accuracy(X_test, y_test)}",
    )
