"""Files are written whole or not at all, with the mode of any new file."""

import os

import numpy as np
import pytest

import fwlab
from fwlab.files import write_atomically

pytestmark = pytest.mark.small


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_file_has_the_mode_that_the_umask_leaves(tmp_path, umask, mode):
    path, before = tmp_path / "new folder" / "file", os.umask(umask)
    try:
        write_atomically(path, lambda file: file.write(b"text"))
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == mode
    assert path.read_bytes() == b"text"


def test_a_write_that_fails_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def full(file):
        file.write(b"half of the n")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, full)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]
    write_atomically(path, lambda file: file.write(b"new"))
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]


def write_text(path):
    path.write_text("no arrays")


def write_nothing(path):
    path.touch()


def write_half_an_archive(path):
    path.write_bytes(b"PK\x03\x04 and then the disk was full")


def write_one_array(path):
    with path.open("wb") as file:
        np.save(file, np.ones(3))


def write_other_arrays(path):
    with path.open("wb") as file:
        np.savez(file, A=np.ones(3), trace_gap=np.ones(3))


@pytest.mark.parametrize("owner", ["Result", "Trace", "ranking.Result"])
@pytest.mark.parametrize(
    "write",
    [write_text, write_nothing, write_half_an_archive, write_one_array, write_other_arrays],
)
def test_a_foreign_file_is_refused_in_a_sentence(write, owner, tmp_path):
    path = tmp_path / "file.npz"
    write(path)
    loader = fwlab.ranking.Result if owner == "ranking.Result" else getattr(fwlab, owner)
    with pytest.raises(ValueError, match=rf"path must name .* {owner}.save wrote; got .*file.npz"):
        loader.load(path)


def test_a_missing_file_is_called_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        fwlab.Result.load(tmp_path / "nowhere.npz")
