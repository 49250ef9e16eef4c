"""Run claims, in parallel, and yield their records."""

import os
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from fwlab.experiments.store import NOWHERE
from fwlab.say import say
from paper_checks.data_sets import data_set
from paper_checks.kept import code_of, keep_record, kept_records, place_of
from paper_checks.ledger import CLAIMS
from paper_checks.modules import INSIDE, PAPERS, ClaimFile, claims
from paper_checks.records import Record, record
from paper_checks.verdicts import judge

# in a worker: the identities of the claims' code, computed before any claim is tried
CODES: dict[str, str] = {}

__all__ = ["PAPERS", "Record", "claims", "record", "run", "tried"]


def run(
    ids: Sequence[str],
    seed: int = 0,
    deep: bool = False,
    jobs: int = 1,
    keep: Path | None = None,
    files: Sequence[ClaimFile] = (),
) -> Iterator[Record]:
    """Yield the records of the claims with these ids, in the order in which they finish.

    `keep` is a folder of stored records. Claims with a record of the same seed, depth and code are
    not tried again. Each new record is stored at once, unless the claim is untestable or reads a
    stored table, or its code cannot be identified or was edited during the run. `files` are the
    files that `claim_files` has imported.
    """
    claims()
    paths = {id: file.path for file in files for id in file.ids}
    modules = {id: file.module for file in files for id in file.ids}
    modules |= {id: INSIDE[CLAIMS[id].paper] for id in ids if id not in modules}
    places = {id: place_of(id, keep, seed, deep) for id in ids} if keep is not None else {}
    for id, place in places.items():
        if place.reason:
            say(f"{id} will not be kept: {place.reason}.")
    kept = kept_records(places)
    yield from ({**kept[id], "file": paths.get(id, "")} for id in ids if id in kept)
    work = [(id, seed, deep, modules[id]) for id in ids if id not in kept]
    jobs = min(jobs, len(work))
    for found in in_processes(work, jobs, [*places]) if jobs > 1 else (tried(*p) for p in work):
        id = found["id"]
        place = places.get(id, NOWHERE)
        there = found.pop("code", place.code)
        if place.file is not None and there == place.code:
            keep_record(place.file, found)
        yield {**found, "file": paths.get(id, "")}


def in_processes(
    work: Sequence[tuple[str, int, bool, str]], jobs: int, identified: Sequence[str] = ()
) -> Iterator[Record]:
    """Yield the results of `tried` from `jobs` processes, in the order in which they finish.

    The records of the claims in `identified` have an entry "code", the result of `code_of` in the
    worker. joblib assumes a memory leak and stops a worker that grows by 300 MB. These workers grow
    by more than that when they first compile code and load solvers and provers.
    """
    threads = max(1, (os.cpu_count() or 1) // jobs)
    pool = ProcessPoolExecutor(
        jobs, get_context("spawn"), start_worker, (threads, work, identified)
    )
    try:
        for done in as_completed([pool.submit(tried_and_identified, *part) for part in work]):
            yield done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def start_worker(threads: int, work: Sequence[tuple[Any, ...]], identified: Sequence[str]) -> None:
    """Import all claims.

    Limit each library to its share of the threads, and let Ctrl-C end the worker.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    claims()
    for *_, module in work:
        import_module(module)
    CODES.update({id: code_of(id) for id in identified})
    threadpool_limits(threads)


def tried_and_identified(id: str, *options: Any) -> Record:
    """Return the record of a claim, with the identity of the claim's code in this process."""
    return {**tried(id, *options), **({"code": CODES[id]} if id in CODES else {})}


def tried(id: str, seed: int, deep: bool, module: str | None = None) -> Record:
    """Return the record of one claim, tried in this process after the import of its module.

    Cached data sets are dropped afterwards, as the next claim may need others.
    """
    if module is None:
        claims()
    else:
        import_module(module)
    start = time.perf_counter()
    finding = judge(CLAIMS[id], seed, deep)
    data_set.cache_clear()
    return record(finding.timed(time.perf_counter() - start))
