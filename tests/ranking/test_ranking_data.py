"""The UCI sets of M20's Table 2, 50/25/25, raw and standardised, to a relative gap of 1e-6."""

import pytest

from fwlab import datasets
from fwlab.ranking import PatMat, TopPush, TopPushK, solve

OBJECTIVES = {
    "TopPush": TopPush(),
    "TopPushK": TopPushK(10),
    "TopPushK-hinge": TopPushK(5, "hinge"),
    "PatMat": PatMat(0.05),
    "PatMat-hinge": PatMat(0.1, "hinge"),
}


@pytest.mark.turns
@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES.keys())
@pytest.mark.parametrize("normalize", [None, "standard"], ids=["raw", "standard"])
@pytest.mark.parametrize("name", ["ionosphere", "winequality_red", "winequality_white", "spambase"])
@pytest.mark.usefixtures("data_folder")
def test_the_linear_kernel(name, normalize, objective):
    data = datasets.load(name, normalize=normalize, rng=0)
    result = solve(data.X_train, data.y_train, objective, 1.0, tol=1e-6, max_iter=200)
    assert result.success, result.message


@pytest.mark.turns
@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES.keys())
@pytest.mark.parametrize("normalize", [None, "standard"], ids=["raw", "standard"])
@pytest.mark.parametrize(
    "name",
    [
        "ionosphere",
        "winequality_red",
        pytest.param("winequality_white", marks=pytest.mark.deep),
        pytest.param("spambase", marks=pytest.mark.deep),
    ],
)
@pytest.mark.usefixtures("data_folder")
def test_the_rbf_kernel(name, normalize, objective):
    data = datasets.load(name, normalize=normalize, rng=0)
    arguments = (data.X_train, data.y_train, objective, 1.0, "rbf", 0.05)
    result = solve(*arguments, tol=1e-6, max_iter=200)
    assert result.success, result.message
