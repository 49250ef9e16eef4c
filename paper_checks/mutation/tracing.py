"""Find the lines of a paper's modules that run while the forms of a row are evaluated."""

import sys
from collections.abc import Iterator
from functools import partial
from types import FrameType
from typing import Any

from paper_checks.ledger import Claim
from paper_checks.proofs import BySolver, ByTheorem

Line = tuple[str, int]


def forms_of(claim: Claim) -> Iterator[Any]:
    """Yield the functions that state something: forms, the condition, assumptions and proofs."""
    yield claim.form
    yield from (other.form for other in (*claim.planted, *claim.versions.values()))
    if claim.library is not None:
        yield claim.library.form
    if claim.where_right is not None:
        yield claim.where_right.form
    if claim.condition is not None:
        yield claim.condition.meets
    for proof in claim.proofs:
        if isinstance(proof, BySolver):
            yield proof.assuming
        if isinstance(proof, ByTheorem):
            yield proof.prove


class LineTrace:
    """Records the lines of a folder's files that run inside the forms of a claim.

    Case generators are excluded unless a form calls them: changing them does not change the
    formula.
    """

    def __init__(self, claim: Claim, folder: str) -> None:
        self.codes = {id(f.__code__) for f in map(unwrapped, forms_of(claim)) if f is not None}
        self.folder = folder
        self.inside = 0
        self.lines: set[Line] = set()

    def __enter__(self) -> "LineTrace":
        sys.settrace(self.enter)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)

    def enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Choose how a call is traced."""
        code = frame.f_code
        if id(code) in self.codes:
            self.inside += 1
            self.add(frame)
            return self.watch_form
        if self.inside and code.co_filename.startswith(self.folder):
            self.add(frame)
            return self.watch
        return None

    def watch(self, frame: FrameType, event: str, argument: Any) -> Any:
        self.add(frame)
        return self.watch

    def watch_form(self, frame: FrameType, event: str, argument: Any) -> Any:
        self.add(frame)
        if event == "return":
            self.inside -= 1
        return self.watch_form

    def add(self, frame: FrameType) -> None:
        if frame.f_lineno is not None and frame.f_code.co_filename.startswith(self.folder):
            self.lines.add((frame.f_code.co_filename, frame.f_lineno))


def unwrapped(form: Any) -> Any:
    """Return the function that a functools.partial wraps."""
    return unwrapped(form.func) if isinstance(form, partial) else form
