"""The list of all scripts, for the command line and for the gallery."""

from pathlib import Path

from figures.kit.script import script, script_names
from figures.kit.study import SIZES, NotRun, Study
from fwlab.text import format_table

HEADER = ("name", *SIZES, "what it shows")


def listing(out: Path) -> str:
    """Return a table of names, estimated times, stored sizes and descriptions."""
    header = (*HEADER[:-1], "stored", HEADER[-1])
    return format_table(header, [[*row[:-1], stored(row[0], out), row[-1]] for row in rows()])


def stored(name: str, out: Path) -> str:
    """Return the sizes with stored values, each with a mark if the values are out of date."""
    told = []
    for size in SIZES:
        study = Study(name, size, out)
        try:
            told.append(f"{size} (stale)" if script(name).is_stale(study) else size)
        except NotRun:
            continue
    return ", ".join(told) or "-"


def markdown_list() -> str:
    """Return names, estimated times and descriptions in Markdown."""
    lines = [HEADER, ("---",) * len(HEADER)]
    lines += [(f"`{name}`", *rest) for name, *rest in rows()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def rows() -> list[list[str]]:
    """Return a row per script."""
    scripts = {name: script(name) for name in script_names()}
    return [
        [name, *(spell(one.seconds[size]) for size in SIZES), one.shows]
        for name, one in scripts.items()
    ]


def spell(seconds: float) -> str:
    """Return a time in a suitable unit."""
    for unit, length in (("h", 3600.0), ("min", 60.0)):
        if seconds >= length:
            return f"{seconds / length:.2g} {unit}"
    return f"{seconds:.2g} s"
