"""Results in the repository: figures/results holds compact copies of the results of a run.

From these copies all numbers can be read and all pictures drawn without data or computation.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from figures.kit.study import KEPT, Study, read_record, readable
from fwlab.experiments import Cell
from fwlab.files import write_text_atomically

# digits of a number; objective values need more, as their differences are drawn
DIGITS, OBJECTIVE_DIGITS = 6, 12
OBJECTIVES = ("primal", "dual")


def keep(out: Path, size: str, names: Iterable[str], kept: Path = KEPT) -> list[Path]:
    """Copy results and tables of the named scripts to the repository and return the copies.

    Copies of a script without new results are left unchanged. Raises FileNotFoundError if there are
    no results.
    """
    source, target = out / size, kept / size
    copied = []
    for name in names:
        if (source / f"{name}.json").exists():
            record = read_record(source / f"{name}.json")
            texts = {f"{name}.json": compact(record)}
            texts |= {path.name: path.read_text("utf-8") for path in tables(source, name)}
            for file, text in texts.items():
                write_text_atomically(target / file, text)
                copied.append(target / file)
            for old in set(tables(target, name)) - {*copied}:
                old.unlink()
    if not copied:
        raise FileNotFoundError(f"{source} holds no results; python -m figures all makes them.")
    return copied


def tables(folder: Path, name: str) -> list[Path]:
    """Return the tables of a script in a folder."""
    return sorted({*folder.glob(f"{name}.csv"), *folder.glob(f"{name}_*.csv")})


def compact(record: dict[str, Any]) -> str:
    """Return a record as JSON with rounded values, a line per cell."""
    values = {name: rounded(value) for name, value in record["values"].items()}
    lines = [f"{json.dumps(name)}: {_line(value)}" for name, value in values.items()]
    inner = ",\n".join(lines)
    rest = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in record.items() if k != "values"]
    return '{{\n{},\n"values": {{\n{}\n}}\n}}\n'.format(",\n".join(rest), inner)


def rounded(value: Any, digits: int = DIGITS) -> Any:
    """Return a value of a cell with its floats rounded to significant digits."""
    if isinstance(value, dict):
        return {name: rounded(entry, _digits(name, digits)) for name, entry in value.items()}
    if isinstance(value, list):
        return [rounded(entry, digits) for entry in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def _digits(name: str, digits: int) -> int:
    return OBJECTIVE_DIGITS if any(word in name for word in OBJECTIVES) else digits


def _line(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def write_record(study: Study, record: dict[str, Any]) -> None:
    """Write the record of a study to where it was read from, in compact form if it is a copy."""
    is_own = study.place.parent == study.folder
    text = json.dumps(record, indent=1) if is_own else compact(record)
    write_text_atomically(study.place, text)


def is_stale(record: dict[str, Any], cells: Sequence[Cell]) -> bool:
    """Return whether a record has different settings from its cells, or a replay differed."""
    stored = record["settings"]
    now = {cell.name: cell for cell in cells if cell.name in stored}
    if record.get("differs") or now.keys() != stored.keys():
        return True
    return not all(agrees(stored[name], cell.settings) for name, cell in now.items())


def agrees(stored: Any, given: Any) -> bool:
    """Return whether stored settings, read from JSON, are equal to the given ones.

    A dataclass may have options that are newer than the record; these must have their default
    values.
    """
    if isinstance(stored, dict) and isinstance(given, dict):
        named = {str(key): value for key, value in given.items()}
        return stored.keys() == named.keys() and all(agrees(stored[k], v) for k, v in named.items())
    if isinstance(stored, dict) and is_dataclass(given):
        options = {field.name: field.default for field in fields(given)}
        return stored.keys() <= options.keys() and all(
            agrees(stored[name], value) if name in stored else bool(value == default)
            for name, default in options.items()
            for value in [getattr(given, name)]
        )
    return bool(stored == json.loads(json.dumps(readable(given))))
