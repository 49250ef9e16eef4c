"""A Sphinx extension: docstrings in which |x| is a norm, and members that are fwlab's own."""

from typing import Any


def setup(app: Any) -> dict[str, Any]:
    """Connect the two functions below to autodoc."""
    app.connect("autodoc-process-docstring", escape_bars)
    app.connect("autodoc-skip-member", skip_foreign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def escape_bars(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Escape the bars of norms, which reStructuredText would read as substitutions."""
    lines[:] = [line.replace("|", r"\|") for line in lines]


def skip_foreign(
    app: Any, what: str, name: str, value: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out the members that a class inherits from other packages."""
    module = getattr(value, "__module__", None) or "fwlab"
    return None if module.startswith("fwlab") else True
