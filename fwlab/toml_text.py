"""Write strings, numbers, booleans, lists of these, and named tables as TOML, and read files of it.

A file that was cut off between two lines is TOML, too, with other settings. So its last line is a
mark, and a comment at its top says so.
"""

import json
import tomllib
from collections.abc import Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from fwlab.files import write_text_atomically

END = "# end"
MARKED = f"# The last line of the whole file is {END!r}."

BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


def write_toml(path: Path, comment: str, document: Mapping[str, Any]) -> None:
    """Write a document to a file, with a comment of one line above it. Raises as `as_toml`."""
    write_text_atomically(path, f"# {comment}\n{MARKED}\n\n{as_toml(document)}\n{END}\n")


def read_toml(path: Path) -> dict[str, Any]:
    """Return the document in a file. Raises ValueError if it is no TOML, or cut off."""
    text = path.read_text("utf-8")
    if MARKED in text and not text.rstrip().endswith(END):
        raise ValueError(f"it was cut off: its last line must be {END!r}")
    return tomllib.loads(text)


def as_toml(document: Mapping[str, Any]) -> str:
    """Return the document as TOML; an entry that is None is left out.

    Raises TypeError for a value that TOML does not have.
    """
    return "\n".join(_lines(document, ())).lstrip("\n") + "\n"


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    plain = {name: value for name, value in table.items() if not isinstance(value, Mapping)}
    lines = [f"{_key(name)} = {_value(v)}" for name, v in plain.items() if v is not None]
    if path and (lines or len(plain) == len(table)):
        lines = ["", f"[{'.'.join(map(_key, path))}]", *lines]
    for name, value in table.items():
        if isinstance(value, Mapping):
            lines += _lines(value, (*path, name))
    return lines


def _key(name: str) -> str:
    return name if name and BARE.issuperset(name) else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return repr(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, str):
        # a file name that is not UTF-8 has lone surrogates, which no TOML file can hold
        readable = value.encode("utf-8", "replace").decode("utf-8")
        return json.dumps(readable, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"TOML has no {type(value).__name__}; got {value!r}.")
