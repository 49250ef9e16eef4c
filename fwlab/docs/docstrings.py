"""A Sphinx extension: docstrings in which |x| is a norm, and members that are fwlab's own."""

import re
from typing import Any

# a name that ends with an underscore, outside backticks
ATTRIBUTE = re.compile(r"(?<![`\w])(\w+)_(?![`\w])")


def setup(app: Any) -> dict[str, Any]:
    """Connect the two functions below to autodoc."""
    app.connect("autodoc-process-docstring", escape)
    app.connect("autodoc-skip-member", skip_foreign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def escape(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Escape norms and names such as coef_, in which reStructuredText would see markup."""
    lines[:] = [ATTRIBUTE.sub(r"\1\\_", line.replace("|", r"\|")) for line in lines]


def skip_foreign(
    app: Any, what: str, name: str, value: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out the members that a class inherits from other packages."""
    module = getattr(value, "__module__", None) or "fwlab"
    return None if module.startswith("fwlab") else True
