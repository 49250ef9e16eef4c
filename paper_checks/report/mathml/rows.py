"""Space the rows of a formula in MathML as TeX does, by the kinds of neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

# after these a minus is a sign, and a bar opens
BEFORE_OPERAND = {"", "bin", "rel", "open", "punct", "op", "limit", "large"}
# a binary operation needs an operand before it and after
OPERAND_AFTER = {"ord", "open", "bar", "op", "limit", "large", "space"}
THIN = '<mspace width=".17em"/>'
NAMES = {"op", "limit"}
# the neighbours that a name keeps at a distance
APART_FROM_NAMES = {"ord", "close", "large", *NAMES}
SIGNS = "+−±∓"
TIGHT = ' lspace="0" rspace="0"'


@dataclass(frozen=True)
class Piece:
    """A part of a row: its kind, its text (MathML if ord, op or space) and its scripts."""

    kind: str
    text: str
    sub: str = ""
    sup: str = ""


def in_row(atoms: Sequence[Piece], small: bool) -> str:
    """Return the MathML of a row; in a script (`small`) operations are spaced more closely."""
    parts: list[str] = []
    fences: list[str] = []
    before, spaced = "", False
    kinds = [atom.kind for atom in atoms] + [""]
    for atom, after in zip(atoms, kinds[1:], strict=True):
        if atom.kind == "space":
            parts.append(atom.text)
            spaced = True
            continue
        kind = atom.kind
        if kind == "bar":
            kind = bar_kind(atom.text, before, fences, spaced and after == "space")
        elif kind == "bin":
            kind = binary_kind(atom.text, before, after)
        follow_fences(kind, atom, fences)
        if not spaced and needs_space(before, kind):
            parts.append(THIN)
        parts.append(with_scripts(element(kind, atom.text, small), kind, atom))
        before, spaced = "bin" if kind == "sign" else kind, False
    return "".join(parts)


def bar_kind(bar: str, before: str, fences: Sequence[str], apart: bool) -> str:
    """Return the kind of a bar: open, close, or a relation if it has spaces around it."""
    if apart:
        return "rel"
    inside = bar in fences and "(" not in fences[fences.index(bar) :]
    return "close" if inside and before not in BEFORE_OPERAND else "open"


def binary_kind(text: str, before: str, after: str) -> str:
    """Return the kind of an operation: bin, a sign, or ord if it stands alone."""
    if after not in OPERAND_AFTER:
        return "ord"
    if before in BEFORE_OPERAND:
        return "sign" if text in SIGNS else "ord"
    return "bin"


def follow_fences(kind: str, atom: Piece, fences: list[str]) -> None:
    """Update the fences that are open: bars by themselves, brackets of all shapes as "("."""
    fence = atom.text if atom.kind == "bar" else "("
    if kind == "open":
        fences.append(fence)
    elif kind == "close" and fence in fences:
        # a half-open interval may leave a bar behind
        while fences.pop() != fence:
            pass


def needs_space(before: str, kind: str) -> bool:
    if kind in NAMES:
        return before in APART_FROM_NAMES
    return before in NAMES and kind in {*APART_FROM_NAMES, "sign"}


def element(kind: str, text: str, small: bool) -> str:
    """Return the MathML of an atom without its scripts."""
    if kind in ("ord", "op") and text.startswith("<m"):
        return text
    attributes = {
        "ord": TIGHT,
        "sign": ' form="prefix"',
        "open": ' form="prefix" stretchy="false"',
        "close": ' form="postfix" stretchy="false"',
        "limit": f' movablelimits="true"{TIGHT}',
    }
    loose = kind in ("bin", "rel", "punct")
    return f"<mo{attributes.get(kind, TIGHT if small and loose else '')}>{escape(text)}</mo>"


def with_scripts(base: str, kind: str, atom: Piece) -> str:
    """Return a base with its scripts, which stand above and below sums and maxima."""
    below, above = ("munder", "mover") if kind in ("limit", "large") else ("msub", "msup")
    if atom.sub and atom.sup:
        both = below + above[1:]
        return f"<{both}>{base}{atom.sub}{atom.sup}</{both}>"
    if atom.sub:
        return f"<{below}>{base}{atom.sub}</{below}>"
    return f"<{above}>{base}{atom.sup}</{above}>" if atom.sup else base
