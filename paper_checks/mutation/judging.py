"""Judge the rows of a paper again, as they are and with one change planted."""

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

# what a row says; a change that leaves it all as it is survives
SAYS = ("verdict", "tier", "corrected", "proof_sizes", "defects_missed", "library_failed")
# how long a row may take: as often as long as unchanged, and these seconds
TIMES, SECONDS = 10, 60.0
LONGEST_ROW = 1800.0
# what a row imports only when it needs it; imported once for all forks
LATE = ("paper_checks.search", "sympy", "scipy.optimize", "cvxpy")


@dataclass(frozen=True)
class Row:
    """A row as it is: what it says, its seconds, and the lines that its forms run."""

    id: str
    says: Record
    seconds: float
    lines: tuple[Line, ...]

    @property
    def limit(self) -> float:
        return TIMES * self.seconds + SECONDS


@dataclass(frozen=True)
class MutantResult:
    """The fate of a change: the rows that run it, and the one that caught it, or "".

    `how` says how that row caught it.
    """

    key: str
    rows: tuple[str, ...]
    caught_by: str = ""
    how: str = ""


def prepare() -> None:
    """Import what the forks need. No row is judged in this process: it would keep answers."""
    claims()
    for module in LATE:
        import_module(module)


def says(record: Record) -> Record:
    """Return what a row says: its verdict, its strength, and what its trials found."""
    corrected = record["corrected_trial"] or {}
    return {**{name: record[name] for name in SAYS}, "corrected_failed": corrected.get("failed")}


def folder(paper: str) -> str:
    """Return the folder of a paper's package, from the root."""
    return f"paper_checks/{PAPERS[paper][0]}"


def traced(id: str, allow: Callable[[float], None]) -> Row:
    """Judge a row as it is and trace it."""
    allow(LONGEST_ROW)
    claim = CLAIMS[id]
    start = time.perf_counter()
    with LineTrace(claim, str(ROOT / folder(claim.paper))) as trace:
        record = tried(id, 0, False, INSIDE[claim.paper])
    seconds = time.perf_counter() - start
    inside = ((file.removeprefix(f"{ROOT}/"), line) for file, line in trace.lines)
    return Row(id, says(record), seconds, tuple(sorted(inside)))


def rows_of(ids: Iterable[str], jobs: int) -> Iterator[Row]:
    """Yield the rows as they are, those that have a verdict here."""
    for id, row in in_forks(((id, partial(traced, id)) for id in ids), jobs):
        if isinstance(row, Stopped):
            raise RuntimeError(f"{id}: no verdict within {LONGEST_ROW:.0f} s, with no change")
        yield row


def by_row(paper: str, rows: Sequence[Row]) -> dict[str, list[Mutant]]:
    """Return the changes that each row runs, in their fixed order; none of an untestable row."""
    files = sorted((ROOT / folder(paper)).glob("*.py"))
    every = [m for file in files for m in mutants(file.relative_to(ROOT).as_posix())]
    every.sort(key=lambda mutant: mutant.place_in_order)
    found = {}
    for row in rows:
        lines = set(row.lines) if row.says["verdict"] != Verdict.UNTESTABLE else set()
        found[row.id] = [m for m in every if (m.file, m.runs_at) in lines]
    return found


def spread(choices: Mapping[str, Sequence[Mutant]], count: int) -> list[Mutant]:
    """Return up to `count` changes: the rows choose in turn, each the next that is not taken."""
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
    """Plant a change and judge the rows that run it, up to the first that catches it."""
    allow(rows[0].limit)
    plant(mutant)
    for row in rows:
        allow(row.limit)
        if how := difference(row):
            return MutantResult(mutant.key, names(rows), row.id, how)
    return MutantResult(mutant.key, names(rows))


def difference(row: Row) -> str:
    """Return what a row says now in place of what it said, in a few words; "" if nothing."""
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
    """Yield what becomes of changes, as it is found; the quickest row judges first."""
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
