"""The cross-entropy on the command line: runs, models, probabilities of new samples."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from command_line import compared
from sklearn.datasets import load_iris

import fwlab
from fwlab.cli import main
from fwlab.cli.options import parse

X, Y = load_iris(return_X_y=True)


def predictions(capsys, *arguments):
    assert main(["predict", *map(str, arguments)]) == 0
    return list(csv.reader(capsys.readouterr().out.splitlines()))


def test_compare_runs_it_beside_a_hinge(folder, capsys, undrawn):
    arguments = ["--loss", "cross-entropy,max-hinge", "--methods", "auto", "--tol", "1e-6"]
    document = compared(capsys, *arguments)
    losses = {problem["loss"]: problem["name"] for problem in document["problems"]}
    assert losses["CrossEntropy()"] == "four.npz/cross-entropy" and len(losses) == 2
    data = fwlab.datasets.load("four.npz")
    problem = fwlab.Problem(data.X_train, data.y_train, fwlab.CrossEntropy(), C=1.0)
    run = next(run for run in document["runs"] if run["problem"] == losses["CrossEntropy()"])
    assert run["success"] and run["primal"] == fwlab.solve(problem, "auto", tol=1e-6).primal


def test_a_method_that_does_not_take_it_names_those_that_do(folder, capsys):
    assert main(["solve", "--data", "four.npz", "--loss", "cross-entropy", "--method", "dicg"]) == 2
    assert (
        "it does not take CrossEntropy(), because its steps are made for" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("loss", "method"), [("topk", "ascent"), ("all", "ascent"), ("cross-entropy", "lbfgs")]
)
def test_the_default_method_takes_the_loss(loss, method):
    assert parse(["solve", "--loss", loss]).method == method
    assert parse(["solve", "--loss", loss, "--method", "fw"]).method == "fw"


def test_cross_entropy_needs_no_method(folder, capsys):
    Path("run.toml").write_text('loss = "cross-entropy"\n')
    for options in (["--loss", "cross-entropy"], ["--config", "run.toml"]):
        assert main(["solve", "--data", "four.npz", "--json", *options]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["result"]["method"] == document["options"]["method"] == "lbfgs"
        assert document["result"]["success"]


def test_probabilities_follow_the_labels(folder, capsys):
    options = ["--loss", "cross-entropy", "--save", "model.npz"]
    assert main(["solve", "--data", "two.csv", *options]) == 0
    np.savetxt("new.csv", X := np.random.default_rng(0).normal(size=(6, 5)), delimiter=",")
    model, call = fwlab.Model.load("model.npz"), ["--model", "model.npz", "--data", "new.csv"]
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares[:, 1], 1 / (1 + np.exp(model.scores(X) @ [1, -1])))
    capsys.readouterr()
    header, *rows = predictions(capsys, *call, "--topk", 2, "--probabilities")
    assert header == ["top1", "top2", "p1", "p2"] and len(rows) == 6
    for row, share in zip(rows, shares, strict=True):
        assert [float(p) for p in row[2:]] == share[[int(label) for label in row[:2]]].tolist()
    assert main(["predict", *call, "--probabilities", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["probabilities"]
    assert found == shares.max(axis=1)[:, None].tolist()
    assert predictions(capsys, *call)[0] == ["top1"]


def test_a_hinge_has_no_probabilities(folder, capsys):
    assert main(["solve", "--data", "four.npz", "--save", "model.npz"]) == 0
    call = ["--model", "model.npz", "--data", "four.npz", "--probabilities"]
    capsys.readouterr()
    assert main(["predict", *call]) == 2
    err = capsys.readouterr().err
    assert err == "fwlab: probabilities need a model of the cross-entropy; got TopK(k=3).\n"


def test_an_estimator_of_the_cross_entropy_hands_its_probabilities_on():
    for options in ({"fit_intercept": True}, {"loss": fwlab.CrossEntropy()}):
        machine = fwlab.TopKClassifier(**options).fit(X, Y)
        found = machine.to_model().predict_proba(X)
        np.testing.assert_allclose(found, machine.predict_proba(X), rtol=1e-12)


def test_a_top_k_entropy_runs_and_has_no_probabilities(folder, capsys, undrawn):
    options = ["--data", "four.npz", "--loss", "topk-entropy", "-k", "2"]
    method = ["--method", "auto", "--save"]
    assert main(["solve", *options, *method, "model.npz", "--json"]) == 0
    data = fwlab.datasets.load("four.npz")
    problem = fwlab.Problem(data.X_train, data.y_train, fwlab.TopKEntropy(2), C=1.0)
    result = fwlab.solve(problem, "auto")
    assert fwlab.Model.load("model.npz").certificate["primal"] == result.primal
    capsys.readouterr()
    call = ["--model", "model.npz", "--data", "four.npz", "--probabilities"]
    assert main(["predict", *call]) == 2
    err = capsys.readouterr().err
    assert err == "fwlab: probabilities need a model of the cross-entropy; got TopKEntropy(k=2).\n"
    assert main(["certify", *options, "--model", "model.npz", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["certification"]
    assert found["excess"] < 1e-4
    assert main(["solve", *options[:-1], "1", *method, "one.npz"]) == 0
    assert fwlab.Model.load("one.npz").has_probabilities
