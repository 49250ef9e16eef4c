"""Compare a method of one's own with the built-in ones on the problems of the suite.

The runs are those of one comparison, in its folder; a page, a table and the worst problem come with
them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from inspect import isclass
from pathlib import Path
from typing import Any

import numpy as np

from fwlab.checks.arguments import as_integer
from fwlab.experiments.compare_methods import MISSING, run_plan
from fwlab.experiments.comparison import Comparison
from fwlab.experiments.engine import Failure
from fwlab.experiments.html_report import require_plotly
from fwlab.experiments.lock import locked
from fwlab.experiments.plan import ComparisonPlan
from fwlab.experiments.profiles import GAPS, Outcomes, Profiles, counts_no_calls
from fwlab.experiments.proved_rates import Rate, Share, rate_of, shares
from fwlab.experiments.runs import Settings
from fwlab.experiments.suite_problems import SIZES, SUITE_VERSION, Suite, load_suite
from fwlab.experiments.suite_record import SuiteRecord
from fwlab.experiments.suite_tables import latex_of, method_rows, method_table
from fwlab.files import write_atomically, write_text_atomically
from fwlab.problem import Problem
from fwlab.result import Result, Status
from fwlab.solvers.frank_wolfe import FrankWolfe
from fwlab.solvers.method import Method
from fwlab.solvers.registry import build, label
from fwlab.solvers.step_rules import StepRule
from fwlab.text import format_table

# Frank-Wolfe on all rows at once and row by row, and exact steps of a block, which all count LMOs
# and projections; lbfgs takes the entropies, which Frank-Wolfe refuses
BUILT_IN = ("fw", "afw", "pfw", "bcfw", "bcpfw", "ascent", "lbfgs")
# a run ends at its gap or its time
MOST_ITERATIONS = 10**6
TOL = GAPS[-1]
PAGE, LATEX, WORST = "suite.html", "suite.tex", "worst_problem.npz"


@dataclass(frozen=True, eq=False)
class SuiteReport:
    """The results of `suite`.

    Attributes
    ----------
    comparison : Comparison
        All runs.
    method : str
        The name of the method that the suite was run for.
    suite : Suite
        The problems, and the sets that were missing.
    tried : Method
        The method itself.
    version : int
        The version of the list of problems.
    refused : dict
        Why the method does not take a problem, by the problem's name. These problems are in no
        profile.
    """

    comparison: Comparison
    method: str
    suite: Suite
    tried: Method
    version: int = SUITE_VERSION

    @cached_property
    def refused(self) -> dict[str, str]:
        return {key.problem: failure.message for key, failure in self._own() if is_refusal(failure)}

    @cached_property
    def failed(self) -> dict[str, str]:
        """Why a run of the method gave no certificate, by the problem's name."""
        found = {}
        for key, run in self._own():
            if isinstance(run, Result):
                if run.status is Status.INCONSISTENT:
                    found[key.problem] = run.message
            elif not is_refusal(run):
                found[key.problem] = run.message
        return found

    @cached_property
    def profiles(self) -> Profiles:
        """Costs and ratios on the problems that the method takes, of all who take one of them."""
        outcomes = self.outcomes()
        kept = {name: runs for name, runs in outcomes.items() if name not in self.refused}
        methods = [
            method
            for method in self.comparison.methods
            if method == self.method
            or any(not is_refusal(runs.get(method)) for runs in kept.values())
        ]
        return Profiles.of(kept, methods)

    def outcomes(self) -> Outcomes:
        """Return the outcome of each method by the problem."""
        found: dict[str, dict[str, Any]] = {name: {} for name in self.comparison.problems}
        for key, run in self.comparison.runs.items():
            found[key.problem].setdefault(key.method, run)
        return found

    @cached_property
    def rates(self) -> dict[str, Rate]:
        """The proved rates of the methods that have one, by the method."""
        names = [name for name in self.comparison.methods if name in BUILT_IN]
        methods = {name: build(name, {}) for name in names} | {self.method: self.tried}
        rates = {name: rate_of(method) for name, method in methods.items()}
        return {name: rate for name, rate in rates.items() if rate is not None}

    @cached_property
    def shares(self) -> dict[str, list[Share]]:
        """How much of its proved bound each run used, by the method."""
        problems, runs = self.comparison.problems, self.outcomes()
        return {name: shares(problems, runs, name, rate) for name, rate in self.rates.items()}

    @property
    def notes(self) -> list[str]:
        """Sentences on what the profiles leave out, and on what went wrong."""
        suite = self.suite
        notes: list[str] = []
        for name, reason in suite.missing.items():
            notes.append(f"Missing set {name}: {reason}")
        if suite.missing:
            notes.append(f"{len(suite.problems)} of {suite.n_listed} problems could be made here.")
        for name, reason in self.refused.items():
            _, _, why = reason.partition(": ")
            notes.append(f"{name} is in no profile, because {self.method} refuses it: {why}")
        for name, reason in self.failed.items():
            notes.append(f"{self.method} failed on {name}: {reason}")
        for method, found in self.shares.items():
            for share in found:
                if share.is_defect:
                    notes.append(f"DEFECT: {method} on {share.problem} is above its proved bound.")
        for method in self.comparison.methods:
            runs = [runs.get(method) for runs in self.outcomes().values()]
            if counts_no_calls(runs):
                notes.append(
                    f"{method} counts no oracle calls, and so solves nothing in the profiles by "
                    "calls: state.n_lmo and state.n_projections count them."
                )
        return notes

    @property
    def worst(self) -> str:
        """The name of the problem on which the method is worst beside the others."""
        return self.profiles.problems[self.profiles.worst(self.method)]

    @property
    def worst_problem(self) -> Problem:
        return self.comparison.problems[self.worst]

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict for each method, the best first.

        It has the scores by calls and by CPU seconds, and for each gap the shares of the problems
        that the method solved, and that it solved within twice the cost of the best method.
        """
        return method_rows(self.profiles)

    def table(self) -> str:
        """Return the table of the methods, and the notes."""
        header, lines = method_table(self.profiles)
        return "\n".join([format_table(header, lines, right=header[1:]), "", *self.notes]).rstrip()

    def to_latex(self, path: str | Path | None = None) -> str:
        """Return the table of the methods for LaTeX with the package booktabs; write it to path."""
        text = latex_of(self)
        if path is not None:
            write_text_atomically(Path(path), text)
        return text

    def to_html(self, path: str | Path) -> None:
        """Write the page, which needs no network and no other file.

        Raises ImportError without plotly.
        """
        from fwlab.experiments.suite_page import page_of

        write_text_atomically(Path(path), page_of(self))

    @property
    def worst_lines(self) -> str:
        """The lines of Python that load the worst problem from the file in the suite's folder."""
        return loading_lines(self.worst_problem, WORST)

    def save_worst(self, path: str | Path) -> None:
        """Write the worst problem as a .npz file."""
        problem = self.worst_problem
        arrays = {"X": problem.X, "y": problem.y, **_fields_of(problem.loss, arrays=True)}
        write_atomically(Path(path), lambda file: np.savez_compressed(file, **arrays))

    def _own(self) -> Any:
        return [item for item in self.comparison.runs.items() if item[0].method == self.method]


def suite(
    method: str | Method | StepRule | type,
    size: str = "small",
    out: str | Path | None = None,
    problems: Sequence[str] | None = None,
    name: str | None = None,
    verbose: int = 0,
) -> SuiteReport:
    """Run a method and the built-in ones on the problems of the suite, one after the other.

    With `out`, every finished run is stored at once, and a further call reads it, as that of
    `compare` does; at the end the folder has suite.html, suite.tex and worst_problem.npz. Ctrl-C
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
        Names or patterns of the problems to run, such as "digits top-3 *"; by default all.
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
    methods = {own: tried} | {built: build(built, {}) for built in BUILT_IN if built != own}
    limits = TOL, True, MOST_ITERATIONS, SIZES[size].time_limit
    plan = ComparisonPlan(
        loaded.problems,
        {**{built: methods[built] for built in BUILT_IN if built in methods}, own: tried},
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
            write_report(report, folder)
    return report


def write_report(report: SuiteReport, folder: Path) -> None:
    """Write the page, the table and the worst problem."""
    report.to_latex(folder / LATEX)
    report.save_worst(folder / WORST)
    report.to_html(folder / PAGE)


def tried_method(method: Any, name: str | None) -> tuple[str, Method]:
    """Return the name and the Method of what the suite is to try.

    Raises TypeError or ValueError.
    """
    if name is not None and (not isinstance(name, str) or not name.strip()):
        raise ValueError(f"name must be a text; got {name!r}.")
    made = method() if isclass(method) and issubclass(method, Method | StepRule) else method
    if isinstance(made, StepRule):
        return name or type(made).__name__, FrankWolfe(step=made)
    if not isinstance(made, str | Method):
        raise TypeError(
            f"method must be a name of fwlab.methods(), a Method, a StepRule, or a class of these; "
            f"got {method!r}."
        )
    if name is None:
        name = method.__name__ if isclass(method) else label(made)
    return name, build(made, {})


def loading_lines(problem: Problem, file: str) -> str:
    """Return the lines of Python that build a problem again from its file."""
    loss = problem.loss
    fields_ = {n: repr(v) for n, v in _fields_of(loss, arrays=False).items()}
    fields_ |= {n: f'file["{n}"]' for n in _fields_of(loss, arrays=True)}
    arguments = ", ".join(f"{n}={text}" for n, text in fields_.items())
    smoothing = f", smoothing={problem.smoothing!r}" if problem.smoothing else ""
    return "\n".join(
        [
            "import numpy as np",
            "import fwlab",
            "",
            f'file = np.load("{file}")',
            f"loss = fwlab.{type(loss).__name__}({arguments})",
            f'problem = fwlab.Problem(file["X"], file["y"], loss, lam={problem.lam!r}{smoothing},'
            f" n_classes={problem.n_classes})",
        ]
    )


def _fields_of(loss: Any, arrays: bool) -> dict[str, Any]:
    """Return the fields of a loss that are arrays, or the others without those that are off."""
    values = {field.name: getattr(loss, field.name) for field in fields(loss)}
    return {
        n: v
        for n, v in values.items()
        if isinstance(v, np.ndarray) == arrays and (arrays or v is not False)
    }


def is_refusal(outcome: Any) -> bool:
    """Return whether an outcome is that of a method which does not take the problem."""
    return isinstance(outcome, Failure) and outcome.kind == "refused"


def _is_interrupted(comparison: Comparison) -> bool:
    return any(
        run == MISSING or (isinstance(run, Result) and run.status is Status.INTERRUPTED)
        for run in comparison.runs.values()
    )
