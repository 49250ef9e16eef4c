"""Write formulas in MathML, which a reader can select, from the mathtext that the claims need.

`display` and `inline` translate a formula, `prose` a text with formulas between dollar signs. All
raise ValueError for a formula that they cannot read.
"""

from functools import lru_cache
from html import escape

from paper_checks.report.mathml.reader import read

__all__ = ["display", "inline", "prose"]


@lru_cache(maxsize=1024)
def display(formula: str) -> str:
    """Return a formula as display MathML, in several elements between which a page may break it."""
    return " ".join(f'<math displaystyle="true">{part}</math>' for part in read(formula))


def inline(formula: str) -> str:
    """Return a formula as MathML for a line of text."""
    return " ".join(f"<math>{part}</math>" for part in read(formula))


def prose(text: str) -> str:
    """Return a text, escaped, with the formulas between its dollar signs in MathML."""
    parts = text.split("$")
    if len(parts) % 2 == 0:
        raise ValueError(f"a dollar sign without its other one in {text!r}")
    return "".join(inline(part) if i % 2 else escape(part) for i, part in enumerate(parts))
