"""A Sphinx extension: formulas as MathML, which needs no script and no network."""

from typing import Any

from fwlab.docs import mathml


def setup(app: Any) -> dict[str, Any]:
    """Register the renderer under the name "mathml"."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def inline(self: Any, node: Any) -> None:
    """Write a formula in a line of text."""
    write(self, mathml.inline(node.astext()))


def display(self: Any, node: Any) -> None:
    """Write a formula on a line of its own."""
    write(self, f'<div class="formula">{mathml.display(node.astext())}</div>\n')


def write(self: Any, html: str) -> None:
    """Write HTML and leave the node, which has no children to visit."""
    from docutils.nodes import SkipNode

    self.body.append(html)
    raise SkipNode
