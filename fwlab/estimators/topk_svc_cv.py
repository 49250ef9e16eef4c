"""TopKClassifier with C chosen by cross-validation, along a path of warm starts on each fold."""

import warnings
from copy import copy
from numbers import Integral
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params, _check_sample_weight

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_integer, as_positive_reals
from fwlab.estimators.callbacks import fit_task
from fwlab.estimators.machine import TopKMachine
from fwlab.estimators.named_losses import largest_k
from fwlab.estimators.tensors import beside_arrays
from fwlab.estimators.topk_classifier import TopKClassifier
from fwlab.estimators.validation import training_samples

OWN = ("Cs", "cv", "scoring")


class TopKSVCCV(TopKMachine):
    """TopKSVC that chooses its C by cross-validation and fits it on all samples.

    Parameters
    ----------
    Cs : int or list of float
        Values of C; a number stands for as many from 1e-4 to 1e4, evenly on a logarithmic scale.
    cv : int or a splitter of scikit-learn
        Folds; a number stands for stratified ones.
    scoring : None, str or callable
        As everywhere in scikit-learn; None is the accuracy. `fwlab.metrics.make_topk_scorer(k)`
        counts a sample as right if its class is among the k best.
    loss, k, weights, .. storage
        As for TopKClassifier, which has C and warm_start besides. The cross-entropy needs
        `loss="cross-entropy", method="auto"`; `scoring="neg_log_loss"` then judges probabilities.

    Attributes
    ----------
    C_ : float
        The value with the best mean score; of equal ones the smallest. A mean of NaN is the worst.
    Cs_ : array (n_Cs,)
        The values of C, ascending.
    scores_ : array (n_folds, n_Cs)
        The score of each fold at each C.
    Others as for TopKClassifier.
    """

    def __init__(
        self,
        Cs: Any = 10,
        cv: Any = 5,
        scoring: Any = None,
        loss: Any = "topk",
        k: int = 1,
        weights: Any = "flat",
        smoothing: float = 0.0,
        kernel: Any = "linear",
        gamma: Any = "scale",
        norm: float = 2.0,
        fit_intercept: bool = False,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        method: str = "ascent",
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: Any = None,
        verbose: int = 0,
        storage: Any = None,
    ) -> None:
        self.Cs, self.cv, self.scoring = Cs, cv, scoring
        self.loss = loss
        self.k = k
        self.weights = weights
        self.smoothing = smoothing
        self.kernel = kernel
        self.gamma = gamma
        self.norm = norm
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.storage = storage

    # they are for the splitter alone
    __metadata_request__fit = MappingProxyType({"groups": UNUSED})

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **params: Any
    ) -> Self:
        """Choose C on folds of X (n, d) and y (n,), and train on all samples with it.

        sample_weight (n,) multiplies C per sample; the scores of the folds use it only if metadata
        routing is enabled and the scorer requests it. groups (n,) are passed to the splitter.
        params are what splitter and scorer request by metadata routing. Callbacks see each fold as
        a part, and may stop after one. A fold without some of the classes is trained with the
        largest k, or the first of the weights, that its classes allow, and a warning says so. A C
        whose score is NaN is chosen by no fit. Warns with ConvergenceWarning if max_iter ends a
        training before its gap is at most tol. Raises ValueError if a fold cannot be trained or
        scored; the sentence names it.
        """
        Cs = np.array(sorted(as_positive_reals("Cs", self._given_Cs())))
        fitted = copy(self)
        X, y = training_samples(fitted, X, y)
        sample_weight = beside_arrays("sample_weight", sample_weight)
        training = fitted._training(X, y, sample_weight, Cs[-1])
        omega = _check_sample_weight(sample_weight, X, dtype=np.float64)
        given = routed(self, sample_weight, groups, params)
        splits = list(check_cv(self.cv, y, classifier=True).split(X, y, **given.splitter.split))
        scores = []
        with fit_task(self, X, y, sample_weight, len(splits) + 1) as task:
            for fold, rows in enumerate(splits):
                part = task.part("fold")
                scores.append(self._scores_of(fold, X, y, omega, Cs, rows, given.scorer.score))
                if part.end():
                    break
            fitted.Cs_, fitted.scores_ = Cs, np.array(scores)
            fitted.C_ = float(Cs[best_mean(Cs, fitted.scores_)])
            refit = task.part("refit", None)
            fitted._train(training.with_C(fitted.C_), None, refit)
            refit.end(vars(fitted))
            task.end(vars(fitted))
        return self._become(fitted)

    def get_metadata_routing(self) -> Any:
        """Return what scikit-learn's metadata routing passes to the splitter and to the scorer."""
        fit = MethodMapping().add(caller="fit", callee="split")
        score = MethodMapping().add(caller="fit", callee="score")
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        router.add(splitter=self.cv, method_mapping=fit)
        return router.add(scorer=self._scorer(TopKClassifier()), method_mapping=score)

    def _scorer(self, machine: Any) -> Any:
        scoring = "accuracy" if self.scoring is None else self.scoring
        return check_scoring(machine, scoring=scoring)

    def _given_Cs(self) -> Any:
        if isinstance(self.Cs, Integral):
            return np.logspace(-4, 4, as_integer("Cs", self.Cs, low=1))
        return self.Cs

    def _scores_of(
        self, fold: int, X: Any, y: Any, omega: Floats, Cs: Floats, rows: Any, given: Any
    ) -> list[float]:
        """Return the score of each C on a fold: rows to train on and to test.

        `given` holds more arguments of the scorer.
        """
        train, test = rows
        classes, m = np.unique(y), len(np.unique(y[train]))
        machine = self._machine_of(fold, classes, m)
        scorer, given = self._scorer(machine), _check_method_params(X, given, indices=test)
        X_train, y_train = _safe_split(machine, X, y, train)
        X_test, y_test = _safe_split(machine, X, y, test, train)
        try:
            path = machine.path(X_train, y_train, Cs, sample_weight=omega[train])
            return [float(scorer(fitted, X_test, y_test, **given)) for fitted in path]
        except ValueError as error:
            kind = "class" if m == 1 else "classes"
            raise ValueError(f"fold {fold}, which trains on {m} {kind}: {error}") from error

    def _machine_of(self, fold: int, classes: np.ndarray, m: int) -> TopKClassifier:
        """Return the machine that a fold trains, which may have only m of the classes."""
        shared = {name: value for name, value in self.get_params().items() if name not in OWN}
        machine = TopKClassifier(**shared)
        if isinstance(self.class_weight, dict):  # for the fold, a class that it lacks is unknown
            whole = {label: self.class_weight.get(label, 1.0) for label in classes.tolist()}
            machine.set_params(class_weight=whole)
        names_k = isinstance(self.weights, str)
        k = self.k if names_k else len(self.weights)
        largest = largest_k(self.loss, m)
        if largest is not None and k > largest > 0:
            warnings.warn(
                f"fold {fold} trains on {m} of the {len(classes)} classes, with k = {largest} "
                f"instead of {k}.",
                stacklevel=4,
            )
            if names_k:
                machine.set_params(k=largest)
            else:
                machine.set_params(weights=np.asarray(self.weights)[:largest])
        return machine


def routed(estimator: Any, sample_weight: Any, groups: Any, params: dict[str, Any]) -> Any:
    """Return what splitter.split and scorer.score get of the arguments of a fit.

    Raises ValueError for params without metadata routing.
    """
    if not get_config()["enable_metadata_routing"]:
        if params:
            raise ValueError(
                "params need sklearn.set_config(enable_metadata_routing=True); got "
                f"{', '.join(params)}."
            )
        return Bunch(splitter=Bunch(split={"groups": groups}), scorer=Bunch(score={}))
    params = {"sample_weight": sample_weight, "groups": groups, **params}
    given = {name: value for name, value in params.items() if value is not None}
    return process_routing(estimator, "fit", **given)


def best_mean(Cs: Floats, scores: Floats) -> int:
    """Return the index of the largest mean score (n_folds, n_Cs), the first of equal ones.

    Warns about values of C whose mean is NaN, and passes them over. Raises ValueError if all are.
    """
    means = scores.mean(axis=0)
    missing = np.isnan(means)
    if missing.all():
        raise ValueError("scoring must return a number in each fold for some C; got NaN for all.")
    if missing.any():
        without = ", ".join(f"{C:g}" for C in Cs[missing])
        warnings.warn(f"scoring returned NaN for C = {without}, not chosen.", stacklevel=3)
    present = np.flatnonzero(~missing)
    return int(present[means[present].argmax()])
