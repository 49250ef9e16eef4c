"""Write the runs of a comparison as tables: a line for each run, or medians with their ranges.

A table has one line for each problem and method. If a method has several runs of a problem, a
number is their median, with the smallest and the largest one in brackets where they differ.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from statistics import median
from typing import Any

Row = dict[str, Any]

TIMES = ("wall_seconds", "seconds", "cpu_seconds")
COLUMNS = ("problem", "method", "iterations", *TIMES, "primal", "dual", "gap", "status")
OF_SEVERAL = ("problem", "method", "runs", *COLUMNS[2:])
NUMBERS = {
    "runs": "d",
    "iterations": ".10g",
    **dict.fromkeys(TIMES, ".4f"),
    "primal": ".8f",
    "dual": ".8f",
    "gap": ".2e",
}
# numbers that agree up to the gap: their median says enough
WITHOUT_RANGE = ("primal", "dual")
NOT_FINISHED = ("refused", "failed", "not run", "not stored")
LATEX = {
    "iterations": "iterations",
    "cpu_seconds": "CPU (s)",
    "passes": "passes",
    "gap": "gap",
    "status": "status",
}
SPECIAL = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def table_of(rows: Sequence[Row]) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return the header of a table and its lines as texts, from `Comparison.rows`.

    A column says when and where runs were made, if any was not made just now in one go.
    """
    groups = by_method(rows)
    several = any(len(group) > 1 for group in groups)
    header = OF_SEVERAL if several else COLUMNS
    if any(row["stored"] or row["resumed"] for row in rows):
        header = (*header, "made")
    return header, [[_cell(group, column) for column in header] for group in groups]


def latex_of(rows: Sequence[Row]) -> str:
    """Return a table for LaTeX with the package booktabs, from `Comparison.rows`."""
    groups = by_method(rows)
    several = len({row["problem"] for row in rows}) > 1
    first = ["problem", "method"] if several else ["method"]
    lines = [
        "% needs \\usepackage{booktabs}",
        f"\\begin{{tabular}}{{{'l' * len(first)}{'r' * (len(LATEX) - 1)}l}}",
        "\\toprule",
        " & ".join([*first, *LATEX.values()]) + r" \\",
        "\\midrule",
    ]
    for group in groups:
        names = [escaped(str(group[0][column])) for column in first]
        cells = [_latex_cell(group, column) for column in LATEX]
        lines.append(" & ".join([*names, *cells]) + r" \\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def by_method(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows of each problem and method, which follow each other."""
    groups = groupby(rows, key=lambda row: (row["problem"], row["method"]))
    return [list(group) for _, group in groups]


def escaped(text: str) -> str:
    """Return a text as LaTeX sets it."""
    return "".join(SPECIAL.get(sign, sign) for sign in text)


def numbers_of(group: Sequence[Row], column: str) -> list[float]:
    """Return the numbers of a column, without those that were not recorded."""
    return [row[column] for row in group if row[column] is not None and row[column] == row[column]]


def _cell(group: Sequence[Row], column: str) -> str:
    if column == "runs":
        return str(len(group))
    if column == "status":
        return _status(group)
    if column == "made":
        return _made(group)
    if column not in NUMBERS:
        return str(group[0][column])
    return _with_range(numbers_of(group, column), column, lambda n: format(n, NUMBERS[column]))


def _with_range(values: list[float], column: str, shown: Any) -> str:
    """Return the median, with the range in brackets if it shows."""
    if not values:
        return "-"
    middle, low, high = (shown(value) for value in (median(values), min(values), max(values)))
    return middle if low == high or column in WITHOUT_RANGE else f"{middle} [{low}, {high}]"


def _status(group: Sequence[Row]) -> str:
    texts = Counter(
        f"{row['status']}: {row['message']}" if row["status"] in NOT_FINISHED else row["status"]
        for row in group
    )
    if len(texts) == 1:
        return next(iter(texts))
    return ", ".join(f"{count} {text}" for text, count in texts.items())


def _made(group: Sequence[Row]) -> str:
    """Return when and on which machine runs were made, if not just now in one go."""
    dates: dict[str, list[str]] = {}
    for row in group:
        if row["stored"]:
            dates.setdefault(str(row["machine"]), []).append(str(row["date"]))
    parts = [
        f"{' to '.join(dict.fromkeys((min(days), max(days))))} on {machine}"
        for machine, days in dates.items()
    ]
    if any(row["machine"] and not (row["stored"] or row["resumed"]) for row in group):
        parts.append("now")
    parts += [f"resumed at {row['resumed']}" for row in group if row["resumed"]]
    return ", ".join(dict.fromkeys(parts)) or "-"


def _latex_cell(group: Sequence[Row], column: str) -> str:
    if column == "status":
        texts = Counter(row["status"] for row in group)
        shown = [text if len(texts) == 1 else f"{n} {text}" for text, n in texts.items()]
        return escaped(", ".join(shown).replace("_", " ").lower())
    values = numbers_of(group, column)
    return _with_range(values, column, scientific if column == "gap" else lambda n: f"{n:.4g}")


def scientific(value: float) -> str:
    """Return a number with two digits as a power of ten in LaTeX; 0 stays 0."""
    if value == 0.0:
        return "0"
    digits, power = f"{value:.1e}".split("e")
    return f"${digits}\\times 10^{{{int(power)}}}$"
