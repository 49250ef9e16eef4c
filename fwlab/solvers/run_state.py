"""Define what the loop needs of the state of a run, of training or of ranking."""

from dataclasses import dataclass

import numpy as np

from fwlab.result import Certificate


@dataclass(eq=False, kw_only=True)
class RunState:
    """The part of a state that the loop uses: the counters in `Trace`, and certificates."""

    n_lmo: int = 0
    n_steps: int = 0
    active: int = 0
    step: float = np.nan

    @property
    def checkpoint_cost(self) -> float:
        """An upper bound of the operations of a checkpoint per operation of an iteration."""
        return 1.0

    def judge(self) -> Certificate:
        """Return the certificate of a checkpoint; it may rest on what the method tracks."""
        return self.certify()

    def certify(self) -> Certificate:
        """Return the certificate of the dual point alone, computed from scratch."""
        raise NotImplementedError(f"{type(self).__name__} must define `certify`.")

    def seconds_to_certify(self, judgement: float) -> float:
        """Predict the seconds of `certify` from the seconds of the last judgement."""
        return judgement
