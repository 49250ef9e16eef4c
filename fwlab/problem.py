"""Define the training problem that a user makes, from its data and constants.

fwlab.primal_dual has its equations.
"""

from typing import Any

from fwlab.arrays import on_host
from fwlab.checks.arguments import as_real, checked_sample_weight
from fwlab.cross_entropy import EntropyLoss
from fwlab.losses import Loss
from fwlab.lp_norm import LpNorm
from fwlab.operators.features import features_of
from fwlab.operators.tensor_rows import tensor_rows
from fwlab.polytope_loss import PolytopeLoss
from fwlab.primal_dual import PrimalDual
from fwlab.problem_input import (
    check_kinds,
    check_smoothing,
    checked_data,
    checked_labels,
    checked_lam,
    checked_tensor,
    conversion_notes,
    keeps_tensor,
    shift_note,
)
from fwlab.text import in_brackets, problem_facts


class Problem(PrimalDual):
    """The problem min_W lam R(W) + mean loss, with everything that its dual needs.

    Parameters
    ----------
    X : array or scipy.sparse matrix (n, d)
        The samples, not copied where that is avoidable: they must not change, and `solve` refuses a
        row of another length. With kernel="precomputed" their Gram matrix (n, n), copied. With
        CrossEntropy a tensor on any device stays there and keeps its floating type, which counts as
        exact; y and sample_weight may be tensors, too. "lbfgs" and "auto" take it.
    y : array (n,)
        Labels of any kind; `problem.classes` holds their distinct values in ascending order, and
        `problem.y` the index of each label in it.
    loss : Loss, PolytopeLoss, CrossEntropy or TopKEntropy
        One of fwlab's losses, or your own.
    lam, C : float
        The regularisation constant, positive. C may be given instead: lam = 1 / (C n).
    smoothing : float
        Constant of the Moreau envelope, at least 0; 0 for CrossEntropy and TopKEntropy.
    kernel : None, "linear" or "precomputed"
        "linear" works on the Gram matrix X X^T.
    n_classes : int, optional
        Number of classes m, if y holds integers 0 .. m-1 and not all of them.
    sample_weight : array (n,), optional
        Non-negative weights omega; 1 by default.
    regularizer : LpNorm, optional
        R(W); LpNorm(2) by default, which is |W|^2 / 2.
    storage : "float64" or "float32"
        "float32" stores X in half the memory; the certificate is the rounded X's, in float64.

    Raises
    ------
    TypeError, ValueError
        With one sentence, if an argument is not as described.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: Loss | PolytopeLoss | EntropyLoss,
        lam: float | None = None,
        smoothing: float = 0.0,
        kernel: str | None = None,
        n_classes: int | None = None,
        sample_weight: Any = None,
        regularizer: LpNorm | None = None,
        storage: str = "float64",
        C: float | None = None,
    ) -> None:
        check_kinds(loss, kernel, regularizer, storage)
        self.loss = loss
        self.smoothing = as_real("smoothing", smoothing, positive=False)
        self.regularizer = regularizer or LpNorm(2)
        self.kernel = kernel
        self.storage = storage
        if keeps_tensor(X, loss, kernel):
            self.X, self.gram_shift, self.notes = checked_tensor(X), 0.0, ()
        else:
            self.X, self.gram_shift = checked_data(X, kernel, storage)
            self.notes = conversion_notes(X, storage) + shift_note(self.X, self.gram_shift)
        self.y, self.classes = checked_labels(y, len_x=self.X.shape[0], n_classes=n_classes)
        self.lam = checked_lam(lam, C, self.n_samples)
        self.n_classes = len(self.classes)
        self.sample_weight = checked_sample_weight(on_host(sample_weight), self.n_samples)
        self.features = features_of(self.X, kernel)
        y_here = tensor_rows(self.features).here(self.y) if self.has_tensors else self.y
        self.polytopes = loss.polytopes(y_here, self.n_classes)
        check_smoothing(loss, self.polytopes, self.smoothing)
        self.curvatures = self._checked_curvatures()

    def __repr__(self) -> str:
        return in_brackets("Problem", problem_facts(self))
