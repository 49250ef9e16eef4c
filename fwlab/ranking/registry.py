"""List the methods of ranking by name, and choose between them."""

from collections.abc import Callable
from typing import NamedTuple

from fwlab.ranking.interior_point import InteriorPoint
from fwlab.ranking.pairwise import Pairwise
from fwlab.ranking.problem import Point, Problem
from fwlab.ranking.start import central_point, inner_point
from fwlab.ranking.subgradient import Subgradient
from fwlab.ranking.working_set import WorkingSet, sparse_point
from fwlab.solvers.method import Method

AUTO = "auto"


class Entry(NamedTuple):
    """A method, and the point that it starts from if the user gives none."""

    method: Method
    first_point: Callable[[Problem], Point] = inner_point


METHODS = {
    "interior-point": Entry(InteriorPoint(), central_point),
    "working-set": Entry(WorkingSet(), sparse_point),
    "pairwise": Entry(Pairwise()),
    "subgradient": Entry(Subgradient()),
}


def methods() -> dict[str, str]:
    """Return the names of all methods, each with a sentence."""
    sentences = {name: entry.method.sentence for name, entry in METHODS.items()}
    return {AUTO: "interior-point where it fits max_gram_memory, else working-set.", **sentences}


def chosen(name: str, problem: Problem) -> str:
    """Return the name of the method that runs.

    Raises ValueError if the method does not take the problem.
    """
    if name == AUTO:
        refused = METHODS["interior-point"].method.refuses(problem)
        return "working-set" if refused else "interior-point"
    if reason := METHODS[name].method.refuses(problem):
        raise ValueError(reason)
    return name
