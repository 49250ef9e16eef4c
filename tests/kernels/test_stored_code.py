"""Stored machine code: damage, full disks, processes at the same time, zips, and folders of others.

Processes of their own run a tiny package that borrows the library's decorator.
"""

import os
import shutil
import time
from zipfile import ZipFile

import pytest
from tiny_package import answer, run, start, write_helper

from fwlab.kernels import _jit, _lowered, _machine_code, _stored_code

OPTIONS = _jit._options(fastmath=False, inline=False, allocates=False)


def plus_one(x):
    return x + 1


def test_an_import_deletes_nothing_of_a_checkout_beside_the_cache(package):
    """NUMBA_CACHE_DIR is the parent of a checkout of this name, with work of 40 days ago."""
    write_helper(package, "x[0] + 1.0")
    for name in ("fwlab", "fwlab-kernels", _machine_code.NAME):
        for inner in (".git", "figures", "results", "0123456789abcdef01234567"):
            folder = package.parents[1] / "shared" / name / inner
            folder.mkdir(parents=True, mode=0o700)
            (folder / "mine").touch()
            os.utime(folder, (time.time() - 40 * 86400,) * 2)
    before = sorted((package.parents[1] / "shared").rglob("*"))
    assert run(package, NUMBA_CACHE_DIR=str(package.parents[1] / "shared")) == (2.0, 0)
    assert set(before) <= {*(package.parents[1] / "shared").rglob("*")} and len(before) == 27


@pytest.mark.turns
def test_damaged_files_are_compiled_again_and_replaced(package):
    write_helper(package, "x[0] + 1.0")
    assert run(package) == (2.0, 0)
    (file,) = (package.parents[1] / "cache").rglob("*.code")
    whole = file.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2]):
        file.write_bytes(damaged)
        assert run(package) == (2.0, 0)
        assert len(file.read_bytes()) == len(whole)
    assert run(package) == (2.0, 1)


@pytest.mark.parametrize(
    "text", [b"cnosuchmodule\nname\n.", b"cos\nnosuchname\n.", b"no pickle", b""]
)
def test_whole_files_that_numba_cannot_load_are_compiled_again(tmp_path, text):
    """As after a change of numba's own classes: an intact file, and an error of any kind."""
    kernel = _lowered.kernel_of(plus_one, OPTIONS, tmp_path)
    assert kernel(1.0) == 2.0
    (file,) = tmp_path.glob("*.code")
    _machine_code.write(tmp_path, file.name, text)
    again = _lowered.kernel_of(plus_one, OPTIONS, tmp_path)
    assert again(1.0) == 2.0 and not again.stats.cache_hits
    third = _lowered.kernel_of(plus_one, OPTIONS, tmp_path)
    assert third(1.0) == 2.0 and sum(third.stats.cache_hits.values()) == 1


def test_types_of_one_text_have_code_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(_stored_code.StoredCode, "_name", lambda *types: f"{'a' * 40}.code")
    for value in (1, 1.5, 1, 1.5):
        kernel = _lowered.kernel_of(plus_one, OPTIONS, tmp_path)
        assert kernel(value) == value + 1 and type(kernel(value)) is type(value)


def test_a_full_disk_is_no_error(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_machine_code, "write", full)
    assert _lowered.kernel_of(plus_one, OPTIONS, tmp_path)(1.0) == 2.0


@pytest.mark.turns
def test_eight_processes_that_compile_at_once_all_work(package):
    write_helper(package, "x[0] + 1.0")
    processes = [start(package) for _ in range(8)]
    values = {answer(process)[0] for process in processes}
    assert values == {2.0}
    assert run(package) == (2.0, 1)


@pytest.mark.turns
@pytest.mark.parametrize("name", ["fwlab.zip", "app.pyz"])
def test_kernels_in_a_zip_are_cached(package, name):
    write_helper(package, "x[0] + 1.0")
    archive = package.parents[1] / name
    with ZipFile(archive, "w") as opened:
        for source in package.parent.rglob("*.py"):
            opened.write(source, source.relative_to(package.parents[1]))
    shutil.rmtree(package.parent)
    assert run(package, PYTHONPATH=str(archive)) == (2.0, 0)
    assert run(package, PYTHONPATH=str(archive)) == (2.0, 1)
