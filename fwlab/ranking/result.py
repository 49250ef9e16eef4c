"""What a ranking run leaves behind, with saving and loading."""

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.files import saved_arrays, write_atomically
from fwlab.ranking.machine import Machine
from fwlab.result import Status, Trace


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of `solve`; every number is recomputed from (alpha, beta, delta) at the end.

    alpha (n_positive,) and beta (n_negative,) in the order of X; delta, None for TopPushK;
    threshold, t of the training scores; success, whether the gap is at most tol times
    max(|primal|, |dual|); nit, iterations; seconds, solver time without judging; method, the one
    that ran.
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
    machine: Machine = field(repr=False)

    @property
    def w(self) -> Floats | None:
        """The weights (d,) with a linear kernel, None with another one."""
        return self.machine.coefficients if self.machine.kernel == "linear" else None

    def decision_function(self, Z: Any) -> Floats:
        """Score minus threshold, (n_new,).

        Z holds new rows (n_new, d), or with a precomputed kernel their kernel values with the
        training rows (n_new, n) in the order of X.
        """
        return self.machine.scores(Z) - self.threshold

    def predict(self, Z: Any) -> Integers:
        """1 for rows at or above the threshold, 0 for those below, (n_new,)."""
        return (self.decision_function(Z) >= 0).astype(np.int64)

    def save(self, path: str | Path) -> None:
        """Write everything to an .npz file."""
        named = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _SPECIAL}
        delta = {} if self.delta is None else {"delta": self.delta}
        trace = {f"trace_{name}": column for name, column in self.trace.as_dict().items()}
        machine = {f"machine_{name}": part for name, part in self.machine.as_arrays().items()}
        everything = {**named, **delta, **trace, **machine, "status": self.status.name}
        write_atomically(Path(path), lambda file: np.savez_compressed(file, **everything))

    @classmethod
    def load(cls, path: str | Path) -> "Result":
        """Read what `save` wrote; ValueError for another file."""
        with saved_arrays(path, "ranking.Result") as stored:
            scalars = {
                f.name: stored[f.name].item()
                for f in fields(cls)
                if f.name not in (*_SPECIAL, "alpha", "beta")
            }
            return cls(
                alpha=stored["alpha"],
                beta=stored["beta"],
                delta=stored["delta"].item() if "delta" in stored else None,
                status=Status[stored["status"].item()],
                trace=Trace(**_part(stored, "trace_")),
                machine=Machine.from_arrays(_part(stored, "machine_")),
                **scalars,
            )


_SPECIAL = ("delta", "status", "trace", "machine")


def _part(stored: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {k.removeprefix(prefix): v for k, v in stored.items() if k.startswith(prefix)}
