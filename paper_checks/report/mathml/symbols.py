"""List the characters of formulas: each token's kind, which decides its spacing, and its text.

The kinds are TeX's: ord (a letter, a number), op (log), limit (max, with its set below), large
(sum), bin, rel, open, close, punct; further kinds are bar (it opens or closes, depending on its
place) and space.
"""

import unicodedata
from collections.abc import Mapping

GREEK = (
    "alpha beta gamma delta zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon chi "
    "psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
).split()


def greek(name: str) -> str:
    """Return the letter, a capital one if its name begins with a capital."""
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    # Unicode spells lambda without its b
    spelled = name.upper().replace("LAMBDA", "LAMDA")
    return unicodedata.lookup(f"GREEK {size} LETTER {spelled}")


LETTERS = {name: greek(name) for name in GREEK if name[0].islower()} | {
    "phi": "ϕ",
    "varphi": "φ",
    "epsilon": "ϵ",
    "varepsilon": "ε",
    "vartheta": "ϑ",
    "ell": "ℓ",
    "imath": "ı",
    "jmath": "ȷ",
    "partial": "∂",
}
UPRIGHT = {name: greek(name) for name in GREEK if name[0].isupper()} | {
    "nabla": "∇",
    "infty": "∞",
    "top": "⊤",
    "dagger": "†",
    "ldots": "…",
    "cdots": "⋯",
    "emptyset": "∅",
    "forall": "∀",
    "exists": "∃",
    "nexists": "∄",
    "backslash": "\\",
    "%": "%",
    "#": "#",
    "&": "&",
    "_": "_",
}
BINARY = {
    "cdot": "⋅",
    "times": "×",
    "odot": "⊙",
    "oplus": "⊕",
    "otimes": "⊗",
    "setminus": "∖",
    "cup": "∪",
    "cap": "∩",
    "vee": "∨",
    "wedge": "∧",
    "circ": "∘",
    "pm": "±",
    "mp": "∓",
}
RELATIONS = {
    "leq": "≤",
    "le": "≤",
    "geq": "≥",
    "ge": "≥",
    "neq": "≠",
    "ne": "≠",
    "ll": "≪",
    "gg": "≫",
    "in": "∈",
    "notin": "∉",
    "subset": "⊂",
    "subseteq": "⊆",
    "subsetneq": "⊊",
    "supset": "⊃",
    "supseteq": "⊇",
    "equiv": "≡",
    "approx": "≈",
    "sim": "∼",
    "propto": "∝",
    "perp": "⟂",
    "mid": "∣",
    "to": "→",
    "mapsto": "↦",
    "Rightarrow": "⇒",
    "Leftarrow": "⇐",
    "Leftrightarrow": "⇔",
}
OPENING = {"{": "{", "langle": "⟨", "lceil": "⌈", "lfloor": "⌊"}
CLOSING = {"}": "}", "rangle": "⟩", "rceil": "⌉", "rfloor": "⌋"}
BARS = {"|": "‖", "Vert": "‖", "vert": "|"}
LARGE = {"sum": "∑", "prod": "∏", "int": "∫", "bigcup": "⋃", "bigcap": "⋂"}
OPERATORS = ("arg", "cos", "deg", "det", "dim", "exp", "ker", "ln", "log", "sin", "tan", "tanh")
LIMITS = ("inf", "lim", "max", "min", "sup")
# in em
SPACES = {",": 0.17, ":": 0.22, ";": 0.28, "quad": 1.0, "qquad": 2.0}

ACCENTS = {
    r"\tilde": "~",
    r"\widetilde": "~",
    r"\hat": "^",
    r"\widehat": "^",
    r"\bar": "¯",
    r"\dot": "˙",
}
# of \mathbb
DOUBLE = {"N": "ℕ", "Z": "ℤ", "Q": "ℚ", "R": "ℝ", "C": "ℂ", "E": "𝔼", "P": "ℙ"}


def commands(kind: str, table: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return {command: (kind, text)} for a table of names without backslash."""
    return {f"\\{name}": (kind, text) for name, text in table.items()}


def plain(kind: str, characters: str) -> dict[str, tuple[str, str]]:
    """Return {character: (kind, the character)}."""
    return {character: (kind, character) for character in characters}


CHARACTERS: dict[str, tuple[str, str]] = {
    **commands("ord", {name: f"<mi>{letter}</mi>" for name, letter in LETTERS.items()}),
    **commands(
        "ord",
        {
            name: f'<mi mathvariant="normal">{"&amp;" if letter == "&" else letter}</mi>'
            for name, letter in UPRIGHT.items()
        },
    ),
    **commands("op", {name: f"<mi>{name}</mi>" for name in OPERATORS}),
    **commands("limit", {name: name for name in LIMITS}),
    **commands("large", LARGE),
    **commands("bin", BINARY),
    **commands("rel", RELATIONS),
    **commands("open", OPENING),
    **commands("close", CLOSING),
    **commands("bar", BARS),
    **commands("space", {name: f'<mspace width="{em}em"/>' for name, em in SPACES.items()}),
    **plain("rel", "=<>"),
    **plain("open", "(["),
    **plain("close", ")]"),
    **plain("bar", "|"),
    **plain("punct", ",;:?"),
    ":=": ("rel", ":="),
    "+": ("bin", "+"),
    "-": ("bin", "−"),
    "*": ("bin", "∗"),
    "/": ("ord", '<mo lspace="0" rspace="0">/</mo>'),
    "!": ("ord", '<mo form="postfix">!</mo>'),
    ".": ("ord", "<mo>.</mo>"),
    # a character, so that copied words stay apart
    r"\ ": ("space", "<mtext>\N{NO-BREAK SPACE}</mtext>"),
}
