"""Public names of a release are there in the next one, or warn and say when they go."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from public_names import FORMER, flags, public_names

import fwlab
from fwlab.ranking import Problem, TopPush

FOLDER = Path(__file__).parent / "public_names"
LISTS = {file.stem: file.read_text("utf-8").splitlines() for file in FOLDER.glob("*.txt")}
# names of 0.1.0 that no program outside fwlab could use
APART = {
    "fwlab.Comparison(failures)": "compare makes it, and the attribute is there",
    "fwlab.Comparison(not_stored)": "compare makes it, and the attribute is there",
    "fwlab.Comparison(results)": "compare makes it, and the attribute is there",
    "fwlab.Comparison(stored)": "compare makes it, and the attribute is there",
    "fwlab.State(max_memory)": "solve makes it",
    "fwlab.ranking.Problem.certificate": "takes a point, which only solvers have",
    "fwlab.ranking.Problem.certificate(point)": "takes a point, which only solvers have",
}
X, Y = np.random.default_rng(0).normal(size=(8, 2)), np.arange(8) % 2


def of_top_k():
    return fwlab.Problem(X, Y, fwlab.TopK(1), C=1.0)


# a call by the former name, and the same by its successor: they answer alike
CALLS = {
    "fwlab.solve(max_memory)": lambda **limit: fwlab.solve(of_top_k(), max_iter=2, **limit).gap,
    "fwlab.ranking.solve(max_memory)": lambda **limit: (
        fwlab.ranking.solve(X, Y, TopPush(), 1.0, "rbf", 0.3, max_iter=1, **limit).method
    ),
    "fwlab.ranking.Problem(max_memory)": lambda **limit: (
        Problem(X, Y, TopPush(), 1.0, **limit).max_gram_memory
    ),
}


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


@pytest.fixture(scope="module")
def offered():
    return {*public_names(), *flags()}


@pytest.mark.parametrize("version", LISTS)
def test_names_of_a_release_are_there_or_warn(version, offered):
    assert len(LISTS[version]) > 1000
    assert [name for name in LISTS[version] if name not in {*offered, *FORMER, *APART}] == []


def test_there_is_a_list_of_this_release_and_one_of_the_last():
    assert len(LISTS) == 2 and max(LISTS, key=numbers) == fwlab.__version__


def test_names_that_stand_apart_are_gone(offered):
    assert {*APART} <= {name for names in LISTS.values() for name in names} - offered


def test_a_name_that_is_gone_is_seen(offered):
    assert "fwlab.solve(max_gram_memory)" in offered and "fwlab solve --loss" in offered
    assert "fwlab.solve(max_memory)" not in offered


def test_every_former_name_has_its_call():
    assert sorted(CALLS) == sorted(FORMER)
    assert {*FORMER} <= {name for names in LISTS.values() for name in names}


@pytest.mark.parametrize("name", FORMER)
def test_a_former_name_works_and_says_when_it_goes(name):
    with pytest.warns(FutureWarning) as caught:
        former = CALLS[name](max_memory=0)
    (told,) = {str(one.message) for one in caught}
    said = re.fullmatch(
        r"(\w+) is named (\w+) now; the old name goes with release ([\d.]+)\.", told
    )
    assert said and said[1] == "max_memory" and numbers(said[3]) > numbers(fwlab.__version__)
    assert caught[0].filename == __file__  # the line of the caller is shown
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert CALLS[name](**{said[2]: 0}) == former
