"""Seconds of GridSearchCV over five C on digits: `TopKSVC` beside LogisticRegression.

C = 0.01, 0.1, .., 100 and five folds: 25 fits, and a final one on all samples. Each classifier has
the defaults of its library, except that LogisticRegression has up to 1000 iterations; one thread.
Wall time of whole calls of `fit`, the two in turn, medians. "accuracy" is the mean of the folds at
the best C.
"""

from functools import partial

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

import fwlab
from figures.benchmarks.timing import print_line, wall_milliseconds

GRID = {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}
REPEATS = 7


def run(quick: bool) -> None:
    """Print the table in Markdown."""
    X, y = load_digits(return_X_y=True)
    header = ("samples", "classifier", "seconds", "accuracy", "TopKSVC / LogisticRegression")
    print_line(header)
    print_line("---" for _ in header)
    samples = {"as they are": X, "standardised": StandardScaler().fit_transform(X)}
    for name, values in samples.items():
        searches = {
            "TopKSVC": GridSearchCV(fwlab.TopKSVC(random_state=0), GRID),
            "LogisticRegression": GridSearchCV(LogisticRegression(max_iter=1000), GRID),
        }
        calls = {one: partial(search.fit, values, y) for one, search in searches.items()}
        times = wall_milliseconds(calls, 1 if quick else REPEATS)
        ratio = times["TopKSVC"] / times["LogisticRegression"]
        for one, search in searches.items():
            shown = f"{ratio:.2f}" if one == "TopKSVC" else ""
            cells = (f"{1e-3 * times[one]:.3f}", f"{search.best_score_:.4f}")
            print_line((name, one, *cells, shown))
