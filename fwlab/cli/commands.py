"""The commands of fwlab, by name.

Reports go to stdout; with --json this is one JSON document and nothing else. Progress and errors go
to stderr. The exit code is 0 if every run finished, 1 if one failed, 2 for bad input, 130 after
Ctrl-C, and 141 if nobody reads the report to its end.
"""

import sys
from argparse import Namespace
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from fwlab import datasets, metrics
from fwlab.checks.arguments import as_integer
from fwlab.cli.certify import certify
from fwlab.cli.flags import BadInput, check_file
from fwlab.cli.options import LOSSES
from fwlab.cli.out_of_core import refuse_own_flags, solve_out_of_core
from fwlab.cli.output import bad_input, enough_memory, print_json
from fwlab.cli.predict import predict
from fwlab.cli.problems import NamedProblem, load, load_problems, problem_flags
from fwlab.cli.reports import (
    data_rows,
    installation,
    overview_text,
    parts_of,
    print_report,
    proved_report,
    warmup_rows,
)
from fwlab.cli.suite import suite
from fwlab.command import complain
from fwlab.experiments.compare_methods import as_seeds, methods_by_name, run_plan
from fwlab.experiments.comparison import Comparison
from fwlab.experiments.engine import Failure
from fwlab.experiments.html_report import check_html_report
from fwlab.experiments.lock import locked
from fwlab.experiments.plan import ComparisonPlan
from fwlab.experiments.record import FILE as RECORD
from fwlab.experiments.record import Record
from fwlab.experiments.runs import Settings
from fwlab.files import write_text_atomically
from fwlab.launch import INTERRUPTED
from fwlab.model import Model
from fwlab.result import Result, Status
from fwlab.solvers.interrupt import sigterm_interrupts
from fwlab.solvers.registry import methods
from fwlab.solvers.solve import solve
from fwlab.text import format_table
from fwlab.verify import imported_flint, verify

NO_FIGURE = "No figure was drawn because matplotlib is not installed: pip install 'fwlab[plot]'."


def run(options: Namespace) -> int:
    """Run the command that the options name, and return its exit code."""
    with sigterm_interrupts(), enough_memory(_data_of(options)):
        return COMMANDS[options.command](options)


def _data_of(options: Namespace) -> str:
    """Return the data that a command reads, or its name if it reads none."""
    names = (getattr(options, flag, None) for flag in ("data", "samples", "name"))
    return next((str(name) for name in names if name), options.command)


def _compare(options: Namespace) -> int:
    folder = Path(options.out)
    names = list(methods()) if options.methods == "all" else options.methods.split(",")
    names = [name.strip() for name in names]
    with bad_input(OSError, ImportError):
        _check_run(options, names)
        if options.html is not None:
            check_html_report(Path(options.html))
        jobs = as_integer("jobs", options.jobs, low=1)
        repeat, seeds = as_integer("repeat", options.repeat, low=1), _seeds(options)
        problems = load_problems(options)
        plan = ComparisonPlan(
            {named.name: named.problem for named in problems},
            methods_by_name(names, {}),
            _compare_settings(options),
            seeds,
            repeat,
            folder,
            jobs,
            int(options.verbose),
            options.resume,
            problem_flags(options),
            {named.name: named.dataset.sha256 for named in problems},
        )
        _require_same_data(options, plan)
    with ExitStack() as held:
        with bad_input(OSError):
            held.enter_context(locked(folder))
        _announce(options, problems)
        with bad_input():
            comparison = run_plan(plan)
        files: dict[str, str] = {}
        try:
            files = _write(comparison, problems, folder, options.html)
        finally:
            _print_comparison(comparison, problems, files, options)
    code = _exit_code(comparison, names, options)
    if code == INTERRUPTED:
        complain(f"interrupted; fwlab compare --resume --out {folder} goes on from here.")
    return code


def _require_same_data(options: Namespace, plan: ComparisonPlan) -> None:
    """Raise BadInput if --again finds other data than the stored comparison had."""
    if options.again is None:
        return
    stored = Record.read(Path(options.again))
    if stored is not None and (changed := stored.changed_data(plan.record().problems)):
        raise BadInput(f"--again {options.again}: {changed}")


def _print_comparison(
    comparison: Comparison, problems: list[NamedProblem], files: dict[str, str], options: Namespace
) -> None:
    if options.json:
        print_json(
            options=_shown(options),
            problems=[named.as_dict() for named in problems],
            runs=comparison.rows(),
            files=files,
        )
    else:
        print(f"\n{comparison.table()}\n\nwritten: {', '.join(files.values()) or 'nothing'}")


def _solve(options: Namespace) -> int:
    with bad_input(OSError, ImportError):
        _check_run(options, [options.method])
        n_threads = as_integer("n_threads", options.n_threads, low=1)
        check_file("--save", options.save)
        if not options.out_of_core:
            refuse_own_flags(options)
    if options.out_of_core:
        return solve_out_of_core(options, _solve_settings(options))
    with bad_input(OSError, ImportError):
        if options.verify:
            imported_flint()
        problems = load_problems(options)
    if len(problems) != 1:
        raise BadInput(f"solve takes one data set and one loss; got {len(problems)} problems.")
    named = problems[0]
    _announce(options, problems)
    with bad_input():
        settings = _solve_settings(options) | {"n_threads": n_threads}
        verbose = int(options.verbose or sys.stderr.isatty())
        result = solve(named.problem, options.method, verbose=verbose, **settings)
    unsaved = _save(result, named, options)
    report = _report(result, named)
    if options.proved:
        report |= proved_report(result, named)
    if options.verify:
        enclosure = verify(named.problem, result)
        report |= {f"verified_{name}": list(ends) for name, ends in asdict(enclosure).items()}
    if options.json:
        print_json(options=_shown(options), problem=named.as_dict(), result=report)
    else:
        print_report(report)
    if unsaved is not None:
        raise unsaved
    if result.status is Status.INTERRUPTED:
        return INTERRUPTED
    return int(options.strict and not result.success)


def _save(result: Result, named: NamedProblem, options: Namespace) -> OSError | None:
    """Save the result with its model if there is a path; return the error if that fails."""
    dataset = named.dataset
    try:
        if options.save is not None:
            model = Model.of(
                result,
                dataset.classes,
                dataset.scaling,
                dataset.feature_names,
                {**named.as_dict(), **_solve_settings(options), "method": result.method},
                dataset.label_name,
                dataset.index_base,
            )
            result.save(options.save, model.as_arrays())
    except OSError as error:
        return error
    return None


def _data(options: Namespace) -> int:
    if options.name is None:
        rows = data_rows()
        if options.json:
            print_json(data=rows)
        else:
            cells = [
                [row["name"], "yes" if row["at_hand"] else "no", row["source"].split(";")[0]]
                for row in rows
            ]
            print(format_table(("name", "at hand", "source"), cells))
        return 0
    with bad_input(OSError):
        dataset = load(options.name, options)
    overview = datasets.overview(dataset)
    parts = {"train": dataset.y_train, "valid": dataset.y_valid, "test": dataset.y_test}
    if options.json:
        print_json(
            name=dataset.name,
            n={part: len(y) for part, y in parts.items() if y is not None},
            d=dataset.X_train.shape[1],
            m=dataset.n_classes,
            normalize=dataset.normalize,
            source=dataset.source,
            licence=dataset.licence,
            sha256=dataset.sha256,
            **overview,
        )
    else:
        print(datasets.describe(dataset))
        print(overview_text(overview))
    return 0


def _methods(options: Namespace) -> int:
    _print_names("methods", methods(), options)
    return 0


def _losses(options: Namespace) -> int:
    _print_names("losses", LOSSES, options)
    return 0


def _print_names(kind: str, sentences: dict[str, str], options: Namespace) -> None:
    if options.json:
        print_json(**{kind: sentences})
    else:
        print(format_table(("name", "sentence"), [list(pair) for pair in sentences.items()]))


def _info(options: Namespace) -> int:
    found = installation()
    if options.json:
        print_json(**found)
    else:
        print(format_table(("what", "value"), [[name, str(v)] for name, v in found.items()]))
    return 0


def _warmup(options: Namespace) -> int:
    rows = warmup_rows()
    if options.json:
        print_json(parts=rows)
    else:
        cells = [[row["part"], f"{row['seconds']:.2f}"] for row in rows]
        print(format_table(("kernels of", "seconds"), cells, right=("seconds",)))
    return 0


COMMANDS = {
    "compare": _compare,
    "solve": _solve,
    "predict": predict,
    "suite": suite,
    "certify": certify,
    "data": _data,
    "methods": _methods,
    "losses": _losses,
    "info": _info,
    "warmup": _warmup,
}


def _solve_settings(options: Namespace) -> dict[str, Any]:
    names = ("tol", "relative", "max_iter", "time_limit", "rng", "check_every")
    settings = {name: getattr(options, name) for name in names}
    if settings["check_every"] is None:  # the default of the command's function
        del settings["check_every"]
    return settings


def _compare_settings(options: Namespace) -> Settings:
    settings = _solve_settings(options) | {"rng": _seeds(options)[0]}
    return Settings(**settings, n_threads=options.n_threads)


def _seeds(options: Namespace) -> tuple[int, ...]:
    """Return the seeds of a comparison. Raises ValueError or TypeError."""
    return as_seeds(options.rng if options.seeds is None else options.seeds)


def _check_run(options: Namespace, names: list[str]) -> None:
    """Check the settings and the method names before the data are loaded."""
    Settings(**_solve_settings(options), n_threads=options.n_threads)
    methods_by_name(names, {})


def _shown(options: Namespace) -> dict[str, Any]:
    """Return the options of the command, for its JSON document."""
    hidden = {"command", "json", "verbose"}
    return {name: value for name, value in vars(options).items() if name not in hidden}


def _announce(options: Namespace, problems: list[NamedProblem]) -> None:
    """Print one line per problem before the runs start."""
    for named in problems:
        print(named.line, file=sys.stderr if options.json else sys.stdout, flush=True)


def _write(
    comparison: Comparison, problems: list[NamedProblem], folder: Path, page: str | None
) -> dict[str, str]:
    """Write the table, the traces, the figure and the page, and return their paths."""
    text = "\n".join([*(named.line for named in problems), "", comparison.table(), ""])
    write_text_atomically(folder / "table.txt", text)
    comparison.to_csv(folder / "comparison.csv")
    names = {"table": "table.txt", "csv": "comparison.csv", "settings": RECORD}
    files = {kind: str(folder / name) for kind, name in names.items()}
    if page is not None:
        comparison.to_html(page)
        files["html"] = page
    try:
        png, pdf = comparison.plot(folder / "comparison")
    except ImportError:
        print(NO_FIGURE, file=sys.stderr)
        return files
    return {**files, "png": str(png), "pdf": str(pdf)}


def _exit_code(comparison: Comparison, names: list[str], options: Namespace) -> int:
    """Return the exit code of the runs that this call asked for.

    It is 1 if one did not finish; a method of `all`, or of a stored comparison, may refuse.
    """
    asked = [run for key, run in comparison.runs.items() if key.method in names]
    results = [run for run in asked if isinstance(run, Result)]
    failures = [run.kind for run in asked if isinstance(run, Failure)]
    if "not run" in failures or any(r.status is Status.INTERRUPTED for r in results):
        return INTERRUPTED
    may_refuse = options.methods == "all" or options.again is not None or options.resume
    fine = {"refused"} if may_refuse else set()
    failed = not results or not fine.issuperset(failures)
    return int(failed or (options.strict and not all(result.success for result in results)))


def _report(result: Result, named: NamedProblem) -> dict[str, Any]:
    report = {
        "method": result.method,
        "status": result.status.name,
        "message": result.message,
        "iterations": result.nit,
        "wall_seconds": result.wall_seconds,
        "seconds": result.seconds,
        "primal": result.primal,
        "dual": result.dual,
        "gap": result.gap,
        "gap_error": result.gap_error,
        "infeasibility": result.infeasibility,
        "success": result.success,
    }
    assert result.W is not None
    k = getattr(named.problem.loss, "k", 1)
    for part, X, y in parts_of(named.dataset):
        scores = np.asarray(X @ result.W.T)
        report[f"{part}_error"] = 1 - metrics.topk_accuracy(y, scores, 1)
        if k > 1:
            report[f"{part}_top_{k}_error"] = 1 - metrics.topk_accuracy(y, scores, k)
    return report
