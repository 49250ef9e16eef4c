"""Format tables, durations, and short descriptions of losses, problems and outcomes.

It also suggests the name that a misspelt one was meant to be, and reads whole numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from html import escape
from math import ceil
from reprlib import recursive_repr
from textwrap import shorten, wrap
from typing import Any

MOST_WEIGHTS = 5
MOST_LETTERS = 100  # of one fact
WIDTH = 88
NO_BREAK = "\N{NO-BREAK SPACE}"
UNITS = (("day", 86400.0), ("h", 3600.0), ("min", 60.0))


def format_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str] = ()
) -> str:
    """Return the rows as columns under a ruled header, two spaces apart.

    The columns named in `right` are right-aligned.
    """
    lines = [header, *rows]
    widths = [max(len(line[j]) for line in lines) for j in range(len(header))]

    def aligned(line: Sequence[str]) -> str:
        cells = (
            cell.rjust(width) if name in right else cell.ljust(width)
            for name, cell, width in zip(header, line, widths, strict=True)
        )
        return "  ".join(cells).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([aligned(header), rule, *map(aligned, rows)])


def readable(name: str) -> str:
    """Return a file name as text that any file can hold: bytes that are not UTF-8 as escapes."""
    return name.encode(errors="backslashreplace").decode()


def listed(names: Iterable[str]) -> str:
    """Return names with commas, and a last "and"."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def did_you_mean(given: object, allowed: Iterable[str]) -> str:
    """Return " Did you mean 'afw'?" for the allowed name nearest to `given`, "" if none is near."""
    by_lower = {name.lower(): name for name in allowed}
    near = get_close_matches(str(given).lower(), by_lower, n=1)
    return f" Did you mean {by_lower[near[0]]!r}?" if near else ""


def as_whole_number(text: str, most_digits: int) -> int | None:
    """Return the whole number that a text writes, as 1000, 1e3 or 1000.0; None if it is none."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if number.is_finite() and number.adjusted() < most_digits and number == int(number):
        return int(number)
    return None


def duration(seconds: float) -> str:
    """Return a time in its largest unit, rounded up to whole seconds below a minute."""
    for unit, size in UNITS:
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{ceil(seconds)} s"


@recursive_repr("..")
def describe(built: Any) -> str:
    """Return the expression that builds an object from its attributes, with arrays shortened.

    Switches that are off are left out.
    """
    values = vars(built)
    if is_dataclass(built):
        values = {field.name: getattr(built, field.name) for field in fields(built)}
    parts = (f"{name}={_short(value)}" for name, value in values.items() if value is not False)
    return f"{type(built).__name__}({', '.join(parts)})"


def describe_problem(name: str, problem: Any) -> str:
    """Return one line with name, loss, sizes and every constant of the objective."""
    return f"{name}: {', '.join(problem_facts(problem))}"


def problem_facts(problem: Any) -> list[str]:
    """Return loss, sizes and every constant of the objective, each as a short text.

    The problem is in memory or out of core.
    """
    parts = [
        describe(problem.loss),
        f"n = {problem.n_samples}",
        f"d = {problem.n_features}" if problem.kernel != "precomputed" else "no d",
        f"m = {problem.n_classes}",
        f"lam = {problem.lam:.4g}",
    ]
    if problem.smoothing:
        parts.append(f"smoothing = {problem.smoothing:.4g}")
    if not problem.regularizer.plain:
        parts.append(f"regularizer = {problem.regularizer!r}")
    if problem.kernel is not None:
        parts.append(f"kernel = {problem.kernel}")
    return parts


def in_brackets(name: str, facts: Sequence[str]) -> str:
    """Return "name(fact, fact, ..)" in lines that end between facts; long facts are shortened."""
    shown = [shorten(fact, MOST_LETTERS, placeholder=" ..") for fact in facts]
    lines = wrap(
        f"{name}({', '.join(fact.replace(' ', NO_BREAK) for fact in shown)})",
        WIDTH,
        subsequent_indent=" " * (len(name) + 1),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines).replace(NO_BREAK, " ")


def outcome_facts(result: Any) -> dict[str, str]:
    """Return the main facts of a result, as names and short texts.

    result has method, status, gap, gap_error, primal, dual, nit and wall_seconds.
    """
    return {
        "method": result.method,
        "status": result.status.name,
        "gap": f"{result.gap:.3g} (rounding error at most {result.gap_error:.2g})",
        "primal": f"{result.primal:.8g}",
        "dual": f"{result.dual:.8g}",
        "iterations": str(result.nit),
        "wall seconds": f"{result.wall_seconds:.3g}",
    }


def size_of(array: Any) -> str:
    """Return the shape of an array as "3 x 4"."""
    return " x ".join(map(str, array.shape))


def named(facts: Mapping[str, str]) -> list[str]:
    """Return each fact as "name = text"."""
    return [f"{name} = {text}" for name, text in facts.items()]


def html_facts(title: str, facts: Mapping[str, str]) -> str:
    """Return names and texts as an HTML table of two columns."""
    return html_table(title, (), list(facts.items()))


def html_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an HTML table with a caption and, if there are names, a header. All is escaped."""
    lines = [f"<caption>{escape(title)}</caption>"]
    if header:
        lines.append(_html_row("th", header))
    lines += [_html_row("td", row) for row in rows]
    return "\n".join(["<table>", *lines, "</table>"])


def _html_row(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"


def _short(value: Any) -> str:
    import numpy as np  # the command line's help needs no numpy

    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths
        return repr(value)
    if array.ndim >= 2:
        return f"<{' x '.join(map(str, array.shape))}>"
    if array.ndim == 1 and array.dtype.kind in "fiub":
        shown = [f"{entry:.3g}" for entry in array[:MOST_WEIGHTS]]
        return f"[{', '.join([*shown, '..'] if len(array) > MOST_WEIGHTS else shown)}]"
    return repr(value)
