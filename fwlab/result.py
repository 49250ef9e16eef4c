"""What a run leaves behind: status, trace and result, with saving and loading."""

import json
from dataclasses import dataclass, field, fields
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import as_features
from fwlab.files import saved_arrays, write_atomically
from fwlab.plot import Gaps, plot_gaps
from fwlab.provenance import provenance

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult


class Status(Enum):
    """Why a run ended; the value is the sentence a user reads."""

    CONVERGED = "The certified gap is at most tol."
    MAX_ITER = "The iteration limit was reached before the gap was at most tol."
    TIME_LIMIT = "The time limit was reached before the gap was at most tol."
    INTERRUPTED = "The run was interrupted; the certificate is that of the last whole iteration."
    STOPPED_BY_CALLBACK = "The callback stopped the run."
    SOLVED_OTHER_PROBLEM = (
        "The method maximised the dual of another loss to tol; the gap is that of this problem."
    )
    ROUNDING_FLOOR = "The gap is at the level of rounding errors and still above tol."


@dataclass(frozen=True, eq=False)
class Trace:
    """One entry a checkpoint in every column, (checkpoints,).

    iteration; seconds (solver time, judging excluded); primal, dual and gap; n_lmo, calls of the
    LMO on one row; n_steps, block or whole-matrix steps; active, atoms held (0 for methods that
    hold none); step, the last step size (nan where there is none). augmented_gap only with
    smoothing, own_gap only for methods that solve another problem; None elsewhere.
    """

    iteration: Integers
    seconds: Floats
    primal: Floats
    dual: Floats
    gap: Floats
    n_lmo: Integers
    n_steps: Integers
    active: Integers
    step: Floats
    augmented_gap: Floats | None = None
    own_gap: Floats | None = None

    def as_dict(self) -> dict[str, Any]:
        """The columns that this run has, by name."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: column for name, column in columns.items() if column is not None}

    def save(self, path: str | Path) -> None:
        """Write the columns to an .npz file."""
        write_atomically(Path(path), lambda file: np.savez(file, **self.as_dict()))

    @classmethod
    def load(cls, path: str | Path) -> "Trace":
        """Read what `save` wrote; ValueError for another file."""
        with saved_arrays(path, "Trace") as columns:
            return cls(**columns)

    def plot(self, ax: Any = None) -> Any:
        """Draw gap against seconds, both logarithmic, and return the axes. Needs matplotlib."""
        return plot_gaps(self.gaps, ax)

    @property
    def gaps(self) -> Gaps:
        """The columns that a curve of gaps needs."""
        return Gaps(self.iteration, self.seconds, self.primal, self.dual, self.gap)


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of `solve`; every number is recomputed from A at the end of the run.

    W (m, d), None with a precomputed kernel: problem.weights(A), but the method's own for
    `subgradient` and `alternate`, and for `direct` below LpNorm(1.04), and the best primal point
    seen for `newton` and `auto`. A (n, m). gap = primal - dual, both recomputed, with the primal at
    W; problem.gap(A) is the gap at weights(A); infeasibility, the largest distance of an entry of A
    from its domain; success, whether the certified gap is at most tol; nit, iterations; seconds,
    solver time without judging; lam_n, lam times n; coefficients (n, m), those of the machine with
    a precomputed kernel where they are not A (the subgradient method, LpNorm), None elsewhere;
    made_by, versions, commit, processor and date (`fwlab.provenance`).
    """

    W: Floats | None
    A: Floats
    primal: float
    dual: float
    gap: float
    infeasibility: float
    success: bool
    status: Status
    message: str
    nit: int
    seconds: float
    method: str
    trace: Trace
    lam_n: float
    coefficients: Floats | None = None
    made_by: dict[str, str] = field(default_factory=provenance)

    def predict(self, X_new: Any) -> Integers:
        """Class of the largest score, (n_new,), ties to the lowest class.

        X_new is (n_new, d), or with a precomputed kernel K_new (n_new, n).
        """
        machine = self._kernel_machine().T / self.lam_n if self.W is None else self.W
        rows = as_features("X_new", X_new)
        if rows.shape[1] != machine.shape[1]:
            raise ValueError(f"X_new must have {machine.shape[1]} columns; got {rows.shape[1]}.")
        return np.asarray(rows @ machine.T).argmax(axis=1)

    def save(self, path: str | Path) -> None:
        """Write everything to an .npz file."""
        scalars = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _SPECIAL}
        named = {"A": self.A, "W": self.W, "coefficients": self.coefficients}
        arrays = {name: array for name, array in named.items() if array is not None}
        trace = {f"trace_{name}": column for name, column in self.trace.as_dict().items()}
        made = json.dumps(self.made_by)
        everything = {**scalars, **arrays, **trace, "status": self.status.name, "made_by": made}
        write_atomically(Path(path), lambda file: np.savez_compressed(file, **everything))

    @classmethod
    def load(cls, path: str | Path) -> "Result":
        """Read what `save` wrote; ValueError for another file."""
        with saved_arrays(path, "Result") as stored:
            columns = {k.removeprefix("trace_"): v for k, v in stored.items() if "trace_" in k}
            scalars = {f.name: stored[f.name].item() for f in fields(cls) if f.name not in _SPECIAL}
            return cls(
                W=stored.get("W"),
                coefficients=stored.get("coefficients"),
                A=stored["A"],
                status=Status[stored["status"].item()],
                trace=Trace(**columns),
                made_by=json.loads(stored["made_by"].item()) if "made_by" in stored else {},
                **scalars,
            )

    def to_optimize_result(self) -> "OptimizeResult":
        """The same as scipy's OptimizeResult: fun is the primal and x is W, or without one the
        coefficients of the machine."""
        from scipy.optimize import OptimizeResult

        return OptimizeResult(
            x=self._kernel_machine() if self.W is None else self.W,
            fun=self.primal,
            success=self.success,
            status=list(Status).index(self.status),
            message=self.message,
            nit=self.nit,
            dual=self.dual,
            gap=self.gap,
        )

    def _kernel_machine(self) -> Floats:
        return self.A if self.coefficients is None else self.coefficients


_SPECIAL = ("W", "A", "coefficients", "status", "trace", "made_by")
