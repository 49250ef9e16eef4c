"""The ranking machines of M20 as scikit-learn classifiers of two classes.

They minimise, over the weights w, with t the threshold that the negatives' scores determine,

    1/2 |w|^2 + C sum over the positives of l(t - score).

The second class is the positive one; the decision function is the score minus the threshold.
"""

from abc import abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import as_real
from fwlab.checks.labels import encoded_labels
from fwlab.estimators.callbacks import CallbackSupportMixin, FitTask, fit_task
from fwlab.estimators.kernels import NAMES, gamma_of
from fwlab.estimators.trained import Certified, Trained, public_scores, public_values, shaped
from fwlab.estimators.validation import new_samples, parameters_of, training_samples
from fwlab.estimators.warm_starts import warn_if_unfinished
from fwlab.ranking.machine import Machine
from fwlab.ranking.objectives import Objective, PatMat, TopPushK
from fwlab.ranking.result import Result
from fwlab.ranking.solve import solve


@dataclass(frozen=True, eq=False)
class TrainedRanking(Trained):
    """The outcome of a fit of a ranking machine, with the machine that scores rows."""

    machine: Machine


# sklearn has no type hints: its classes are Any
class RankingClassifier(Certified, CallbackSupportMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Base class: everything but the constructor and the objective."""

    # the parameters that all subclasses have
    C: float
    kernel: str
    gamma: Any
    method: str
    tol: float
    max_iter: int
    random_state: Any
    verbose: int

    _trained: TrainedRanking

    def fit(self, X: Any, y: Any) -> Self:
        """Train on X (n, d), or a Gram matrix (n, n), with labels y (n,) of two classes.

        Warns with ConvergenceWarning if max_iter ends the training before its gap is at most tol.
        """
        fitted = copy(self)
        X, y = training_samples(fitted, X, y)
        positive, classes = two_classes(y)
        if not isinstance(self.kernel, str):
            raise ValueError(f"kernel must be one of {', '.join(NAMES)}; got {self.kernel!r}.")
        gamma = gamma_of(self.kernel, self.gamma, X)
        with fit_task(self, X, y, None) as task:
            fitted._train(X, positive, classes, gamma, task)
            task.end(vars(fitted))
        return self._become(fitted)

    def decision_function(self, X: Any) -> Floats:
        """Return the scores less the threshold, (n,); positive for the second class."""
        check_is_fitted(self)
        X, machine = new_samples(self, X), self._trained.machine
        if machine.kernel == "linear":
            return np.asarray(public_scores(X, self, "coef_")[:, 0])
        return machine.scores(X) - self.threshold_

    def predict(self, X: Any) -> np.ndarray:
        """Return the second class for scores above the threshold, else the first, (n,)."""
        above = self.decision_function(X) > 0
        return np.asarray(self.classes_[above.astype(np.int64)])

    @property
    def threshold_(self) -> float:
        """The threshold of the scores: minus intercept_, also when one of the two is assigned."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"{type(self).__name__} has no threshold_ before `fit`.")
        return -float(public_values(self, "intercept_").item())

    @threshold_.setter
    def threshold_(self, threshold: float) -> None:
        self.intercept_ = -shaped("threshold_", threshold, (1,), or_number=True)

    @abstractmethod
    def _objective(self) -> Objective:
        """Return the objective that the parameters describe."""

    def _train(
        self, X: Any, positive: Integers, classes: np.ndarray, gamma: float, task: FitTask
    ) -> None:
        """Solve the problem, and set the attributes of a fitted estimator."""
        result: Result = solve(
            X,
            positive,
            self._objective(),
            as_real("C", self.C, positive=True),
            kernel=self.kernel,
            sigma=gamma if self.kernel == "rbf" else None,
            method=self.method,
            tol=self.tol,
            max_iter=self.max_iter,
            rng=int(check_random_state(self.random_state).randint(2**31 - 1)),
            verbose=self.verbose,
            # callbacks get no machine before the last one
            callback=task.each_checkpoint(lambda progress: None),
        )
        public = {"intercept_": np.array([-result.threshold])}
        if result.w is not None:
            public["coef_"] = result.w[None]
        self.classes_, self.n_iter_ = classes, result.nit
        parameters = parameters_of(self)
        self._keep_trained(
            TrainedRanking(parameters, public, result.gap, result.gap_error, result.machine)
        )
        warn_if_unfinished(type(self).__name__, result, self.tol)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.classifier_tags.multi_class = False
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """The tags for scikit-learn 1.5."""
        return {"pairwise": self.kernel == "precomputed", "binary_only": True}


def two_classes(y: np.ndarray) -> tuple[Integers, np.ndarray]:
    """Return 1 for labels of the second class and 0 for others, (n,), and the two classes.

    Raises TypeError or ValueError for other labels.
    """
    codes, classes = encoded_labels(y)
    if len(classes) == 1:
        raise ValueError(f"y must hold two classes; got one class, {classes.tolist()[0]!r}.")
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(y)}: y holds {len(classes)} classes."
        )
    return codes, classes


class TopPushClassifier(RankingClassifier):
    """Classifier that pushes positives above the K highest negatives (Macha et al. 2020, (5)).

    Its threshold is the mean of the K largest scores of negatives.

    Parameters
    ----------
    K : int
        At most the number of negatives. 1 is TopPush: the highest negative of the training set
        then lies on the threshold, and rounding decides on which side.
    surrogate : "quadratic" or "hinge"
        The loss of a positive.
    theta : float
        The scale of the surrogate.
    C : float
        The weight of the sum over the positives against |w|^2 / 2.
    kernel : "linear", "rbf" or "precomputed"
        "precomputed" takes Gram matrices (n, n) for `fit` and (n_new, n) for predictions.
    gamma : "scale", "auto" or float
        The rbf kernel is exp(-gamma |x - z|^2); "scale" is 1 / (n_features X.var()), "auto"
        1 / n_features.
    method : str
        One of `fwlab.ranking.methods()`.
    tol : float
        The duality gap, with its rounding error, at which `fit` stops, as a fraction of the
        objective.
    max_iter : int
    random_state : int, RandomState or None
    verbose : int
        1 prints a line per second to stderr.

    Attributes
    ----------
    classes_ : array (2,)
        The second class is the positive one.
    intercept_ : array (1,), threshold_ : float
        The threshold and its negative. Predictions follow when either is assigned.
    coef_ : array (1, n_features)
        Only with the linear kernel. Predictions follow when it is assigned or changed in place.
    n_iter_, duality_gap_, gap_error_
        As for TopKSVC; the gap is that of the sum.
    """

    def __init__(
        self,
        K: int = 1,
        surrogate: str = "quadratic",
        theta: float = 1.0,
        C: float = 1.0,
        kernel: str = "linear",
        gamma: Any = "scale",
        method: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.K = K
        self.surrogate = surrogate
        self.theta = theta
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def _objective(self) -> Objective:
        return TopPushK(self.K, self.surrogate, self.theta)


class PatMatClassifier(RankingClassifier):
    """Classifier that lets a share tau of the samples pass its threshold (Macha et al. 2020, (11)).

    Its threshold is a smoothed quantile of the scores of the negatives, or of all samples.

    Parameters
    ----------
    tau : float
        The share, between 0 and 1.
    surrogate : "quadratic" or "hinge"
        The loss of a positive, and of the quantile.
    theta, theta2 : float
        The scales of the surrogate for positives and for the quantile; theta2=None is theta.
    budget : "all" or "negatives"
        Whether tau is a share of all samples or of the negatives.
    C, kernel, gamma, method, tol, max_iter, random_state, verbose
        As for TopPushClassifier, which also names the attributes.
    over : "negatives" or "all"
        The samples whose scores the quantile counts: the negatives, as (10) prints, or all samples,
        as the authors' public program has it.
    """

    def __init__(
        self,
        tau: float = 0.01,
        surrogate: str = "quadratic",
        theta: float = 1.0,
        theta2: float | None = None,
        budget: str = "all",
        C: float = 1.0,
        kernel: str = "linear",
        gamma: Any = "scale",
        method: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: Any = None,
        verbose: int = 0,
        over: str = "negatives",
    ) -> None:
        self.tau = tau
        self.surrogate = surrogate
        self.theta = theta
        self.theta2 = theta2
        self.budget = budget
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.over = over

    def _objective(self) -> Objective:
        return PatMat(self.tau, self.surrogate, self.theta, self.theta2, self.budget, self.over)
