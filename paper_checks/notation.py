"""The symbols of the papers' formulas, and what each means: {paper: {symbol: meaning}}.

A claim explains the symbols of its own formula in `shapes` or in its other texts. What a paper uses
throughout stands here, and each claim's page repeats it for the symbols of its formula.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("notation.json")
# words of a formula, and what lays it out; no symbols
WORDS = re.compile(
    r"\\(?:mathrm|operatorname|text)\s*\{[^{}]*\}(?:_\{[^{}]*\})?"
    r"|\\math\w+|\\(?:left|right|Bigl|Bigr)|\^\{[A-Za-z]{2,}\}"
)
# an accent with its letter, a letter or a Greek letter; with a subscript of several letters
SYMBOL = re.compile(
    r"(?:\\(?P<accent>tilde|bar|hat|widetilde)\s*\{?\s*)?"
    r"(?P<base>\\[A-Za-z]+|[A-Za-z])'?\}?"
    r"(?:_\{(?P<name>[A-Za-z]{2,})\}|_(?P<letter>[A-Z]))?"
)
GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta vartheta lambda mu nu pi rho sigma tau phi Phi "
    "psi Psi Delta Lambda Gamma Pi ell xi Xi chi kappa iota omega Omega Sigma upsilon Upsilon "
    "Theta varepsilon varphi varrho"
).split()


def symbols(formula: str) -> list[str]:
    """Return the symbols of a formula in mathtext, in plain letters: "Phi_utk", "tilde W", "A".

    Subscripts of a single small letter or of numbers are indices, and no part of a symbol.
    """
    return list(dict.fromkeys(_found(WORDS.sub(" ", formula.replace("^*", "")))))


def _found(formula: str) -> Iterator[str]:
    for match in SYMBOL.finditer(formula):
        base = match["base"].removeprefix("\\")
        if match["base"].startswith("\\") and base not in GREEK:
            continue
        accent = f"{match['accent'].removeprefix('wide')} " if match["accent"] else ""
        name = match["name"] or match["letter"]
        yield f"{accent}{base}" + (f"_{name}" if name else "")


@cache
def notation() -> Mapping[str, Mapping[str, str]]:
    """Return {paper: {symbol: meaning}}; the entry "" is of all papers."""
    found: dict[str, dict[str, str]] = json.loads(TABLE.read_text("utf-8"))
    return {paper: {**found[""], **own} for paper, own in found.items()}


def explained(paper: str, formula: str, texts: str) -> dict[str, str]:
    """Return {symbol: meaning} of the symbols of a formula that the texts of a claim do not name.

    Indices, which only number things, are left out.
    """
    known = notation().get(paper, notation()[""])
    found = {s: known.get(s, "") for s in symbols(formula) if not is_named(s, texts)}
    return {symbol: meaning for symbol, meaning in found.items() if meaning not in ("", "index")}


def undefined(paper: str, formula: str, texts: str) -> list[str]:
    """Return the symbols of a formula that neither the texts of a claim nor the paper define."""
    known = notation().get(paper, notation()[""])
    return [s for s in symbols(formula) if s not in known and not is_named(s, texts)]


def is_named(symbol: str, texts: str) -> bool:
    """Return whether a text has a symbol as a word of its own."""
    plain = symbol.replace("tilde ", "").replace("vartheta", "theta").replace("ell", "l")
    return bool(re.search(rf"(?<![A-Za-z]){re.escape(plain)}(?![A-Za-z])", texts))
