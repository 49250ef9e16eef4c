"""`fwlab solve --out-of-core`: a path over C, accuracies, resuming, and sentences for bad input."""

import csv
import gc
import json
import re
import sys

import numpy as np
import pytest

import fwlab
from fwlab import distributed
from fwlab.cli import main
from fwlab.distributed import OutOfCoreProblem, PackedResult

BASE = ["solve", "--out-of-core", "--data", "X.npy", "--labels", "y.npy", "-k", "2"]
# the package has a function of this name
path = sys.modules["fwlab.distributed.path"]
PATH = [*BASE, "--C", "0.01,0.1,1", "--tol", "1e-2", "--chunk-rows", "16", "--out", "path"]
VALID = ["--validation", "X_val.npy", "--validation-labels", "y_val.npy"]
NAMES = np.array(["cat", "dog", "eel", "owl"])


@pytest.fixture
def files(folder):
    """Provide the working folder with features of 60 samples, 20 more to validate, and labels."""
    rng = np.random.default_rng(0)
    codes = np.arange(80) % 4
    X = rng.normal(size=(80, 5)) + 2 * np.eye(4, 5)[codes]
    for name, rows in {"": slice(60), "_val": slice(60, 80)}.items():
        np.save(folder / f"X{name}.npy", X[rows].astype(np.float32))
        np.save(folder / f"y{name}.npy", NAMES[codes[rows]])
    return folder


def document(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def problem(C):
    return OutOfCoreProblem("X.npy", np.load("y.npy"), fwlab.TopK(2), C=C, chunk_rows=16)


def test_a_path_is_solved_and_stored(files, capsys):
    rows = document(capsys, *PATH, *VALID)["path"]
    assert [row["C"] for row in rows] == [0.01, 0.1, 1.0]
    A0 = None
    for row in rows:
        result = distributed.solve(problem(row["C"]), tol=1e-2, A0=A0)
        assert (row["gap"], row["iterations"]) == (result.gap, result.nit)
        assert PackedResult.load(row["file"]).gap == result.gap and row["gap"] <= 1e-2
        X, y = np.load("X_val.npy").astype(float), np.load("y_val.npy")
        for k in (1, 2):
            low, high = row[f"validation_top_{k}_accuracy_of_the_optimum"]
            assert np.allclose([low, high], result.proved_accuracy(X, y, k))
            assert low <= row[f"validation_top_{k}_accuracy"] <= high
        A0 = result.A
    kept = {path.name for path in (files / "path").iterdir()}
    assert kept == {"path.toml", "C=0.01.npz", "C=0.1.npz", "C=1.npz", ".lock"}


def test_each_run_of_a_path_begins_without_the_result_before_it(files, capsys, monkeypatch):
    plain, left = path.solve, []

    def solve(*arguments, **options):
        gc.collect()
        left.append(sum(type(found) is PackedResult for found in gc.get_objects()))
        return plain(*arguments, **options)

    monkeypatch.setattr(path, "solve", solve)
    assert main(PATH) == 0
    assert left == [left[0]] * 3


def test_a_second_call_reads_what_is_stored_and_resume_needs_no_flags(files, capsys):
    first = document(capsys, *PATH, *VALID)["path"]
    (files / "path" / "C=1.npz").unlink()
    again = document(capsys, "solve", "--resume", "--out", "path")["path"]
    assert [row["stored"] for row in again] == [True, True, False]
    same = ("C", "gap", "iterations", "validation_top_2_accuracy_of_the_optimum")
    assert [[row[n] for n in same] for row in first] == [[row[n] for n in same] for row in again]


@pytest.fixture
def killed_after(monkeypatch):
    """Provide a function that lets the next call end after a number of chunks, as by a kill."""
    chunks, left = OutOfCoreProblem.chunks, [-1]

    def kills(self, order=None):
        for part in chunks(self, order):
            left[0] -= 1
            if left[0] == 0:
                raise SystemExit
            yield part

    monkeypatch.setattr(OutOfCoreProblem, "chunks", kills)
    monkeypatch.setattr("fwlab.distributed.checkpoint.CheckpointFile.is_due", True)

    def call(number, *arguments):
        left[0] = number
        with pytest.raises(SystemExit):
            main([*arguments])

    return call


def test_a_killed_path_goes_on_with_the_same_numbers(files, capsys, killed_after):
    plain = document(capsys, *PATH)["path"]
    killed = [word.replace("path", "other") for word in PATH]
    killed_after(40, *killed)
    capsys.readouterr()
    again = document(capsys, *killed)["path"]
    for one, other in zip(plain, again, strict=True):
        assert (one["gap"], one["iterations"]) == (other["gap"], other["iterations"])
    W = [PackedResult.load(row["file"]).W for rows in (plain, again) for row in rows]
    assert all((one == other).all() for one, other in zip(W[:3], W[3:], strict=True))


def test_a_call_with_another_memory_keeps_the_rows_of_the_chunks(files, capsys, killed_after):
    X, y = np.load("X.npy"), np.load("y.npy")
    np.save("X.npy", np.tile(X, (20, 1)))
    np.save("y.npy", np.tile(y, 20))
    assert main([*BASE, "--max-memory", "1kB"]) == 2
    refusal = r"at least (\d+) bytes .* chunks of 150 rows"
    least = re.search(refusal, capsys.readouterr().err)[1] + "B"
    base = [*BASE, "--C", "0.01,0.1", "--tol", "1e-2"]
    plain = document(capsys, *base, "--max-memory", least, "--out", "plain")["path"]
    killed_after(30, *base, "--max-memory", least, "--out", "path")
    capsys.readouterr()
    assert (files / "path" / "C=0.01.unfinished.npz").exists()
    assert main(["solve", "--resume", "--out", "path", "--max-memory", "2kB"]) == 2
    err = capsys.readouterr().err
    assert "max_memory must be at least" in err and "chunks of 150 rows; got 2000" in err
    resumed = document(capsys, "solve", "--resume", "--out", "path", "--max-memory", "2GB")
    assert resumed["options"]["max-memory"] == "2GB"
    assert resumed["options"]["chunk-rows"] == 150
    again = document(capsys, *base, "--out", "path", "--max-memory", "3GB")["path"]
    for one, other, stored in zip(plain, resumed["path"], again, strict=True):
        assert (one["gap"], one["iterations"]) == (other["gap"], other["iterations"])
        W = [PackedResult.load(row["file"]).W for row in (one, other)]
        assert (W[0] == W[1]).all() and stored["stored"]
    assert "Resumed after iteration" in resumed["path"][0]["message"]
    assert main(["solve", "--resume", "--out", "path", "--chunk-rows", "300"]) == 2
    assert "holds one with chunk-rows = 150, and this one has 300" in capsys.readouterr().err


def test_a_saved_result_predicts(files, capsys):
    assert main([*BASE, "--tol", "1e-2", "--save", "run.npz"]) == 0
    capsys.readouterr()
    assert main(["predict", "--model", "run.npz", "--data", "X_val.npy"]) == 0
    labels = [row["top1"] for row in csv.DictReader(capsys.readouterr().out.splitlines())]
    assert labels == PackedResult.load("run.npz").predict(np.load("X_val.npy")).tolist()


def test_a_path_of_the_cross_entropy_is_stored_and_predicts(files, capsys):
    call = [*BASE[:-2], "--loss", "cross-entropy", "--chunk-rows", "16", "--tol", "1e-5"]
    path = [*call, "--C", "0.1,1", "--out", "path"]
    rows = document(capsys, *path, *VALID)["path"]
    X, y = np.load("X.npy").astype(float), np.load("y.npy")
    inside = fwlab.solve(fwlab.Problem(X, y, fwlab.CrossEntropy(), C=1.0), "lbfgs", tol=1e-5)
    assert rows[1]["success"] and abs(rows[1]["primal"] - inside.primal) <= 1e-5
    low, high = rows[1]["validation_top_1_accuracy_of_the_optimum"]
    assert 0 <= low <= rows[1]["validation_top_1_accuracy"] <= high
    again = document(capsys, "solve", "--resume", "--out", "path")["path"]
    assert [row["stored"] for row in again] == [True, True]
    predict = ["predict", "--model", "path/C=1.npz", "--data", "X_val.npy", "--probabilities"]
    assert main(predict) == 0
    assert capsys.readouterr().out.startswith("top1,p1")
    assert main([*call, "--method", "ascent"]) == 2
    assert 'method must be "lbfgs" or "auto" out of core' in capsys.readouterr().err


def test_samples_in_a_bad_npy_file_are_one_sentence(files, capsys):
    assert main([*BASE, "--tol", "1e-1", "--save", "run.npz"]) == 0
    (files / "cut.npy").write_bytes((files / "X.npy").read_bytes()[:400])
    for file, sentence in {"cut.npy": "is no whole .npy file", "y.npy": "must hold a 2-D"}.items():
        assert main(["predict", "--model", "run.npz", "--data", file]) == 2
        assert sentence in capsys.readouterr().err


def test_the_table_and_the_progress_are_shown(files, capsys):
    assert main([*PATH, *VALID, "-v"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0].startswith("X.npy: TopK(k=2), n = 60, d = 5, m = 4")
    assert "X is stored as float32, and the certificate is that of the stored X." in out
    header, _, *lines = out.splitlines()[2:]
    assert header.split()[:4] == ["C", "status", "gap", "iterations"]
    assert [line.split()[:2] for line in lines] == [[C, "CONVERGED"] for C in ("0.01", "0.1", "1")]
    assert "validation top-2 accuracy" in err and "ascent      0" in err


BAD = [
    (["--kernel", "linear"], "--out-of-core needs --kernel none: a Gram matrix would not fit"),
    (["--normalize", "unit"], "--out-of-core needs --normalize none"),
    (["--verify"], "--out-of-core takes no --verify"),
    (
        ["--n-threads", "2"],
        "--out-of-core needs --n-threads 1: each chunk is visited by one thread",
    ),
    (["--method", "afw"], 'or "fw" with exact steps, out of core; got'),
    (["--data", "none.npy"], "--data must name an existing .npy file; got 'none.npy'"),
    (["--data", "cut.npy"], "--data must name a whole .npy file of numbers; 'cut.npy'"),
    (["--labels", "none.npy"], "--labels must name an existing .npy file; got 'none.npy'"),
    (["--labels", "cut.npy"], "--labels must name a whole .npy file; 'cut.npy' cannot be read"),
    (["--labels", "objects.npy"], "'objects.npy' cannot be read: it holds Python objects, which"),
    (["--labels", "NA.npy"], "--labels 'NA.npy': y must hold a label in every row; row 1 has 'NA'"),
    (["--labels", "half.npy"], "--labels 'half.npy': y must hold class labels, that is integers"),
    (["--labels", "complex.npy"], "--labels 'complex.npy': y must hold integers, strings, truth"),
    (["--labels", "X.npy"], "--labels must hold a label per row, 1-D"),
    (["--labels", "y_val.npy"], "--labels must hold 60 labels, one per row of --data; got 20"),
    (["--max-memory", "1kB"], "max_memory must be at least"),
    (["--max-memory", "much"], "max_memory must be bytes or a text such as \"500MB\"; got 'much'"),
    (["--C", "0.1,1"], "several C need --out DIR"),
    (["--C", "1,x"], "must be numbers joined by commas"),
    (["--C", "0.1,-1", "--out", "p"], "C must be finite and > 0; got -1.0"),
    (["--C", "1,2", "--out", "p", "--save", "s.npz"], "--save takes one C"),
    (["--validation", "X_val.npy"], "--validation and --validation-labels need each other"),
    ([*VALID[:3], "y.npy"], "validation must have one label per row of X, 20; got 60"),
    (["--validation", "y_val.npy", *VALID[2:]], "--validation must be 2-D; got shape"),
    (["--loss", "topk,usunier"], "--loss must be one name"),
]


@pytest.mark.parametrize("flags, sentence", BAD, ids=[" ".join(flags) for flags, _ in BAD])
def test_bad_input_gets_one_sentence(files, capsys, flags, sentence):
    (files / "cut.npy").write_bytes((files / "X.npy").read_bytes()[:400])
    odd = {"objects": np.array(["a", 1] * 30, object), "NA": ["a", "NA"] * 30}
    for name, labels in (odd | {"half": [0, 0.5] * 30, "complex": [0, 1j] * 30}).items():
        np.save(files / f"{name}.npy", labels, allow_pickle=True)
    base = BASE if "--data" not in flags else [BASE[0], BASE[1], *BASE[4:]]
    assert main([*base, *flags]) == 2
    err = capsys.readouterr().err
    assert err.startswith("fwlab: ") and sentence in err and err.count("\n") == 1


@pytest.mark.parametrize("flags, sentence", [
    (["--labels", "y.npy"], "--labels needs --out-of-core."),
    (["--max-memory", "1GB"], "--max-memory needs --out-of-core."),
    (["--C", "0.1,1"], "--C takes several numbers only with --out-of-core; got 0.1,1."),
    (["--resume"], "--resume needs --out DIR, the folder of a path; got None."),
    (["--resume", "--out", "no"], "which holds no path.toml."),
    (["--out-of-core"], "--out-of-core needs --labels FILE"),
])  # fmt: skip
def test_flags_that_need_others(files, capsys, flags, sentence):
    assert main(["solve", "--data", "four.npz", *flags]) == 2
    assert sentence in capsys.readouterr().err


def test_a_folder_of_another_path_is_refused(files, capsys):
    assert main(PATH) == 0
    capsys.readouterr()
    assert main([*PATH, "--method", "bcfw"]) == 2
    assert "holds one with method = 'ascent', and this one has 'bcfw'" in capsys.readouterr().err
    np.save("X.npy", 2 * np.load("X.npy"))
    assert main(PATH) == 2
    assert "holds another run: its X is float32" in capsys.readouterr().err
