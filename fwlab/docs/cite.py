"""The page on how to cite fwlab, with its version, its commit and its licence."""

from pathlib import Path

from fwlab.docs.markdown import write
from fwlab.docs.papers import PAPERS
from fwlab.provenance import provenance

LICENCE = Path(__file__).parents[2] / "LICENSE"
# of a commit: git finds it by its first letters
DIGITS = 12


def write_page(source: Path) -> None:
    """Write cite.md below `source`."""
    write(
        source / "cite.md",
        "cite.md",
        version=provenance()["fwlab"],
        commit=commit(),
        licence=LICENCE.read_text("utf-8").strip(),
        PAPERS=PAPERS,
    )


def commit() -> str:
    """Return the short name of the commit that the site is built from, "" outside a checkout."""
    return provenance()["commit"].partition("+")[0][:DIGITS]
