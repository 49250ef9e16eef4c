"""
Choose C in a pipeline
======================

The estimators follow scikit-learn's conventions. ``TopKSVCCV`` does the same on warm starts.
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

import fwlab

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
pipeline = make_pipeline(Normalizer(), fwlab.TopKSVC(k=3))
scoring = fwlab.metrics.make_topk_scorer(3)
search = GridSearchCV(pipeline, {"topksvc__C": [0.1, 1.0, 10.0]}, scoring=scoring, cv=3)
search.fit(X_train, y_train)
print(search.best_params_, search.score(X_test, y_test))

# %%
# Along C each run starts where the previous one ended.

scaled = Normalizer().transform(X_train)
cv = fwlab.TopKSVCCV(Cs=[0.1, 1.0, 10.0], k=3, cv=3, scoring=scoring).fit(scaled, y_train)
print(cv.C_, cv.score(Normalizer().transform(X_test), y_test))
