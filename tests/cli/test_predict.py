"""A stored model labels raw samples as the run that made it, from any file, without labels too."""

import csv
import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

import fwlab
from fwlab.cli import main

IRIS = load_iris()
NAMES = IRIS.target_names[IRIS.target]
FEATURES = ["sepal_l", "sepal_w", "petal_l", "petal_w"]
ORDER = np.random.default_rng(0).permutation(150)
TRAIN, NEW = ORDER[:100], ORDER[100:]


def write(path, columns, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        if columns:
            writer.writerow(columns)
        writer.writerows(rows)
    return path


def labelled(rows):
    return [[*IRIS.data[i].tolist(), NAMES[i]] for i in rows]


@pytest.fixture(params=["none", "unit", "standard"])
def trained(request, tmp_path):
    """Provide a stored model, the folder, and the run's own labels of the new samples."""
    train = write(tmp_path / "train.csv", [*FEATURES, "class"], labelled(TRAIN))
    model = tmp_path / "model.npz"
    options = ["--normalize", request.param, "--loss", "usunier", "-k", "2", "--tol", "1e-6"]
    assert main(["solve", "--data", str(train), *options, "--save", str(model)]) == 0
    dataset = fwlab.datasets.load(
        train, normalize=None if request.param == "none" else request.param
    )
    X = IRIS.data[NEW].copy()
    dataset.scaling.apply(X)
    codes = fwlab.Result.load(model).predict(X)
    return model, tmp_path, np.array(dataset.classes)[codes]


def predictions(capsys, *arguments):
    assert main(["predict", *map(str, arguments)]) == 0
    return list(csv.reader(capsys.readouterr().out.splitlines()))


def test_raw_samples_get_the_labels_of_the_run(trained, capsys):
    model, folder, expected = trained
    capsys.readouterr()
    samples = IRIS.data[NEW]
    files = {
        "alone": write(folder / "alone.csv", None, samples.tolist()),
        "named": write(folder / "named.csv", FEATURES, samples.tolist()),
        "shuffled": write(
            folder / "shuffled.csv",
            ["id", *FEATURES[::-1]],
            [[i, *row[::-1]] for i, row in enumerate(samples.tolist())],
        ),
        "labelled": write(folder / "labelled.csv", [*FEATURES, "class"], labelled(NEW)),
        "no header": write(folder / "no_header.csv", None, labelled(NEW)),
    }
    np.savez(folder / "new.npz", X=samples)
    np.savez(folder / "whole.npz", X_train=IRIS.data, y_train=NAMES, X_test=samples)
    files |= {"npz": folder / "new.npz", "test part": folder / "whole.npz"}
    for name, file in files.items():
        header, *rows = predictions(capsys, "--model", model, "--data", file)
        assert header == ["top1"], name
        assert [row[0] for row in rows] == expected.tolist(), name


def test_the_best_labels_and_their_accuracy(trained, capsys):
    model, folder, expected = trained
    file = write(folder / "new.csv", [*FEATURES, "class"], labelled(NEW))
    capsys.readouterr()
    arguments = ["--model", model, "--data", file, "--topk", 2, "--out", folder / "labels.csv"]
    code = main(["predict", *map(str, arguments), "--json"])
    report = json.loads(capsys.readouterr().out)
    header, *rows = csv.reader((folder / "labels.csv").read_text().splitlines())
    assert code == 0 and header == ["top1", "top2"] and report["n"] == 50
    best = np.array(rows)
    np.testing.assert_array_equal(best[:, 0], expected)
    assert report["accuracy"] == pytest.approx((expected == NAMES[NEW]).mean())
    right = (best == NAMES[NEW][:, None]).any(axis=1)
    assert report["top_2_accuracy"] == pytest.approx(right.mean())


def test_the_label_is_the_column_that_the_training_file_ends_with(tmp_path, capsys):
    train = write(tmp_path / "train.csv", [*FEATURES, "Species"], labelled(TRAIN))
    model = str(tmp_path / "model.npz")
    assert main(["solve", "--data", str(train), "-k", "1", "--save", model]) == 0
    named = write(tmp_path / "new.csv", ["Species", *FEATURES, "Class"],
                  [[row[-1], *row[:-1], "unknown"] for row in labelled(NEW)])  # fmt: skip
    unnamed = write(tmp_path / "bare.csv", FEATURES, [row[:-1] for row in labelled(NEW)])
    capsys.readouterr()
    assert main(["predict", "--model", model, "--data", str(named), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    right = np.array(found["predictions"])[:, 0] == NAMES[NEW]
    assert found["accuracy"] == pytest.approx(right.mean()) and right.mean() > 0.5
    assert main(["predict", "--model", model, "--data", str(unnamed), "--json"]) == 0
    assert "accuracy" not in json.loads(capsys.readouterr().out)


def test_labels_of_which_the_model_has_none_are_no_accuracy(trained, capsys):
    """A file of new samples may hold a dummy in the place of the labels."""
    model, folder, expected = trained
    file = write(
        folder / "new.csv", [*FEATURES, "class"], [[*row[:-1], 0] for row in labelled(NEW)]
    )
    capsys.readouterr()
    assert main(["predict", "--model", str(model), "--data", str(file), "--json"]) == 0
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert [row[0] for row in report["predictions"]] == expected.tolist()
    assert "accuracy" not in report
    assert err.startswith("fwlab: no accuracy: y must hold labels of the classes 'setosa', ")


def test_a_tie_counts_as_wrong_in_every_accuracy(tmp_path, capsys):
    """Of two equal scores the first class is predicted, and neither is right."""
    W, classes = np.array([[1.0], [1.0], [0.0], [-1.0]]), np.array(["a", "b", "c", "d"])
    fwlab.Model(W, np.zeros(4), classes).save(tmp_path / "model.npz")
    np.savez(tmp_path / "new.npz", X=[[1.0], [1.0], [1.0], [0.0], [-1.0]], y=[*"abcad"])
    arguments = ["--model", str(tmp_path / "model.npz"), "--data", str(tmp_path / "new.npz")]
    found = {}
    for k in (1, 2, 3):
        assert main(["predict", *arguments, "--topk", str(k), "--json"]) == 0
        found[k] = json.loads(capsys.readouterr().out)
    assert [row[0] for row in found[3]["predictions"]] == [*"aaaad"]
    assert {report["accuracy"] for report in found.values()} == {1 / 5}
    assert found[2]["top_2_accuracy"] == 3 / 5 and found[3]["top_3_accuracy"] == 4 / 5


def test_a_run_without_a_step_is_wrong_by_every_measure(tmp_path, capsys):
    """All scores are equal: with one rule for ties no top-k error is above a top-1 error."""
    file = write(tmp_path / "train.csv", [*FEATURES, "class"], labelled(TRAIN))
    arguments = ["solve", "--data", str(file), "-k", "2", "--time-limit", "0", "--json"]
    assert main(arguments) == 0
    report = json.loads(capsys.readouterr().out)["result"]
    assert report["train_error"] == report["train_top_2_error"] == 1.0


def test_a_model_file_is_data_only(trained):
    model, *_ = trained
    with np.load(model, allow_pickle=False) as stored:
        arrays = dict(stored)
    assert {"model_W", "model_classes", "model_settings", "model_certificate"} <= set(arrays)
    loaded = fwlab.Model.load(model)
    assert loaded.feature_names == tuple(FEATURES) and loaded.label_name == "class"
    assert loaded.settings["loss"] == "Usunier(k=2)" and loaded.made_by["fwlab"]
    assert loaded.certificate["gap"] == fwlab.Result.load(model).gap <= 1e-6


def test_an_estimator_gives_the_same_labels_as_its_model(tmp_path):
    # pandas holds strings as objects, which no .npz file may
    machine = fwlab.TopKSVC(k=2, fit_intercept=True, C=3).fit(IRIS.data, NAMES.astype(object))
    machine.to_model().save(tmp_path / "model.npz")
    model = fwlab.Model.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(model.predict(IRIS.data), machine.predict(IRIS.data))
    np.testing.assert_array_equal(
        model.predict_topk(sp.csr_array(IRIS.data), 2), machine.predict_topk(IRIS.data, 2)
    )
    assert model.certificate["gap"] == machine.duality_gap_
    two = fwlab.TopKSVC(fit_intercept=True).fit(IRIS.data[:100], NAMES[:100])
    np.testing.assert_array_equal(
        two.to_model().predict(IRIS.data[:100]), two.predict(IRIS.data[:100])
    )


def test_sparse_files_may_lack_the_last_features(tmp_path, capsys):
    (tmp_path / "train.svm").write_text("1 1:1 3:2\n2 2:1\n1 1:2\n2 2:3\n")
    (tmp_path / "new.svm").write_text("1 1:1\n2 2:2\n")
    model = tmp_path / "m.npz"
    assert main(["solve", "--data", str(tmp_path / "train.svm"), "-k", "1", "--normalize", "unit",
                 "--save", str(model)]) == 0  # fmt: skip
    capsys.readouterr()
    rows = predictions(capsys, "--model", model, "--data", tmp_path / "new.svm")
    assert rows == [["top1"], ["1"], ["2"]]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "predict needs --model FILE"),
        (["--model", "{model}"], "predict needs --data FILE"),
        (["--model", "{folder}/none.npz", "--data", "{new}"], "none.npz"),
        (["--model", "{new}", "--data", "{new}"], "path must name a file that Model.save wrote"),
        (["--model", "{model}", "--data", "{folder}/none.csv"], "is not an existing file"),
        (["--model", "{model}", "--data", "{new}", "--topk", "4"], "topk must be"),
        (["--model", "{model}", "--data", "{narrow}"], "has 3 features, and the model was trained"),
        (["--model", "{model}", "--data", "{unnamed}"], "no column 'petal_w'"),
        (["--model", "{model}", "--data", "{words}"], "'long' is not a finite number"),
    ],
)
def test_bad_input_is_one_sentence(arguments, sentence, tmp_path, capsys):
    fwlab.Model.of(
        fwlab.solve(fwlab.Problem(IRIS.data, IRIS.target, fwlab.TopK(1), 0.1), tol=1e-2),
        IRIS.target_names,
        feature_names=tuple(FEATURES),
    ).save(tmp_path / "model.npz")
    write(tmp_path / "new.csv", FEATURES, IRIS.data[:3].tolist())
    write(tmp_path / "narrow.csv", None, IRIS.data[:3, :3].tolist())
    write(tmp_path / "unnamed.csv", FEATURES[:3], IRIS.data[:3, :3].tolist())
    write(tmp_path / "words.csv", FEATURES, [["long", 1, 2, 3]])
    places = {name: tmp_path / f"{name}.csv" for name in ("new", "narrow", "unnamed", "words")}
    places |= {"model": tmp_path / "model.npz", "folder": tmp_path}
    filled = [argument.format(**places) for argument in arguments]
    assert main(["predict", *filled]) == 2
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1
