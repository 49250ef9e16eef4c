"""A fitted multi-class machine: training, predictions, certificates; TopKSVC and TopKSVCCV are one.

With C and the training set's omega (sample_weight times class_weight) it minimises

    1/2 |W|^2 + C sum_i omega_i Phi(W x_i; y_i),

which is n C times fwlab.Problem's objective with lam = 1 / (C n).
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_integer, as_real
from fwlab.checks.labels import codes_of
from fwlab.estimators.kernels import gamma_of, gram_between, with_constant
from fwlab.estimators.named_losses import named_loss
from fwlab.estimators.validation import validate_data
from fwlab.estimators.warm_starts import may_start, warn_if_unfinished
from fwlab.lp_norm import LpNorm
from fwlab.model import Model
from fwlab.problem import Problem
from fwlab.proved import proved_accuracy, proved_labels
from fwlab.result import Result
from fwlab.solvers.solve import solve

FITTED = ("coef_", "intercept_", "dual_coef_", "_W")


# sklearn has no type hints: its classes are Any
class TopKMachine(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Base class: what a subclass trains with `_train`, and everything that a fitted one does.

    A subclass has TopKSVC's parameters, without C and warm_start.
    """

    # the parameters that all subclasses have
    loss: Any
    k: int
    weights: Any
    smoothing: float
    kernel: Any
    gamma: Any
    norm: float
    fit_intercept: bool
    intercept_scaling: float
    class_weight: Any
    method: str
    tol: float
    max_iter: int
    random_state: Any
    verbose: int

    def decision_function(self, X: Any) -> Floats:
        """Return the scores (n, n_classes); of two classes the second less the first, (n,)."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of the largest score, (n,); ties go to the first class."""
        best = self._scores(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_topk(self, X: Any, k: int | None = None) -> np.ndarray:
        """Return the k best classes of each sample, (n, k), the best one first; k of the loss by
        default."""
        scores = self._scores(X)
        k = as_integer("k", self.k if k is None else k, low=1, high=scores.shape[1])
        order = np.argsort(-scores, axis=1, kind="stable")
        return np.asarray(self.classes_[order[:, :k]])

    def proved(self, X: Any) -> np.ndarray:
        """Return whether each predicted label is certainly the exact optimum's, (n,) bool.

        Raises ValueError with another kernel than the linear one.
        """
        W = self._linear_machine("proved")
        return proved_labels(W, self._distance, self._rows(X))

    def proved_accuracy(self, X: Any, y: Any, k: int = 1) -> tuple[float, float]:
        """Return an interval that holds the top-k accuracy of the exact optimum.

        Labels that were not in the training set count as wrong. Raises ValueError with another
        kernel than the linear one.
        """
        W, rows, y = self._linear_machine("proved_accuracy"), self._rows(X), np.asarray(y)
        if len(y) != rows.shape[0]:
            raise ValueError(f"y must have {rows.shape[0]} labels, one per row; got {len(y)}.")
        k = as_integer("k", k, low=1, high=len(W))
        codes = codes_of(y, self.classes_)
        known = codes >= 0
        if not known.any():
            return 0.0, 0.0
        low, high = proved_accuracy(W, self._distance, rows[known], codes[known], k)
        return float(low * known.mean()), float(high * known.mean())

    def to_model(self) -> Model:
        """Return the fitted machine as a fwlab.Model, whose file `fwlab predict` reads.

        Raises ValueError with another kernel than the linear one.
        """
        W, d = self._linear_machine("to_model"), self.n_features_in_
        intercept = W[:, d] * self.intercept_scaling if self.fit_intercept else np.zeros(len(W))
        names = getattr(self, "feature_names_in_", None)
        return Model(
            np.ascontiguousarray(W[:, :d]),
            intercept,
            self.classes_,
            feature_names=None if names is None else tuple(names.tolist()),
            settings={name: repr(value) for name, value in self.get_params().items()},
            certificate={"gap": self.duality_gap_, "gap_error": self.gap_error_},
        )

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return checked training samples and labels; keeps the classes."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(f"y must hold at least two classes; got one class, {y[0]!r}.")
        return X, y

    def _train(self, problem: Problem, A0: Floats | None) -> Floats:
        """Solve the problem, from the dual point A0 if it is feasible there, and return the last
        dual point; keeps what a fitted estimator has."""
        result = solve(
            problem,
            self.method if self.norm == 2 or self.method == "alternate" else "direct",
            tol=self.tol,
            max_iter=self.max_iter,
            A0=A0 if A0 is not None and may_start(problem, A0) else None,
            rng=int(check_random_state(self.random_state).randint(2**31 - 1)),
            verbose=self.verbose,
        )
        self._keep(problem, result)
        takes_auto = self.norm == 2 and self.method != "auto"
        advice = 'method="auto" is made for large C. ' if takes_auto else ""
        warn_if_unfinished(type(self).__name__, result, self.tol, advice)
        return result.A

    def _sample_weight(self, X: Any, labels: Any, sample_weight: Any) -> Floats:
        """Return omega: the given weights times the classes' weights."""
        omega = _check_sample_weight(sample_weight, X, dtype=np.float64)
        per_class = compute_class_weight(
            self.class_weight, classes=self.classes_, y=self.classes_[labels]
        )
        return np.asarray(omega * per_class[labels])

    def _problem(self, X: Any, y: Any, sample_weight: Any, C: Any) -> Problem:
        """Return the training problem; keeps what predictions need of X."""
        C = as_real("C", C, positive=True)
        labels = np.searchsorted(self.classes_, y)
        m = len(self.classes_)
        linear = isinstance(self.kernel, str) and self.kernel == "linear"
        self._gamma = gamma_of(self.kernel, self.gamma, X)
        self._samples = None if linear or self._is_pairwise() else X
        return Problem(
            self._features(X),
            labels,
            named_loss(self.loss, self.k, self.weights, m),
            lam=1 / (C * X.shape[0]),
            smoothing=self.smoothing,
            kernel=None if linear else "precomputed",
            n_classes=m,
            sample_weight=self._sample_weight(X, labels, sample_weight),
            regularizer=None if self.norm == 2 else LpNorm(self.norm),
        )

    def _features(self, X: Any) -> Any:
        """Return the samples, or their Gram matrix with the training samples, with the constant."""
        constant = 0.0
        if self.fit_intercept:
            constant = as_real("intercept_scaling", self.intercept_scaling, positive=True)
        if isinstance(self.kernel, str) and self.kernel == "linear":
            return with_constant(X, constant)
        return gram_between(self.kernel, self._gamma, X, self._samples) + constant**2

    def _keep(self, problem: Problem, result: Result) -> None:
        """Set the attributes of a fitted estimator."""
        for name in FITTED:  # of an earlier fit, perhaps with another kernel
            if hasattr(self, name):
                delattr(self, name)
        self.n_iter_, self.duality_gap_ = result.nit, result.gap
        self.gap_error_, self._distance = result.gap_error, result.distance
        if result.W is None:
            A = result.A if result.coefficients is None else result.coefficients
            self.dual_coef_ = np.ascontiguousarray(A.T) / problem.lam_n
            return
        self._W = result.W
        d = self.n_features_in_
        rows = result.W if len(result.W) > 2 else result.W[1:] - result.W[:1]
        self.coef_ = np.ascontiguousarray(rows[:, :d])
        self.intercept_ = (
            rows[:, d] * self.intercept_scaling if self.fit_intercept else np.zeros(len(rows))
        )

    def _rows(self, X: Any) -> Any:
        """Return checked samples as the features of the machine."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return self._features(X)

    def _scores(self, X: Any) -> Floats:
        """Return the scores of all classes, (n, n_classes)."""
        rows = self._rows(X)
        machine = self._W if hasattr(self, "coef_") else self.dual_coef_
        return np.asarray(rows @ machine.T)

    def _linear_machine(self, name: str) -> Floats:
        check_is_fitted(self)
        if not hasattr(self, "coef_"):
            raise ValueError(f'{name} needs kernel="linear"; got {self.kernel!r}.')
        return self._W

    def _is_pairwise(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_pairwise()
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """The tags for scikit-learn 1.5."""
        return {"pairwise": self._is_pairwise()}
