"""Write strings, numbers, booleans, lists of these, and named tables as TOML; tomllib reads it."""

import json
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


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
