"""Data for which there is not enough memory are one sentence with their name and what they take."""

import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import fwlab
from fwlab.cli import main

FREE = 2**32


@pytest.fixture
def little_memory():
    """Leave 4 GiB to this process, as `ulimit -v` does."""
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux limits the memory of a process")
    import resource

    limits = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + FREE, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, limits)


def said(capsys, *arguments):
    assert main(list(arguments)) == 2
    out, err = capsys.readouterr()
    assert not out and err.count("\n") == 1
    return err


@pytest.mark.parametrize(
    "command",
    [
        ("data",),
        ("solve", "-k", "1", "--data"),
        ("solve", "-k", "1", "--normalize", "unit", "--data"),
        ("compare", "-k", "1", "--methods", "fw", "--out", "results", "--data"),
    ],
)
@pytest.mark.usefixtures("little_memory", "folder")
def test_a_huge_index_is_a_sentence(capsys, command):
    Path("huge.svm").write_text("1 1:1\n2 2147483646:3\n1 5:1\n2 7:3\n")
    err = said(capsys, *command, "huge.svm")
    assert err.startswith("fwlab: 'huge.svm' takes more memory than there is. Unable to allocate ")
    assert " GiB for an array" in err


@pytest.mark.usefixtures("little_memory", "folder")
def test_a_huge_shape_is_a_sentence(capsys):
    matrix = {"data": [1.0, 2.0], "indices": [0, 1], "indptr": [0, 1, 2], "shape": [2, 2**40]}
    np.savez("huge.npz", **{f"X_{name}": piece for name, piece in matrix.items()}, y=[0, 1])
    err = said(capsys, "solve", "-k", "1", "--data", "huge.npz")
    assert err.startswith("fwlab: 'huge.npz' takes more memory than there is. Unable to allocate ")


@pytest.mark.parametrize(
    "command", ["data huge.npz", "solve --data huge.npz", "predict --model m.npz --data huge.npz",
                "predict --model m.npz --data huge.npy"]
)  # fmt: skip
@pytest.mark.usefixtures("little_memory", "folder")
def test_a_header_of_more_rows_than_the_file_is_a_sentence(capsys, command):
    fwlab.Model(np.eye(2), np.zeros(2), np.array([1, 2])).save("m.npz")
    header = {"descr": "<f8", "fortran_order": False, "shape": (2**40, 2)}
    with open("huge.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        file.write(bytes(64))
    np.savez("huge.npz", y=[1, 2])
    with zipfile.ZipFile("huge.npz", "a") as archive:
        archive.write("huge.npy", "X.npy")
    assert "huge.np" in said(capsys, *command.split())
