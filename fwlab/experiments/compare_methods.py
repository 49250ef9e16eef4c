"""Run methods on problems, for every seed and repetition, and store finished runs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fwlab.checks.arguments import as_flag, as_integer
from fwlab.experiments.comparison import Comparison
from fwlab.experiments.engine import Failure, Workers, outcomes
from fwlab.experiments.lock import locked
from fwlab.experiments.plan import ComparisonPlan, Folder
from fwlab.experiments.progress import Bar, LinePerRun
from fwlab.experiments.runs import RunKey, Settings
from fwlab.experiments.store import warn_not_stored
from fwlab.problem import Problem
from fwlab.result import Result, Status
from fwlab.solvers.method import Method
from fwlab.solvers.registry import build, label

MISSING = Failure("not run", "interrupted before it began or ended")


def compare(
    problems: Mapping[str, Problem] | Problem,
    methods: Mapping[str, str | Method] | Sequence[str | Method] | str | Method,
    tol: float = 1e-5,
    max_iter: int = 1000,
    n_jobs: int = 1,
    out: str | Path | None = None,
    relative: bool = False,
    time_limit: float | None = None,
    rng: int | Sequence[int] = 0,
    check_every: int | str = 1,
    verbose: int = 0,
    resume: bool = False,
    repeat: int = 1,
    n_threads: int = 1,
    **method_options: Any,
) -> Comparison:
    """Run every method on every problem, with every seed and as often as asked.

    Progress goes to stderr: a bar, or with verbose=1 a line per second with the time left. If a
    method refuses a problem or a run fails, this becomes a row of the table. Ctrl-C ends the
    current run; the finished runs are returned.

    Parameters
    ----------
    problems : dict of Problem, or one Problem
        The problems by name; a problem alone is called "problem".
    methods : list of str or Method, or one of them, or a dict
        Names from fwlab.methods(), and methods of your own. A dict {name: method} gives them the
        names that tables and figures show.
    tol, max_iter, relative, time_limit, check_every, n_threads
        As for `solve`; time_limit is in seconds and holds for each run.
    n_jobs : int
        Number of processes. They share the machine, so leave it at 1 to compare times.
    out : path, optional
        Folder of a stored comparison. out/comparison.toml holds settings, hashes of the data,
        versions, processor, and for each run the load of the machine. A further call with the same
        problems and settings adds its methods, seeds and repetitions to the comparison; with others
        it is refused. Every finished run is stored in out/runs at
        once, and the next comparison with the same code and versions of packages reads it there.
        The code includes your own: an edit in a loss, or in anything that it uses, except in
        comments and docstrings, makes another run. A run that cannot be identified in this way is
        not stored, and a NotStored warning says why.
    rng : int or list of int
        The seeds. Each makes a run of every method, also of those that draw no random numbers.
    resume : bool
        Go on from the unfinished runs of an interrupted comparison in `out`; their iterations and
        seconds count. By default they begin anew.
    repeat : int
        How often every run is made, for its seconds; all else is the same each time. The runs go
        round by round, so that a slower hour of the machine meets all methods alike.
    method_options
        Further options of the methods that are given by name.

    Returns
    -------
    Comparison

    Raises
    ------
    TypeError, ValueError
        Before any run, if an argument is wrong.
    """
    seeds = as_seeds(rng)
    limits = tol, bool(relative), max_iter, time_limit
    plan = ComparisonPlan(
        _checked_problems(problems),
        methods_by_name(methods, method_options),
        Settings(*limits, seeds[0], check_every, method_options, n_threads),
        seeds,
        as_integer("repeat", repeat, low=1),
        None if out is None else Path(out),
        as_integer("n_jobs", n_jobs, low=1),
        as_integer("verbose", verbose, low=0, high=1),
        as_flag("resume", resume),
    )
    with locked(plan.out):
        return run_plan(plan)


def run_plan(plan: ComparisonPlan) -> Comparison:
    """Run a comparison, and keep what became of it in its folder, which the caller has locked."""
    folder, runs = Folder.opened(plan), plan.runs()
    reasons = {run.key: run.place.reason for run in runs if run.place.reason}
    warn_not_stored([(run.name, run.place.reason) for run in runs if run.place.reason])
    found: dict[RunKey, Result | Failure] = {}
    read: set[RunKey] = set()
    display = LinePerRun if plan.verbose and plan.n_jobs == 1 else Bar
    try:
        for run, done in outcomes(runs, Workers(plan.n_jobs), display):
            first = found.get(run.key._replace(repetition=0))
            found[run.key] = _with_arrays_of(first, done.outcome)
            if done.reason:
                reasons[run.key] = done.reason
            if done.is_read:
                read.add(run.key)
            if isinstance(done.outcome, Result) and done.outcome.status is Status.INTERRUPTED:
                break
    except KeyboardInterrupt:
        pass  # keep the finished runs
    methods = list(plan.methods)
    if folder is not None:
        folder.note(runs, found, read)
        others = folder.others(plan)
        known = {*methods, *(key.method for key in others)}
        methods = [method for method in folder.record.flags["methods"] if method in known]
        found |= others
        read |= set(others)
    both = {key: found.get(key, MISSING) for key in _keys(plan, methods, set(found))}
    read = {key for key in read if isinstance(both[key], Result)}
    return Comparison(plan.problems, tuple(methods), plan.settings, both, reasons, frozenset(read))


def _keys(plan: ComparisonPlan, methods: Sequence[str], found: set[RunKey]) -> list[RunKey]:
    """Return all runs to show, in the order of the table: those asked for, and those found."""
    keys = []
    for problem in plan.problems:
        for method in methods:
            all_runs = [
                RunKey(problem, method, seed, repetition)
                for seed in plan.seeds
                for repetition in range(plan.repeat)
            ]
            is_asked = method in plan.methods
            known = [key for key in all_runs if is_asked or key in found]
            keys += known or all_runs[:1]
    return keys


def _with_arrays_of(first: Any, outcome: Any) -> Any:
    """Return an outcome with the arrays of the first repetition where they are equal."""
    if not (isinstance(first, Result) and isinstance(outcome, Result)):
        return outcome
    same = {
        name: getattr(first, name)
        for name in ("A", "W")
        if isinstance(getattr(first, name), np.ndarray)
        and np.array_equal(getattr(first, name), getattr(outcome, name))
    }
    return replace(outcome, **same)


def as_seeds(rng: Any) -> tuple[int, ...]:
    """Return the seeds of a comparison: of one number, or of a sequence of different ones.

    Raises TypeError or ValueError.
    """
    if isinstance(rng, list | tuple | range | np.ndarray):
        seeds = tuple(as_integer("rng", seed, low=0) for seed in rng)
        if not seeds:
            raise ValueError("rng must hold at least one seed; got an empty list.")
        if len(set(seeds)) < len(seeds):
            raise ValueError(f"rng must name each seed once; got {list(seeds)}.")
        return seeds
    return (as_integer("rng", rng, low=0),)


def _checked_problems(problems: Any) -> dict[str, Problem]:
    if isinstance(problems, Problem):
        return {"problem": problems}
    if not isinstance(problems, Mapping):
        raise TypeError(f"problems must be a dict {{name: Problem}}; got {problems!r}.")
    if not problems:
        raise ValueError("problems must hold at least one problem; got an empty dict.")
    for name, problem in problems.items():
        if not isinstance(name, str) or not isinstance(problem, Problem):
            raise TypeError(f"problems must map names to Problems; got {name!r}: {problem!r}.")
    return dict(problems)


def methods_by_name(methods: Any, options: dict[str, Any]) -> dict[str, Method]:
    """Return the methods by the names that tables and figures show.

    Raises TypeError or ValueError for unknown names or options, and for two equal names.
    """
    if isinstance(methods, str | Method):
        methods = [methods]
    if not isinstance(methods, Sequence | Mapping):
        raise TypeError(f"methods must be a list of method names and Methods; got {methods!r}.")
    if not methods:
        raise ValueError("methods must hold at least one method; got an empty list.")
    if isinstance(methods, Mapping):
        for name in methods:
            if not isinstance(name, str) or not name.isprintable() or not name.strip():
                raise ValueError(f"methods must have printable names; got {name!r}.")
        return {name: _built(method, options) for name, method in methods.items()}
    built: dict[str, Method] = {}
    for method in methods:
        made = _built(method, options)
        if label(method) in built:
            raise ValueError(f"methods must name each method once; got {label(method)!r} twice.")
        built[label(method)] = made
    return built


def _built(method: Any, options: dict[str, Any]) -> Method:
    return build(method, {} if isinstance(method, Method) else options)
