"""Check the arguments of a problem. Each error is one sentence."""

from typing import Any, NoReturn

import numpy as np

from fwlab.arrays import (
    Floats,
    Integers,
    has_float64,
    is_tensor,
    namespace_of,
    on_host,
    without_gradient,
)
from fwlab.checks.arguments import (
    LARGEST,
    as_features,
    as_floats,
    as_integer,
    as_real,
)
from fwlab.checks.gram import checked_gram
from fwlab.checks.labels import encoded_labels
from fwlab.cross_entropy import EntropyLoss
from fwlab.losses import Loss
from fwlab.lp_norm import LpNorm
from fwlab.operators.domains import Domains
from fwlab.operators.tensor_rows import TensorRows
from fwlab.polytope_loss import PolytopeLoss

KERNELS = (None, "linear", "precomputed")
STORAGES = ("float64", "float32")


def check_kinds(loss: Any, kernel: Any, regularizer: Any, storage: Any) -> None:
    """Raise TypeError or ValueError unless the choices exist and are compatible."""
    if not isinstance(loss, Loss | PolytopeLoss | EntropyLoss):
        raise TypeError(
            f"loss must be one of fwlab's losses or a Loss or PolytopeLoss of yours; got {loss!r}."
        )
    if not (kernel is None or isinstance(kernel, str)) or kernel not in KERNELS:
        raise ValueError(f"kernel must be one of {KERNELS}; got {kernel!r}.")
    if not (regularizer is None or isinstance(regularizer, LpNorm)):
        raise TypeError(f"regularizer must be None or a fwlab.LpNorm; got {regularizer!r}.")
    if not isinstance(storage, str) or storage not in STORAGES:
        raise ValueError(f"storage must be one of {STORAGES}; got {storage!r}.")
    if storage == "float32" and kernel is not None:
        raise ValueError(f'storage must be "float64" with kernel="{kernel}"; got "float32".')


def check_smoothing(loss: Any, polytopes: Domains, smoothing: float) -> None:
    """Raise ValueError if the loss has no Moreau envelope here."""
    if smoothing and isinstance(loss, EntropyLoss):
        name = type(loss).__name__
        raise ValueError(f"smoothing must be 0 with {name}, a smooth loss; got {smoothing}.")
    if smoothing and not polytopes.projects:
        lacks(loss, "project", "smoothing")


def checked_data(X: Any, kernel: str | None, storage: str) -> tuple[Any, float]:
    """Return X as a finite array or CSR matrix, or as a Gram matrix, and the shift of checked_gram.

    The shift is 0 if X holds samples.
    """
    if kernel == "precomputed":
        return checked_gram(X)
    return as_features("X", X, np.float32 if storage == "float32" else np.float64), 0.0


def keeps_tensor(X: Any, loss: Any, kernel: Any) -> bool:
    """Return whether X is a tensor that the problem keeps; others become arrays of numpy."""
    return (
        kernel is None
        and isinstance(loss, EntropyLoss)
        and (isinstance(X, TensorRows) or is_tensor(X))
    )


def checked_tensor(X: Any) -> Any:
    """Return X (n, d), a tensor of a floating type, without its gradient.

    Raises TypeError for other types and for a device without float64, and ValueError for another
    shape. Finite entries are checked where their squares are summed.
    """
    rows = X.X if isinstance(X, TensorRows) else X
    if "sparse" in str(getattr(rows, "layout", "")):
        raise TypeError(f"X must be a dense tensor; got layout {rows.layout}.")
    if not namespace_of(rows).isdtype(rows.dtype, "real floating"):
        raise TypeError(f"X must be a tensor of a floating type; got {rows.dtype}.")
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(
            f"X must be 2-D with at least one row and one column; got shape {tuple(rows.shape)}."
        )
    if not has_float64(rows):
        raise TypeError(
            f"X must be on a device with float64, in which gaps are certified; got {rows.device}: "
            "pass X on the host, as X.cpu()."
        )
    return without_gradient(X)


def conversion_notes(X: Any, storage: str) -> tuple[str, ...]:
    """Return one sentence for each conversion of X."""
    if storage == "float32":
        return ("X is stored as float32, and the certificate is that of the stored X.",)
    if not is_tensor(X) and getattr(X, "dtype", None) == np.float32:
        return ("X was converted from float32 to float64.",)
    return ()


def shift_note(K: Any, shift: float) -> tuple[str, ...]:
    """Return one sentence if a Gram matrix K is indefinite beyond rounding, by checked_gram."""
    if shift == 0 or shift <= 100 * len(K) * np.finfo(float).eps * np.abs(K).max():
        return ()
    return (f"X is positive semidefinite only up to {shift:.2g} I, which gap_error counts.",)


def checked_labels(y: Any, len_x: int, n_classes: int | None) -> tuple[Integers, np.ndarray]:
    """Return y as classes 0 .. m-1, one per row of X, and the labels that they stand for."""
    if n_classes is not None:
        n_classes = as_integer("n_classes", n_classes, low=2)
    codes, classes = encoded_labels(on_host(y), n_classes)
    if len(codes) != len_x:
        raise ValueError(f"y must have one label per row of X, {len_x}; got {len(codes)}.")
    if len(classes) < 2:
        raise ValueError(
            f"y must hold at least two classes unless n_classes is given; got only {classes}."
        )
    return codes, classes


def checked_lam(lam: Any, C: Any, n: int) -> float:
    """Return lam, or 1 / (C n): exactly one of lam and C must be given."""
    if C is None and lam is None:
        raise TypeError("lam must be a real number, or C with lam = 1 / (C n); got None for both.")
    if C is None:
        return as_real("lam", lam, positive=True)
    if lam is not None:
        raise ValueError(f"lam must be None if C is given; got lam={lam!r} and C={C!r}.")
    C = as_real("C", C, positive=True)
    return as_real(f"lam = 1 / (C n) with C = {C:g}", 1.0 / (C * n), positive=True)


def checked_matrix(name: str, axes: str, value: Any, shape: tuple[int, int]) -> Floats:
    """Return `value` as a finite array of the given shape; `axes` names its axes in the error."""
    matrix = as_floats(name, value, ndims=(2,))
    if matrix.shape != shape:
        raise ValueError(f"{name} must be {axes} = {shape}; got shape {matrix.shape}.")
    return matrix


def check_scales(square_norms: Floats, lam_n: float, omega: Floats, reach: float) -> None:
    """Raise ValueError if machines, scores or losses of dual points could leave float64.

    |a_ij| is at most omega_i times `reach`. Hence bounds of the entries of W(A), of the scores, and
    of lam |W(A)|^2, which is the mean of <a_i, s_i>.

    Parameters
    ----------
    square_norms : array (n,)
        |x_i|^2.
    lam_n : float
        lam times n.
    omega : array (n,)
        The sample weights.
    reach : float
        The size of the domains.
    """
    if not np.isfinite(square_norms).all():
        row = int(np.flatnonzero(~np.isfinite(square_norms))[0])
        raise ValueError(f"X must be finite and at most {LARGEST:g} in size; row {row} is not.")
    norms = np.sqrt(square_norms)
    with np.errstate(over="ignore"):
        machine = reach * float(omega @ norms) / lam_n
        score = float(norms.max()) * machine
        largest = max(machine, score, float(omega.max()) * reach * max(score, 1.0))
        # so that |x_i|^2 / (lam n) is finite, of rows without a weight, too
        largest = max(largest, float(norms.max()) / np.sqrt(lam_n))
    if not largest <= LARGEST:
        raise ValueError(
            f"X, lam, sample_weight and loss must keep all products below {LARGEST:g}; with rows "
            f"of norm {norms.max():.3g}, lam n = {lam_n:.3g}, weights up to {omega.max():.3g} and "
            f"a domain of size {reach:.3g} they can reach {largest:.3g}."
        )


def lacks(loss: Any, function: str, purpose: str) -> NoReturn:
    """Raise ValueError: a loss from outside the family lacks a function."""
    raise ValueError(
        f"loss must define `{function}` for {purpose}; {type(loss).__name__} does not."
    )


def require_weights(kernel: str | None, name: str, X: Any = None) -> None:
    """Raise ValueError with a precomputed kernel, which has no W, and TypeError for a tensor X."""
    require_array(name, X)
    if kernel == "precomputed":
        raise ValueError(f'{name} needs W, which kernel="precomputed" does not have.')


def require_array(name: str, X: Any) -> None:
    """Raise TypeError if X is a tensor, for whose certificate a machine is enough."""
    if isinstance(X, TensorRows) or is_tensor(X):
        raise TypeError(
            f"{name} needs X as an array of numpy; got a tensor on {X.device}: "
            "fwlab.certify(problem, W) evaluates a machine there."
        )
