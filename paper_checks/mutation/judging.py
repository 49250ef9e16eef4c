"""Judge the rows of a paper again, unchanged and with one change planted."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module

from paper_checks.ledger import CLAIMS
from paper_checks.modules import INSIDE, PAPERS, claims
from paper_checks.mutation.forks import Stopped, in_forks
from paper_checks.mutation.mutants import ROOT, Mutant, mutants
from paper_checks.mutation.planting import plant, plantable
from paper_checks.mutation.tracing import Line, LineTrace
from paper_checks.records import Record
from paper_checks.run import tried
from paper_checks.verdicts import Verdict

# the parts of a row's result; a change that alters none of them survives
SAYS = ("verdict", "tier", "corrected", "proof_sizes", "defects_missed", "library_failed")
# time limit of a row: this multiple of its time without a change, plus these seconds
TIMES, SECONDS = 10, 60.0
LONGEST_ROW = 1800.0
# modules that rows import lazily; imported once for all forks
LATE = ("paper_checks.search", "sympy", "scipy.optimize", "cvxpy")


@dataclass(frozen=True)
class Row:
    """An unchanged row: its result, its seconds, and the lines that its forms run."""

    id: str
    says: Record
    seconds: float
    lines: tuple[Line, ...]

    @property
    def limit(self) -> float:
        return TIMES * self.seconds + SECONDS


@dataclass(frozen=True)
class MutantResult:
    """The result of a change: the rows that run it, and the row that caught it, or "".

    `how` says how that row caught it.
    """

    key: str
    rows: tuple[str, ...]
    caught_by: str = ""
    how: str = ""


def prepare() -> None:
    """Import what the forks need. No row is judged in this process, as it would cache answers."""
    claims()
    for module in LATE:
        import_module(module)


def says(record: Record) -> Record:
    """Return a row's result: its verdict, its tier, and the results of its trials."""
    corrected = record["corrected_trial"] or {}
    return {**{name: record[name] for name in SAYS}, "corrected_failed": corrected.get("failed")}


def folder(paper: str) -> str:
    """Return the folder of a paper's package, relative to the root."""
    return f"paper_checks/{PAPERS[paper][0]}"


def traced(id: str, allow: Callable[[float], None]) -> Row:
    """Judge an unchanged row and trace it."""
    allow(LONGEST_ROW)
    claim = CLAIMS[id]
    start = time.perf_counter()
    with LineTrace(claim, str(ROOT / folder(claim.paper))) as trace:
        record = tried(id, 0, False, INSIDE[claim.paper])
    seconds = time.perf_counter() - start
    inside = ((file.removeprefix(f"{ROOT}/"), line) for file, line in trace.lines)
    return Row(id, says(record), seconds, tuple(sorted(inside)))


def rows_of(ids: Iterable[str], jobs: int) -> Iterator[Row]:
    """Yield the unchanged rows that have a verdict on this machine."""
    for id, row in in_forks(((id, partial(traced, id)) for id in ids), jobs):
        if isinstance(row, Stopped):
            raise RuntimeError(f"{id}: no verdict within {LONGEST_ROW:.0f} s, with no change")
        yield row


def by_row(paper: str, rows: Sequence[Row]) -> dict[str, list[Mutant]]:
    """Return the changes that each row runs, in a fixed order; an untestable row has none."""
    files = sorted((ROOT / folder(paper)).glob("*.py"))
    every = [m for file in files for m in mutants(file.relative_to(ROOT).as_posix())]
    every.sort(key=lambda mutant: mutant.place_in_order)
    found = {}
    for row in rows:
        lines = set(row.lines) if row.says["verdict"] != Verdict.UNTESTABLE else set()
        found[row.id] = [m for m in every if (m.file, m.runs_at) in lines]
    return found


def spread(choices: Mapping[str, Sequence[Mutant]], count: int) -> list[Mutant]:
    """Return up to `count` changes: the rows take turns, each choosing its next untaken change."""
    taken: dict[str, Mutant] = {}
    turns = [iter(choices[id]) for id in choices]
    while turns and len(taken) < count:
        for turn in list(turns):
            free = (m for m in turn if m.key not in taken and plantable(m))
            if (mutant := next(free, None)) is None:
                turns.remove(turn)
            elif len(taken) < count:
                taken[mutant.key] = mutant
    return list(taken.values())


def judged(mutant: Mutant, rows: Sequence[Row], allow: Callable[[float], None]) -> MutantResult:
    """Plant a change and judge the rows that run it until one catches it."""
    allow(rows[0].limit)
    plant(mutant)
    for row in rows:
        allow(row.limit)
        if how := difference(row):
            return MutantResult(mutant.key, names(rows), row.id, how)
    return MutantResult(mutant.key, names(rows))


def difference(row: Row) -> str:
    """Return a short text on how a row's result differs from before; "" if it does not."""
    try:
        found = says(tried(row.id, 0, False, INSIDE[CLAIMS[row.id].paper]))
    except Exception as error:
        return f"raises {type(error).__name__}"
    for name, value in found.items():
        if value != row.says[name]:
            return f"{name.replace('_', ' ')}: {shown(row.says[name])} -> {shown(value)}"
    return ""


def shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value in ("", None) else str(value)


def names(rows: Sequence[Row]) -> tuple[str, ...]:
    return tuple(row.id for row in rows)


def results(
    tried: Iterable[Mutant],
    rows: Sequence[Row],
    choices: Mapping[str, Sequence[Mutant]],
    jobs: int,
) -> Iterator[MutantResult]:
    """Yield the result of each change as it is found; the quickest rows judge first."""
    quickest = sorted(rows, key=lambda row: row.seconds)
    keys = {id: {mutant.key for mutant in found} for id, found in choices.items()}
    work = {m.key: (m, [row for row in quickest if m.key in keys[row.id]]) for m in tried}
    tasks = ((key, partial(judged, *part)) for key, part in work.items())
    for key, found in in_forks(tasks, jobs):
        if isinstance(found, Stopped):
            ran = names(work[key][1])
            yield MutantResult(key, ran, ran[0], "no verdict: too slow, or too much memory")
        else:
            yield found
