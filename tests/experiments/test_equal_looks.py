"""Values and imports that look alike, and are not the same code or data."""

import functools
import sys
import types
from contextvars import ContextVar

import numpy as np
import pytest

import fwlab
from fwlab.identity import digest
from fwlab.versions import Unidentifiable


def with_cell(*content):
    def held():
        return captured

    if content:
        (captured,) = content
    return held


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
        (with_cell(), with_cell([])),
        (np.array([(1.0, 2.0)], "d,d")[0], np.array([(1.0, 2.0)], "d,i")[0]),
    ],
    ids=["method", "context", "integer", "truth", "cell", "record"],
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
    # since Python 3.13 a property has the name of its attribute
    with pytest.raises(Unidentifiable, match=r"\b(Scaled|x) has state that cannot be read"):
        digest(of_a_subclass(1.0))


def circle(n):
    """Return a list in a circle of n lists."""
    lists = [[] for _ in range(n)]
    for i, one in enumerate(lists):
        one.append(lists[(i + 1) % n])
    return lists[0]


def test_circles_of_one_look_are_told_apart():
    one = circle(1)
    two = circle(2)
    assert digest([two, two[0]]) != digest([two, one])
    assert digest([one, 1, one]) == digest([circle(1), 1, circle(1)])
    assert len({digest(circle(n)) for n in range(1, 6)}) == 5


def nested(n, innermost):
    """Return n lists, one in the other, around an object."""
    return [innermost] if n == 1 else [nested(n - 1, innermost)]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_lists_that_lead_back_to_other_lists_are_told_apart(n):
    one, two = [], []
    for around in (one, two):
        around.append([])
        around[0].append(nested(n, around[0]))
    one.append(one[0][0])
    two.append(nested(n, two))
    assert digest(one) != digest(two)


class Linked:
    """An object that others in a set lead back to."""

    def __init__(self, k):
        self.k = k

    @classmethod
    def ring(cls, n):
        all_of_them = [cls(k) for k in range(n)]
        for k, one in enumerate(all_of_them):
            one.following = all_of_them[(k + 1) % n]
        return all_of_them


def test_sets_have_no_order_where_their_members_are_linked():
    ring = Linked.ring(5)
    found = digest(set(ring), ring[0])
    for turn in range(1, 5):
        # the order of a set follows the addresses of its members
        other = Linked.ring(5)
        members = set()
        for k in range(5):
            members.add(other[(k + turn) % 5])
        assert digest(members, other[0]) == found
    assert digest(set(ring), ring[1]) != found
    assert digest(set(ring[:4]), ring[0]) != found


def test_sets_that_lead_back_to_themselves_end():
    crowd = [Linked(k) for k in range(12)]
    for one in crowd:
        one.others = set(crowd)
    with pytest.raises(Unidentifiable, match="sets that lead back to themselves too often"):
        digest(crowd[0])


def test_a_module_that_ends_the_program_is_refused(tmp_path, monkeypatch):
    (tmp_path / "ends_the_program.py").write_text("raise SystemExit(3)\n")
    monkeypatch.syspath_prepend(tmp_path)

    def inner():
        import ends_the_program

        return ends_the_program

    with pytest.raises(Unidentifiable, match="import of ends_the_program, which ends with System"):
        digest(inner)


def test_a_problem_that_was_used_is_the_same_data():
    problem = fwlab.Problem(np.eye(4), np.arange(4) % 2, fwlab.TopK(1), 0.1)

    def reaches_it():
        return problem

    before = digest(reaches_it)
    fwlab.solve(problem, max_iter=2)
    assert digest(reaches_it) == before
    problem.polytopes.upper[0] = 0.5
    assert digest(reaches_it) != before


class Halved:
    """A class of a visitor, with a value that it computes and keeps."""

    @functools.cached_property
    def half(self):
        return 0.5


def test_what_a_visitor_computed_and_changed_counts():
    fresh, changed = Halved(), Halved()
    changed.half = 0.25
    assert digest(fresh) != digest(changed)
