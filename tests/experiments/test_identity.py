"""Test what identifies code: bytecode and state, versions of packages, and refusals."""

import base64
import functools
import hashlib
import importlib
import logging
import os
import random
import re
import subprocess
import sys
import threading
from gzip import open as unzipped
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import scipy.special
import scipy.stats

import fwlab
from fwlab.experiments.data_name import DataName
from fwlab.experiments.store import place
from fwlab.identity import digest
from fwlab.versions import (
    Unidentifiable,
    part_version,
    recorded_version,
    version_of_module,
)

LOG = logging.getLogger("visitor")
PATTERN = re.compile("a+")


def a_lock():
    return threading.Lock()


@pytest.mark.parametrize(
    "value",
    [
        a_lock(),
        (i for i in range(3)),
        lambda: open("weights.txt"),
        lambda: np.load("weights.npy"),
        lambda: os.environ["WEIGHT"],
        lambda: subprocess.run(["weights"]),
        lambda: Path("weights.txt").open(),
        lambda: unzipped("weights.gz"),
        lambda: np.memmap("weights.bin"),
        lambda: os.listdir("."),
        np.frompyfunc(lambda x: x, 1, 1),
    ],
    ids=["lock", "generator", "file", "array file", "environment", "program", "method", "import",
         "map", "folder", "ufunc"],
)  # fmt: skip
def test_what_cannot_be_identified_is_refused(value):
    with pytest.raises(Unidentifiable, match=" has "):
        digest(value)


def test_whose_code_a_module_holds():
    assert version_of_module("numpy.linalg").startswith(f"numpy {np.__version__} ")
    assert version_of_module("scipy.sparse").startswith(f"scipy {scipy.__version__} ")
    assert version_of_module("json") == sys.version.split()[0]
    assert version_of_module("fwlab.losses") == part_version("fwlab")
    assert version_of_module("fwlab.experiments.comparison").startswith("fwlab.experiments ")
    assert version_of_module("a_module_of_mine") is None


@pytest.fixture(autouse=True)
def no_version_is_kept():
    yield
    forget_versions()


def package_of(tmp_path, monkeypatch):
    """Return an imported package older than this process, and the folder of its metadata."""
    (tmp_path / "visitor").mkdir()
    (tmp_path / "visitor" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    forget_versions()
    monkeypatch.setitem(sys.modules, "visitor", None)
    del sys.modules["visitor"]
    importlib.import_module("visitor")
    monkeypatch.setattr("fwlab.versions.STARTED", np.inf)
    info = tmp_path / "visitor-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: visitor\nVersion: 1.0\n")
    (info / "top_level.txt").write_text("visitor\n")
    return info


def forget_versions():
    recorded_version.cache_clear()
    version_of_module.cache_clear()


def version_now(module):
    forget_versions()
    return version_of_module(module)


RECORD = "visitor/__init__.py,sha256={},0\nvisitor-1.0.dist-info/RECORD,,\n"


def test_a_package_installed_from_a_folder_is_followed(tmp_path, monkeypatch):
    info = package_of(tmp_path, monkeypatch)
    # without a list of files, for example if built in place
    assert version_now("visitor") is None
    (info / "RECORD").write_text(RECORD.format(1))
    first = version_now("visitor")
    assert first.startswith("visitor 1.0 ")
    (info / "RECORD").write_text(RECORD.format(2))
    assert version_now("visitor") != first
    (info / "direct_url.json").write_text('{"url": "file:///x", "dir_info": {}}')
    assert version_now("visitor") is None


def test_a_package_that_is_no_longer_as_installed_is_followed(tmp_path, monkeypatch):
    info, file = package_of(tmp_path, monkeypatch), tmp_path / "visitor" / "__init__.py"
    (info / "RECORD").write_text(RECORD.format("47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"))
    newer = (info / "RECORD").stat().st_mtime + 10
    os.utime(file, (newer, newer))
    assert version_now("visitor")  # touched, and still with the hash of no bytes
    file.write_text("FACTOR = 2")
    os.utime(file, (newer, newer))
    assert version_now("visitor") is None
    file.write_text("")
    monkeypatch.setattr("fwlab.versions.STARTED", newer - 20)
    assert version_now("visitor") is None  # installed after this process began


def test_compiled_code_of_a_package_that_needs_fwlab_has_its_version(tmp_path, monkeypatch):
    info = package_of(tmp_path, monkeypatch)
    file = tmp_path / "visitor" / "__init__.py"
    file.write_text("import numba\n\n\n@numba.njit\ndef double(x):\n    return 2 * x\n")
    double = importlib.reload(sys.modules["visitor"]).double
    (info / "METADATA").write_text(f"{(info / 'METADATA').read_text()}Requires-Dist: fwlab\n")
    with pytest.raises(Unidentifiable, match="double has compiled code"):
        digest(double)
    found = []
    for line in ("", "visitor/more.py,sha256=2,0\n"):
        forget_versions()
        hashed = base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).decode()
        (info / "RECORD").write_text(RECORD.format(hashed.rstrip("=")) + line)
        found.append(digest(double))
    assert found[0] != found[1]


@pytest.mark.parametrize(
    ("need", "followed"), [("fwlab>=0.1", True), ("fwlab", True), ("fwlabs", False)]
)
def test_a_package_that_needs_fwlab_is_followed(need, followed, tmp_path, monkeypatch):
    info = package_of(tmp_path, monkeypatch)
    (info / "RECORD").write_text(RECORD.format(1))
    text = (info / "METADATA").read_text()
    (info / "METADATA").write_text(f"{text}Requires-Dist: {need}\n")
    assert (version_now("visitor") is None) == followed
    assert recorded_version("visitor").startswith("visitor 1.0 ")


def test_shared_and_nested_objects_have_one_hash():
    inside = []
    inside.append(inside)
    assert digest(inside) != digest([[]])
    assert digest({"a", "b"}) == digest({"b", "a"}) != digest({"a"})
    assert list({0, 8}) != list({8, 0}) and digest({0, 8}) == digest({8, 0})
    assert digest({1: 2, 3: 4}) != digest({3: 4, 1: 2})


def made(w):
    def inner(x, *, y=w):
        return x + y

    return inner


def test_functions_differ_by_what_they_hold():
    assert digest(made(1)) == digest(made(1)) != digest(made(2))
    assert digest(lambda x: x + 1) == digest(lambda x: x + 1) != digest(lambda x: x + 2)
    assert digest(lambda x: x + 1) != digest(lambda x: x + 1.0)
    assert digest(lambda: 1) != digest(lambda: "1")
    assert digest(lambda x: -0.0) != digest(lambda x: 0.0)
    assert digest(lambda x: x in {"a", "b"}) == digest(lambda x: x in {"b", "a"})


def test_slots_and_hidden_state_count():
    class Slotted:
        __slots__ = ("__private", "x")

        def __init__(self, x, private):
            self.x, self.__private = x, private

    assert digest(Slotted(1, 2)) == digest(Slotted(1, 2))
    assert len({digest(Slotted(*pair)) for pair in ((1, 2), (1, 3), (2, 2))}) == 3

    class Listed(list):
        pass

    assert digest(Listed([1])) != digest(Listed([2]))
    one, two = np.random.default_rng(0), np.random.default_rng(1)
    assert digest(one) != digest(two)


def test_what_costs_too_much_or_breaks_is_not_stored(tmp_path):
    class Node:
        def __init__(self, after):
            self.after = after

    long = None
    for _ in range(3000):
        long = Node(long)
    shared = Node(None)
    for _ in range(20):
        shared = Node([shared, shared])

    class Attributes(dict):
        __getattr__ = dict.__getitem__

    assert digest(shared)
    assert digest(Attributes(a=1)) != digest(Attributes(a=2))
    assert place(tmp_path, "one", ".json", long, None).reason == (
        "it cannot be identified (RecursionError)"
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda: np.random.seed(0),  # noqa: NPY002 - code of a visitor
        lambda: random.random(),
        lambda: scipy.stats.norm.pdf(0.0),
        lambda: LOG.warning("now"),
        lambda: PATTERN.match("a"),
        lambda: scipy.special.expit(0.0),
    ],
    ids=["numpy", "random", "stats", "logging", "regex", "ufunc"],
)
def test_everyday_globals_have_one_hash(function):
    before = digest(function)
    np.random.rand()  # noqa: NPY002 - changes the state of the global generator
    random.random()
    logging.getLogger("another")
    assert digest(function) == before


def lazily():
    import os

    return os.environ["HOME"]


def by_path():
    return Path("weights.txt").read_text()


def data_by_name():
    from fwlab.experiments.data_name import DataName

    return DataName("digits")


def data_of_a_package():

    return fwlab.datasets.load("digits")


def data_of_a_module():
    from fwlab import datasets

    return datasets.read_file("own.csv")


OPAQUE_FUNCTIONS = [lazily, by_path, data_by_name, data_of_a_package, data_of_a_module]


def data_of_a_setting(data):

    return fwlab.solve, data.load()


def test_data_that_are_a_setting_are_no_secret():
    assert digest(data_of_a_setting)


@pytest.mark.parametrize("function", OPAQUE_FUNCTIONS)
def test_reads_behind_attributes_are_refused(function):
    with pytest.raises(Unidentifiable, match="has a use of"):
        digest(function)


def test_a_filled_cache_is_refused():
    @functools.cache
    def cached():
        return 1

    before = digest(cached)
    cached()
    with pytest.raises(Unidentifiable, match="filled cache"):
        digest(cached)
    cached.cache_clear()
    assert digest(cached) == before


def test_data_sets_count_wherever_they_stand(tmp_path):
    file = tmp_path / "own.npz"
    seen = set()
    for seed in (0, 1):
        np.savez(file, X=np.random.default_rng(seed).normal(size=(6, 2)), y=np.arange(6) % 2)
        name = DataName(str(file))
        seen |= {digest(functools.partial(len, name)), digest({name}), digest(lambda n=name: n)}
    assert len(seen) == 6
    with pytest.raises(Unidentifiable, match=r"DataName; pass the data as a setting"):
        digest(lambda: DataName("digits"))


FACTOR = 2


def test_names_in_inner_functions_are_followed(monkeypatch):
    def outer(x):
        return [(lambda y: FACTOR * y)(entry) for entry in x]

    before = digest(outer)
    monkeypatch.setitem(globals(), "FACTOR", 3)
    assert digest(outer) != before


def test_names_that_a_function_imports_are_followed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "imported_later.py").write_text("FACTOR = 1\n")

    def scaled(x):
        from imported_later import FACTOR

        return FACTOR * x

    before = digest(scaled)
    monkeypatch.setattr("imported_later.FACTOR", 2)
    assert digest(scaled) != before


@pytest.mark.turns
def test_every_process_finds_the_same_hash():
    code = (
        "import fwlab\n"
        "from fwlab.identity import identity\n"
        "from figures.kit.script import script, script_names\n"
        "cells = [cell for name in script_names() for cell in script(name).cells('quick')]\n"
        "named = {(c.function.__module__, c.function.__qualname__): c.function for c in cells}\n"
        "functions = [function for _, function in sorted(named.items())]\n"
        "print(identity({'a', 'b', 'c'}, functions, lambda x: x in {'u', 'v', 'w'}))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2)
    ]
    assert runs[0] == runs[1] != ""
