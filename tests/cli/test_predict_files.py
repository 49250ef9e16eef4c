"""Files to predict: whose first index, whose header and whose labels they have is never guessed."""

import json

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

import fwlab
from fwlab.cli import main

# a machine whose label of a sample is the feature that the sample has
X, Y = np.repeat(np.eye(4), 2, axis=0), np.repeat([1, 2, 3, 4], 2)


def trained(folder, file, *options):
    model = folder / "model.npz"
    arguments = ["--data", file, "-k", 1, "--max-iter", 50, "--save", model, *options]
    assert main(["solve", *map(str, arguments)]) == 0
    return model


def predicted(capsys, model, file, *options):
    """Return what the command prints on stdout, and on stderr."""
    capsys.readouterr()
    code = main(["predict", "--model", str(model), "--data", str(file), "--json", *options])
    out, err = capsys.readouterr()
    assert code == (0 if out else 2) and err.count("\n") <= 1
    return (json.loads(out) if out else None), err


def labels(found):
    return [label for [label] in found["predictions"]]


@pytest.fixture
def machine(tmp_path):
    """Store a model by hand, with these attributes."""

    def stored(classes=(1, 2, 3, 4), **attributes):
        result = fwlab.solve(fwlab.Problem(X, Y - 1, fwlab.TopK(1), 0.1), tol=1e-2)
        fwlab.Model.of(result, np.array(classes), **attributes).save(tmp_path / "model.npz")
        return tmp_path / "model.npz"

    return stored


@pytest.mark.parametrize("ending", ["svm", "txt"])
@pytest.mark.parametrize("zero_based", [True, False])
def test_rows_decide_nothing_about_the_base_of_their_file(tmp_path, capsys, zero_based, ending):
    dump_svmlight_file(X, Y, str(tmp_path / "train.svm"), zero_based=zero_based)
    model = trained(tmp_path, tmp_path / "train.svm")
    assert fwlab.Model.load(model).index_base == (0 if zero_based else 1)
    new = tmp_path / f"new.{ending}"
    for first in range(8):
        dump_svmlight_file(X[first:], Y[first:], str(new), zero_based=zero_based)
        found, said = predicted(capsys, model, new)
        assert labels(found) == Y[first:].tolist() and found["accuracy"] == 1 and not said


@pytest.mark.parametrize("zero_based", [True, False])
def test_a_file_of_the_other_base_is_refused(tmp_path, capsys, zero_based):
    dump_svmlight_file(X, Y, str(tmp_path / "train.svm"), zero_based=zero_based)
    model = trained(tmp_path, tmp_path / "train.svm")
    new = tmp_path / "new.svm"
    dump_svmlight_file(X, Y, str(new), zero_based=not zero_based)
    found, said = predicted(capsys, model, new)
    allowed, got = ("0 to 3", 4) if zero_based else ("1 to 4", 0)
    assert found is None and f"must have indices {allowed}, as the file that the model was" in said
    assert f"got {got}; if its first feature has index {int(zero_based)}, index_base" in said
    found, _ = predicted(capsys, model, new, "--index-base", str(int(zero_based)))
    assert labels(found) == Y.tolist()


def test_a_training_file_without_its_first_feature(tmp_path, capsys):
    dump_svmlight_file(X[2:], Y[2:], str(tmp_path / "train.svm"), zero_based=True)
    dump_svmlight_file(X, Y, str(tmp_path / "new.svm"), zero_based=True)
    model = trained(tmp_path, tmp_path / "train.svm")
    assert "must have indices 1 to 3" in predicted(capsys, model, tmp_path / "new.svm")[1]
    model = trained(tmp_path, tmp_path / "train.svm", "--index-base", "0")
    found, _ = predicted(capsys, model, tmp_path / "new.svm")
    assert labels(found)[2:] == Y[2:].tolist()
    assert main(["solve", "--data", str(tmp_path / "new.svm"), "--index-base", "1"]) == 2
    assert "index_base must be 0 for" in capsys.readouterr().err


def test_a_model_of_dense_samples_asks_for_the_base(tmp_path, capsys, machine):
    model, new = machine(), tmp_path / "new.svm"
    for zero_based, base in ((True, "0"), (False, "1")):
        dump_svmlight_file(X, Y, str(new), zero_based=zero_based)
        assert labels(predicted(capsys, model, new)[0]) == Y.tolist()
        dump_svmlight_file(X[2:6], Y[2:6], str(new), zero_based=zero_based)
        found, said = predicted(capsys, model, new)
        assert found is None and "has neither index 0 nor index 4, so that" in said
        found, _ = predicted(capsys, model, new, "--index-base", base)
        assert labels(found) == [2, 2, 3, 3]


def test_index_base_is_for_such_files_only(tmp_path, capsys, machine):
    (tmp_path / "new.csv").write_text("1,0,0,0\n")
    found, said = predicted(capsys, machine(), tmp_path / "new.csv", "--index-base", "0")
    assert found is None and "index_base is for files in LIBSVM's format" in said
    assert main(["solve", "--data", "digits", "--index-base", "0"]) == 2
    assert main(["data", "digits", "--index-base", "2"]) == 2


# headers

NUMBERED = {"feature_names": ("0", "1", "2", "3"), "label_name": "class"}


def table(*header):
    rows = [",".join(f"{value:g}" for value in row) for row in X]
    return "\n".join([*header, *rows]) + "\n"


@pytest.mark.parametrize(
    ("header", "attributes", "n"),
    [
        ("0,1,2,3", NUMBERED, 8),
        ("3,1,0,2", NUMBERED, 8),
        ("5,1,0,2", NUMBERED, 9),
        ("0,1,2,3", {}, None),
        ("1,2,3,4", {}, None),
        ("2019,2020,2021,2022", {}, None),
        ("4,3,2,1", {}, None),
        ("4,3,2,2", {}, 9),
        ("# a,b,c,d", {}, 8),
        ("# d,c,b,a", {"feature_names": ("d", "c", "b", "a")}, 8),
        ("0,1,1,3", {}, 9),
        ("a,b,c,d", {}, 8),
    ],
)
def test_a_header_of_numbers_is_no_sample(tmp_path, capsys, machine, header, attributes, n):
    (tmp_path / "new.csv").write_text(table(header))
    found, said = predicted(capsys, machine(**attributes), tmp_path / "new.csv")
    if n is None:
        assert f"line 1: '{header}' may be a header or a sample; remove it if" in said
    else:
        assert found["n"] == n


def test_a_header_of_numbers_above_labels_is_no_sample(tmp_path, capsys, machine):
    rows = [f"{row},{label}" for row, label in zip(table().split(), Y, strict=True)]
    for first in (
        "0,1,2,3,4", "1,2,3,4,5", "10,20,30,40,50", "0,1,2,3,target", "7,8,9,9,target",
    ):  # fmt: skip
        (tmp_path / "new.csv").write_text("\n".join([first, *rows]))
        assert (
            "may be a header or a sample" in predicted(capsys, machine(), tmp_path / "new.csv")[1]
        )
    (tmp_path / "new.csv").write_text("\n".join(["0,1,2,3,4", *rows]))
    found, _ = predicted(capsys, machine(**NUMBERED), tmp_path / "new.csv")
    assert found["n"] == 8
    for first in ("0,1,2,3,label", "7,8,9,9,Class"):
        (tmp_path / "new.csv").write_text("\n".join([first, *rows]))
        found, _ = predicted(capsys, machine(), tmp_path / "new.csv")
        assert found["n"] == 8 and found["accuracy"] == 1


def test_a_sample_of_numbers_that_are_names_is_no_header(tmp_path, capsys):
    (tmp_path / "train.csv").write_text("1,label\n5,0\n7,1\n6,0\n")
    model = trained(tmp_path, tmp_path / "train.csv")
    (tmp_path / "new.csv").write_text("1,0\n5,0\n7,1\n")
    found, said = predicted(capsys, model, tmp_path / "new.csv")
    assert found is None and "line 1: '1,0' may be a header or a sample" in said
    (tmp_path / "new.csv").write_text("1,label\n5,0\n7,1\n")
    assert predicted(capsys, model, tmp_path / "new.csv")[0]["n"] == 2


def test_a_first_sample_of_a_class_y_is_no_header(tmp_path, capsys, machine):
    (tmp_path / "new.csv").write_text("0,0,1,3,Y\n0,1,0,7,n\n")
    found, _ = predicted(capsys, machine(("Y", "n", "p", "q")), tmp_path / "new.csv")
    assert found["n"] == 2
    found, said = predicted(capsys, machine(("a", "n", "p", "q")), tmp_path / "new.csv")
    assert found is None and "'0,0,1,3,Y' may be a header or a sample" in said


def test_a_header_without_a_name_of_a_feature(tmp_path, capsys, machine):
    (tmp_path / "new.csv").write_text(",b,c,d\n0,1,2,3\n1,5,6,7\n")
    said = predicted(capsys, machine(), tmp_path / "new.csv")[1]
    assert "the header has no name for column 1" in said


# the place of the label


def headerless(columns):
    return "\n".join(",".join(f"{value:g}" for value in row) for row in np.column_stack(columns))


DRAWN = np.random.default_rng(0)
FRACTIONS = DRAWN.random((8, 4)) + 0.01
WHOLE = np.array([[5, 7, 0, 9], [4, 4, 3, 8], [1, 0, 2, 7], [3, 9, 5, 6]] * 2)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ([np.arange(8), FRACTIONS], "seems to number the rows; remove it"),
        ([[17, 3, 99, 20, 5, 61, 2, 8], FRACTIONS], "seems to number the rows; remove it"),
        ([np.arange(8), WHOLE], "seems to number the rows; remove it"),
        ([np.arange(1, 9), WHOLE], "seems to number the rows; remove it"),
        ([DRAWN.permutation(40), *X.T.repeat(5, axis=1)], "seems to number the rows; remove it"),
        ([[0], WHOLE[:1]], "seems to number the rows; remove it"),
        ([[0], FRACTIONS[:1]], "seems to number the rows; remove it"),
        ([Y, FRACTIONS], "holds only classes; move it to the end, or name it y"),
        ([Y, WHOLE], "holds only classes; move it to the end, or name it y"),
        ([Y, WHOLE % 6], "holds only classes; move it to the end, or name it y"),
        ([FRACTIONS, FRACTIONS[:, :1]], "may be an index; remove it"),
        ([np.arange(40), *X.T.repeat(5, axis=1)], "seems to number the rows; remove it"),
    ],
)
def test_an_index_or_a_label_before_the_features(tmp_path, capsys, machine, columns, said):
    (tmp_path / "new.csv").write_text(headerless(columns))
    found, err = predicted(capsys, machine(), tmp_path / "new.csv")
    assert found is None and "the last column holds" in err and f"and column 1 {said}" in err


@pytest.mark.parametrize(
    "columns",
    [
        [X, Y],
        [WHOLE, Y],
        [X, np.where(Y == 4, 9, Y)],  # a class that the model does not have
        [FRACTIONS, np.zeros(8)],  # labels to fill in
        [np.arange(8), FRACTIONS[:, 1:], Y],
        [FRACTIONS[:1], [-1]],
        [DRAWN.permutation(40), *DRAWN.random((3, 40)), np.zeros(40)],
        [np.arange(8), FRACTIONS[:, 1:], np.full(8, -1)],
        [np.arange(40), *DRAWN.random((3, 40)), np.repeat(Y, 5)],
    ],
)
def test_labels_that_are_last(tmp_path, capsys, machine, columns):
    (tmp_path / "new.csv").write_text(headerless(columns))
    found, _ = predicted(capsys, machine(), tmp_path / "new.csv")
    assert found["n"] == len(columns[-1])


def test_one_sample_with_a_label_to_fill_in(tmp_path, capsys, machine):
    (tmp_path / "new.csv").write_text("0.5,7,1,2,-1\n")
    found, said = predicted(capsys, machine(tuple("abcd")), tmp_path / "new.csv")
    assert found["n"] == 1 and "no accuracy" in said


def test_a_header_of_numbers_above_labels_to_fill_in(tmp_path, capsys, machine):
    (tmp_path / "new.csv").write_text("1,2,3,4,5\n5,1,7,1,?\n3,3,9,4,?\n")
    said = predicted(capsys, machine(tuple("abcd")), tmp_path / "new.csv")[1]
    assert "'1,2,3,4,5' may be a header or a sample" in said


def test_what_may_be_an_index_is_a_feature_below_a_header(tmp_path, capsys, machine):
    rows = headerless([np.arange(8), FRACTIONS[:, 1:], np.arange(8) + 0.5])
    (tmp_path / "new.csv").write_text("a,b,c,d,label\n" + rows)
    assert predicted(capsys, machine(), tmp_path / "new.csv")[0]["n"] == 8


@pytest.mark.parametrize("first", ["a,", "pear,"])
def test_a_label_of_text_before_the_features(tmp_path, capsys, machine, first):
    rows = "\n".join(first + row for row in table().split())
    (tmp_path / "new.csv").write_text(rows)
    said = predicted(capsys, machine(), tmp_path / "new.csv")[1]
    assert "or if column 1 is the label, move it to the end" in said


def test_two_columns_of_one_name_are_told_apart_or_refused(tmp_path, capsys, machine):
    names = ("p", "q", "p", "r")
    (tmp_path / "new.csv").write_text(table("p,q,p,r"))
    found, _ = predicted(capsys, machine(feature_names=names), tmp_path / "new.csv")
    assert labels(found) == Y.tolist()
    (tmp_path / "new.csv").write_text(table("q,p,p,r"))
    said = predicted(capsys, machine(feature_names=names), tmp_path / "new.csv")[1]
    assert "the header has 2 columns 'p', which the model was trained on" in said
    (tmp_path / "new.csv").write_text(table("p,q,p,r").replace("p,q,p,r", "p,q,s,s"))
    said = predicted(capsys, machine(feature_names=("p", "q", "s", "r")), tmp_path / "new.csv")[1]
    assert "the header has 2 columns 's'" in said


# labels


@pytest.mark.parametrize(
    ("classes", "given", "accuracy"),
    [
        ((1, 2, 3, 4), "1 1.0 2 02 +3 3e0 4 9", 7 / 8),
        ((1, 2, 3, 4), "0 0 0 0 0 0 0 0", None),
        ((1, 2, 3, 4), "a a b b c c d d", None),
        ((1, 2, 3, 4), "0.5 0 0 0 0 0 0 0", None),
        ((1, 2, 3, 4), "1 1 2 2 ? 3 4 4", None),
        ((1, 2, 3, 4), "1 1 2 2 nan 3 4 4", None),
        ((1, 2, 3, 4), "1 1 2 2 3 3 4 x", 7 / 8),
        ((1, 2, 3, 4), f"1 1 2 2 3 3 4 {2**64 + 4}", 7 / 8),
        ((1, 2, 3, 4), f"1 1 2 2 3 3 4 {10**25}", 7 / 8),
        ((1, 2, 3, 4), "1 1 2 2 3 3 4 4.5", 7 / 8),
        ((1, 2, 3, 4), "1 1 2 2 3 3 4 1_0", 7 / 8),
        ((1, 2, 3, 4), "1 1 2 2 3 3 4 inf", 7 / 8),
        ((1.0, 2.0, 3.0, 2**53), f"1 1 2 2 3 3 {2**53} {2**53 + 1}", 7 / 8),
        (("01", "1", "2", "b"), "01 01 1 1 2 2 b b", 1),
        (("01", "1", "2", "b"), "01 01 1 1 2 2 2 2", 6 / 8),
        (("a", "b", "c", "d"), "a a b b NA c d d", None),
        (("a", "b", "c", "\u00e9"), "a a b b c c e\u0301 e\u0301", None),
    ],
)
def test_labels_that_are_no_classes_leave_out_the_accuracy(
    tmp_path, capsys, machine, classes, given, accuracy
):
    rows = [f"{row},{label}" for row, label in zip(table().split(), given.split(), strict=True)]
    (tmp_path / "new.csv").write_text("\n".join(rows))
    found, said = predicted(capsys, machine(classes), tmp_path / "new.csv")
    assert labels(found) == np.repeat(classes, 2).tolist()
    assert found.get("accuracy") == (accuracy and pytest.approx(accuracy))
    assert ("accuracy" in said) == (accuracy is None)


TRUTHS = np.array([True, True, False, False, True, True, False, True])


@pytest.mark.parametrize("texts", ["True False", "TRUE FALSE", "true false", "1 0", "1.0 0.0"])
@pytest.mark.parametrize("written", [True, False])
def test_truth_values_are_compared_by_value(tmp_path, capsys, texts, written):
    texts = np.array(texts.split())[1 - TRUTHS.astype(int)]
    rows = [f"{row},{label}" for row, label in zip(table().split(), texts, strict=True)]
    (tmp_path / "own.csv").write_text("\n".join(rows))
    np.savez(tmp_path / "own.npz", X=X, y=TRUTHS)
    train, new = ("own.csv", "own.npz") if written else ("own.npz", "own.csv")
    model = trained(tmp_path, tmp_path / train)
    found, said = predicted(capsys, model, tmp_path / new)
    other, _ = predicted(capsys, model, tmp_path / train)
    assert found["accuracy"] == other["accuracy"] > 0.5 and not said


@pytest.mark.parametrize("label", [0, -7, 0.5, np.nan])
@pytest.mark.parametrize("ending", ["svm", "npz"])
def test_dummy_labels_do_not_stop_a_prediction(tmp_path, capsys, machine, label, ending):
    new = tmp_path / f"new.{ending}"
    if ending == "svm":
        new.write_text("".join(f"{label} {feature}:1\n" for feature in (1, 2, 3, 4)))
    else:
        np.savez(new, X=np.eye(4), y=np.full(4, label))
    found, said = predicted(capsys, machine(index_base=1), new, "--topk", "2")
    assert [best[0] for best in found["predictions"]] == [1, 2, 3, 4]
    assert "accuracy" not in found and "no accuracy: y must" in said


def test_labels_of_libsvm_files_that_are_no_classes_are_wrong(tmp_path, capsys, machine):
    lines = [f"{label} {label}:1\n" for label in (1, 2, 3, 4)]
    (tmp_path / "new.svm").write_text("".join([*lines, f"{2**64} 1:1\n", "0.5 2:1\n"]))
    found, _ = predicted(capsys, machine(index_base=1), tmp_path / "new.svm")
    assert found["accuracy"] == pytest.approx(4 / 6)
    texts = machine(("1", "2", "3", "b"), index_base=1)
    assert predicted(capsys, texts, tmp_path / "new.svm")[0]["accuracy"] == 0.5


def test_labels_of_another_number_are_refused(tmp_path, capsys, machine):
    np.savez(tmp_path / "new.npz", X=np.eye(4), y=[1, 2, 3])
    said = predicted(capsys, machine(), tmp_path / "new.npz")[1]
    assert "new.npz' has 4 samples and labels of shape (3,)" in said
