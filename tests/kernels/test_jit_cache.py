"""The cache of machine code never answers with the code of an older source, or without checks.

Each test runs processes of a tiny package that borrows the library's decorator: a caller and its
helper in two files, which is what numba's own cache gets wrong.
"""

import zipfile
from zipfile import ZipFile

import pytest
from tiny_package import CALLER, MAIN, run, write_helper

from fwlab.kernels import _jit

CALLER_BY_TYPE = """
from fwlab.kernels._jit import compiled, chosen_by_type
from fwlab.kernels.helper import helper

def of_vector(x):
    return helper(x) + 1.0

def of_matrix(x):
    return helper(x[0]) + 2.0

def any_of(x):
    return of_vector(x) if x.ndim == 1 else of_matrix(x)

@chosen_by_type(any_of)
def _any_of_type(x):
    return of_vector if x.ndim == 1 else of_matrix

@compiled
def caller(x):
    return any_of(x)
"""
LAYOUTS = """
from typing import NamedTuple

class Pair(NamedTuple):
    {first}: float
    {second}: float
"""
CALLER_OF_A_LAYOUT = """
from fwlab.kernels._jit import compiled

@compiled
def caller(pair):
    return pair.low
"""
MAIN_OF_A_LAYOUT = """
from fwlab.kernels.caller import caller
from fwlab.kernels.layouts import Pair
value = caller(Pair(1.0, 100.0))
print(value, sum(caller.stats.cache_hits.values()))
"""


@pytest.mark.turns
def test_an_edit_in_another_file_reaches_the_cached_caller(package):
    write_helper(package, "x[0] + 1.0")
    assert run(package) == (2.0, 0)
    assert run(package) == (2.0, 1)  # from the cache
    write_helper(package, "x[0] + 100.0")
    assert run(package) == (101.0, 0)


@pytest.mark.turns
def test_an_edit_in_a_subfolder_reaches_the_cached_caller(package):
    write_helper(package, "x[0] + 1.0")
    folder = package / "domains"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (package / "helper.py").rename(folder / "helper.py")
    (package / "caller.py").write_text(CALLER.replace("kernels.helper", "kernels.domains.helper"))
    assert run(package) == (2.0, 0)
    assert run(package) == (2.0, 1)
    source = (folder / "helper.py").read_text()
    (folder / "helper.py").write_text(source.replace("1.0", "100.0"))
    assert run(package) == (101.0, 0)


@pytest.mark.turns
def test_an_edit_of_a_layout_reaches_the_cached_caller(package):
    """A layout keeps its cache in a second process; its fields change places in a third."""
    (package / "layouts.py").write_text(LAYOUTS.format(first="low", second="high"))
    (package / "caller.py").write_text(CALLER_OF_A_LAYOUT)
    assert run(package, MAIN_OF_A_LAYOUT) == (1.0, 0)
    assert run(package, MAIN_OF_A_LAYOUT) == (1.0, 1)
    (package / "layouts.py").write_text(LAYOUTS.format(first="high", second="low"))
    assert run(package, MAIN_OF_A_LAYOUT) == (100.0, 0)


@pytest.mark.turns
def test_bounds_are_checked_although_unchecked_code_is_cached(package):
    write_helper(package, "0.0 * np.isfinite(x[len(x)])")
    source = (package / "helper.py").read_text()
    (package / "helper.py").write_text("import numpy as np\n" + source)
    assert run(package) == (1.0, 0)
    assert run(package) == (1.0, 1)
    assert run(package, NUMBA_BOUNDSCHECK="1").startswith("IndexError")


def test_what_the_key_of_the_cache_depends_on(tmp_path, monkeypatch):
    (tmp_path / "a.py").write_text("one")
    key = _jit.cache_key(tmp_path)
    assert _jit.cache_key(tmp_path) == key
    (tmp_path / "notes.txt").write_text("no source")
    assert _jit.cache_key(tmp_path) == key
    keys = {key}
    (tmp_path / "a.py").write_text("two")
    keys.add(_jit.cache_key(tmp_path))
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    keys.add(_jit.cache_key(tmp_path))
    monkeypatch.setattr("numba.__version__", "0")
    keys.add(_jit.cache_key(tmp_path))
    monkeypatch.setattr(_jit.config, "BOUNDSCHECK", not _jit.config.BOUNDSCHECK)
    keys.add(_jit.cache_key(tmp_path))
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_name", lambda: "another processor")
    keys.add(_jit.cache_key(tmp_path))
    monkeypatch.setattr(_jit.config, "CPU_NAME", "another target")
    keys.add(_jit.cache_key(tmp_path))
    (tmp_path / "domains").mkdir()
    (tmp_path / "domains" / "a.py").write_text("one")
    keys.add(_jit.cache_key(tmp_path))
    monkeypatch.setattr("sys.implementation.cache_tag", "another Python")
    keys.add(_jit.cache_key(tmp_path))
    assert len(keys) == 9 and None not in keys


def test_sources_in_a_zip_have_the_key_of_the_same_files_in_a_folder(tmp_path):
    (tmp_path / "domains").mkdir()
    sources = {"a.py": "one", "domains/b.py": "two"}
    with ZipFile(tmp_path / "all.zip", "w") as archive:
        for name, text in sources.items():
            (tmp_path / name).write_text(text)
            archive.writestr(f"kernels/{name}", text)
    inside = zipfile.Path(tmp_path / "all.zip", "kernels/")
    assert _jit.cache_key(inside) == _jit.cache_key(tmp_path)


def test_without_sources_there_is_no_key(tmp_path, monkeypatch):
    (tmp_path / "a.pyc").write_bytes(b"code without its source")
    assert _jit.cache_key(tmp_path) is None
    monkeypatch.setattr(_jit, "files", lambda package: tmp_path)
    assert _jit.cache_folder.__wrapped__() is None
    monkeypatch.setattr(_jit, "files", lambda package: tmp_path / "nowhere")
    assert _jit.cache_folder.__wrapped__() is None


def test_without_a_writable_cache_kernels_still_work(package):
    write_helper(package, "x[0] + 1.0")
    no_folder = package / "a file"
    no_folder.touch()
    assert run(package, NUMBA_CACHE_DIR=str(no_folder)) == (2.0, 0)


def test_stored_code_is_loaded_without_what_only_compiles(package):
    write_helper(package, "x[0] + 1.0")
    main = MAIN.replace("value,", "float('numba.np.linalg' in sys.modules),")
    assert run(package, "import sys" + main) == (1.0, 0)
    assert run(package, "import sys" + main) == (0.0, 1)


def test_python_collects_garbage_as_before_a_compilation(package):
    write_helper(package, "x[0] + 1.0")
    main = MAIN.replace("value,", "float(gc.get_threshold() == (700, 9, 8)),")
    assert run(package, "import gc; gc.set_threshold(700, 9, 8)" + main) == (1.0, 0)


@pytest.mark.turns
def test_a_function_chosen_by_type_takes_the_place_of_a_call(package):
    write_helper(package, "x[0] + 1.0")
    (package / "caller.py").write_text(CALLER_BY_TYPE)
    assert run(package) == (2.0, 0)
    assert run(package, MAIN.replace("zeros(3)", "zeros((3, 3))")) == (3.0, 0)
