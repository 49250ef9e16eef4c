"""Read a formula's tokens."""

import re
from dataclasses import dataclass

from paper_checks.report.mathml.rows import Piece, in_row
from paper_checks.report.mathml.symbols import ACCENTS, CHARACTERS, DOUBLE

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|:=|\S", re.DOTALL)
# where a narrow page may break a formula, outside its brackets
NARROW = r"\ "
BREAKS = (NARROW, r"\quad", r"\qquad")
PRIME = '<mo lspace="0" rspace="0">′</mo>'


def read(formula: str) -> list[str]:
    """Return the MathML of a formula's parts, between which a narrow page may break it.

    Raises ValueError, with the reason.
    """
    reader = Reader(TOKEN.findall(formula))
    parts = []
    try:
        while reader.next():
            parts.append(reader.part())
    except ValueError as error:
        raise ValueError(f"{error} in ${formula}$") from None
    return [part for part in parts if part]


@dataclass
class Reader:
    """The tokens of a formula, the place of the next one, and how deep in scripts it stands."""

    tokens: list[str]
    place: int = 0
    depth: int = 0

    def next(self) -> str:
        """Return the next token, "" at the end."""
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self) -> str:
        """Return the next token and advance past it."""
        token = self.next()
        if not token:
            raise ValueError("it ends too early")
        self.place += 1
        return token

    def take_if(self, token: str) -> bool:
        """Advance past the next token if it is this one; return whether it was."""
        found = self.next() == token
        self.place += found
        return found

    def part(self) -> str:
        """Return the MathML of all tokens before the next break or the end."""
        atoms: list[Piece] = []
        fences = 0
        while self.next() and not (fences <= 0 and self.next() in BREAKS):
            atoms.append(self.atom())
            fences += {"open": 1, "close": -1}.get(atoms[-1].kind, 0)
        space = self.take() if self.next() else NARROW
        # a page puts a narrow space between two parts itself
        wide = "" if space == NARROW else CHARACTERS[space][1]
        return in_row(atoms, small=False) + wide

    def row(self, *ends: str) -> str:
        """Return the MathML of all tokens before one of these, or before the end."""
        atoms = []
        while self.next() and self.next() not in ends:
            atoms.append(self.atom())
        return in_row(atoms, small=self.depth > 0)

    def atom(self) -> Piece:
        """Return the next symbol or group with its scripts."""
        kind, text = self.symbol(self.take())
        if kind == "space":
            return Piece(kind, text)
        scripts = {"_": "", "^": ""}
        while self.next() in ("'", *scripts):
            # fonts draw a prime small and high, so it is no script
            if (mark := self.take()) == "'":
                text = f"<mrow>{text}{PRIME}</mrow>"
            elif scripts[mark]:
                raise ValueError(f"two scripts {mark} of one symbol")
            else:
                scripts[mark] = self.script()
        return Piece(kind, text, scripts["_"], scripts["^"])

    def script(self) -> str:
        """Return the MathML of a script."""
        self.depth += 1
        found = self.argument()
        self.depth -= 1
        return found

    def argument(self) -> str:
        """Return the MathML of the next group in braces, or of the next symbol alone."""
        if not self.take_if("{"):
            kind, text = self.symbol(self.take())
            return in_row([Piece(kind, text)], small=self.depth > 0)
        start = self.place
        found = self.row("}")
        several = self.place > start + 1
        self.expect("}")
        return in_one(found, several)

    def expect(self, token: str) -> None:
        """Advance past this token. Raises ValueError if the next token is another one."""
        if not self.take_if(token):
            raise ValueError(f"{token} is missing before {self.next() or 'the end'}")

    def symbol(self, token: str) -> tuple[str, str]:
        """Return the kind and text of the symbol that a token begins, without scripts."""
        if token == r"\arg" and self.next() in (r"\max", r"\min"):
            return "limit", f"arg\N{THIN SPACE}{self.take()[1:]}"
        if token in CHARACTERS:
            return CHARACTERS[token]
        if token[0].isdigit():
            return "ord", f"<mn>{token}</mn>"
        return "ord", f"<mi>{token}</mi>" if token.isalpha() else self.structure(token)

    def structure(self, token: str) -> str:
        """Return the MathML of a group, fraction, root, accent, word or pair of brackets."""
        if token == "{":
            self.place -= 1
            return self.argument()
        if token == r"\frac":
            return f"<mfrac>{self.argument()}{self.argument()}</mfrac>"
        if token == r"\sqrt":
            return self.root()
        if token in ACCENTS:
            mark = f'<mo stretchy="false">{ACCENTS[token]}</mo>'
            return f'<mover accent="true">{self.argument()}{mark}</mover>'
        if token in (r"\mathrm", r"\text"):
            return upright(self.words())
        if token == r"\mathbb" and (letter := self.words()) in DOUBLE:
            return f"<mi>{DOUBLE[letter]}</mi>"
        if token == r"\left":
            return self.stretched()
        raise ValueError(f"{token} is not known")

    def root(self) -> str:
        """Return the MathML of a root, with its order if that stands in brackets."""
        if not self.take_if("["):
            return f"<msqrt>{self.argument()}</msqrt>"
        self.depth += 1
        order = in_one(self.row("]"), True)
        self.depth -= 1
        self.expect("]")
        return f"<mroot>{self.argument()}{order}</mroot>"

    def words(self) -> str:
        r"""Return the words of \mathrm, in which only spaces are commands."""
        self.expect("{")
        words = ""
        while (token := self.take()) != "}":
            if token.startswith("\\") and CHARACTERS.get(token, ("",))[0] != "space":
                raise ValueError(f"{token} stands among upright words")
            words += "\N{NO-BREAK SPACE}" if token.startswith("\\") else token
        return words

    def stretched(self) -> str:
        r"""Return the MathML of everything between \left and \right, and of both brackets."""
        opening = self.bracket("prefix")
        inside = self.row(r"\right")
        self.expect(r"\right")
        return f"<mrow>{opening}{inside}{self.bracket('postfix')}</mrow>"

    def bracket(self, form: str) -> str:
        """Return the MathML of a bracket as high as its content; a dot gives nothing."""
        token = self.take()
        if token == ".":
            return ""
        kind, text = self.symbol(token)
        if kind not in ("open", "close", "bar"):
            raise ValueError(f"{token} is no bracket")
        return f'<mo form="{form}" stretchy="true">{text}</mo>'


def in_one(parts: str, several: bool) -> str:
    """Return parts as one element."""
    return f"<mrow>{parts}</mrow>" if several or not parts else parts


def upright(words: str) -> str:
    """Return words that do not slant."""
    if not words.isalpha():
        return f"<mtext>{words.replace('&', '&amp;').replace('<', '&lt;')}</mtext>"
    return f"<mi>{words}</mi>" if len(words) > 1 else f'<mi mathvariant="normal">{words}</mi>'
