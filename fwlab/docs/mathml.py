"""Formulas in MathML, which a reader can select and which needs no script: by latex2mathml.

`display` and `inline` translate a formula, `prose` a text with formulas between dollar signs. All
raise ValueError for a formula of which latex2mathml leaves a part as it is.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from html import escape
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert

# in a display the set of a maximum stands below it
LIMITS = re.compile(r"(\\(?:max|min|sup|inf|lim|operatorname\{\w+\}))(?=\s*_)")
# fonts draw a prime small and high, so that it is no script
PRIME = re.compile(r"(\\[A-Za-z]+|[A-Za-z])'")
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)
OPENING = {"{", "(", "[", r"\{", r"\langle", r"\left"}
CLOSING = {"}", ")", "]", r"\}", r"\rangle", r"\right"}
# where a narrow page may break a formula, outside its brackets
NARROW = r"\ "
BREAKS = {NARROW, r"\quad", r"\qquad"}
# how many parts an element has; latex2mathml leaves out what a formula lacks
SIZES = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "mroot": 2, "msqrt": 1}
SIZES |= {"msubsup": 3, "munderover": 3}
MINUS = "\N{MINUS SIGN}"
OPENERS, ENDS = "([{", ")]}|!\N{DOUBLE VERTICAL LINE}"
SPACES = ("mspace", "mtext")
SCRIPTS = ("msub", "msup", "msubsup", "munder", "mover", "munderover")
THIN, TIGHT = "0.17em", {"lspace": "0", "rspace": "0"}


@lru_cache(maxsize=1024)
def display(formula: str) -> str:
    """Return a formula as display MathML, in several elements between which a page may break it."""
    return " ".join(translated(part, "block", displaystyle="true") for part in parts(formula))


def inline(formula: str) -> str:
    """Return a formula as MathML for a line of text."""
    return " ".join(translated(part, "inline") for part in parts(formula))


def prose(text: str) -> str:
    """Return a text, escaped, with the formulas between its dollar signs in MathML."""
    found = text.split("$")
    if len(found) % 2 == 0:
        raise ValueError(f"a dollar sign without its other one in {text!r}")
    return "".join(inline(part) if i % 2 else escape(part) for i, part in enumerate(found))


def parts(formula: str) -> Iterator[str]:
    """Yield the parts of a formula; each but the last ends with a space outside all brackets.

    Raises ValueError if a brace lacks its other one.
    """
    tokens = TOKEN.findall(formula)
    if tokens.count("{") != tokens.count("}"):
        raise ValueError(f"a brace without its other one in ${formula}$")
    depth, part = 0, ""
    for token in tokens:
        depth += (token in OPENING) - (token in CLOSING)
        if token in BREAKS and depth <= 0:
            # a page puts a narrow space between two parts itself
            if part := part + token.removeprefix(NARROW):
                yield part
            part = ""
        else:
            part += token
    if part:
        yield part


def translated(formula: str, mode: str, **attributes: str) -> str:
    """Return the MathML of a part. Raises ValueError, with the reason and the part."""
    latex = PRIME.sub("{\\1\N{PRIME}}", formula).replace(":=", r"\coloneqq ")
    if mode == "block":
        latex = LIMITS.sub(r"\1\\limits", latex)
    try:
        math = ElementTree.fromstring(convert(latex, xmlns="", display=mode))
    except Exception as error:  # latex2mathml's own have no base in common
        raise ValueError(f"latex2mathml ends with {type(error).__name__} in ${formula}$") from error
    for node in math.iter():
        if (text := node.text or "").startswith("\\") and len(text) > 1:
            raise ValueError(f"{text} is not known in ${formula}$")
        if len(node) != SIZES.get(node.tag, len(node)):
            raise ValueError(f"something is missing in ${formula}$")
        if node.get("fence") and text.isalnum():
            raise ValueError(f"{text} is no bracket in ${formula}$")
    math.attrib = attributes
    set_spaces(math)
    return ElementTree.tostring(math, "unicode")


def set_spaces(math: Element) -> None:
    """Space operators as TeX does: signs, bars, names, and everything in scripts stand close."""
    for name in math.iter("mi"):  # log, which is a name as max is
        name.tag = "mo" if len(name.text or "") > 1 else name.tag
    for row in math.iter("mrow"):
        nodes = list(row)
        for before, node, after in zip([None, *nodes], nodes, [*nodes[1:], None], strict=False):
            if (mark := base(node)).tag == "mo":
                mark.attrib |= spaces(mark.text or "", before, after)
    for scripted in math.iter():
        for script in scripted[1:] if scripted.tag in SCRIPTS else ():
            for mark in script.iter("mo"):
                mark.attrib |= TIGHT


def spaces(text: str, before: Element | None, after: Element | None) -> dict[str, str]:
    """Return the attributes of an operator between two neighbours."""
    if text == MINUS and (before is None or is_operator(before)):
        return {"form": "prefix"}
    apart = [node is not None and node.tag in SPACES for node in (before, after)]
    if text == "/" or (text == "|" and not all(apart)):
        return TIGHT
    if not text.isalpha():
        return {}
    left = before is None or apart[0] or is_operator(before)
    right = after is None or (after.tag == "mo" and (after.text or "") in OPENERS)
    return {"lspace": "0" if left else THIN, "rspace": "0" if right else THIN}


def base(node: Element) -> Element:
    """Return what a node with scripts has them on, or the node."""
    return node[0] if node.tag in SCRIPTS else node


def is_operator(node: Element) -> bool:
    """Return whether what follows a node begins anew, so that a minus there is a sign."""
    return base(node).tag in ("mo", *SPACES) and (base(node).text or " ") not in ENDS
