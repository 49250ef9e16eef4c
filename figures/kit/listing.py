"""The list of all scripts, for the command line and for the gallery."""

from figures.kit.script import script, script_names
from figures.kit.study import SIZES
from fwlab.text import format_table

HEADER = ("name", *SIZES, "what it shows")


def listing() -> str:
    """Return a table of names, estimated times and what is shown."""
    return format_table(HEADER, rows())


def markdown_list() -> str:
    """Return the same table as Markdown."""
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
    """Return a time in the unit that suits it."""
    for unit, length in (("h", 3600.0), ("min", 60.0)):
        if seconds >= length:
            return f"{seconds / length:.2g} {unit}"
    return f"{seconds:.2g} s"
