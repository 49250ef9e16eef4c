"""Values and imports that look alike, and are not the same code or data."""

import sys
import types
from contextvars import ContextVar

import numpy as np
import pytest

from fwlab.identity import digest
from fwlab.versions import Unidentifiable


class Turned:
    def turn(self, w):
        def of(owner):
            return w

        return types.MethodType(of, self)


def of_a_subclass(w):
    class Scaled(property):
        def __get__(self, owner, kind=None):
            return w * super().__get__(owner, kind)

    class Owner:
        x = Scaled(lambda self: 1.0)

    return Owner()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Turned().turn(1), Turned().turn(2)),
        (ContextVar("c", default=1), ContextVar("c", default=2)),
        (1, np.int64(1)),
        (True, np.bool_(True)),
        (np.array([(1.0, 2.0)], "d,d")[0], np.array([(1.0, 2.0)], "d,i")[0]),
    ],
    ids=["method", "context", "integer", "truth", "record"],
)
def test_equal_looks_are_told_apart(one, other):
    assert digest(one) != digest(other)
    assert digest(one) == digest(one)


def test_packages_that_a_function_imports_are_followed_from_the_first_time_on(
    tmp_path, monkeypatch
):
    package = tmp_path / "imported_package"
    package.mkdir()
    (package / "__init__.py").write_text("CONST = 1\n")
    (package / "sub.py").write_text("X = 1\n")
    monkeypatch.syspath_prepend(tmp_path)

    def inner():
        from imported_package import sub

        return sub.X

    def outer():
        import imported_package.sub

        return imported_package.CONST

    assert digest(inner) == digest(inner)
    before = digest(outer)
    monkeypatch.setattr("imported_package.CONST", 2)
    assert digest(outer) != before


def test_printing_to_a_stream_is_no_secret():
    assert digest(lambda: print("x", file=sys.stderr))


def test_a_descriptor_of_a_class_of_ones_own_is_refused():
    with pytest.raises(Unidentifiable, match="Scaled has state that cannot be read"):
        digest(of_a_subclass(1.0))
