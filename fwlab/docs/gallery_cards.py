"""A Sphinx extension: the index of the examples has cards with drawings of stored results.

The builder wrote them to cards.html. sphinx-gallery would show each example's first picture, which
cannot be read at the size of a card, and the same one for every example without a picture.
"""

from pathlib import Path
from typing import Any

from fwlab.docs import cards

INDEX = "gallery/index"
PAGE = """{header}

.. raw:: html
   :file: ../cards.html

.. toctree::
   :hidden:

   {names}
"""


def setup(app: Any) -> dict[str, Any]:
    """Connect the function below to Sphinx's reading."""
    app.connect("source-read", show_cards)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def show_cards(app: Any, page: str, text: list[str]) -> None:
    """Replace the index that sphinx-gallery wrote."""
    if page == INDEX:
        header = (Path(app.srcdir) / "examples" / "GALLERY_HEADER.rst").read_text("utf-8")
        text[0] = PAGE.format(header=header, names="\n   ".join(cards.names()))
