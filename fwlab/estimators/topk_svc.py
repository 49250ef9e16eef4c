"""The multi-class SVM with a top-k loss: TopKClassifier with hinges alone."""

from typing import Any

from fwlab.cross_entropy import EntropyLoss
from fwlab.estimators.topk_classifier import TopKClassifier


class TopKSVC(TopKClassifier):
    """Support vector classifier that is right if the true class is among its k best.

    It is TopKClassifier with hinges alone and other defaults: `loss="topk"` and `method="ascent"`.

    Parameters
    ----------
    loss : "topk", "usunier", "max-hinge", "pseudo-topk", or a fwlab.Loss or PolytopeLoss
        The top-k hinge (Kato & Hirohashi 2019, (3)), its entrywise version (Lapin et al. 2015,
        (5)), Crammer and Singer's hinge, or the top-k hinge of the other classes. For k = 1 they
        are one loss.
    k : int
        From 1 to the number of classes.
    weights, C, .. storage
        As for TopKClassifier, which also names the attributes.

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
        storage: Any = None,
    ) -> None:
        # in the order of the arguments
        machine = loss, k, weights, C, smoothing, kernel, gamma, norm
        data = fit_intercept, intercept_scaling, class_weight, warm_start
        super().__init__(*machine, *data, method, tol, max_iter, random_state, verbose, storage)

    def _loss(self, n_classes: int) -> Any:
        loss = super()._loss(n_classes)
        if isinstance(loss, EntropyLoss):
            raise ValueError(
                f"loss must be a hinge in TopKSVC; got {self.loss!r}, which fwlab.TopKClassifier "
                "takes."
            )
        return loss
