"""The linear or kernel classifier with any loss of fwlab, as a scikit-learn classifier."""

from copy import copy
from typing import Any, Self

from sklearn.base import clone

from fwlab.checks.arguments import as_positive_reals
from fwlab.estimators.callbacks import fit_task
from fwlab.estimators.machine import TopKMachine
from fwlab.estimators.validation import training_samples
from fwlab.estimators.warm_starts import on_class_or_instance


class TopKClassifier(TopKMachine):
    """Classifier of regularised scores with any loss of fwlab, by default multinomial logistic.

    With an entropy and scikit-learn's array_api_dispatch, samples, labels, attributes and answers
    may be tensors on any device.

    It minimises 1/2 |W|^2 + C sum_i omega_i Phi(W x_i; y_i), with one row of W per class, also for
    two classes: these rows are then opposite, and coef_ is their difference. With C it is the
    machine of scikit-learn's LogisticRegression with C, of two classes with 2 C, as far as both
    have no intercept.

    Parameters
    ----------
    loss : str, or a fwlab.Loss, PolytopeLoss, CrossEntropy or TopKEntropy
        "cross-entropy", the loss of multinomial logistic regression; "topk", the top-k hinge (Kato
        & Hirohashi 2019, (3)); "usunier", its entrywise version (Lapin et al. 2015, (5));
        "max-hinge", Crammer and Singer's hinge; "pseudo-topk", the top-k hinge of the other
        classes; or "topk-entropy", a cross-entropy that is lenient with k guesses. For k = 1 the
        hinges are one loss, and so are the two entropies. An object may have costs:
        `fwlab.StructuredHinge(costs)`, with classes in the order of classes_.
    k : int
        From 1 to the number of classes, less one for "pseudo-topk" and "topk-entropy". With losses
        that have no k, only the default of `predict_topk`.
    weights : "flat", "linear", "exponential" or array
        The weights of the k largest margins; an array stands for k, too.
    C : float
        The weight of the losses' sum against |W|^2 / 2, as in LogisticRegression and LinearSVC.
    smoothing : float
        Constant of the loss's Moreau envelope; 0 for the loss itself, and for the entropies.
    kernel : "linear", "rbf", "precomputed" or callable
        "precomputed" takes Gram matrices (n, n) for `fit` and (n_new, n) for predictions; a
        callable takes two sets of samples and returns their Gram matrix. The entropies take the
        linear kernel alone.
    gamma : "scale", "auto" or float
        The rbf kernel is exp(-gamma |x - z|^2); "scale" is 1 / (n_features X.var()), "auto"
        1 / n_features.
    norm : float
        p of the block norm |W|_{2,p} (Lei et al. 2015), p >= 1; other norms than 2 are trained with
        `method="direct"` unless method is "alternate". The entropies take 2 alone.
    fit_intercept : bool
        Whether to add a constant feature `intercept_scaling`, whose weight is regularised like any
        other, as in LinearSVC; LogisticRegression does not regularise its intercept. The larger
        `intercept_scaling`, the less the regularisation counts.
    intercept_scaling : float
    class_weight : dict, "balanced" or None
        Factors of C per class; "balanced" gives all classes the same total of sample_weight.
    warm_start : bool
        Whether `fit` starts from the dual point of the last `fit`, if that is feasible, or for
        tensors from its machine.
    method : str
        One of `fwlab.methods()`. "auto" is Newton's method for hinges, L-BFGS for the entropies,
        after block ascent for the cross-entropy of many features, and block ascent with a kernel.
    tol : float
        The duality gap of the mean objective, with its rounding error, at which `fit` stops.
    max_iter : int
    random_state : int, RandomState or None
        Draws the order of the samples.
    verbose : int
        1 prints a line per second to stderr.
    storage : None, "float64" or "float32"
        The type in which `fit` holds X; None leaves float32 as it is and takes float64 for all
        others. float32 takes half the memory. The certificate is about X as it is held. Kernels
        other than the linear one take float64. Tensors need None, and keep their type.

    Attributes
    ----------
    classes_ : array (n_classes,)
    coef_ : array (n_classes, n_features), of two classes (1, n_features)
        Only with the linear kernel: the scores are X @ coef_.T + intercept_. Predictions follow
        coef_ and intercept_ after they are assigned or changed in place.
    intercept_ : array (n_classes,), of two classes with the linear kernel (1,)
    dual_coef_ : array (n_classes, n_samples)
        Only with another kernel: the scores are gram @ dual_coef_.T + intercept_.
    n_iter_ : int
    duality_gap_ : float
        A certified bound of the suboptimality of the mean objective, up to gap_error_. It is about
        the machine that `fit` left, and is refused after coef_, dual_coef_ or intercept_ change.
    gap_error_ : float
        A proved bound of the rounding error of duality_gap_.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import fwlab
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = fwlab.TopKClassifier(fit_intercept=True).fit(X, y)
    >>> machine.predict_proba(X[:1]).argmax(axis=1).tolist()
    [0]
    """

    # with an entropy, a fit may leave them where they are
    _takes_tensors = True

    def __init__(
        self,
        loss: Any = "cross-entropy",
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
        method: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: Any = None,
        verbose: int = 0,
        storage: Any = None,
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
        self.storage = storage

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on X (n, d), or a Gram matrix (n, n), with labels y (n,) of any kind.

        sample_weight (n,) multiplies C per sample. Warns with ConvergenceWarning if max_iter ends
        the training before its gap is at most tol.
        """
        fitted = copy(self)
        X, y = training_samples(fitted, X, y)
        training = fitted._training(X, y, sample_weight, self.C)
        last = getattr(self, "_end", None) if self.warm_start else None
        growth = 1.0 if last is None else self.C / self._trained.parameters["C"]
        with fit_task(self, X, y, sample_weight) as task:
            end = fitted._train(training, last, task, growth)
            fitted._end = end if self.warm_start else None
            task.end(vars(fitted))
        return self._become(fitted)

    @on_class_or_instance
    def path(
        self, X: Any, y: Any, Cs: Any, sample_weight: Any = None, **parameters: Any
    ) -> list[Self]:
        """Return one fitted estimator for each C, in the order of Cs, by warm starts.

        Called on an estimator it takes its arguments, called on the class the defaults; parameters
        replace some of them: `TopKSVC.path(X, y, [0.1, 1.0], k=2)`. Ascending Cs gain most.
        """
        machine = clone(self).set_params(**parameters)
        Cs = as_positive_reals("Cs", Cs)
        X, y = training_samples(machine, X, y)
        training = machine._training(X, y, sample_weight, max(Cs))
        machines, end = [], None
        for last, C in zip([Cs[0], *Cs], Cs, strict=False):
            machines.append(copy(machine).set_params(C=C))
            end = machines[-1]._train(training.with_C(C), end, growth=C / last)
        return machines
