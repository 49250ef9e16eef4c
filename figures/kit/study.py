"""A study: one figure or table, from its cells to its files.

`compute` writes the values of a script's cells, and everything that a caption needs, to
OUT/SIZE/NAME.json. A script draws only from `values`, so drawing needs neither data nor solvers. If
OUT has none, they are read from figures/results, which is part of the repository.
"""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import fwlab
from figures.kit.captions import Caption, caption_text
from figures.kit.findings import FigureFinding
from figures.kit.pixels import BlackAndWhite
from figures.kit.tables import Table
from fwlab.experiments import Cell, DataName, cell_records
from fwlab.files import write_atomically, write_text_atomically
from fwlab.losses import Loss
from fwlab.plot import save_figure
from fwlab.text import describe

SIZES = ("quick", "standard", "full")
KEPT = Path(__file__).parents[1] / "results"
COMMANDS = {"quick": " --quick", "standard": "", "full": " --full"}


class NotRun(ValueError):
    """Raised when there are no stored results to draw."""


@dataclass(frozen=True)
class Study:
    """One run of a script: its size, its folder and how its cells are computed.

    Parameters
    ----------
    name
        Name of the script.
    size
        "quick", "standard" or "full".
    out
        Folder of all studies.
    n_jobs, backend, scheduler
        Where the cells are computed; see `fwlab.experiments.run_cells`.
    file
        Path of the script's file if it is a user's file, else "".
    finding
        What its captions say about the agreement with the paper, or None.
    stale
        Whether the stored values are known to differ from those of the present settings or code.
    """

    name: str
    size: str
    out: Path
    n_jobs: int = 1
    backend: str = "loky"
    scheduler: str | None = None
    file: str = ""
    finding: FigureFinding | None = None
    stale: bool = False

    @property
    def command(self) -> str:
        """Return the command that makes this figure or table."""
        file = f"--file {shlex.quote(self.file)} " if self.file else ""
        return f"python -m figures {file}{self.name}{COMMANDS[self.size]}"

    @property
    def folder(self) -> Path:
        return self.out / self.size

    def compute(self, cells: Sequence[Cell], alone: bool = False) -> None:
        """Compute the cells that are not stored, and write what `plot` reads.

        With `alone`, one cell after the other in this process: their times are compared.
        """
        parallel = (1,) if alone else (self.n_jobs, self.backend, self.scheduler)
        records = cell_records(cells, self.out / "cells", *parallel)
        data = {name for cell in cells for name in _data_names(cell.settings)}
        record = {
            "size": self.size,
            "command": self.command,
            "version": describe_makers(one["made_by"] for one in records.values()),
            "date": max((one["made_by"]["date"][:10] for one in records.values()), default=""),
            "data": sorted(map(describe_data, data)),
            "settings": {cell.name: readable(cell.settings) for cell in cells},
            "values": {name: one["value"] for name, one in records.items()},
        }
        write_text_atomically(self._file(".json"), json.dumps(record, indent=1))

    @property
    def record(self) -> dict[str, Any]:
        """Return what `compute` wrote, to OUT or to the repository. Raises NotRun if neither is.

        Raises ValueError if the file is damaged.
        """
        return read_record(self.place)

    @property
    def place(self) -> Path:
        """Return the file that holds the record. Raises NotRun if there is none."""
        for folder in (self.out, KEPT):
            path = folder / self.size / f"{self.name}.json"
            if path.exists():
                return path
        raise NotRun(f"{self.name} has no stored results of size {self.size}.")

    @property
    def values(self) -> dict[str, Any]:
        """Return {cell name: result} as stored."""
        return dict(self.record["values"])

    def save_figure(self, figure: Any, caption: Caption, part: str = "") -> list[Path]:
        """Write NAME[_part].png, .pdf and the caption."""
        stem = self._file("", part)
        return [*save_figure(figure, stem), self._save_caption(caption, part)]

    def save_table(self, table: Table, caption: Caption, part: str = "") -> list[Path]:
        """Write NAME[_part].csv, .md, .tex and the caption."""
        texts = {".csv": table.csv(), ".md": table.markdown(), ".tex": table.latex()}
        files = [self._write(ending, part, text) for ending, text in texts.items()]
        return [*files, self._save_caption(caption, part)]

    def save_animation(self, draw: Any, n_frames: int, figure: Any, part: str) -> Path:
        """Write NAME_part.gif: frame i is the figure after `draw(i)`."""
        from matplotlib.animation import FuncAnimation, PillowWriter

        path, movie = self._file(".gif", part), FuncAnimation(figure, draw, frames=n_frames)
        with TemporaryDirectory() as folder:
            # matplotlib writes animations only to named files
            drawn = Path(folder) / path.name
            movie.save(drawn, writer=PillowWriter(fps=4), dpi=80)
            write_atomically(path, lambda file: file.write(drawn.read_bytes()))
        return path

    def _save_caption(self, caption: Caption, part: str) -> Path:
        text = caption_text(caption, self.record, self.finding, self.stale)
        return self._write(".caption.md", part, text)

    def _write(self, ending: str, part: str, text: str) -> Path:
        path = self._file(ending, part)
        write_text_atomically(path, text)
        return path

    def _file(self, ending: str, part: str = "") -> Path:
        return self.folder / f"{self.name}{f'_{part}' if part else ''}{ending}"


def read_record(path: Path) -> dict[str, Any]:
    """Return the record in a file.

    Raises ValueError, with a one-sentence message, if it is damaged.
    """
    try:
        record = json.loads(path.read_bytes())
        if not isinstance(record, dict) or "values" not in record:
            raise ValueError("it holds no values")
    except ValueError as error:
        raise ValueError(
            f"{path} is damaged ({error}); python -m figures {path.stem} makes it again."
        ) from error
    return record


def part_name(title: str) -> str:
    """Return a title in a form that can be part of a file name."""
    return re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")


def describe_data(name: DataName | BlackAndWhite) -> str:
    """Return a caption line about the data: sizes, preprocessing, origin, and what was left out."""
    text = fwlab.datasets.describe(name.load())
    name = name.grey if isinstance(name, BlackAndWhite) else name
    if name.join_valid:
        text += "; the validation part joins the train part"
    if name.rows is not None:
        text += f"; the first {name.rows} rows of each part only"
    return text


def describe_makers(makers: Iterable[dict[str, str]]) -> str:
    """Return a caption line about the versions, commits and processors that made the results."""
    parts = {
        (one["fwlab"], one["commit"][:12] + one["commit"][40:] or "installed", one["processor"])
        for one in makers
    }
    return "; ".join(f"fwlab {v}, commit {c}, on {p}" for v, c, p in sorted(parts)) or "no results"


def readable(value: Any) -> Any:
    """Return settings in readable form, for JSON."""
    if isinstance(value, DataName):
        return value.name
    if isinstance(value, Loss):
        return describe(value)
    if isinstance(value, dict):
        return {str(key): readable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [readable(entry) for entry in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: readable(getattr(value, field.name)) for field in fields(value)}
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _data_names(value: Any) -> Iterator[DataName | BlackAndWhite]:
    if isinstance(value, DataName | BlackAndWhite):
        yield value
    elif isinstance(value, dict | list | tuple):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _data_names(entry)
