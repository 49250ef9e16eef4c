"""Plan the runs of a comparison, and keep the folder that they go to.

A folder belongs to one set of problems and settings. A later call with the same problems and
settings may add methods, seeds and repetitions; any other call is refused. The runs of methods that
a call does not ask for are read from their files.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fwlab.experiments.engine import Failure
from fwlab.experiments.load import Load
from fwlab.experiments.record import FREE, Record, problem_entry, run_flags, written
from fwlab.experiments.resume import load_unfinished, unfinished, why_not_resumed
from fwlab.experiments.runs import ComparedRun, RunKey, Settings, placed, planned
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

    flags (of the command line) and sha256 (of a file, by problem) are kept in the record. Each of
    the seeds takes the place of the one in the settings.
    """

    problems: dict[str, Problem]
    methods: dict[str, Method]
    settings: Settings
    seeds: tuple[int, ...]
    repeat: int = 1
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
        flags = {**self.flags, **run_flags(self.settings, self.seeds, self.repeat)}
        flags["methods"] = list(self.methods)
        return Record(flags, problems, {}, {}, {}, written(self.settings.method_options))

    def runs(self) -> list[ComparedRun]:
        """Return the runs; a run that continues an unfinished one holds it."""
        runs = planned(self.problems, self.methods, self.settings, self.seeds, self.repeat)
        if self.out is not None:
            runs = placed(runs, self.out / RUNS)
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
        both = replace(
            record,
            flags=_flags_of_both(plan, earlier, record),
            problems={name: {**earlier.problems[name], **p} for name, p in record.problems.items()},
            runs={name: dict(earlier.runs.get(name, {})) for name in record.problems},
            clocks={name: dict(earlier.clocks.get(name, {})) for name in record.problems},
            environment=dict(earlier.environment),
        )
        both.write(plan.out)
        return cls(plan.out, earlier, both)

    def others(self, plan: ComparisonPlan) -> dict[RunKey, Result | Failure]:
        """Return the stored outcomes of methods that this call does not ask for.

        They have the seeds and repetitions of this call.
        """
        entries = {
            self.earlier.key(problem, name): entry
            for problem, runs in self.earlier.runs.items()
            for name, entry in runs.items()
        }
        return {
            key: self._outcome(entry)
            for key, entry in entries.items()
            if key.method not in plan.methods
            and key.seed in plan.seeds
            and key.repetition < plan.repeat
        }

    def note(
        self,
        runs: list[ComparedRun],
        outcomes: dict[RunKey, Result | Failure],
        stored: set[RunKey],
    ) -> None:
        """Record the outcomes of the runs; say so if a run replaces another one."""
        for run in runs:
            outcome = outcomes.get(run.key)
            if outcome is None:
                continue
            name, problem = self.record.entry(run.key), run.key.problem
            before, entry = self.record.runs[problem].get(name), self._entry(run, outcome)
            if before not in (None, entry) and unfinished(self.path / entry) != self.path / before:
                say(f"{run.name} was made anew, by other code than before; was: {before}.")
            self.record.runs[problem][name] = entry
            if isinstance(outcome, Result) and run.key not in stored:
                self.record.clocks[problem][name] = str(Load.of(outcome))
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


def _flags_of_both(plan: ComparisonPlan, earlier: Record, record: Record) -> dict[str, Any]:
    """Return the flags of the record with the methods, seeds and repetitions of both."""
    flags = {name: value for name, value in record.flags.items() if name not in FREE}
    methods = dict.fromkeys([*earlier.flags.get("methods", []), *record.flags["methods"]])
    seeds = tuple(dict.fromkeys([*earlier.seeds, *plan.seeds]))
    both = run_flags(plan.settings, seeds, max(earlier.repeat, plan.repeat))
    return {**flags, **both, "methods": list(methods)}
