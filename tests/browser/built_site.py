"""The built site that the tests in a browser read, and the addresses of its pages."""

import os
from pathlib import Path

import pytest

SITE = os.environ.get("FWLAB_SITE", "")
needs_site = pytest.mark.skipif(
    not SITE, reason="FWLAB_SITE does not name a folder that python -m fwlab.docs build wrote"
)


def address(name: str) -> str:
    """Return the address of a page by its name without .html."""
    return (Path(SITE).resolve() / f"{name}.html").as_uri()
