"""Files are written whole or not at all, into what their path leads to, and each error names them.

A file that another program damaged or wrote is refused in a sentence.
"""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from devices import device, stdout_by_name

import fwlab
from fwlab.files import why_no_file, write_atomically, write_text_atomically

pytestmark = pytest.mark.small
as_user = pytest.mark.skipif(os.geteuid() == 0, reason="root may write to everything")


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_file_has_the_mode_that_the_umask_leaves(tmp_path, umask, mode):
    path, before = tmp_path / "new folder" / "file", os.umask(umask)
    try:
        write_atomically(path, lambda file: file.write(b"text"))
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == mode
    assert path.read_bytes() == b"text"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    seen = []

    def write(file):
        seen.extend(draft.stat().st_mode & 0o777 & ~mode for draft in tmp_path.glob(".*"))
        file.write(b"new")

    write_atomically(path, write)
    assert path.read_bytes() == b"new" and path.stat().st_mode & 0o777 == mode
    assert seen == [0]  # the draft shows nobody more than the file does


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_that_is_replaced_keeps_its_owner(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    os.chown(path, 1234, 2345)
    write_atomically(path, lambda file: file.write(b"new"))
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)


def half_of(error):
    """Return a function that writes half of a file, and then meets this error."""

    def write(file):
        file.write(b"half of the n")
        raise error

    return write


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "No space left on device: '{path}'"),
        (OSError("encoder error -2"), "'{path}' cannot be written: encoder error -2"),
        (FileNotFoundError(errno.ENOENT, "No such file", "other"), "No such file: 'other'"),
        (KeyboardInterrupt(), ""),
    ],
    ids=["disk full", "no number", "another file", "Ctrl-C"],
)
def test_a_write_that_fails_leaves_the_old_file_alone(tmp_path, error, said):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(type(error)) as caught:
        write_atomically(path, half_of(error))
    assert str(caught.value).endswith(said.format(path=path))
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]
    write_atomically(path, lambda file: file.write(b"new"))
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]


def test_a_disk_that_refuses_what_was_buffered_leaves_no_file(tmp_path):
    """The system refuses the bytes when they are flushed, after `write` has returned."""
    code = (
        "import resource, signal; from pathlib import Path\n"
        "from fwlab.files import write_text_atomically as write\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (9, 9))\n"
        "write(Path('file'), 'more than nine bytes')"
    )
    command = [sys.executable, "-c", code]
    path = os.pathsep.join([str(Path(fwlab.__file__).parents[1]), *sys.path])
    env = {**os.environ, "PYTHONPATH": path}
    run = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert run.stderr.splitlines()[-1] == "OSError: [Errno 27] File too large: 'file'"
    assert list(tmp_path.iterdir()) == []


# what stands at the path


def test_a_link_stays_and_its_target_is_written(tmp_path):
    (tmp_path / "target").write_bytes(b"old")
    for name, target in {"link": "target", "second": "link", "new": "missing"}.items():
        (tmp_path / name).symlink_to(target)
        write_text_atomically(tmp_path / name, f"by {name}")
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / name).resolve().read_text() == f"by {name}"
    assert (tmp_path / "target").read_text() == "by second"
    assert (tmp_path / "missing").read_text() == "by new"


def test_a_link_to_another_folder_leaves_no_draft_in_either(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to("far/file")
    with pytest.raises(OSError, match=r"link'$"):
        write_atomically(tmp_path / "link", half_of(OSError(errno.EIO, "broken")))
    assert list((tmp_path / "far").iterdir()) == []
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(OSError, match=r"round'$"):
        write_text_atomically(tmp_path / "round", "text")


def test_a_pipe_is_written_into(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        fwlab.npz.write_arrays(pipe, {"W": np.eye(2)})
        got = reader.communicate()[0]
    (tmp_path / "got.npz").write_bytes(got)
    with fwlab.npz.npz_archive(tmp_path / "got.npz") as arrays:
        assert (arrays["W"] == np.eye(2)).all()
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_the_null_device_stays_a_device(tmp_path):
    path = device("null", tmp_path)
    before = path.stat()
    write_text_atomically(path, "text")
    assert os.path.samestat(path.stat(), before) and stat.S_ISCHR(before.st_mode)


def test_a_device_that_refuses_is_named(tmp_path):
    path = device("full", tmp_path)
    with pytest.raises(OSError, match=f"No space left on device: '{path}'$"):
        write_text_atomically(path, "text")
    assert stat.S_ISCHR(path.stat().st_mode)


def test_a_disk_is_not_overwritten(tmp_path, monkeypatch):
    path = tmp_path / "disk"
    path.write_bytes(b"all that there is")
    monkeypatch.setattr(stat, "S_ISREG", lambda mode: False)
    monkeypatch.setattr(stat, "S_ISBLK", lambda mode: True)
    with pytest.raises(PermissionError, match=r"disk'$"):
        write_text_atomically(path, "text")
    assert path.read_bytes() == b"all that there is"


@pytest.mark.turns
@pytest.mark.parametrize("to_file", [True, False], ids=["file", "pipe"])
def test_stdout_is_written_to_in_order(tmp_path, to_file):
    link = stdout_by_name(tmp_path)
    code = (
        "from pathlib import Path; from fwlab.files import write_text_atomically as write\n"
        f"print('before'); write(Path({str(link)!r}), 'text\\n'); print('after')"
    )
    path = os.pathsep.join([str(Path(fwlab.__file__).parents[1]), *sys.path])
    command, env = [sys.executable, "-c", code], {**os.environ, "PYTHONPATH": path}
    if to_file:
        with (tmp_path / "out").open("wb") as out:
            subprocess.run(command, stdout=out, env=env, check=True)
        printed = (tmp_path / "out").read_text()
    else:
        printed = subprocess.run(
            command, capture_output=True, text=True, env=env, check=True
        ).stdout
    assert printed == "before\ntext\nafter\n" and link.is_symlink()


BAD_PLACES = {
    "folder": (IsADirectoryError, "it is a folder, not a file"),
    "file/below": (NotADirectoryError, "Not a directory"),
    "file/far/below": (NotADirectoryError, "Not a directory"),
    "n" * 256: (OSError, "File name too long"),
}


@pytest.mark.parametrize("place", BAD_PLACES, ids=[name[:14] for name in BAD_PLACES])
def test_a_place_without_a_file_is_named(tmp_path, place):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"old")
    kind, reason = BAD_PLACES[place]
    path = tmp_path / place
    with pytest.raises(kind) as caught:
        write_text_atomically(path, "text")
    assert str(caught.value).endswith(f": '{path}'")
    assert why_no_file(path) == reason
    assert {file.name for file in tmp_path.iterdir()} == {"folder", "file"}


def test_the_longest_name_that_a_file_may_have_is_written(tmp_path):
    path = tmp_path / ("n" * 255)
    write_text_atomically(path, "text")
    assert path.read_text() == "text" and why_no_file(path) == ""


@as_user
def test_what_is_protected_stays(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o400)
    with pytest.raises(PermissionError, match=r"file'$"):
        write_text_atomically(path, "text")
    assert why_no_file(path) == "it is not writable"
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match=r"new'$"):
        write_text_atomically(tmp_path / "new", "text")
    assert why_no_file(tmp_path / "new") == f"the folder {str(tmp_path)!r} is not writable"
    tmp_path.chmod(0o700)


def test_what_the_system_calls_protected_stays(tmp_path, monkeypatch):
    """The same for root, to whom the system refuses nothing."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError, match=r"file'$"):
        write_text_atomically(path, "text")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]
    assert why_no_file(path) == "it is not writable"
    assert why_no_file(tmp_path / "a" / "b") == f"the folder {str(tmp_path)!r} is not writable"


# the disk


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    """A power cut never leaves the name of a file without its bytes."""
    done, fsync, replace = [], os.fsync, os.replace

    def synced(descriptor):
        kind = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        done.append((kind, os.fstat(descriptor).st_size if kind == "file" else None))
        fsync(descriptor)

    def replaced(*paths):
        done.append("renamed")
        replace(*paths)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    write_text_atomically(tmp_path / "file", "text")
    assert done == [("file", 4), "renamed", ("folder", None)]


def test_a_file_system_that_cannot_sync_is_used_without(tmp_path, monkeypatch):
    def refuse(descriptor):
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", refuse)
    write_text_atomically(tmp_path / "file", "text")
    assert (tmp_path / "file").read_text() == "text"


def test_a_disk_that_breaks_is_not_ignored(tmp_path, monkeypatch):
    def broken(descriptor):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match=r"Input/output error: '.*file'$"):
        write_text_atomically(tmp_path / "file", "text")
    assert list(tmp_path.iterdir()) == []
