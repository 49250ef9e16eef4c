"""Store finished computations on disk under a hash of everything that determines them.

A computation is determined by its numbers, the code that runs, and the versions of what it uses.
The store never answers with a result that other code made. A computation that cannot be identified
is repeated each time and not stored, and a NotStored warning says why.
"""

import json
import re
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fwlab.files import write_text_atomically
from fwlab.identity import digest, identity
from fwlab.npz import UnreadableFile
from fwlab.provenance import provenance
from fwlab.result import Result
from fwlab.say import say
from fwlab.versions import Unidentifiable

LONGEST_NAME = 80
RECORD = ("value", "seconds", "made_by")  # the names in the record of a cell
CHANGED = (
    "the code or state it runs with is no longer what it was when the computation was planned "
    "(changed by an earlier run, or unlike that of a worker process)"
)


class NotStored(UserWarning):
    """Some results are not stored; the message says which, and why."""


@dataclass(frozen=True)
class Place:
    """The place of a finished computation, or the reason why it has none.

    code is a hash of the code and state that it was planned with, without its data.
    """

    file: Path | None = None
    code: str = ""
    reason: str = ""


NOWHERE = Place()


def place(folder: Path, name: str, ending: str, code: Any, data: Any) -> Place:
    """Return the place of a computation; `name` is for people, a hash tells computations apart.

    `code` holds the functions, methods and settings of the computation; `data` holds numbers,
    strings, arrays and hashes of these.
    """
    try:
        planned = identity(code)
        key = digest(planned, data)
    except Exception as error:
        return Place(reason=why_not(error))
    readable = re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:LONGEST_NAME]
    return Place(folder / f"{readable}-{key}{ending}", planned)


def named_place(file: Path, code: Any) -> Place:
    """Return the place of a computation whose file has a name of its own, or why it has none."""
    try:
        return Place(file, identity(code))
    except Exception as error:
        return Place(reason=why_not(error))


def is_as_planned(planned: Place, code: Any) -> bool:
    """Return whether the code and state of a computation have not changed since it was planned."""
    try:
        return identity(code) == planned.code
    except Exception:
        return False


def why_not(error: Exception) -> str:
    """Return the reason why something cannot be identified, from the exception that says so."""
    if isinstance(error, Unidentifiable):
        return str(error)
    return f"it cannot be identified ({type(error).__name__})"


def warn_not_stored(reasons: Collection[tuple[str, str]]) -> None:
    """Warn once about all pairs of a computation's name and the reason why it is not stored."""
    if reasons:
        name, reason = next(iter(reasons))
        others = f" and {len(reasons) - 1} more" if len(reasons) > 1 else ""
        warnings.warn(f"{name}{others} will not be stored: {reason}.", NotStored, stacklevel=4)


def load_run(path: Path) -> Result | None:
    """Return the stored run, None if there is none, or, with a line on stderr, a damaged one."""
    try:
        return Result.load(path)
    except FileNotFoundError:
        return None
    except (OSError, UnreadableFile) as error:
        _say_damaged(path, error)
        return None


def load_record(path: Path) -> dict[str, Any] | None:
    """Return what `save_record` wrote, None if there is nothing, or, as above, a damaged one."""
    try:
        record = json.loads(path.read_bytes())
        if not isinstance(record, dict) or not {*RECORD} <= set(record):
            raise ValueError(f"it must hold {', '.join(RECORD)}")
        return record
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        _say_damaged(path, error)
        return None


def _say_damaged(path: Path, error: Exception) -> None:
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
    say(f"{path} cannot be read and counts as not stored: {reason}")


def record_of(value: Any, seconds: float | None) -> dict[str, Any]:
    """Return the record of a cell: its value, its seconds if they are known, and what made it."""
    return dict(zip(RECORD, (value, seconds, provenance()), strict=True))


def save_record(path: Path, record: dict[str, Any]) -> None:
    """Write a record for `load_record`."""
    write_text_atomically(path, json.dumps(record))
