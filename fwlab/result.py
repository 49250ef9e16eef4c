"""Define the outcome of a run: certificate, status and result, with saving and loading."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fwlab.arrays import Floats, is_tensor, like, on_host
from fwlab.checks.arguments import as_features, as_integer
from fwlab.checks.labels import codes_of_rows
from fwlab.npz import Saved, saved_arrays, write_arrays
from fwlab.proved import best_classes, labels_of, proved_accuracy, proved_in_ball, rows_beside
from fwlab.provenance import provenance
from fwlab.text import html_facts, in_brackets, named, outcome_facts, size_of
from fwlab.trace import TRACE, Trace

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult


@dataclass(frozen=True)
class Certificate:
    """Values that bound each other: primal >= optimum >= dual, gap = primal - dual.

    Attributes
    ----------
    primal, dual, gap : float
        The values at the primal and the dual point.
    augmented_gap : float
        The gap of the problem in d + n dimensions that has the same dual (K19 (27)); without
        smoothing it is the gap.
    own_gap : float or None
        The gap of the problem that a method solves, if that may be another problem.
    from_scratch : bool
        Whether all numbers were computed from the dual point, and none was tracked by a method.
    contradiction : str
        How a loss from outside the family contradicts itself; empty otherwise.
    gap_error : float
        A bound of the rounding error of the gap.
    distance : float
        A bound of |W - W*|, with W* the machine of the exact optimum.
    link_error : float
        A bound of |V - W(A')|, with V the computed link and A' the exact dual point.

    """

    primal: float
    dual: float
    gap: float
    augmented_gap: float
    own_gap: float | None = None
    from_scratch: bool = False
    contradiction: str = ""
    gap_error: float = 0.0
    distance: float = np.inf
    link_error: float = np.inf

    @property
    def proved_gap(self) -> float:
        """An upper bound of the exact gap: gap + gap_error."""
        return self.gap + self.gap_error

    def checked(self) -> "Certificate":
        """Return this certificate, with a contradiction if rounding does not explain its gap."""
        if self.contradiction or not self.gap < -self.gap_error:
            return self
        found = (
            f"the gap is {self.gap:.3g}, and rounding explains no more than -{self.gap_error:.3g}."
        )
        return self.contradicted(found)

    def contradicted(self, found: str) -> "Certificate":
        """Return this certificate with a contradiction, and so without a bound of |W - W*|."""
        return replace(self, contradiction=found, distance=np.inf) if found else self


class Objectives(NamedTuple):
    """The primal, the dual and the augmented primal value, of a problem or of some samples."""

    primal: float
    dual: float
    augmented: float

    def certificate(self, from_scratch: bool = False, gap_error: float = 0.0) -> Certificate:
        """Return the certificate of these values, which have a gap_error if that is known."""
        primal, dual, augmented = self
        gaps = primal - dual, augmented - dual
        return Certificate(primal, dual, *gaps, from_scratch=from_scratch, gap_error=gap_error)


class Status(Enum):
    """Why a run ended; the value is the sentence a user reads."""

    CONVERGED = "The certified gap, with its rounding error, is at most tol."
    MAX_ITER = "The iteration limit was reached before the gap was at most tol."
    TIME_LIMIT = "The time limit left no time to make the gap at most tol."
    INTERRUPTED = "The run was interrupted; the certificate is that of the last whole iteration."
    STOPPED_BY_CALLBACK = "The callback stopped the run."
    SOLVED_OTHER_PROBLEM = (
        "The method maximised the dual of another loss to tol; the gap is that of this problem."
    )
    ROUNDING_FLOOR = "Rounding errors hide the gap before it is proved to be at most tol."
    INCONSISTENT = "Nothing is certified: what the run met contradicts what it was told."


# what the arrays of a file must be: of the result of any kind of run, and of a Result
NUMBER, TEXT = Saved("iuf"), Saved("U")
OUTCOME = {
    **dict.fromkeys(("primal", "dual", "gap", "seconds"), NUMBER),
    **dict.fromkeys(("gap_error", "wall_seconds"), NUMBER._replace(required=False)),
    **dict.fromkeys(("status", "message", "method"), TEXT),
    "success": Saved("b"),
    "nit": Saved("iu"),
    "made_by": TEXT._replace(required=False),
    **{f"trace_{name}": column for name, column in TRACE.items()},
}
RESULT = {
    **OUTCOME,
    **dict.fromkeys(("infeasibility", "lam_n"), NUMBER),
    **dict.fromkeys(("distance", "radius", "cpu_seconds"), NUMBER._replace(required=False)),
    "centre": Saved("f", ("m", "d"), finite=True, required=False),
    "W": Saved("f", ("m", "d"), finite=True, required=False),
    "A": Saved("f", ("n", "m"), finite=True, required=False),
    "coefficients": Saved("f", ("n", "m"), finite=True, required=False),
    "classes": Saved("biufUS", ("m",), required=False),
}


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The outcome of `solve`; every number is recomputed from A at the end of the run.

    Attributes
    ----------
    W : array (m, d), a tensor if X is one, or None
        The machine: problem.weights(A), with these exceptions. It is None with a precomputed
        kernel, the method's own iterate for `subgradient` and `alternate` and for `direct` below
        LpNorm(1.04), and the best primal point seen for `newton` and `auto`.
    A : array (n, m), a tensor if X is one, or None
        The dual point. On tensors it is the A(W) of a machine of the run, and None if it has more
        than 2^27 entries.
    primal, dual, gap : float
        P(W), D(A), and their difference. problem.gap(A) is the gap at weights(A) instead.
    infeasibility : float
        How far an entry of A is from its domain at most, up to the rounding of a projection.
    success : bool
        Whether gap + gap_error is at most tol.
    nit : int
        Number of iterations.
    wall_seconds : float
        Time of the whole call.
    seconds : float
        Time of the method, without judging and compiling.
    cpu_seconds : float
        The processor's seconds of the method, likewise; nan in files of earlier versions.
    lam_n : float
        lam times n.
    coefficients : array (n, m), or None
        The coefficients of the machine with a precomputed kernel if they are not A (the subgradient
        method, LpNorm), otherwise None.
    distance : float
        A proved bound of |W - W*|, with W* the machine of the exact optimum.
    centre, radius : array (m, d) or None, float
        A smaller ball that holds W*, if one is known (fwlab.enclosing_ball).
    classes : array (m,), or None
        The labels of the classes 0 .. m-1; None if they are these integers.
    made_by : dict
        Versions, commit, processor and date (`fwlab.provenance`).
    """

    W: Any
    A: Any
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
    gap_error: float = np.nan
    distance: float = np.inf
    centre: Any = None
    radius: float = np.inf
    wall_seconds: float = np.nan
    cpu_seconds: float = np.nan
    classes: np.ndarray | None = None
    made_by: dict[str, str] = field(default_factory=provenance)

    def __repr__(self) -> str:
        return in_brackets("Result", named(self._facts()))

    def _repr_html_(self) -> str:
        return html_facts("Result", self._facts())

    def predict(self, X_new: Any) -> Any:
        """Return the label of the largest score, (n_new,); ties go to the lowest class.

        X_new is (n_new, d), or with a precomputed kernel K_new (n_new, n). If W is a tensor, so are
        the labels unless they are strings.
        """
        machine = self._kernel_machine().T / self.lam_n if self.W is None else self.W
        rows = checked_rows(X_new, machine)
        best = best_classes(machine, rows)
        return best if self.classes is None else labels_of(best, self.classes)

    def proved(self, X_new: Any) -> Any:
        """Return whether the exact optimum is proved to predict each label too, (n_new,) bool.

        X_new is (n_new, d). fwlab.proved holds the derivation. With an LpNorm(p) of p > 2 or p = 1
        no label is proved, because no bound of |W - W*| is known. Raises ValueError with a
        precomputed kernel.
        """
        W, rows = self._machine_and_rows("proved", X_new)
        return proved_in_ball(W, *self._ball(W), rows)

    def proved_accuracy(self, X_new: Any, y: Any, k: int = 1) -> tuple[float, float]:
        """Return an interval (low, high) that holds the top-k accuracy of the exact optimum.

        X_new is (n_new, d) and y (n_new,). fwlab.metrics.topk_accuracy defines the accuracy; a
        label that is not in `classes` counts as wrong. Raises ValueError with a precomputed kernel,
        if no label is in `classes`, or if an argument is not as described.
        """
        W, rows = self._machine_and_rows("proved_accuracy", X_new)
        k = as_integer("k", k, low=1, high=W.shape[0])
        classes = np.arange(W.shape[0]) if self.classes is None else self.classes
        codes = codes_of_rows(y, classes, rows.shape[0])
        centre, radius = self._ball(W)
        return proved_accuracy(W if centre is None else centre, radius, rows, codes, k)

    def save(self, path: str | Path, model: Mapping[str, Any] | None = None) -> None:
        """Write everything to an .npz file, with the arrays of a model that predicts from it."""
        save_result(self, path, model)

    @classmethod
    def load(cls, path: str | Path) -> "Result":
        """Read a file that `save` wrote. Raises ValueError for any other file."""
        with saved_arrays(path, "Result", RESULT) as stored:
            return cls(**{"W": None, "A": None, "made_by": {}, **stored_fields(stored)})

    def to_optimize_result(self) -> "OptimizeResult":
        """Return the result as scipy's OptimizeResult.

        fun is the primal; x is W, or the coefficients of the machine if there is no W.
        """
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

    def _facts(self) -> dict[str, str]:
        arrays = {"W": self.W, "A": self.A}
        sizes = {name: size_of(array) for name, array in arrays.items() if array is not None}
        return outcome_facts(self) | sizes

    def _machine_and_rows(self, name: str, X_new: Any) -> tuple[Floats, Any]:
        if self.W is None:
            raise ValueError(f'{name} needs W, which kernel="precomputed" does not have.')
        return self.W, checked_rows(X_new, self.W)

    def _ball(self, W: Any) -> tuple[Any, float]:
        """Return the centre beside W of a ball that holds W*, or None for W, and its radius."""
        if self.centre is None:
            return None, self.distance
        return like(self.centre, W), self.radius

    def _kernel_machine(self) -> Floats:
        return self.A if self.coefficients is None else self.coefficients


def checked_rows(X_new: Any, machine: Any) -> Any:
    """Return X_new as rows (n_new, d) for a machine (m, d): tensors on its device if it is one."""
    if is_tensor(machine):
        rows = rows_beside(X_new, machine)
    else:
        rows = as_features("X_new", X_new)
    if rows.shape[1] != machine.shape[1]:
        raise ValueError(f"X_new must have {machine.shape[1]} columns; got {rows.shape[1]}.")
    return rows


def save_result(result: Any, path: str | Path, more: Mapping[str, Any] | None = None) -> None:
    """Write all fields of a result, a dataclass with a trace and a status, to an .npz file.

    Columns of the trace are called trace_iteration and so on; parts of any other field that has
    `as_dict` are named likewise. A field that is None is left out. `more` holds further arrays.
    """
    arrays: dict[str, Any] = dict(more or {})
    for name in (column.name for column in fields(result)):
        value = on_host(getattr(result, name))
        if hasattr(value, "as_dict"):
            arrays |= {f"{name}_{part}": array for part, array in value.as_dict().items()}
        elif isinstance(value, Status):
            arrays[name] = value.name
        elif isinstance(value, dict):
            arrays[name] = json.dumps(value)
        elif value is not None:
            arrays[name] = value
    write_arrays(path, arrays)


def stored_fields(stored: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a result from the arrays that `save_result` wrote.

    Raises KeyError, TypeError or ValueError if `save_result` did not write them.
    """
    plain = {name: array for name, array in stored.items() if not name.startswith("trace_")}
    made_by = {"made_by": named_values(stored["made_by"])} if "made_by" in stored else {}
    return {
        **{name: array if array.ndim else array.item() for name, array in plain.items()},
        **made_by,
        "status": Status[stored["status"].item()],
        "trace": Trace(**part_of(stored, "trace_")),
    }


def named_values(stored: np.ndarray) -> dict[str, Any]:
    """Return the dict in a stored JSON text. Raises ValueError if it holds something else."""
    found = json.loads(stored.item())
    if not isinstance(found, dict):
        raise ValueError(f"names and values must be stored in it; got {found!r}.")
    return found


def part_of(stored: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Return the arrays whose names begin with the prefix, without it."""
    return {k.removeprefix(prefix): v for k, v in stored.items() if k.startswith(prefix)}
