"""scikit-learn's validation of X and y, under one name from 1.5 on."""

from typing import Any

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before 1.6 it is a method

    def validate_data(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
        """Return X, or X and y, checked by the estimator."""
        return estimator._validate_data(X, y, **options)


__all__ = ["validate_data"]
