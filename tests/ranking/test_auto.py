"""The default goes over to the working set where the kernel matrix does not fit; any start does."""

import numpy as np
import pytest

from fwlab.ranking import PatMat, TopPush, TopPushK, methods, solve
from fwlab.ranking.registry import METHODS

N = 60
X = np.random.default_rng(0).normal(size=(N, 3))
Y = (np.arange(N) % 4 == 0).astype(int)
FITS = 16 * N**2  # the matrix and its factor


@pytest.mark.parametrize("objective", [TopPush(), TopPushK(3, "hinge"), PatMat(0.1)])
@pytest.mark.parametrize(
    ("memory", "method"), [(FITS, "interior-point"), (FITS - 1, "working-set"), (0, "working-set")]
)
def test_the_default_fits_its_memory_and_says_so(objective, memory, method):
    result = solve(X, Y, objective, 1.0, "rbf", 0.3, max_gram_memory=memory)
    assert result.success and result.method == method and method in result.message
    whole = solve(X, Y, objective, 1.0, "rbf", 0.3)
    assert result.dual == pytest.approx(whole.dual, rel=2e-6)


def test_a_linear_kernel_with_few_features_needs_no_matrix():
    assert solve(X, Y, TopPush(), 1.0, max_gram_memory=0).method == "interior-point"


@pytest.mark.parametrize("objective", [TopPush(), TopPushK(3), PatMat(0.1, "hinge")])
def test_the_working_set_leaves_zero(objective):
    delta = 0.0 if isinstance(objective, PatMat) else None
    zero = (np.zeros(N // 4), np.zeros(N - N // 4), delta)
    result = solve(X, Y, objective, 1.0, "rbf", 0.3, "working-set", start=zero)
    assert result.success and result.dual > 0


def test_methods_are_listed():
    assert list(methods()) == ["auto", *METHODS]
    assert all(sentence.endswith(".") for sentence in methods().values())


def test_the_former_name_of_the_limit_is_taken_with_a_warning():
    with pytest.warns(FutureWarning, match="max_memory is named max_gram_memory now"):
        found = solve(X, Y, TopPush(), 1.0, "rbf", 0.3, max_memory=0, max_iter=1)
    assert found.method == "working-set"
