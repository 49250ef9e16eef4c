"""Machine code is read from private folders alone, only if it is whole; nothing else is deleted."""

import os
import stat
import tempfile
import time
from pathlib import Path

import pytest

from fwlab.kernels import _machine_code
from fwlab.kernels._machine_code import DAYS_KEPT, MARKER, NAME, code_folder, read, write

KEY, OLD = "0123456789abcdef01234567", "f" * 24
FILE = "a" * 40 + ".code"
CONTENT = bytes(range(256)) * 8

owned = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owner's number here")


@pytest.fixture
def roots(tmp_path, monkeypatch):
    """Provide the first and the second choice of a folder for all machine code, still missing."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(_machine_code.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path / "cache" / NAME, tmp_path / "tmp" / NAME


def made(root, mode=0o700):
    root.mkdir(parents=True)
    root.chmod(mode)
    return root


def test_folders_are_made_for_their_user_alone(roots):
    before = os.umask(0)
    try:
        folder = code_folder(KEY)
    finally:
        os.umask(before)
    assert folder == roots[0] / KEY
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder, folder.parent)} == {0o700}
    write(folder, FILE, CONTENT)
    assert stat.S_IMODE((folder / FILE).stat().st_mode) == 0o600
    assert code_folder(KEY) == folder and read(folder, FILE) == CONTENT


@owned
@pytest.mark.parametrize("mode", [0o770, 0o720, 0o707, 0o702, 0o1777])
@pytest.mark.parametrize("inner", ["", KEY])
def test_a_folder_that_others_can_write_is_not_used(roots, mode, inner):
    made(roots[0])
    if inner:
        (roots[0] / inner).mkdir(mode=0o700)
    (roots[0] / inner).chmod(mode)
    assert code_folder(KEY) == roots[1] / KEY


@owned
@pytest.mark.parametrize("inner", ["", KEY])
def test_a_folder_of_another_user_is_not_used(roots, inner, monkeypatch):
    (made(roots[0]) / KEY).mkdir(mode=0o700)
    lstat = Path.lstat

    def planted(path):
        state = lstat(path)
        other = os.stat_result((*state[:4], os.geteuid() + 1, *state[5:]))
        return other if path == roots[0] / inner else state

    monkeypatch.setattr(Path, "lstat", planted)
    assert code_folder(KEY) == roots[1] / KEY


@pytest.mark.parametrize("inner", ["", KEY])
def test_a_link_is_not_used(roots, inner, tmp_path):
    made(roots[0]).rmdir()
    target = made(tmp_path / "elsewhere")
    if inner:
        roots[0].mkdir(mode=0o700)
    (roots[0] / inner).symlink_to(target, target_is_directory=True)
    assert code_folder(KEY) == roots[1] / KEY
    assert not any(target.iterdir())


def test_without_a_safe_folder_there_is_none(roots):
    for root in roots:
        root.parent.mkdir(exist_ok=True)
        root.write_text("a file in its place")
    assert code_folder(KEY) is None


def test_a_user_without_a_home_stores_in_the_temporary_folder(roots, monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(_machine_code.config, "CACHE_DIR", "")
    monkeypatch.setattr(Path, "home", no_home)
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    assert code_folder(KEY) == roots[1] / KEY


def test_a_relative_folder_stays_where_it_was(roots, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_machine_code.config, "CACHE_DIR", "cache")
    assert code_folder(KEY) == roots[0] / KEY


DAMAGE = {
    "empty": lambda data: b"",
    "one byte": lambda data: data[:1],
    "half of the hash": lambda data: data[:16],
    "the hash alone": lambda data: data[:32],
    "one byte short": lambda data: data[:-1],
    "one byte more": lambda data: data + b"\0",
    "zeros at the end": lambda data: data[:-512] + bytes(512),
    "a bit of the hash": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "a bit of the content": lambda data: data[:99] + bytes([data[99] ^ 128]) + data[100:],
    "another format": lambda data: b"\x80\x04K\x01." * 50,
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_file_is_as_good_as_none(roots, name):
    folder = code_folder(KEY)
    write(folder, FILE, CONTENT)
    whole = (folder / FILE).read_bytes()
    (folder / FILE).write_bytes(DAMAGE[name](whole))
    assert read(folder, FILE) is None
    write(folder, FILE, CONTENT)
    assert read(folder, FILE) == CONTENT and (folder / FILE).read_bytes() == whole


def test_a_file_under_the_name_of_another_is_not_read(roots):
    folder = code_folder(KEY)
    write(folder, FILE, CONTENT)
    (folder / FILE).rename(folder / f"{'b' * 40}.code")
    assert read(folder, FILE) is None
    assert read(folder, f"{'b' * 40}.code") is None


@owned
def test_a_file_of_others_is_not_read(roots, monkeypatch):
    folder = code_folder(KEY)
    write(folder, FILE, CONTENT)
    for mode in (0o620, 0o602):
        (folder / FILE).chmod(mode)
        assert read(folder, FILE) is None
    (folder / FILE).chmod(0o644)
    assert read(folder, FILE) == CONTENT
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert read(folder, FILE) is None


def test_a_file_that_cannot_be_written_leaves_no_draft(roots, monkeypatch):
    folder = code_folder(KEY)

    def full(*paths):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write(folder, FILE, CONTENT)
    assert [file.name for file in folder.iterdir()] == [MARKER]


def old(path):
    os.utime(path, (time.time() - (DAYS_KEPT + 1) * 86400,) * 2)


@pytest.fixture
def stored(roots):
    """Provide a folder of another key, as this library makes it; `old` makes it too old."""
    folder = code_folder(OLD)
    write(folder, FILE, CONTENT)
    (folder / f"{FILE}.a1b2c3d4").write_bytes(b"the draft of a killed process")
    return folder


def test_old_code_is_deleted_and_new_code_kept(stored):
    recent = code_folder("e" * 24)
    os.utime(recent, (time.time() - (DAYS_KEPT - 1) * 86400,) * 2)
    current = code_folder(KEY)
    old(current)
    old(stored)
    assert code_folder(KEY) == current and time.time() - current.stat().st_mtime < 86400
    assert {path.name for path in current.parent.iterdir()} == {KEY, recent.name}


def another_name(folder):
    folder = folder.rename(folder.with_name("figures"))
    return folder


def capitals(folder):
    return folder.rename(folder.with_name("F" * 24))


def without_marker(folder):
    (folder / MARKER).unlink()
    return folder


def marker_is_a_link(folder):
    (folder / MARKER).rename(folder.parent / "note")
    (folder / MARKER).symlink_to(folder.parent / "note")
    return folder


def with_results(folder):
    (folder / "results.csv").write_text("mine")
    return folder


def with_hidden_file(folder):
    (folder / ".git").touch()
    return folder


def with_folder(folder):
    (folder / f"{'c' * 40}.code").mkdir()
    return folder


def with_link(folder):
    (folder.parent / "mine").write_text("mine")
    (folder / f"{'c' * 40}.code").symlink_to(folder.parent / "mine")
    return folder


def link_to_it(folder):
    target = folder.rename(folder.parent.parent / "moved")
    old(target)
    folder.symlink_to(target, target_is_directory=True)
    return target


@pytest.mark.parametrize(
    "change",
    [
        *(another_name, capitals, without_marker, marker_is_a_link, with_results),
        *(with_hidden_file, with_folder, with_link, link_to_it),
    ],
)
def test_what_is_not_ours_alone_is_left_alone(stored, change):
    folder = change(stored)
    old(folder)
    before = {path: path.lstat().st_mtime for path in folder.rglob("*")}
    assert code_folder(KEY) is not None
    assert before and {path: path.lstat().st_mtime for path in folder.rglob("*")} == before


def test_a_folder_that_cannot_be_deleted_is_no_error(stored, monkeypatch):
    old(stored)

    def refused(path, *rest):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refused)
    assert code_folder(KEY) is not None and (stored / FILE).is_file()
