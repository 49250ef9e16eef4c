"""A fitted multi-class machine: training, predictions, certificates of the estimators.

With C and the training set's omega (sample_weight times class_weight) it minimises

    1/2 |W|^2 + C sum_i omega_i Phi(W x_i; y_i),

which is n C times fwlab.Problem's objective with lam = 1 / (C n).
"""

from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_integer, as_real
from fwlab.checks.labels import codes_of_rows, encoded_labels, one_column
from fwlab.estimators.callbacks import CallbackSupportMixin, FitTask, as_result
from fwlab.estimators.class_weights import class_weights
from fwlab.estimators.kernels import FittedKernel
from fwlab.estimators.named_losses import named_loss, no_probabilities
from fwlab.estimators.trained import Certified, Trained, public_scores, public_values
from fwlab.estimators.validation import new_samples, parameters_of
from fwlab.estimators.warm_starts import may_start, warn_if_unfinished
from fwlab.lp_norm import LpNorm
from fwlab.model import Model
from fwlab.operators.softmax import log_probabilities
from fwlab.problem import Problem
from fwlab.proved import proved_accuracy, proved_labels
from fwlab.result import Result
from fwlab.solvers.along_C import start_after
from fwlab.solvers.solve import solve


@dataclass(frozen=True, eq=False)
class TrainingProblem:
    """The problem of a fit, with what predictions need of its samples."""

    problem: Problem
    kernel: FittedKernel
    classes: np.ndarray

    def with_C(self, C: float) -> "TrainingProblem":
        """Return the same training with another C."""
        problem = self.problem.with_lam(1 / (C * self.problem.n_samples))
        return replace(self, problem=problem)


@dataclass(frozen=True, eq=False)
class TrainedMachine(Trained):
    """The outcome of a fit of a multi-class machine.

    Attributes
    ----------
    kernel : FittedKernel
        The kernel.
    W : array (m, d), or None
        The machine, with the weights of the constant feature; None with another kernel than the
        linear one.
    distance : float
        A bound of |W - W*|.
    """

    kernel: FittedKernel
    W: Floats | None
    distance: float


def _gives_probabilities(machine: Any) -> bool:
    """Return whether the loss of the fit, or before it of the next one, has probabilities."""
    parameters = machine._trained.parameters if "_trained" in vars(machine) else vars(machine)
    if reason := no_probabilities(parameters["loss"], parameters["k"]):
        raise AttributeError(reason)
    return True


# sklearn has no type hints: its classes are Any
class TopKMachine(Certified, CallbackSupportMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Base class: what a subclass trains with `_train`, and everything that a fitted one does.

    A subclass has TopKClassifier's parameters, without C and warm_start.
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
    storage: Any

    _trained: TrainedMachine
    _advice = "; fwlab.certify bounds the error of any weights W"

    def decision_function(self, X: Any) -> Floats:
        """Return the scores (n, n_classes); of two classes the second less the first, (n,)."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of the largest score, (n,); ties go to the first class."""
        best = self._scores(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_topk(self, X: Any, k: int | None = None) -> np.ndarray:
        """Return the k best classes of each sample, (n, k), the best one first; k of the fit by
        default."""
        scores = self._scores(X)
        k = self._trained.parameters["k"] if k is None else k
        k = as_integer("k", k, low=1, high=scores.shape[1])
        order = np.argsort(-scores, axis=1, kind="stable")
        return np.asarray(self.classes_[order[:, :k]])

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]  # sklearn
    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithms of the probabilities (n, n_classes), in the order of classes_.

        They are s_j - log sum_k exp(s_k) with the scores s of all classes; of two classes these are
        0 and the decision function. Only with the cross-entropy.
        """
        return np.asarray(log_probabilities(self._scores(X)))

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]  # sklearn
    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities (n, n_classes) of the classes, in the order of classes_.

        Only with the cross-entropy; `predict_log_proba` has the formula.
        """
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def proved(self, X: Any) -> np.ndarray:
        """Return whether each predicted label is certainly the exact optimum's, (n,) bool.

        Raises ValueError with another kernel than the linear one, or if coef_ or intercept_ have
        changed since the fit.
        """
        W, rows = self._certified_machine("proved", X)
        return np.asarray(proved_labels(W, self._trained.distance, rows))

    def proved_accuracy(self, X: Any, y: Any, k: int = 1) -> tuple[float, float]:
        """Return an interval that holds the top-k accuracy of the exact optimum.

        Labels that were not in the training set count as wrong; if none was, it raises ValueError,
        and as for `proved`.
        """
        W, rows = self._certified_machine("proved_accuracy", X)
        k = as_integer("k", k, low=1, high=len(W))
        codes = codes_of_rows(one_column(y), self.classes_, rows.shape[0])
        return proved_accuracy(W, self._trained.distance, rows, codes, k)

    def to_model(self) -> Model:
        """Return the fitted machine as a fwlab.Model, whose file `fwlab predict` reads.

        The certificate is left out if coef_ or intercept_ have changed since the fit. Raises
        ValueError with another kernel than the linear one.
        """
        W, intercept = self._public_machine()
        trained, certificate = self._trained, {}
        if not self._refusal("certificate"):
            certificate = {"gap": trained.gap, "gap_error": trained.gap_error}
        names = getattr(self, "feature_names_in_", None)
        return Model(
            W,
            intercept,
            self.classes_,
            feature_names=None if names is None else tuple(names.tolist()),
            settings={name: repr(value) for name, value in trained.parameters.items()},
            certificate=certificate,
        )

    def _training(self, X: Any, y: np.ndarray, sample_weight: Any, C: Any) -> TrainingProblem:
        """Return the problem of checked samples and labels. Raises an error for bad parameters."""
        C = as_real("C", C, positive=True)
        codes, classes = encoded_labels(y)
        m = len(classes)
        if m < 2:
            raise ValueError(
                f"y must hold at least two classes; got one class, {classes.tolist()[0]!r}."
            )
        kernel = FittedKernel.of(parameters_of(self), X)
        omega = None
        if sample_weight is not None or self.class_weight is not None:
            omega = _check_sample_weight(sample_weight, X, dtype=np.float64)
            omega = omega * class_weights(self.class_weight, classes, codes, omega)[codes]
        problem = Problem(
            kernel.features(X),
            codes,
            self._loss(m),
            lam=1 / (C * X.shape[0]),
            smoothing=self.smoothing,
            kernel=None if kernel.is_linear else "precomputed",
            n_classes=m,
            sample_weight=omega,
            regularizer=None if self.norm == 2 else LpNorm(self.norm),
            storage="float32" if kernel.is_linear and X.dtype == np.float32 else "float64",
        )
        return TrainingProblem(problem, kernel, classes)

    def _loss(self, n_classes: int) -> Any:
        """Return the loss that the parameters describe. Raises an error for bad ones."""
        return named_loss(self.loss, self.k, self.weights, n_classes)

    def _train(
        self,
        training: TrainingProblem,
        A0: Floats | None,
        task: FitTask | None = None,
        growth: float = 1.0,
    ) -> Floats:
        """Solve the problem, from the dual point A0 if it is feasible there, and return the last
        dual point; keeps what a fitted estimator has. The task tells callbacks of checkpoints, and
        C has grown by `growth` since A0."""
        problem = training.problem
        start = None
        if A0 is not None and may_start(problem, A0):
            start = start_after(problem, A0, growth)
        takes_direct = self.norm != 2 and self.method != "alternate" and not problem.has_entropy
        attributes = partial(self._attributes, training)
        result = solve(
            problem,
            "direct" if takes_direct else self.method,
            tol=self.tol,
            max_iter=self.max_iter,
            A0=start,
            rng=int(check_random_state(self.random_state).randint(2**31 - 1)),
            verbose=self.verbose,
            callback=None if task is None else task.each_checkpoint(attributes),
        )
        self._keep(training, result)
        takes_auto = self.norm == 2 and self.method != "auto"
        advice = 'method="auto" is made for large C. ' if takes_auto else ""
        warn_if_unfinished(type(self).__name__, result, self.tol, advice)
        return np.asarray(result.A)

    def _attributes(self, training: TrainingProblem, progress: Any) -> dict[str, Any]:
        """Return all attributes of the machine of a checkpoint."""
        machine = copy(self)
        machine._keep(training, as_result(progress))
        return dict(vars(machine))

    def _keep(self, training: TrainingProblem, result: Result) -> None:
        """Set the attributes of a fitted estimator."""
        constant = training.kernel.constant
        if result.W is None:
            A = result.A if result.coefficients is None else result.coefficients
            dual_coef = np.ascontiguousarray(A.T) / training.problem.lam_n
            public = {"dual_coef_": dual_coef, "intercept_": constant**2 * dual_coef.sum(axis=1)}
        else:
            rows = result.W if len(result.W) > 2 else result.W[1:] - result.W[:1]
            public = _coefficients(rows, constant)
        self.classes_, self.n_iter_ = training.classes, result.nit
        self._keep_trained(
            TrainedMachine(
                parameters_of(self),
                public,
                result.gap,
                result.gap_error,
                training.kernel,
                result.W,
                result.distance,
            )
        )

    def _scores(self, X: Any) -> Floats:
        """Return the scores of all classes, (n, n_classes), from the public attributes."""
        check_is_fitted(self)
        kernel = self._trained.kernel
        X = new_samples(self, X, single=kernel.is_linear)
        if not kernel.is_linear:
            return public_scores(kernel.gram(X), self, "dual_coef_")
        scores = public_scores(X, self, "coef_")
        if len(self.classes_) > 2:
            return scores
        return np.column_stack([np.zeros(len(scores)), scores])

    def _certified_machine(self, name: str, X: Any) -> tuple[Floats, Any]:
        """Return W as `fit` left it, and checked samples X with the constant feature."""
        W = self._linear_machine(name)
        if refusal := self._refusal(name):
            raise ValueError(refusal)
        return W, self._trained.kernel.features(new_samples(self, X))

    def _public_machine(self) -> tuple[Floats, Floats]:
        """Return one row of weights and an intercept per class, from the public attributes."""
        W = self._linear_machine("to_model")
        if not self._refusal("to_model"):
            whole = _coefficients(W, self._trained.kernel.constant)
            return whole["coef_"], whole["intercept_"]
        coef, intercept = public_values(self, "coef_"), public_values(self, "intercept_")
        if len(self.classes_) > 2:
            return coef, intercept
        return np.vstack([np.zeros_like(coef), coef]), np.append(0.0, intercept)

    def _linear_machine(self, name: str) -> Floats:
        check_is_fitted(self)
        if self._trained.W is None:
            kernel = self._trained.parameters["kernel"]
            raise ValueError(f'{name} needs kernel="linear"; got {kernel!r}.')
        return self._trained.W

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_pairwise()
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """The tags for scikit-learn 1.5."""
        return {"pairwise": self._is_pairwise()}

    def _is_pairwise(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"


def _coefficients(rows: Floats, constant: float) -> dict[str, Floats]:
    """Return coef_ and intercept_ of the rows of W; the last feature is the constant, if not 0."""
    if not constant:
        return {"coef_": np.ascontiguousarray(rows), "intercept_": np.zeros(len(rows))}
    return {"coef_": np.ascontiguousarray(rows[:, :-1]), "intercept_": rows[:, -1] * constant}
