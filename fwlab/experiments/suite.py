"""Compare a method of the user with the built-in ones on the problems of the suite.

The runs are made and stored as one comparison. A page, a table and the worst problem are written
into its folder.
"""

from collections.abc import Sequence
from inspect import isclass
from pathlib import Path
from typing import Any

from fwlab.checks.arguments import as_integer
from fwlab.experiments.compare_methods import MISSING, run_plan
from fwlab.experiments.comparison import Comparison
from fwlab.experiments.html_report import require_plotly
from fwlab.experiments.lock import locked
from fwlab.experiments.plan import ComparisonPlan
from fwlab.experiments.profiles import GAPS
from fwlab.experiments.runs import Settings
from fwlab.experiments.suite_page import page_of
from fwlab.experiments.suite_problems import BUILT_IN, SIZES, SUITE_VERSION, load_suite
from fwlab.experiments.suite_record import SuiteRecord
from fwlab.experiments.suite_report import WORST, SuiteReport
from fwlab.files import write_text_atomically
from fwlab.result import Result, Status
from fwlab.solvers.frank_wolfe import FrankWolfe
from fwlab.solvers.method import Method
from fwlab.solvers.registry import build, label
from fwlab.solvers.step_rules import StepRule

# a run ends at its gap or its time
MOST_ITERATIONS = 10**6
TOL = GAPS[-1]
PAGE, LATEX = "suite.html", "suite.tex"


def suite(
    method: str | Method | StepRule | type,
    size: str = "small",
    out: str | Path | None = None,
    problems: Sequence[str] | None = None,
    name: str | None = None,
    verbose: int = 0,
) -> SuiteReport:
    """Run a method and the built-in ones on the problems of the suite, one after the other.

    With `out`, every finished run is stored at once, and a further call reads it, as with
    `compare`. At the end the folder has suite.html, suite.tex and worst_problem.npz. Ctrl-C
    leaves as KeyboardInterrupt. Another method with the same `out` is added to the page.

    Parameters
    ----------
    method : str, Method or StepRule, or a class of these
        What is tried. A StepRule is tried as FrankWolfe(step=rule).
    size : "small", "medium" or "large"
        The list of 60 problems, and the seconds that each run may take: 0.25, 2.5 and 30, with
        judging. "small" needs no download.
    out : path, optional
        Folder of the suite.
    problems : list of str, optional
        Names or patterns of the problems to run, such as ``"digits top-3 *"``; by default all.
    name : str, optional
        The name of the method on the page.
    verbose : int
        As for `compare`.

    Returns
    -------
    SuiteReport

    Raises
    ------
    TypeError, ValueError
        Before any run, if an argument is wrong, or `out` holds another suite.
    ImportError
        Before any run, if there is `out` and no plotly.
    """
    own, tried = tried_method(method, name)
    verbose = as_integer("verbose", verbose, low=0, high=1)
    if out is not None:
        require_plotly()
    loaded = load_suite(size, problems)
    folder = None if out is None else Path(out)
    methods = {built: build(built, {}) for built in BUILT_IN if built != own}
    limits = TOL, True, MOST_ITERATIONS, SIZES[size].time_limit
    plan = ComparisonPlan(
        loaded.problems,
        methods | {own: tried},
        Settings(*limits, rng=0),
        (0,),
        out=folder,
        verbose=verbose,
        sha256=loaded.sha256,
    )
    with locked(folder):
        record = SuiteRecord(SUITE_VERSION, size, own, tuple(loaded.missing), loaded.n_listed)
        if folder is not None:
            record.begin(folder)
        report = SuiteReport(run_plan(plan), own, loaded, tried)
        if _is_interrupted(report.comparison):
            raise KeyboardInterrupt
        if folder is not None:
            record.write(folder)
            write_report(report, folder)
    return report


def write_report(report: SuiteReport, folder: Path) -> None:
    """Write the page, the table and the worst problem."""
    report.to_latex(folder / LATEX)
    report.save_worst(folder / WORST)
    write_text_atomically(folder / PAGE, page_of(report))


def tried_method(method: Any, name: str | None) -> tuple[str, Method]:
    """Return the name and the Method of what the suite is to try.

    Raises TypeError or ValueError.
    """
    if name is not None and (not isinstance(name, str) or not name.strip()):
        raise ValueError(f"name must be a text; got {name!r}.")
    made = method() if isclass(method) and issubclass(method, Method | StepRule) else method
    if isinstance(made, StepRule):
        name, made = name or type(made).__name__, FrankWolfe(step=made)
    if not isinstance(made, str | Method):
        raise TypeError(
            f"method must be a name of fwlab.methods(), a Method, a StepRule, or a class of these; "
            f"got {method!r}."
        )
    if name is None:
        name = method.__name__ if isclass(method) else label(made)
    if name in BUILT_IN and name != method:
        raise ValueError(f"name must not be that of a built-in method; got {name!r}.")
    return name, build(made, {})


def _is_interrupted(comparison: Comparison) -> bool:
    return any(
        run == MISSING or (isinstance(run, Result) and run.status is Status.INTERRUPTED)
        for run in comparison.runs.values()
    )
