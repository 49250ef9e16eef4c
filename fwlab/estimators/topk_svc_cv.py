"""TopKSVC with C chosen by cross-validation, along a path of warm starts on each fold."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_sample_weight

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_integer, as_positive_reals
from fwlab.estimators.machine import TopKMachine
from fwlab.estimators.topk_svc import TopKSVC

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
    loss, k, weights, .. verbose
        As for TopKSVC, which has C and warm_start besides.

    Attributes
    ----------
    C_ : float
        The value with the best mean score; of equal ones the smallest.
    Cs_ : array (n_Cs,)
        The values of C, ascending.
    scores_ : array (n_folds, n_Cs)
        The score of each fold at each C.
    Others as for TopKSVC.
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
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose C on folds of X (n, d) and y (n,), and train on all samples with it.

        sample_weight (n,) multiplies C per sample; the scores of the folds do not use it. Warns
        with ConvergenceWarning if max_iter ends a training before its gap is at most tol.
        """
        self.Cs_ = np.array(sorted(as_positive_reals("Cs", self._given_Cs())))
        X, y = self._checked(X, y)
        problem = self._problem(X, y, sample_weight, self.Cs_[-1])
        omega = _check_sample_weight(sample_weight, X, dtype=np.float64)
        splits = check_cv(self.cv, y, classifier=True).split(X, y)
        self.scores_ = np.array([self._scores_of(X, y, omega, *split) for split in splits])
        self.C_ = float(self.Cs_[self.scores_.mean(axis=0).argmax()])
        self._train(problem.with_lam(1 / (self.C_ * problem.n_samples)), None)
        return self

    def _given_Cs(self) -> Any:
        if isinstance(self.Cs, Integral):
            return np.logspace(-4, 4, as_integer("Cs", self.Cs, low=1))
        return self.Cs

    def _scores_of(self, X: Any, y: Any, omega: Floats, train: Any, test: Any) -> list[float]:
        """Return the score of each C on the test rows of a fold."""
        shared = {name: value for name, value in self.get_params().items() if name not in OWN}
        machine = TopKSVC(**shared)
        scorer = check_scoring(machine, scoring=self.scoring)
        X_train, y_train = _safe_split(machine, X, y, train)
        X_test, y_test = _safe_split(machine, X, y, test, train)
        path = machine.path(X_train, y_train, self.Cs_, sample_weight=omega[train])
        return [float(scorer(fitted, X_test, y_test)) for fitted in path]
