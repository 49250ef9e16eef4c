"""Plan the runs of a comparison, and keep the folder that they go to.

A folder belongs to one set of problems and settings. A later call with the same problems and
settings may add methods; any other call is refused. The rows of methods that a call does not ask
for are read from the files of their runs.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fwlab.experiments.engine import Failure
from fwlab.experiments.record import Record, problem_entry, run_flags, written
from fwlab.experiments.resume import load_unfinished, unfinished, why_not_resumed
from fwlab.experiments.runs import ComparedRun, Key, Settings, planned
from fwlab.experiments.store import load_run
from fwlab.problem import Problem
from fwlab.provenance import provenance
from fwlab.result import Result, Status
from fwlab.say import say
from fwlab.solvers.method import Method

RUNS = "runs"


@dataclass(frozen=True, eq=False)
class ComparisonPlan:
    """The arguments of a comparison.

    flags (of the command line) and sha256 (of a file, by problem) are kept in the record.
    """

    problems: dict[str, Problem]
    methods: dict[str, Method]
    settings: Settings
    out: Path | None = None
    n_jobs: int = 1
    verbose: int = 0
    resume: bool = False
    flags: dict[str, Any] = field(default_factory=dict)
    sha256: dict[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.resume and self.out is None:
            raise ValueError("resume needs the folder of the comparison, out; got None.")

    def record(self) -> Record:
        """Return the record of this comparison alone, before its runs."""
        problems = {
            name: problem_entry(problem, self.sha256.get(name))
            for name, problem in self.problems.items()
        }
        flags = {**self.flags, **run_flags(self.settings), "methods": list(self.methods)}
        return Record(flags, problems, {}, {}, written(self.settings.method_options))

    def runs(self) -> list[ComparedRun]:
        """Return the runs; a run that continues an unfinished one holds it."""
        folder = None if self.out is None else self.out / RUNS
        runs = planned(self.problems, self.methods, self.settings, folder)
        halves = [load_unfinished(run.place.file) for run in runs]
        if not self.resume:
            begun = sum(half is not None for half in halves)
            if begun:
                say(f"{begun} unfinished runs begin anew; with resume they would go on.")
            return runs
        if not any(halves):
            say(f"there is no unfinished run of this code in {self.out}.")
        return [_resumed(run, half) for run, half in zip(runs, halves, strict=True)]


def _resumed(run: ComparedRun, half: Result | None) -> ComparedRun:
    if half is None:
        return run
    reason = why_not_resumed(half, run.method, run.problem)
    if reason:
        say(f"{run.name} begins anew: {reason}.")
        return run
    return replace(run, resumes=half)


@dataclass(frozen=True, eq=False)
class Folder:
    """The folder of a comparison: what an earlier call left, and what this one adds."""

    path: Path
    earlier: Record
    record: Record

    @classmethod
    def opened(cls, plan: ComparisonPlan) -> "Folder | None":
        """Write the record before the runs. Raises ValueError if the folder has another one."""
        if plan.out is None:
            return None
        record, earlier = plan.record(), Record.read(plan.out)
        if earlier is None:
            earlier = replace(record, runs={})
        else:
            earlier.require_same(record, plan.out)
        methods = dict.fromkeys([*earlier.flags.get("methods", []), *record.flags["methods"]])
        both = replace(
            record,
            flags={**record.flags, "methods": list(methods)},
            problems={name: {**earlier.problems[name], **p} for name, p in record.problems.items()},
            runs={name: dict(earlier.runs.get(name, {})) for name in record.problems},
            environment=dict(earlier.environment),
        )
        both.write(plan.out)
        return cls(plan.out, earlier, both)

    def others(self, asked: dict[str, Method]) -> dict[Key, Result | Failure]:
        """Return the stored outcomes of methods that this call does not ask for."""
        found: dict[Key, Result | Failure] = {}
        for name, runs in self.earlier.runs.items():
            for method, entry in runs.items():
                if method not in asked:
                    found[name, method] = self._outcome(entry)
        return found

    def note(
        self, runs: list[ComparedRun], outcomes: dict[Key, Result | Failure], stored: set[Key]
    ) -> None:
        """Record the outcomes of the runs; say so if a run replaces another one."""
        for run in runs:
            outcome = outcomes.get(run.key)
            if outcome is None:
                continue
            problem, method = run.key
            before, entry = self.record.runs[problem].get(method), self._entry(run, outcome)
            if before not in (None, entry) and unfinished(self.path / entry) != self.path / before:
                say(f"{problem} {method} was made anew, by other code than before; was: {before}.")
            self.record.runs[problem][method] = entry
        if set(outcomes) - stored:
            self._note_environment()
        self.record.write(self.path)

    def _note_environment(self) -> None:
        made = provenance()
        date = made.pop("date")
        if made not in self.record.environment.values():
            self.record.environment[date] = dict(made)

    def _entry(self, run: ComparedRun, outcome: Result | Failure) -> str:
        if isinstance(outcome, Failure):
            return str(outcome)
        file = run.place.file
        if file is not None and outcome.status is Status.INTERRUPTED:
            file = unfinished(file)
        if file is None or not file.is_file():
            return str(Failure("not stored", run.place.reason or "its file could not be written"))
        return f"{RUNS}/{file.name}"

    def _outcome(self, entry: str) -> Result | Failure:
        kind, _, message = entry.partition(": ")
        if message:
            return Failure(kind, message)
        result = load_run(self.path / entry)
        return Failure("not stored", f"{entry} cannot be read") if result is None else result
