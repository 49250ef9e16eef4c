"""Files are written whole or not at all, with the mode of any new file."""

import os

import pytest

from fwlab._files import write_atomically

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
