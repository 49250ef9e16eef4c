"""Define what the loop needs of the state of a run, of training or of ranking.

The work of a run of training is counted in three units, which depend on no machine. All count
samples, so that n of one unit are one for each sample:

n_lmo
    Answers of an LMO over the domain of one sample.
n_projections
    Projections of one row of A onto its domain. An exact block step is one; for an entropy, so are
    the shares of one sample, the nearest point in its own divergence.
n_rows
    Rows of scores, the products of one sample with the weights of all classes. Products with some
    of the classes count as that part of a row. With a Gram matrix, which holds the scores, a row is
    one that is read. n rows are one pass over X.

Products A^T X, which turn a step into a change of W, come with these and are not counted, nor is
what is done once (Gram matrices, preconditioners) or beside the samples (systems of equations).
The work of judging is no work of the method and is not counted either.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fwlab.result import Certificate


@dataclass(eq=False, kw_only=True)
class RunState:
    """The part of a state that the loop uses: the counters in `Trace`, and certificates.

    counts_work says whether n_projections and n_rows are counted. A method sets is_stuck where
    rounding hides all that further iterations could change; the run then ends.
    """

    counts_work: ClassVar[bool] = False

    n_lmo: int = 0
    n_projections: int = 0
    n_rows: float = 0.0
    n_steps: int = 0
    active: int = 0
    step: float = np.nan
    is_stuck: bool = False

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

    def sampled_gap(self) -> float | None:
        """Estimate the gap from some of the samples; None if that saves little or is not known."""
        return None

    def seconds_to_certify(self, judgement: float) -> float:
        """Predict the seconds of `certify` from the seconds of the last judgement."""
        return judgement
