"""The multi-class SVM with a top-k loss, as a scikit-learn classifier.

With C and the training set's omega (sample_weight times class_weight) it minimises

    1/2 |W|^2 + C sum_i omega_i Phi(W x_i; y_i),

which is n C times fwlab.Problem's objective with lam = 1 / (C n).
"""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_integer, as_real
from fwlab.checks.labels import codes_of
from fwlab.estimators.kernels import gamma_of, gram_between, with_constant
from fwlab.estimators.named_losses import named_loss
from fwlab.estimators.validation import validate_data
from fwlab.lp_norm import LpNorm
from fwlab.model import Model
from fwlab.problem import Problem
from fwlab.proved import proved_accuracy, proved_labels
from fwlab.result import Result
from fwlab.solvers.solve import solve


class TopKSVC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Support vector classifier that is right if the true class is among its k best.

    Parameters
    ----------
    loss : "topk", "usunier", "max-hinge", "pseudo-topk", or a fwlab.Loss or PolytopeLoss
        The top-k hinge (Kato & Hirohashi 2019, (3)), its entrywise version (Lapin et al. 2015,
        (5)), Crammer and Singer's hinge, or the top-k hinge of the other classes. For k = 1 they
        are one loss.
    k : int
        From 1 to the number of classes.
    weights : "flat", "linear", "exponential" or array
        The weights of the k largest margins; an array stands for k, too.
    C : float
        The weight of the losses' sum against |W|^2 / 2.
    smoothing : float
        Constant of the loss's Moreau envelope; 0 for the loss itself.
    kernel : "linear", "rbf", "precomputed" or callable
        "precomputed" takes Gram matrices (n, n) for `fit` and (n_new, n) for predictions; a
        callable takes two sets of samples and returns their Gram matrix.
    gamma : "scale", "auto" or float
        The rbf kernel is exp(-gamma |x - z|^2); "scale" is 1 / (n_features X.var()), "auto"
        1 / n_features.
    norm : float
        p of the block norm |W|_{2,p} (Lei et al. 2015), p >= 1; other norms than 2 are trained with
        `method="direct"` unless method is "alternate".
    fit_intercept : bool
        Whether to add a constant feature `intercept_scaling`, whose weight is regularised like any
        other.
    intercept_scaling : float
    class_weight : dict, "balanced" or None
        Factors of C per class.
    warm_start : bool
        Whether `fit` starts from the dual point of the last `fit`, if that is feasible.
    method : str
        One of `fwlab.methods()`.
    tol : float
        The duality gap of the mean objective, with its rounding error, at which `fit` stops.
    max_iter : int
    random_state : int, RandomState or None
        Draws the order of the samples.
    verbose : int
        1 prints a line per second to stderr.

    Attributes
    ----------
    classes_ : array (n_classes,)
    coef_ : array (n_classes, n_features), of two classes (1, n_features)
        Only with the linear kernel.
    intercept_ : array (n_classes,), of two classes (1,)
    dual_coef_ : array (n_classes, n_samples)
        Only with another kernel: the decision function is gram @ dual_coef_.T.
    n_iter_ : int
    duality_gap_ : float
        A certified bound of the suboptimality of the mean objective, up to gap_error_.
    gap_error_ : float
        A proved bound of the rounding error of duality_gap_.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import fwlab
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = fwlab.TopKSVC(k=2, fit_intercept=True).fit(X, y)
    >>> machine.predict_topk(X[:1], 2).tolist()
    [[0, 1]]
    """

    def __init__(
        self,
        loss: Any = "topk",
        k: int = 1,
        weights: Any = "flat",
        C: float = 1.0,
        smoothing: float = 0.0,
        kernel: Any = "linear",
        gamma: Any = "scale",
        norm: float = 2.0,
        fit_intercept: bool = False,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        warm_start: bool = False,
        method: str = "ascent",
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.k = k
        self.weights = weights
        self.C = C
        self.smoothing = smoothing
        self.kernel = kernel
        self.gamma = gamma
        self.norm = norm
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on X (n, d), or a Gram matrix (n, n), with labels y (n,) of any kind.

        sample_weight (n,) multiplies C per sample. Warns with ConvergenceWarning if max_iter ends
        the training before its gap is at most tol.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y must hold at least two classes; got one class, {y[0]!r}.")
        omega = self._sample_weight(X, labels, sample_weight)
        problem = self._problem(X, labels, omega)
        result = solve(
            problem,
            self.method if self.norm == 2 or self.method == "alternate" else "direct",
            tol=self.tol,
            max_iter=self.max_iter,
            A0=self._start(problem),
            rng=int(check_random_state(self.random_state).randint(2**31 - 1)),
            verbose=self.verbose,
        )
        self._keep(problem, result)
        if not result.success:
            warnings.warn(
                f"TopKSVC stopped at a duality gap of {result.gap:.3g} after {result.nit} "
                f"iterations, above tol = {self.tol:g}: {result.message} A larger max_iter, a "
                "larger tol or a smaller C may help.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

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

    def _sample_weight(self, X: Any, labels: Any, sample_weight: Any) -> Floats:
        """Return omega: the given weights times those of the classes."""
        omega = _check_sample_weight(sample_weight, X, dtype=np.float64)
        per_class = compute_class_weight(
            self.class_weight, classes=self.classes_, y=self.classes_[labels]
        )
        return np.asarray(omega * per_class[labels])

    def _problem(self, X: Any, labels: Any, omega: Floats) -> Problem:
        """Return the training problem; keeps what predictions need of X."""
        C = as_real("C", self.C, positive=True)
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
            sample_weight=omega,
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

    def _start(self, problem: Problem) -> Floats | None:
        """Return the last dual point if this fit may start from it."""
        A: Floats | None = getattr(self, "_dual", None)
        shape = (problem.n_samples, problem.n_classes)
        if not self.warm_start or A is None or A.shape != shape:
            return None
        feasible = problem.polytopes.checks_membership and problem.is_feasible(A)
        return A if feasible else None

    def _keep(self, problem: Problem, result: Result) -> None:
        """Set the attributes of a fitted estimator."""
        self.n_iter_, self.duality_gap_ = result.nit, result.gap
        self.gap_error_, self._distance = result.gap_error, result.distance
        self._dual = result.A if self.warm_start else None
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
