"""Train heads in torch with the exact hinges of fwlab (extra torch).

This module imports torch, and no other one imports it: write `import fwlab.torch_losses`.

The Moreau envelope of a hinge has the gradient -u, where u is the point of the negated domain that
is nearest to -(s + delta) / smoothing, and the value

    <s + delta, -u> - smoothing/2 |u|^2.

Minus the gradients are a feasible dual point, whatever optimiser moves the scores, so that every
step has a bound of its error (fwlab.Problem.dual, fwlab.certify).
"""

from typing import Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from fwlab.checks.arguments import as_real, require_finite
from fwlab.losses import Loss, MaxHinge, PseudoTopK, TopK, Usunier, moreau_envelope
from fwlab.operators.domains import FARTHEST
from fwlab.torch_projection import nearest_points

TYPES = (torch.float32, torch.float64)


def losses(loss: Loss, scores: Any, y: Any, smoothing: float = 0.0) -> Any:
    """Return the loss of each row of scores, or its Moreau envelope, to be differentiated.

    On a CPU the compiled kernels compute values and gradients of any hinge. On another device the
    scores stay where they are, and the loss must be MaxHinge, TopK, PseudoTopK or Usunier.

    Parameters
    ----------
    loss : Loss
        A hinge. torch has a cross-entropy of its own.
    scores : Tensor (n, m)
        float32 or float64; the arithmetic is float64 in any case.
    y : Tensor (n,)
        Labels, integers from 0 to m - 1, on the device of the scores.
    smoothing : float
        Constant of the envelope; 0 for the loss itself, whose gradient is then one subgradient.

    Returns
    -------
    Tensor (n,)
        In the type of the scores. Its gradient cannot be differentiated again.

    Raises
    ------
    TypeError, ValueError
        With one sentence, for any other argument.
    """
    smoothing = as_real("smoothing", smoothing, positive=False)
    _check(loss, scores, y)
    return _Envelope.apply(scores, y.to(torch.int64), loss, smoothing)


def project(loss: Loss, c: Any, y: Any) -> Any:
    """Return the points of the negated domains nearest to the rows of c (n, m), on their device.

    It is `loss.project` for tensors, for MaxHinge, TopK, PseudoTopK and Usunier, in the type of c,
    and raises the errors of `losses`.
    """
    _check(loss, c, y)
    k, r = _bounds(loss, c.shape[1])
    if not bool(torch.isfinite(c).all()):
        raise ValueError("c must be finite.")
    return nearest_points(c, y.to(torch.int64), k, r)


class _Envelope(torch.autograd.Function):  # type: ignore[misc]  # untyped
    """The loss or its envelope; the gradient is found together with the value."""

    @staticmethod
    def forward(context: Any, scores: Any, y: Any, loss: Loss, smoothing: float) -> Any:
        exact = scores.detach().to(torch.float64)
        work = _by_kernels if exact.device.type == "cpu" else _by_tensors
        values, gradients = work(loss, exact, y, smoothing)
        context.save_for_backward(gradients.to(scores.dtype))
        return values.to(scores.dtype)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]  # torch
    def backward(context: Any, above: Any) -> Any:
        (gradients,) = context.saved_tensors
        return above[:, None] * gradients, None, None, None


def _by_kernels(loss: Loss, scores: Any, y: Any, smoothing: float) -> tuple[Any, Any]:
    """Return values (n,) and gradients (n, m) of the compiled kernels."""
    rows, labels = np.ascontiguousarray(scores.numpy()), y.numpy()
    if not smoothing:
        found = loss.value(rows, labels), loss.subgradient(rows, labels)
    else:
        require_finite("scores", rows)
        found = moreau_envelope(loss.polytopes(labels, rows.shape[1]), rows, smoothing)
    values, gradients = map(torch.from_numpy, found)
    return values, gradients


def _by_tensors(loss: Loss, scores: Any, y: Any, smoothing: float) -> tuple[Any, Any]:
    """Return values (n,) and gradients (n, m) on the device of the scores."""
    k, r = _bounds(loss, scores.shape[1])
    labels = torch.arange(scores.shape[1], device=scores.device)[None, :] == y[:, None]
    own = scores.gather(1, y[:, None])
    shifted = torch.where(labels, 0.0, scores + 1.0 - own)
    if not smoothing:
        return _hinges(shifted, labels, k, r)
    # as in fwlab.operators.domains.nearest_to_scores
    least = shifted.abs().amax(dim=1, keepdim=True) / FARTHEST
    u = nearest_points(shifted / -torch.clamp(least, min=smoothing), y, k, r)
    values = (shifted * -u).sum(dim=1) - smoothing / 2 * (u * u).sum(dim=1)
    return values, -u


def _hinges(margins: Any, labels: Any, k: int, r: int) -> tuple[Any, Any]:
    """Return the mean of the k largest margins, not below 0 as a whole or one by one, (n,).

    The margin of the label is 0, and the pseudo top-k hinge leaves it out. Also returns one
    subgradient per row.
    """
    if r == k:
        margins = torch.where(labels, -torch.inf, margins)
    largest, places = torch.topk(margins, k, dim=1)
    used = largest > 0 if r == 0 else largest.sum(dim=1, keepdim=True).expand_as(largest) > 0
    shares = used.to(margins.dtype) / k
    values = (shares * torch.where(used, largest, 0.0)).sum(dim=1)
    beta = torch.zeros_like(margins).scatter(1, places, shares)
    beta = torch.where(labels, 0.0, beta)
    return values, torch.where(labels, -beta.sum(dim=1, keepdim=True), beta)


def _bounds(loss: Loss, m: int) -> tuple[int, int]:
    """Return k and r of fwlab.torch_projection. Raises TypeError for other losses."""
    loss.polytopes(np.zeros(0, dtype=np.int64), m)  # its checks
    if type(loss) is MaxHinge:
        return 1, 0
    if type(loss) is Usunier:
        return loss.k, 0
    if type(loss) is TopK:
        return loss.k, loss.k - 1
    if type(loss) is PseudoTopK:
        return loss.k, loss.k
    name = type(loss).__name__
    raise TypeError(
        f"loss must be MaxHinge, TopK, PseudoTopK or Usunier here; got {name}, which needs tensors "
        "on a CPU."
    )


def _check(loss: Any, scores: Any, y: Any) -> None:
    """Raise TypeError or ValueError unless the arguments fit."""
    if not isinstance(loss, Loss):
        raise TypeError(f"loss must be a fwlab.Loss; got {loss!r}.")
    for name, value in (("scores", scores), ("y", y)):
        if not isinstance(value, torch.Tensor):
            raise TypeError(f"{name} must be a tensor of torch; got a {type(value).__name__}.")
    if scores.ndim != 2 or scores.dtype not in TYPES:
        raise TypeError(
            "scores must be (n, m) of float32 or float64; got "
            f"{tuple(scores.shape)} of {scores.dtype}."
        )
    if y.shape != scores.shape[:1] or y.dtype.is_floating_point or y.dtype == torch.bool:
        raise TypeError(f"y must be ({len(scores)},) integers; got {tuple(y.shape)} of {y.dtype}.")
    if y.device != scores.device:
        raise ValueError(f"y must be on the device of scores, {scores.device}; got {y.device}.")
    if len(y) and not 0 <= int(y.min()) <= int(y.max()) < scores.shape[1]:
        raise ValueError(
            f"y must be in 0..{scores.shape[1] - 1}; got {int(y.min())} to {int(y.max())}."
        )
