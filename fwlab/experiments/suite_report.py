"""The results of a suite: profiles, tables, proved rates, and the worst problem."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fwlab.experiments.comparison import Comparison
from fwlab.experiments.engine import Failure
from fwlab.experiments.profiles import Outcomes, Profiles, counts_no_calls
from fwlab.experiments.proved_rates import Rate, Share, rate_of, shares
from fwlab.experiments.runs import RunKey
from fwlab.experiments.suite_problems import BUILT_IN, SUITE_VERSION, Suite
from fwlab.experiments.suite_tables import latex_of, method_rows, method_table
from fwlab.files import write_atomically, write_text_atomically
from fwlab.problem import Problem
from fwlab.result import Result, Status
from fwlab.solvers.method import Method
from fwlab.solvers.registry import build
from fwlab.text import format_table, listed

WORST = "worst_problem.npz"


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
        by_reason: dict[str, list[str]] = {}
        for name, reason in self.refused.items():
            by_reason.setdefault(reason.partition(": ")[2], []).append(name)
        for reason, names in by_reason.items():
            notes.append(f"{self.method} refuses {listed(names)} (in no profile): {reason}")
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
        text = latex_of(self.profiles, self.version, self.suite.size)
        if path is not None:
            write_text_atomically(Path(path), text)
        return text

    @property
    def worst_lines(self) -> str:
        """The lines of Python that load the worst problem from the file in the suite's folder."""
        return loading_lines(self.worst_problem, WORST)

    def save_worst(self, path: str | Path) -> None:
        """Write the worst problem as a .npz file."""
        problem = self.worst_problem
        arrays = {"X": problem.X, "y": problem.y, **_fields_of(problem.loss, arrays=True)}
        write_atomically(Path(path), lambda file: np.savez_compressed(file, **arrays))

    def _own(self) -> Iterator[tuple[RunKey, Result | Failure]]:
        """Yield the runs of the method."""
        yield from (item for item in self.comparison.runs.items() if item[0].method == self.method)


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
    """Return whether the method did not take the problem."""
    return isinstance(outcome, Failure) and outcome.kind == "refused"
