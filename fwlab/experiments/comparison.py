"""Show the runs of a comparison: as tables, figures, a CSV file, frames and a page.

Every number comes from a certificate that `solve` recomputed from A.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fwlab.experiments.curves import X_LABELS, x_of
from fwlab.experiments.engine import Failure
from fwlab.experiments.load import Load
from fwlab.experiments.runs import Key, RunKey, Settings
from fwlab.experiments.summary import NUMBERS as RIGHT
from fwlab.experiments.summary import latex_of, table_of
from fwlab.files import write_atomically, write_text_atomically
from fwlab.problem import Problem
from fwlab.result import Result, Status
from fwlab.text import format_table, html_table, in_brackets
from fwlab.trace import Trace

# which machine made a run and when, how busy it was; read from the store, or resumed where
MADE = ("machine", "date", "stored", "resumed", "load", "cpu_share", "loaded")
RUN = ("problem", "method", "seed", "repetition")
NUMBERS = ("iterations", "wall_seconds", "seconds", "cpu_seconds", "primal", "dual", "gap")
LOADED = (
    "{} of {} runs on a loaded machine (a load above the number of processors, or fewer than 0.9 "
    "CPU seconds per second): their times may be too long."
)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The results of `compare`.

    Attributes
    ----------
    problems, methods, settings
        The problems by name, the names of the methods, and the arguments of every run.
    seeds, repeat
        The seeds, and the number of repetitions.
    runs : dict
        The Result, or the Failure, of each run by (problem, method, seed, repetition).
    results, failures : dict
        The first Result, and the first Failure, by (problem, method): all runs, if there is one
        seed and one repetition.
    not_stored : dict
        Why a run could not be stored, by (problem, method).
    stored : frozenset
        The pairs (problem, method) whose runs were all read from the store: made earlier, perhaps
        on another machine.
    """

    problems: dict[str, Problem]
    methods: tuple[str, ...]
    settings: Settings
    runs: dict[RunKey, Result | Failure]
    reasons: dict[RunKey, str] = field(default_factory=dict)
    read: frozenset[RunKey] = frozenset()

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(key.seed for key in self.runs))

    @cached_property
    def repeat(self) -> int:
        return max((key.repetition + 1 for key in self.runs), default=1)

    @cached_property
    def results(self) -> dict[Key, Result]:
        return _first({k: run for k, run in self.runs.items() if isinstance(run, Result)})

    @cached_property
    def failures(self) -> dict[Key, Failure]:
        return _first({k: run for k, run in self.runs.items() if isinstance(run, Failure)})

    @property
    def not_stored(self) -> dict[Key, str]:
        return _first(self.reasons)

    @property
    def stored(self) -> frozenset[Key]:
        made = {key.pair for key in self.runs if key not in self.read}
        return frozenset({key.pair for key in self.read} - made)

    @property
    def clock(self) -> str:
        """The clock that figures show: "cpu" if all runs had one thread and recorded it."""
        recorded = all(run.trace.cpu_seconds is not None for _, run in self._results())
        return "cpu" if self.settings.n_threads == 1 and recorded else "wall"

    def finished(self, problem: str) -> dict[str, list[Result]]:
        """Return the results of the finished runs of a problem, by method."""
        found: dict[str, list[Result]] = {}
        for key, run in self._results():
            if key.problem == problem:
                found.setdefault(key.method, []).append(run)
        return found

    def __repr__(self) -> str:
        results = [run for _, run in self._results()]
        several = [f"seeds = {', '.join(map(str, self.seeds))}"] if len(self.seeds) > 1 else []
        several += [f"repetitions = {self.repeat}"] if self.repeat > 1 else []
        return in_brackets(
            "Comparison",
            [
                f"problems = {', '.join(self.problems)}",
                f"methods = {', '.join(self.methods)}",
                f"tol = {self.settings.tol:g}",
                *several,
                f"{len(results)} of {len(self.runs)} runs finished",
                f"{sum(result.success for result in results)} converged",
            ],
        )

    def _repr_html_(self) -> str:
        return html_table("Comparison", *self.cells())

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per run: by problem, method, seed and repetition.

        It holds RUN, NUMBERS, calls, passes, status, MADE, success and message. The numbers of a
        run without a result are None.
        """
        return [self._row(key) for key in self.runs]

    def cells(self) -> tuple[tuple[str, ...], list[list[str]]]:
        """Return the header of the table and its lines as texts.

        A line has the numbers of a run, or of several runs of a method the medians and ranges.
        """
        return table_of(self.rows())

    def table(self) -> str:
        """Return the table as text, and a sentence for each status and for all that went wrong."""
        text = [format_table(*self.cells(), right=tuple(RIGHT)), ""]
        text += [f"{status.name}: {status.value}" for status in self._statuses()]
        results = [run for _, run in self._results()]
        if loaded := sum(Load.of(result).is_high for result in results):
            text.append(LOADED.format(loaded, len(results)))
        text += [f"Not stored: {' '.join(key)}: {why}." for key, why in self.not_stored.items()]
        return "\n".join(text).rstrip()

    def to_csv(self, path: str | Path) -> None:
        """Write one row per checkpoint: RUN, every column of the trace, and MADE.

        A column is empty for a run that does not have it.
        """
        columns = [f.name for f in fields(Trace)]
        text = io.StringIO()
        writer = csv.DictWriter(text, [*RUN, *columns, *MADE], lineterminator="\n")
        writer.writeheader()
        for key, result in self._results():
            trace = {name: column.tolist() for name, column in result.trace.as_dict().items()}
            same = {**key._asdict(), **self._made(key)}
            for values in zip(*trace.values(), strict=True):
                writer.writerow({**same, **dict(zip(trace, values, strict=True))})
        write_atomically(Path(path), lambda file: file.write(text.getvalue().encode()))

    def to_frame(self) -> Any:
        """Return `rows` as a pandas DataFrame. Raises ImportError without pandas."""
        return _frame("to_frame")(self.rows())

    def traces(self) -> Any:
        """Return all checkpoints of all runs as one tidy pandas DataFrame.

        The columns are method, problem, seed, repetition, iteration, cpu, wall, calls, passes,
        primal, dual and gap. cpu and wall are seconds of the method, without judging; calls are
        answers of an LMO and projections, of one sample each; passes are rows of scores over n. A
        number that was not recorded is nan. Raises ImportError without pandas.
        """
        frame, parts = _frame("traces"), []
        for key, result in self._results():
            n, length = self.problems[key.problem].n_samples, len(result.trace.gap)
            columns: dict[str, Any]
            columns = {name: [value] * length for name, value in key._asdict().items()}
            columns |= {x: x_of(result, x, n) for x in X_LABELS}
            columns["iteration"] = result.trace.iteration
            parts.append(columns | {y: getattr(result.trace, y) for y in ("primal", "dual", "gap")})
        order = ("method", "problem", "seed", "repetition", *X_LABELS, "primal", "dual", "gap")
        joined = {name: np.concatenate([part[name] for part in parts] or [[]]) for name in order}
        return frame(joined)

    def to_latex(self, path: str | Path | None = None) -> str:
        """Return the table of `cells` for LaTeX with the package booktabs; write it to a path."""
        text = latex_of(self.rows())
        if path is not None:
            write_text_atomically(Path(path), text)
        return text

    def to_html(self, path: str | Path) -> None:
        """Write one page with interactive figures, the table, the settings and the environment.

        The page needs no network and no other file. Raises ImportError without plotly.
        """
        from fwlab.experiments.html_report import html_report

        write_text_atomically(Path(path), html_report(self, self.cells()))

    def plot(
        self,
        path: str | Path | None = None,
        x: str | Sequence[str] | None = None,
        y: str = "gap",
        ax: Any = None,
        figsize: tuple[float, float] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Any:
        """Draw the runs: a row of panels for each problem, both axes logarithmic.

        More than eight methods have several rows of panels: each shows its part of the methods in
        colour, and all others in grey.

        A method with one run has the smallest value so far as its line. Of several runs the line
        is the median of these values, with a band from the least to the largest. Needs matplotlib,
        whose rcParams hold for all but the colours and markers of methods.

        Parameters
        ----------
        path : path, optional
            Write path.png and path.pdf, and return both paths.
        x : str or list of str, optional
            "cpu" or "wall" (seconds, judging excluded), "iteration", "calls" (answers of an LMO
            and projections) or "passes" (rows of scores over n), one panel for each. By default
            seconds and iterations: CPU seconds if all runs had one thread, else wall seconds.
        y : str
            "gap", or what it bounds: "primal" less the best dual value of all runs, or the best
            primal value of all runs less the "dual".
        ax : matplotlib.axes.Axes, optional
            Draw on these axes and return them; for one problem and one x, by default seconds.
        figsize : (float, float), optional
            Inches of the figure.
        labels : dict, optional
            Other names for methods in the legend.

        Returns
        -------
        The axes (rows, x) of a figure of pyplot, which a notebook shows; or as said above.

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described.
        """
        from fwlab.experiments.figure import Drawing, comparison_figure, draw_on_axes
        from fwlab.plot import save_figure

        if ax is not None and path is not None:
            raise ValueError("path must be None if ax is given: save the figure of these axes.")
        drawing = Drawing.checked(self, x, y, figsize, labels, ax is not None)
        if ax is not None:
            draw_on_axes(ax, self, drawing)
            return ax
        figure = comparison_figure(self, drawing, by_pyplot=path is None)
        if path is not None:
            return save_figure(figure, Path(path))
        return np.array(figure.axes).reshape(-1, len(drawing.x))

    def _results(self) -> Iterator[tuple[RunKey, Result]]:
        """Yield the finished runs."""
        for key, run in self.runs.items():
            if isinstance(run, Result):
                yield key, run

    def _row(self, key: RunKey) -> dict[str, Any]:
        columns = (*RUN, *NUMBERS, "calls", "passes", "status", *MADE)
        row: dict[str, Any] = {**dict.fromkeys(columns), **key._asdict(), "success": False}
        run = self.runs[key]
        if isinstance(run, Failure):
            return {**row, "status": run.kind, "message": run.message}
        n = self.problems[key.problem].n_samples
        return {
            **row,
            "iterations": run.nit,
            **{column: getattr(run, column) for column in NUMBERS[1:]},
            **{x: _recorded(x_of(run, x, n)[-1]) for x in ("calls", "passes")},
            "cpu_seconds": _recorded(run.cpu_seconds),
            "status": run.status.name,
            **self._made(key),
            "success": run.success,
            "message": run.message,
        }

    def _made(self, key: RunKey) -> dict[str, Any]:
        run = self.runs[key]
        assert isinstance(run, Result)
        load = Load.of(run)
        return {
            "machine": run.made_by.get("processor"),
            "date": run.made_by.get("date"),
            "stored": key in self.read,
            "resumed": run.made_by.get("resumed"),
            "load": load.average,
            "cpu_share": load.share,
            "loaded": load.is_high,
        }

    def _statuses(self) -> list[Status]:
        seen = {run.status for _, run in self._results()}
        return [status for status in Status if status in seen]


def _first(by_run: Mapping[RunKey, Any]) -> dict[Key, Any]:
    """Return the first entry of each problem and method."""
    found: dict[Key, Any] = {}
    for key, value in by_run.items():
        found.setdefault(key.pair, value)
    return found


def _recorded(value: float) -> float | None:
    """Return a number, None for the nan of one that was not recorded."""
    return None if np.isnan(value) else float(value)


def _frame(name: str) -> Any:
    """Return pandas' DataFrame. Raises ImportError for a method of this name without pandas."""
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise ImportError(f"{name} needs pandas: pip install pandas.") from error
    return DataFrame
