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

from fwlab.arrays import Floats, copied, is_tensor, like, namespace_of, on_host
from fwlab.checks.arguments import as_integer, as_real, is_single
from fwlab.checks.labels import (
    codes_of_rows,
    encoded_labels,
    one_column,
    require_two_classes,
)
from fwlab.ellipsoid import joined_interval, joined_proofs
from fwlab.estimators.callbacks import CallbackSupportMixin, FitTask, as_result
from fwlab.estimators.class_weights import class_weights
from fwlab.estimators.given_training import ellipsoid_of_fit
from fwlab.estimators.kernels import FittedKernel
from fwlab.estimators.named_losses import named_loss, no_probabilities
from fwlab.estimators.tensors import beside_arrays, reason_for_arrays
from fwlab.estimators.trained import Certified, Trained, public_scores, public_values
from fwlab.estimators.validation import new_samples, parameters_of, require_present
from fwlab.estimators.warm_starts import start_from, warn_if_unfinished
from fwlab.lp_norm import LpNorm
from fwlab.model import Model
from fwlab.operators.softmax import log_probabilities
from fwlab.problem import Problem
from fwlab.proved import classes_beside, labels_of, proved_accuracy, proved_in_ball
from fwlab.result import Result
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
    W : array or tensor (m, d), or None
        The machine, with the weights of the constant feature; None with another kernel than the
        linear one.
    centre, radius : array (m, d) or None, float
        The ball that holds the machine of the exact optimum; its centre is W for None.
    C : float
        The constant of the fit.
    """

    kernel: FittedKernel
    W: Any
    centre: Any
    radius: float
    C: float


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

    def decision_function(self, X: Any) -> Any:
        """Return the scores (n, n_classes); of two classes the second less the first, (n,)."""
        scores = self._scores(X, "decision_function")
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> Any:
        """Return the class of the largest score, (n,); ties go to the first class."""
        scores = self._scores(X, "predict")
        best = namespace_of(scores).argmax(scores, axis=1)
        return labels_of(best, on_host(self.classes_))

    def predict_topk(self, X: Any, k: int | None = None) -> Any:
        """Return the k best classes of each sample, (n, k), the best one first; k of the fit by
        default."""
        scores = self._scores(X, "predict_topk")
        k = self._trained.parameters["k"] if k is None else k
        k = as_integer("k", k, low=1, high=scores.shape[1])
        order = namespace_of(scores).argsort(-scores, axis=1, stable=True)
        return labels_of(order[:, :k], on_host(self.classes_))

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]  # sklearn
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the probabilities (n, n_classes), in the order of classes_.

        They are s_j - log sum_k exp(s_k) with the scores s of all classes; of two classes these are
        0 and the decision function. Only with the cross-entropy.
        """
        return log_probabilities(self._scores(X, "predict_log_proba"))

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]  # sklearn
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities (n, n_classes) of the classes, in the order of classes_.

        Only with the cross-entropy; `predict_log_proba` has the formula.
        """
        logs = log_probabilities(self._scores(X, "predict_proba"))
        return namespace_of(logs).exp(logs)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of `predict`. Raises TypeError for missing labels y (n,)."""
        require_present(y)
        return float(super().score(X, y, sample_weight))

    def proved(self, X: Any, training: Any = None) -> Any:
        """Return whether each predicted label is certainly the exact optimum's, (n,) bool.

        training, (X, y) or (X, y, sample_weight) of the fit, proves far more labels of the
        cross-entropy where fwlab.ellipsoid can be afforded: up to 1000 entries of W and 2^36
        products, X no tensor. Raises ValueError with another kernel than the linear one, if coef_
        or intercept_ have changed since the fit, or for other training data.
        """
        W, rows = self._certified_machine("proved", X)
        proved = proved_in_ball(W, self._centre(W), self._trained.radius, rows)
        return joined_proofs(proved, ellipsoid_of_fit(self, training), W, rows)

    def proved_accuracy(
        self, X: Any, y: Any, k: int = 1, training: Any = None
    ) -> tuple[float, float]:
        """Return an interval that holds the top-k accuracy of the exact optimum.

        Labels that were not in the training set count as wrong; if none was, it raises ValueError,
        and as for `proved`, which says what `training` does.
        """
        W, rows = self._certified_machine("proved_accuracy", X)
        k = as_integer("k", k, low=1, high=W.shape[0])
        labels = one_column(on_host(y) if is_tensor(W) else y)
        codes = codes_of_rows(labels, on_host(self.classes_), rows.shape[0])
        centre = self._centre(W)
        ball = W if centre is None else centre, self._trained.radius
        interval = proved_accuracy(*ball, rows, codes, k)
        return joined_interval(interval, ellipsoid_of_fit(self, training), rows, codes, k)

    def to_model(self) -> Model:
        """Return the fitted machine as a fwlab.Model, whose file `fwlab predict` reads.

        A machine of tensors is copied to the host. The certificate is left out if coef_ or
        intercept_ have changed since the fit. Raises ValueError with another kernel than the linear
        one.
        """
        W, intercept = self._public_machine()
        trained, certificate = self._trained, {}
        if not self._refusal("certificate"):
            certificate = {"gap": trained.gap, "gap_error": trained.gap_error}
        names = getattr(self, "feature_names_in_", None)
        return Model(
            W,
            intercept,
            on_host(self.classes_),
            feature_names=None if names is None else tuple(names.tolist()),
            settings={name: repr(value) for name, value in trained.parameters.items()},
            certificate=certificate,
        )

    def _training(self, X: Any, y: Any, sample_weight: Any, C: Any) -> TrainingProblem:
        """Return the problem of checked samples and labels. Raises an error for bad parameters."""
        C = as_real("C", C, positive=True)
        codes, classes = encoded_labels(on_host(y))
        require_two_classes(classes)
        kernel = FittedKernel.of(parameters_of(self), X)
        omega = None
        if sample_weight is not None or self.class_weight is not None:
            weights = beside_arrays("sample_weight", sample_weight)
            omega = _check_sample_weight(weights, codes, dtype=np.float64)
            omega = omega * class_weights(self.class_weight, classes, codes, omega)[codes]
        problem = Problem(
            kernel.features(X),
            codes,
            self._loss(len(classes)),
            lam=1 / (C * X.shape[0]),
            smoothing=self.smoothing,
            kernel=None if kernel.is_linear else "precomputed",
            n_classes=len(classes),
            sample_weight=omega,
            regularizer=None if self.norm == 2 else LpNorm(self.norm),
            storage="float32" if kernel.is_linear and is_single(X) else "float64",
        )
        return TrainingProblem(problem, kernel, classes_beside(classes, y))

    def _loss(self, n_classes: int) -> Any:
        """Return the loss that the parameters describe. Raises an error for bad ones."""
        return named_loss(self.loss, self.k, self.weights, n_classes)

    def _train(
        self,
        training: TrainingProblem,
        last: Any,
        task: FitTask | None = None,
        growth: float = 1.0,
    ) -> Any:
        """Solve the problem, from where the last run ended if that is possible, and return where
        this one does: a dual point, or for tensors a machine. Keeps what a fitted estimator has.
        The task tells callbacks of checkpoints, and C has grown by `growth` since the last run."""
        problem = training.problem
        takes_direct = self.norm != 2 and self.method != "alternate" and not problem.has_entropy
        attributes = partial(self._attributes, training)
        result = solve(
            problem,
            "direct" if takes_direct else self.method,
            tol=self.tol,
            max_iter=self.max_iter,
            A0=start_from(problem, last, growth),
            rng=int(check_random_state(self.random_state).randint(2**31 - 1)),
            verbose=self.verbose,
            callback=None if task is None else task.each_checkpoint(attributes),
        )
        self._keep(training, result)
        takes_auto = self.norm == 2 and self.method != "auto"
        advice = 'method="auto" is made for large C. ' if takes_auto else ""
        warn_if_unfinished(type(self).__name__, result, self.tol, advice)
        return result.W if problem.has_tensors else np.asarray(result.A)

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
            W = result.W
            rows = W if W.shape[0] > 2 else W[1:, :] - W[:1, :]
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
                result.centre,
                result.distance if result.centre is None else result.radius,
                1 / training.problem.lam_n,
            )
        )

    def _scores(self, X: Any, method: str) -> Any:
        """Return the scores of all classes, (n, n_classes), from the public attributes.

        method: the name of the prediction.
        """
        check_is_fitted(self)
        kernel = self._trained.kernel
        X = new_samples(self, X, method=method, single=kernel.is_linear)
        if not kernel.is_linear:
            return public_scores(kernel.gram(X), self, "dual_coef_")
        scores = public_scores(X, self, "coef_")
        if self.classes_.shape[0] > 2:
            return scores
        xp = namespace_of(scores)
        return xp.concat([xp.zeros_like(scores), scores], axis=1)

    def _certified_machine(self, name: str, X: Any) -> tuple[Any, Any]:
        """Return W as `fit` left it, and checked samples X with the constant feature.

        For a tensor X both are tensors on its device.
        """
        W = self._linear_machine(name)
        if refusal := self._refusal(name):
            raise ValueError(refusal)
        rows = new_samples(self, X, method=name)
        return like(on_host(W), rows), self._trained.kernel.features(rows)

    def _centre(self, W: Any) -> Any:
        """Return the centre of the ball that holds the exact optimum, beside W; None for W."""
        centre = self._trained.centre
        return None if centre is None else like(centre, W)

    def _public_machine(self) -> tuple[Floats, Floats]:
        """Return one row of weights and an intercept per class, from the public attributes."""
        W = self._linear_machine("to_model")
        if not self._refusal("to_model"):
            whole = _coefficients(on_host(W), self._trained.kernel.constant)
            return whole["coef_"], whole["intercept_"]
        coef, intercept = public_values(self, "coef_"), public_values(self, "intercept_")
        if self.classes_.shape[0] > 2:
            return coef, intercept
        return np.vstack([np.zeros_like(coef), coef]), np.append(0.0, intercept)

    def _linear_machine(self, name: str) -> Any:
        check_is_fitted(self)
        if self._trained.W is None:
            kernel = self._trained.parameters["kernel"]
            raise ValueError(f'{name} needs kernel="linear"; got {kernel!r}.')
        return self._trained.W

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = not reason_for_arrays(self)
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_pairwise()
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """The tags for scikit-learn 1.5."""
        return {"pairwise": self._is_pairwise(), "array_api_support": not reason_for_arrays(self)}

    def _is_pairwise(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"


def _coefficients(rows: Any, constant: float) -> dict[str, Any]:
    """Return coef_ and intercept_ of the rows of W; the last feature is the constant, if not 0."""
    if not constant:
        return {"coef_": copied(rows), "intercept_": namespace_of(rows).zeros_like(rows[:, 0])}
    return {"coef_": copied(rows[:, :-1]), "intercept_": rows[:, -1] * constant}
