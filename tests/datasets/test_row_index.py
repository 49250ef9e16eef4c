"""A feature that numbers the rows of a file is named in a warning, other features are not."""

import numpy as np
import pytest

from fwlab import datasets


def table(header, first_column):
    """A table of 12 rows whose second column counts in twos."""
    rows = [f"{number},{2 * row},{row % 3}" for row, number in enumerate(first_column)]
    return "\n".join([*header, *rows]) + "\n"


SHUFFLED = np.random.default_rng(0).permutation(12).tolist()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (table(["place,p,y"], range(12)), "place"),
        (table(["place,p,q"], range(7, 19)), "place"),
        (table([], range(1, 13)), "1"),
        (table(["PatientID,p,y"], SHUFFLED), "PatientID"),
        (table(["p,row_index,y"], SHUFFLED), "row_index"),
    ],
    ids=["named label", "last label", "no header", "id", "index"],
)
def test_an_index_is_named(tmp_path, text, name):
    (tmp_path / "own.csv").write_text(text)
    with pytest.warns(UserWarning) as caught:
        data = datasets.load(tmp_path / "own.csv")
    [warning] = caught
    assert f"own.csv': the feature {name} seems to be an index" in str(warning.message)
    assert warning.filename == __file__
    assert data.X_train.shape == (12, 2)


@pytest.mark.parametrize(
    "text",
    [
        table(["place,p,y"], SHUFFLED),
        table(["place,p,y"], [row / 2 for row in range(12)]),
        table(["id,p,y"], [row // 2 for row in range(12)]),
        table(["id,p,y"], [row / 7 for row in range(12)]),
        "id,p,y\n0,1,a\n1,5,b\n2,7,c\n",
    ],
    ids=["shuffled", "halves", "twice", "fractions", "short"],
)
def test_features_are_no_index(tmp_path, text):
    (tmp_path / "own.csv").write_text(text)
    datasets.load(tmp_path / "own.csv")
