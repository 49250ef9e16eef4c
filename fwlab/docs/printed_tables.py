"""The page on why the printed tables differ: causes with their controls, from stored results."""

from pathlib import Path

from fwlab.docs import figure_links
from fwlab.docs.markdown import write

FIGURE = "printed_tables"


def write_page(source: Path) -> None:
    """Write printed_tables.md below `source`."""
    write(
        source / "printed_tables.md",
        "printed_tables.md",
        told=figure_links.told(FIGURE),
        address=figure_links.address,
    )
