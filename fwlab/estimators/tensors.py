"""Fit and predict with tensors where they are, if scikit-learn's array_api_dispatch is on.

Tensors stay tensors only for TopKClassifier with an entropy and a method that takes tensors. All
else reads tensors as arrays of numpy, and refuses a tensor that numpy cannot read.
"""

from typing import Any

from sklearn import get_config

from fwlab.arrays import is_tensor, namespace_of, on_host, without_gradient
from fwlab.checks.arguments import of_tensor
from fwlab.checks.labels import one_column, plain_labels
from fwlab.cross_entropy import EntropyLoss
from fwlab.solvers.registry import takers

ENTROPIES = ("cross-entropy", "topk-entropy")
SWITCH = "sklearn.set_config(array_api_dispatch=True)"


def is_dispatched() -> bool:
    """Return whether scikit-learn was told to leave tensors as they are."""
    return bool(get_config()["array_api_dispatch"])


def keeps_tensor(estimator: Any, X: Any) -> bool:
    """Return whether a fit leaves X as it is, a tensor."""
    return is_tensor(X) and is_dispatched() and not reason_for_arrays(estimator)


def reason_for_arrays(estimator: Any) -> str:
    """Return the parameter by which an estimator trains on arrays alone, "" if there is none."""
    if not getattr(estimator, "_takes_tensors", False):
        return f"the estimator must be TopKClassifier; got {type(estimator).__name__}"
    loss, method = estimator.loss, estimator.method
    if not (isinstance(loss, EntropyLoss) or (isinstance(loss, str) and loss in ENTROPIES)):
        return f"loss must be {' or '.join(ENTROPIES)}; got {loss!r}"
    takes = getattr(method, "takes_tensors", method if isinstance(method, str) else False)
    if takes is not True and takes not in takers("takes_tensors"):
        return f"method must be {' or '.join(takers('takes_tensors'))}; got {method!r}"
    for name, needed in (("kernel", "linear"), ("norm", 2), ("storage", None)):
        given = getattr(estimator, name)
        if not (given is needed or (isinstance(given, str | float | int) and given == needed)):
            return f"{name} must be {needed!r}; got {given!r}"
    return ""


def advice(estimator: Any, X: Any) -> str:
    """Return how a fit could leave a tensor X where it is, as the end of a refusal."""
    if not is_tensor(X):
        return ""
    if reason := reason_for_arrays(estimator):
        return f", or leave it there, for which {reason}"
    return f", or leave it there with {SWITCH} or with fwlab.solve"


def beside_arrays(name: str, value: Any) -> Any:
    """Return labels or weights as an array; with the switch on they may lie on another device.

    Raises TypeError for another tensor.
    """
    return on_host(value) if is_dispatched() else of_tensor(name, value)


def training_labels(X: Any, y: Any) -> Any:
    """Return the labels y (n,) of a tensor X (n, d): a tensor as it is, others as an array."""
    labels = plain_labels(one_column(on_host(y)))
    if len(labels) != X.shape[0]:
        raise ValueError(f"y must have {X.shape[0]} labels, one per row of X; got {len(labels)}.")
    return y if is_tensor(y) and y.ndim == 1 else labels


def plain_rows(name: str, X: Any) -> Any:
    """Return a dense tensor without its gradient. Raises TypeError for a sparse one."""
    if "sparse" in str(getattr(X, "layout", "")):
        raise TypeError(f"{name} must be a dense tensor; got layout {X.layout}.")
    return without_gradient(X)


def floating(X: Any) -> Any:
    """Return a tensor of real numbers; all but floating types become float64."""
    xp = namespace_of(X)
    return X if xp.isdtype(X.dtype, "real floating") else xp.astype(X, xp.float64)


def require_beside(estimator: Any, X: Any, method: str) -> None:
    """Raise ValueError unless X is a tensor of the library and on the device of coef_."""
    coef = estimator.coef_
    if is_tensor(X) and namespace_of(X) is namespace_of(coef) and X.device == coef.device:
        return
    raise ValueError(
        f"X of {type(estimator).__name__}.{method}() must use the same namespace and the same "
        f"device as coef_, which is {_named(coef)}; got {_named(X)}."
    )


def _named(value: Any) -> str:
    """Return the library and the device of a tensor, or the type of another value."""
    if not is_tensor(value):
        return f"a value of type {type(value).__name__}"
    return f"a tensor of {type(value).__module__.partition('.')[0]} on {value.device}"
