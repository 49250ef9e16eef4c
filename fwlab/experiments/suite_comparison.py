"""Compare the methods of two suites, on the problems that the folders of both have.

The list of problems is fixed by its version and size. So a problem is the same one in both folders
if it has the same name and its data come from the same file. The hash of the data is not asked for:
normalised features may differ in their last digits between processors.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from fwlab.experiments.html_report import PAGE
from fwlab.experiments.profiles import Profiles
from fwlab.experiments.record import Record
from fwlab.experiments.store import load_run
from fwlab.experiments.suite_record import SuiteRecord
from fwlab.experiments.suite_tables import method_rows, method_table, problem_table, wins
from fwlab.files import write_text_atomically
from fwlab.result import Result
from fwlab.text import format_table, html_table


@dataclass(frozen=True, eq=False)
class StoredSuite:
    """The runs of a method in the folder of a suite.

    problems holds the recorded facts of each problem, and runs the results by the problem.
    """

    folder: Path
    record: SuiteRecord
    problems: Mapping[str, Mapping[str, Any]]
    runs: Mapping[str, Result]

    @classmethod
    def read(cls, path: str | Path) -> "StoredSuite":
        """Return what a folder holds. Raises ValueError if it holds no suite."""
        folder = Path(path)
        record, comparison = SuiteRecord.read(folder), Record.read(folder)
        if record is None or comparison is None:
            raise ValueError(f"compare needs two folders of suites; {str(path)!r} holds none.")
        entries = {name: runs.get(record.method) for name, runs in comparison.runs.items()}
        runs = {
            name: run
            for name, entry in entries.items()
            if entry and ": " not in entry and (run := load_run(folder / entry)) is not None
        }
        return cls(folder, record, comparison.problems, runs)

    @property
    def processors(self) -> set[str]:
        """The processors that made the runs."""
        return {str(run.made_by.get("processor")) for run in self.runs.values()}


@dataclass(frozen=True, eq=False)
class SuiteComparison:
    """Two methods on the problems that both suites have.

    Attributes
    ----------
    first, second : StoredSuite
    methods : tuple of str
        The names of the methods, with the folders if they are equal.
    profiles : Profiles
    """

    first: StoredSuite
    second: StoredSuite
    methods: tuple[str, str]
    profiles: Profiles

    @property
    def notes(self) -> list[str]:
        """Sentences on the problems that only one has, and on the machines."""
        notes, common = [], set(self.profiles.problems)
        for one in (self.first, self.second):
            left = [name for name in one.problems if name not in common]
            if left:
                notes.append(f"Not in both, or refused: {', '.join(left)} of {one.folder}.")
        if self.first.processors != self.second.processors:
            made = " and ".join(
                ", ".join(sorted(one.processors)) for one in (self.first, self.second)
            )
            notes.append(f"The processors differ ({made}): compare oracle calls, not seconds.")
        return notes

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict for each method, as `SuiteReport.rows` does."""
        return method_rows(self.profiles)

    def table(self) -> str:
        """Return both methods, then the factors of the first over the second on each problem."""
        header, lines = method_table(self.profiles)
        head, problems = problem_table(self.profiles, self.methods[0])
        return "\n".join(
            [
                format_table(header, lines, right=header[1:]),
                "",
                f"Cost of {self.methods[1]} / cost of {self.methods[0]}:",
                format_table(head, problems, right=head[1:]),
                "",
                *self.notes,
            ]
        ).rstrip()

    def to_html(self, path: str | Path) -> None:
        """Write a page. Raises ImportError without plotly."""
        from fwlab.experiments.suite_page import profile_figures, wide

        one, other = map(escape, self.methods)
        n = len(self.profiles.problems)
        record = self.first.record
        parts = [
            f"<p><b>{one}</b> and <b>{other}</b> on the {n} problems that both suites have: "
            f"version {record.version}, size {record.size}.</p>",
            *(f"<p>{escape(note)}</p>" for note in self.notes),
            *profile_figures(self.profiles, self.methods[0]),
            wide(html_table("Methods", *method_table(self.profiles))),
            f"<h2>Where {one} wins</h2>",
            *(f"<p>{escape(sentence)}</p>" for sentence in wins(self.profiles, self.methods[0])),
            wide(
                html_table(
                    f"Cost of {self.methods[1]} / cost of {self.methods[0]}",
                    *problem_table(self.profiles, self.methods[0]),
                )
            ),
        ]
        heading = f"{one} and {other}"
        text = PAGE.format(title=f"fwlab suite: {heading}", heading=heading, body="\n".join(parts))
        write_text_atomically(Path(path), text)


def compare_suites(first: str | Path, second: str | Path) -> SuiteComparison:
    """Return the comparison of the methods of two folders that `suite` has filled.

    Problems that one of the methods refused are left out.

    Raises ValueError if a folder holds no suite, if the versions or sizes differ, or if no problem
    is in both.
    """
    one, other = StoredSuite.read(first), StoredSuite.read(second)
    for what in ("version", "size"):
        values = [getattr(suite.record, what) for suite in (one, other)]
        if values[0] != values[1]:
            raise ValueError(
                f"compare needs two suites of one {what}; {str(one.folder)!r} has {values[0]} and "
                f"{str(other.folder)!r} has {values[1]}."
            )
    common = [name for name in one.runs if name in other.runs and _same(one, other, name)]
    if not common:
        raise ValueError(
            f"compare needs suites with problems in common; {str(one.folder)!r} and "
            f"{str(other.folder)!r} have none."
        )
    methods = _names(one, other)
    runs = (one.runs, other.runs)
    outcomes = {
        name: {method: of[name] for method, of in zip(methods, runs, strict=True)}
        for name in common
    }
    return SuiteComparison(one, other, methods, Profiles.of(outcomes, methods))


def _same(one: StoredSuite, other: StoredSuite, name: str) -> bool:
    first, second = (
        {fact: value for fact, value in suite.problems[name].items() if fact != "data"}
        for suite in (one, other)
    )
    return first == second


def _names(one: StoredSuite, other: StoredSuite) -> tuple[str, str]:
    first, second = one.record.method, other.record.method
    if first != second:
        return first, second
    return f"{first} ({one.folder})", f"{second} ({other.folder})"
