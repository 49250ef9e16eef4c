"""The page on which method to choose: tables of stored results."""

from pathlib import Path

from fwlab.docs import figure_links
from fwlab.docs.markdown import write


def write_page(source: Path) -> None:
    """Write choose_a_method.md below `source`."""
    write(
        source / "choose_a_method.md",
        "choose_a_method.md",
        contests=figure_links.told("which_method"),
        gaps=figure_links.told("certified_gaps"),
        address=figure_links.address,
    )
