"""Define the result of a ranking run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.npz import Saved, saved_arrays
from fwlab.ranking.machine import MACHINE, Machine
from fwlab.result import NUMBER, OUTCOME, Status, part_of, save_result, stored_fields
from fwlab.text import html_facts, in_brackets, named, outcome_facts
from fwlab.trace import Trace

# what the arrays of a file must be
RANKING = {
    **{name: saved for name, saved in OUTCOME.items() if name != "made_by"},
    "alpha": Saved("f", ("positives",), finite=True),
    "beta": Saved("f", ("counted",), finite=True),
    "delta": NUMBER._replace(required=False),
    "threshold": NUMBER,
    **{f"machine_{name}": saved for name, saved in MACHINE.items()},
}


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The outcome of `solve`; every number is recomputed from (alpha, beta, delta) at the end.

    Attributes
    ----------
    alpha, beta : array (n_positive,), (n_counted,)
        The dual variables of the positives and of the counted rows, in the order of X. The counted
        rows are the negatives, or all rows for PatMat(over="all").
    delta : float or None
        The dual variable of the threshold; None for TopPushK.
    threshold : float
        The threshold t of the training scores.
    gap_error : float
        A bound of the rounding error of the gap (fwlab.ranking.rounding).
    success : bool
        Whether gap + gap_error is at most tol times max(|primal|, |dual|).
    nit : int
        Number of iterations.
    wall_seconds : float
        Time of the whole call.
    seconds : float
        Time of the method, without judging.
    method : str
        The method that ran.
    """

    alpha: Floats
    beta: Floats
    delta: float | None
    threshold: float
    primal: float
    dual: float
    gap: float
    success: bool
    status: Status
    message: str
    nit: int
    seconds: float
    method: str
    trace: Trace
    machine: Machine
    gap_error: float = np.nan
    wall_seconds: float = np.nan

    def __repr__(self) -> str:
        return in_brackets("ranking.Result", named(self._facts()))

    def _repr_html_(self) -> str:
        return html_facts("ranking.Result", self._facts())

    def _facts(self) -> dict[str, str]:
        sizes = {"alpha": str(len(self.alpha)), "beta": str(len(self.beta))}
        return outcome_facts(self) | {"threshold": f"{self.threshold:.6g}"} | sizes

    @property
    def w(self) -> Floats | None:
        """The weights of the machine (d,) with a linear kernel, None with any other."""
        return self.machine.coefficients if self.machine.kernel == "linear" else None

    def decision_function(self, Z: Any) -> Floats:
        """Return score minus threshold, (n_new,).

        Z holds new rows (n_new, d), or with a precomputed kernel their kernel values with the
        training rows (n_new, n) in the order of X.
        """
        return self.machine.scores(Z) - self.threshold

    def predict(self, Z: Any) -> Integers:
        """Return 1 for rows at or above the threshold and 0 for rows below, (n_new,)."""
        return (self.decision_function(Z) >= 0).astype(np.int64)

    def save(self, path: str | Path) -> None:
        """Write everything to an .npz file."""
        save_result(self, path)

    @classmethod
    def load(cls, path: str | Path) -> "Result":
        """Read a file that `save` wrote. Raises ValueError for any other file."""
        with saved_arrays(path, "ranking.Result", RANKING) as stored:
            machine = Machine.from_dict(part_of(stored, "machine_"))
            rest = {k: v for k, v in stored.items() if not k.startswith("machine_")}
            return cls(**{"delta": None, **stored_fields(rest)}, machine=machine)
