"""Tell scikit-learn's callbacks of a fit, and of its parts; scikit-learn has them from 1.9 on."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from fwlab.arrays import copied

__all__ = ["CallbackSupportMixin", "FitTask", "as_result", "fit_task"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]  # in older releases
        """Nothing: no callback can be set."""

    def with_callbacks(method: Any) -> Any:
        """Return the method itself."""
        return method


@dataclass(frozen=True, eq=False)
class FitTask:
    """A fit, or a part of one, as callbacks see it.

    Attributes
    ----------
    estimator : estimator
        The one that the callbacks are set on.
    context : CallbackContext or None
        scikit-learn's place of the task among others; None without callbacks.
    data : dict
        X, y and metadata of the task.
    """

    estimator: Any
    context: Any
    data: Mapping[str, Any]

    def part(self, name: str, parts: int | None = 0) -> Self:
        """Begin the next part, which has parts of its own, None for a number that nobody knows."""
        context = None
        if self.context is not None:
            context = self.context.subcontext(task_name=name, max_subtasks=parts)
        return type(self)(self.estimator, context, self.data)._begun()

    def end(self, attributes: Any = None) -> bool:
        """End the task, and return whether a callback wants no more of its kind.

        attributes: what makes a copy of the estimator a fitted one, or a function that returns it.
        """
        if self.context is None:
            return False
        hook = self.context.call_on_fit_task_end
        stop = hook(estimator=self.estimator, **self.data, reconstruction_attributes=attributes)
        return bool(stop)

    def each_checkpoint(self, fitted: Callable[[Any], Any]) -> Callable[[Any], None] | None:
        """Return a callback of `solve` that makes each checkpoint a part; None if nobody listens.

        fitted: returns the estimator's attributes as after a fit that ends with this progress.
        """
        if not getattr(self.estimator, "_skl_callbacks", None):
            return None

        def checkpoint(progress: Any) -> None:
            if self.part("checkpoint").end(lambda: fitted(progress)):
                raise StopIteration

        return checkpoint

    def _begun(self) -> Self:
        if self.context is not None:
            self.context.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        return self


@contextmanager
def fit_task(
    estimator: Any, X: Any, y: Any, sample_weight: Any, parts: int | None = None
) -> Iterator[FitTask]:
    """Begin a fit in a `with` block, at whose end callbacks are torn down in any case.

    parts: the number of parts of the fit, None for a number that nobody knows.
    """
    weight = None if sample_weight is None else {"sample_weight": sample_weight}
    try:
        context = None
        if hasattr(estimator, "_init_callback_context"):
            context = estimator._init_callback_context(max_subtasks=parts)
        yield FitTask(estimator, context, {"X": X, "y": y, "metadata": weight})._begun()
    finally:
        _tear_down(estimator)


# around nothing; around `fit` it would stand between a warning and the caller
_tear_down = with_callbacks(lambda estimator: None)


def as_result(progress: Any) -> Any:
    """Return what a fitted machine keeps of a run, at a checkpoint; nothing is certified there."""
    return SimpleNamespace(
        W=None if progress.W is None else copied(progress.W),
        A=progress.A if progress.W is None else None,
        coefficients=None,
        nit=progress.iteration,
        gap=progress.gap,
        gap_error=np.inf,
        distance=np.inf,
        centre=None,
    )
