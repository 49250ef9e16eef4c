"""The record of a comparison: the file comparison.toml in its folder.

The keys of its first level are flags of `fwlab compare`, so that --config and --again read it as
any other file of settings. Its tables say what the settings led to:

    problems."digits"               data (a hash), sha256 of the file, loss, lam, smoothing, ...
    runs."digits"                   the file of each run, or why it has none
    clocks."digits"                 load of the machine and CPU / wall of each run made here
    environment."2026-11-23T09:00"  versions and processor of each call that computed something
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fwlab.experiments.runs import RunKey, Settings
from fwlab.identity import digest
from fwlab.problem import Problem
from fwlab.text import describe
from fwlab.toml_text import read_toml, write_toml

FILE = "comparison.toml"
TABLES = ("problems", "runs", "clocks", "environment", "method-options")
# files that a comparison writes beside its record
REPORTS = ("table.txt", "comparison.csv")
# flags that may differ between two calls for one folder
FREE = ("methods", "rng", "seeds", "repeat")
# the entry of a run that is not the first one of its method
ENTRY = re.compile(r"(.*), seed (\d+), repetition (\d+)", re.DOTALL)
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
COMMENT = "`fwlab compare --again FOLDER` repeats this comparison."


@dataclass(frozen=True)
class Record:
    """The content of comparison.toml: flags with dashes, and the tables by name."""

    flags: dict[str, Any]
    problems: dict[str, dict[str, Any]]
    runs: dict[str, dict[str, str]]
    clocks: dict[str, dict[str, str]]
    environment: dict[str, dict[str, Any]]
    method_options: dict[str, Any]

    @classmethod
    def read(cls, folder: Path) -> "Record | None":
        """Return the record of a folder, None if there is none.

        Raises ValueError if it cannot be read, or if the folder holds reports without a record.
        """
        path = folder / FILE
        if not path.is_file():
            others = [name for name in REPORTS if (folder / name).exists()]
            if others:
                raise ValueError(
                    f"out must be a new folder or that of a comparison; {str(folder)!r} holds "
                    f"{others[0]} without {FILE}."
                )
            return None
        try:
            document = read_toml(path)
            tables = [document.pop(name, {}) for name in TABLES]
            if not all(isinstance(table, dict) for table in tables):
                raise ValueError(f"{', '.join(TABLES)} must be tables")
            if not tables[0]:
                raise ValueError("it names no problem")
            return cls(document, *tables)
        except ValueError as error:
            raise ValueError(
                f"{path} cannot be read: it is damaged ({error}). A new folder is needed, or this "
                f"one without it and {' and '.join(REPORTS)}; stored runs stay."
            ) from error

    def write(self, folder: Path) -> None:
        """Write the file."""
        tables = self.problems, self.runs, self.clocks, self.environment, self.method_options
        named = dict(zip(TABLES, tables, strict=True))
        document = {**self.flags, **{name: table for name, table in named.items() if table}}
        write_toml(folder / FILE, COMMENT, document)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the runs; the first one needs no seed in its entries."""
        listed = self.flags.get("seeds")
        return (self.flags.get("rng", 0),) if listed is None else tuple(map(int, listed.split(",")))

    @property
    def repeat(self) -> int:
        """The number of repetitions."""
        return int(self.flags.get("repeat", 1))

    def entry(self, key: RunKey) -> str:
        """Return the name of a run in the tables of its problem."""
        if (key.seed, key.repetition) == (self.seeds[0], 0):
            return key.method
        return f"{key.method}, seed {key.seed}, repetition {key.repetition}"

    def key(self, problem: str, entry: str) -> RunKey:
        """Return the run that has this name."""
        found = ENTRY.fullmatch(entry)
        if found is None:
            return RunKey(problem, entry, self.seeds[0])
        return RunKey(problem, found[1], int(found[2]), int(found[3]))

    def require_same(self, other: "Record", folder: Path) -> None:
        """Raise ValueError with one sentence if a comparison of the folder has other settings."""
        found = _difference("", _fixed(self.flags), _fixed(other.flags))
        found = found or _difference("", self.method_options, other.method_options)
        for name in {**self.problems, **other.problems}:
            old, new = self.problems.get(name), other.problems.get(name)
            if old is None or new is None:
                has, other_has = ("a", "no") if new is None else ("no", "a")
                found = found or f"it has {has} problem {name!r}, and this one {other_has} such one"
            else:
                found = found or _difference(f"for {name!r} ", old, new)
        if found:
            raise ValueError(
                f"out must be a new folder or that of a comparison with the same settings; "
                f"{str(folder)!r} holds another one: {found}."
            )

    def changed_data(self, problems: Mapping[str, dict[str, Any]]) -> str:
        """Return a sentence about the first problem whose data are not the recorded ones, or "".

        A file with the recorded sha256 is the same, even if its normalised features differ in
        their last digits on another processor.
        """
        for name, old in self.problems.items():
            new = problems.get(name, {})
            same_file = old.get("sha256") is not None and old["sha256"] == new.get("sha256")
            if not same_file and old.get("data") != new.get("data"):
                return (
                    f"the data of {name!r} are not those of the comparison: their hash is "
                    f"{new.get('data')}, and {FILE} has {old.get('data')}."
                )
        return ""


def problem_entry(problem: Problem, sha256: str | None = None) -> dict[str, Any]:
    """Return what the record says about a problem."""
    loss = problem.loss
    arrays = {n: v for n, v in getattr(loss, "__dict__", {}).items() if isinstance(v, np.ndarray)}
    described = {"loss": describe(loss), "regularizer": repr(problem.regularizer)}
    entry = {
        "data": digest(problem.X, problem.y, problem.sample_weight),
        "sha256": sha256,
        "n": problem.n_samples,
        "m": problem.n_classes,
        **{name: ADDRESS.sub("", text) for name, text in described.items()},
        "loss-arrays": digest(arrays) if arrays else None,
        "lam": problem.lam,
        "smoothing": problem.smoothing,
        "kernel": problem.kernel,
    }
    return {name: value for name, value in entry.items() if value is not None}


def written(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of methods, in words where TOML has no such value."""
    plain = (bool, int, float, str)
    return {
        name: value if isinstance(value, plain) else ADDRESS.sub("", repr(value))
        for name, value in options.items()
    }


def run_flags(settings: Settings, seeds: Sequence[int], repeat: int) -> dict[str, Any]:
    """Return the settings of the runs as flags."""
    arguments = {name: value for name, value in settings.arguments().items() if name != "rng"}
    named = {name.replace("_", "-"): value for name, value in arguments.items()}
    named |= {"rng": seeds[0]} if len(seeds) == 1 else {"seeds": ",".join(map(str, seeds))}
    named |= {"repeat": repeat} if repeat > 1 else {}
    return {name: value for name, value in named.items() if value is not None}


def _fixed(flags: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in flags.items() if name not in FREE}


def _difference(where: str, old: dict[str, Any], new: dict[str, Any]) -> str:
    """Return the first difference of two tables in words, or ""; None is as good as nothing."""
    for name in {**old, **new}:
        before, after = old.get(name), new.get(name)
        if before != after:
            shown = ["no " + name if v is None else f"{name} = {v!r}" for v in (before, after)]
            return f"{where}it has {shown[0]}, and this one {shown[1]}"
    return ""
