"""The losses that an estimator knows by name."""

from collections.abc import Callable
from typing import Any

from fwlab import weights as weight_vectors
from fwlab.checks.arguments import as_integer, as_rho
from fwlab.cross_entropy import CrossEntropy, EntropyLoss
from fwlab.losses import (
    Loss,
    MaxHinge,
    PseudoTopK,
    TopK,
    Usunier,
    WeightedTopK,
    WeightedUsunier,
)
from fwlab.polytope_loss import PolytopeLoss
from fwlab.topk_entropy import TopKEntropy

PLAIN: dict[str, Callable[[int], Loss | EntropyLoss]] = {
    "topk": TopK,
    "usunier": Usunier,
    "max-hinge": lambda k: MaxHinge(),
    "pseudo-topk": PseudoTopK,
    "cross-entropy": lambda k: CrossEntropy(),
    "topk-entropy": TopKEntropy,
}
WEIGHTED: dict[str, Callable[[Any], Loss]] = {"topk": WeightedTopK, "usunier": WeightedUsunier}
SCHEMES = {"linear": weight_vectors.linear, "exponential": weight_vectors.exponential}


def named_loss(
    loss: Any, k: Any, weights: Any, n_classes: int
) -> Loss | PolytopeLoss | EntropyLoss:
    """Return the loss that an estimator's arguments describe; an object has its own k and weights.

    Parameters
    ----------
    loss : str, Loss, PolytopeLoss, CrossEntropy or TopKEntropy
        One of "topk", "usunier", "max-hinge", "pseudo-topk", "cross-entropy" and "topk-entropy", or
        an object.
    k : int
        At most n_classes, with "pseudo-topk" and "topk-entropy" at most n_classes - 1.
    weights : str or array
        "flat", "linear" or "exponential" weights of k entries, or the weight vector rho, which then
        stands for k, too.

    Raises
    ------
    TypeError, ValueError
        With one sentence, if an argument is not as described.
    """
    flat = isinstance(weights, str) and weights == "flat"
    if isinstance(loss, Loss | PolytopeLoss | EntropyLoss):
        as_integer("k", k, low=1)
        if not flat:
            raise ValueError(f'weights must be "flat" with loss={loss!r}; got {weights!r}.')
        return loss
    if not isinstance(loss, str) or loss not in PLAIN:
        raise ValueError(
            f"loss must be a loss of fwlab or one of {', '.join(PLAIN)}; got {loss!r}."
        )
    if not flat and loss not in WEIGHTED:
        raise ValueError(f'weights must be "flat" with loss="{loss}"; got {weights!r}.')
    if isinstance(weights, str) and not flat and weights not in SCHEMES:
        raise ValueError(
            f"weights must be flat, {', '.join(SCHEMES)} or an array; got {weights!r}."
        )
    if not isinstance(weights, str):
        rho = as_rho("weights", weights)
        if len(rho) > n_classes:
            raise ValueError(
                f"weights must have at most one entry a class of y, {n_classes}; got {len(rho)}."
            )
        return WEIGHTED[loss](rho)
    k = as_integer("k", k, low=1, high=largest_k(loss, n_classes))
    return PLAIN[loss](k) if flat else WEIGHTED[loss](SCHEMES[weights](k))


def largest_k(loss: Any, n_classes: int) -> int | None:
    """Return the largest k of an estimator's named loss; None if the loss has no k of that name."""
    if loss in ("pseudo-topk", "topk-entropy"):
        return n_classes - 1
    return n_classes if loss in ("topk", "usunier") else None


def no_probabilities(loss: Any, k: Any) -> str:
    """Return why an estimator's loss, a name or an object, has no probabilities, or ""."""
    if isinstance(loss, TopKEntropy) or (isinstance(loss, str) and loss == "topk-entropy"):
        k = loss.k if isinstance(loss, TopKEntropy) else k
        many = "the shares of the classes in a top-k entropy depend on the label for k > 1"
        return "" if k == 1 else f'probabilities need loss="cross-entropy": {many}; got k = {k!r}.'
    if isinstance(loss, CrossEntropy) or (isinstance(loss, str) and loss == "cross-entropy"):
        return ""
    return f'probabilities need loss="cross-entropy"; got {loss!r}.'
