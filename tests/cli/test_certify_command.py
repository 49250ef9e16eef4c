"""`fwlab certify`: machines in files, on the data as they take them."""

import numpy as np
import pytest
from command_line import document, solved

import fwlab
from fwlab.cli import main

SETTINGS = ("--loss", "usunier", "--C", "2")


def certified(capsys, *arguments, code=0):
    return document(capsys, "certify", *SETTINGS, *arguments, code=code)["certification"]


def refused(capsys, *arguments):
    assert main(["certify", "--data", "four.npz", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err


def in_memory(**options):
    data = fwlab.datasets.load("four.npz", **options)
    return data, fwlab.Problem(data.X_train, data.y_train, fwlab.Usunier(2), C=2.0)


def test_weights_in_a_file(folder, capsys):
    _, problem = in_memory(normalize="unit")
    W = fwlab.solve(problem, tol=1e-2).W
    np.save("W.npy", W)
    found = certified(capsys, "--weights", "W.npy", "--normalize", "unit", "--factor", "1.01")
    expected = fwlab.certify(problem, W, factor=1.01)
    for name in ("excess", "excess_low", "distance", "primal", "gap_error"):
        assert found[name] == getattr(expected, name), name
    assert found["status"] == "KNOWN" and found["message"] == expected.message
    assert found["train_labels_proved"] == expected.proved(problem.X).mean()


@pytest.mark.parametrize("normalize", ["none", "unit", "standard"])
def test_a_stored_model_brings_its_normalisation(folder, capsys, normalize):
    save = ("--save", "model.npz", "--tol", "1e-3", "--normalize", normalize)
    gap = solved(capsys, *SETTINGS, *save)["result"]["gap"]
    found = certified(capsys, "--model", "model.npz")
    assert 0 <= found["excess"] <= gap * (1 + 1e-9) + 1e-12


def test_an_intercept_needs_its_constant_feature(folder, capsys):
    data, _ = in_memory()
    X = np.column_stack([data.X_train, np.full(len(data.y_train), 0.5)])
    W = fwlab.solve(fwlab.Problem(X, data.y_train, fwlab.Usunier(2), C=2.0), tol=1e-6).W
    np.save("W.npy", W[:, :-1])
    np.save("b.npy", 0.5 * W[:, -1])
    files = ("--weights", "W.npy", "--intercept", "b.npy")
    assert "append a column of 1 to X" in refused(capsys, *files)
    assert certified(capsys, *files, "--intercept-scaling", "0.5")["excess"] < 1e-5


def test_the_text_says_what_is_known(folder, capsys):
    np.save("W.npy", np.ones((4, 5)))
    assert main(["certify", "--data", "four.npz", "--weights", "W.npy", *SETTINGS, "-k", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("four.npz: Usunier(k=2)")
    assert any(line.split() == ["status", "KNOWN"] for line in lines)


@pytest.mark.turns
def test_the_decay_of_a_weighted_loss_has_a_flag_of_its_own(folder, capsys):
    np.save("W.npy", np.ones((4, 5)))
    arguments = ("--weights", "W.npy", "--loss", "weighted-usunier", "--decay", "exponential")
    problem = document(capsys, "certify", *arguments)["problem"]
    assert problem["loss"].startswith("WeightedUsunier(")


def test_the_exit_code_is_1_only_if_strict(folder, capsys):
    np.save("W.npy", np.ones((4, 5)))
    late = ("--weights", "W.npy", "--time-limit", "0")
    assert certified(capsys, *late)["status"] == "OPEN"
    assert certified(capsys, *late, "--strict", code=1)["status"] == "OPEN"
    assert certified(capsys, "--weights", "W.npy", "--strict")["status"] == "KNOWN"


def test_ctrl_c_ends_it_with_130_and_what_is_known(folder, capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("fwlab.certification.ExcessTest.end_if_known", interrupt)
    np.save("W.npy", np.ones((4, 5)))
    assert certified(capsys, "--weights", "W.npy", code=130)["excess"] > 0


def test_bad_input_is_one_sentence(folder, capsys):
    np.save("W.npy", np.ones((3, 5)))
    np.savez("no_model.npz", W=np.ones((4, 5)))
    assert "certify needs --model FILE or --weights FILE; got neither." in refused(capsys)
    both = refused(capsys, "--weights", "W.npy", "--model", "model.npz")
    assert "not allowed with" in both
    assert "W must be (m, d) = (4, 5)" in refused(capsys, "--weights", "W.npy")
    assert "--weights none.npy cannot be read" in refused(capsys, "--weights", "none.npy")
    assert "--weights no_model.npz cannot" in refused(capsys, "--weights", "no_model.npz")
    assert "no_model.npz" in refused(capsys, "--model", "no_model.npz")
    assert "--loss must be one name" in refused(capsys, "--weights", "W.npy", "--loss", "all")
    np.save("W.npy", np.ones((4, 5)))
    assert "factor must be above 1" in refused(capsys, "--weights", "W.npy", "--factor", "1")


def test_a_model_of_other_data_is_refused(folder, capsys):
    solved(capsys, "--save", "model.npz")
    model = ("--model", "model.npz")
    assert main(["certify", "--data", "two.csv", *model]) == 2
    assert "classes of --model, 0, 1, 2, 3; 'two.csv' has 0, 1." in capsys.readouterr().err
    assert main(["certify", "--data", "digits", *model]) == 2
    assert "the 5 features of --model; 'digits' has 64." in capsys.readouterr().err
    own = "--model brings its own intercept and normalisation; got --"
    assert own + "normalize" in refused(capsys, *model, "--normalize", "unit")
    assert own + "intercept" in refused(capsys, *model, "--intercept", "b.npy")
