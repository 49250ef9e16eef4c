"""
A proved choice of C
====================

A softmax head on digits: no C between 0.01 and 100 has a higher validation accuracy than the
chosen one, by more than the slack. The proof is about every real C, not about a grid.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize

import fwlab

X, y = load_digits(return_X_y=True)
X_train, X_valid, y_train, y_valid = train_test_split(normalize(X), y, random_state=0)
found = fwlab.prove_choice(X_train, y_train, X_valid, y_valid, C=(1e-2, 1e2))
print(found.message)

# %%
# The bound is a step per stretch of C; the dots are the solved machines.

found.plot(plt.figure(layout="constrained").add_subplot())
plt.show()
