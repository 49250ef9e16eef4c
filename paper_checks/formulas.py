"""Formulas as pictures: mathtext drawn to SVG, in the colour of the text around it."""

import re
import zlib
from functools import lru_cache
from html import escape
from io import BytesIO

from matplotlib import rc_context
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import math_to_image

POINTS = 13  # a little larger than the text around it


@lru_cache
def as_svg(formula: str) -> str:
    """The SVG element of a formula in mathtext, with its source as the title."""
    picture = BytesIO()
    size = FontProperties(size=POINTS)
    with rc_context({"savefig.transparent": True}):  # a white ground would hide it on a dark page
        math_to_image(f"${formula}$", picture, prop=size, dpi=72, format="svg", color="#123456")
    drawing = picture.getvalue().decode()
    drawing = drawing[drawing.index("<svg") :].replace("#123456", "currentColor")
    prefix = f"f{zlib.crc32(formula.encode())}"
    drawing = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{prefix}-", drawing)
    drawing = re.sub(r"<metadata>.*?</metadata>", "", drawing, flags=re.DOTALL)
    return drawing.replace(">", f' role="img"><title>{escape(formula)}</title>', 1)
