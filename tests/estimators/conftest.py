"""Give estimators without a random_state the same numbers in each test."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def seeded() -> None:
    np.random.seed(0)  # noqa: NPY002 - random_state=None takes scikit-learn's global generator
