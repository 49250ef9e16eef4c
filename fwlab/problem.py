"""The training problem and its Fenchel dual: the mathematics, one equation a line.

    P(W) = lam/2 |W|^2 + (1/n) sum_i omega_i Phi_i(W x_i)                      K19 (1), T20 (2.1)
    D(A) = -lam/2 |W(A)|^2 - (1/n) sum_i (<delta_i, a_i> + r_i/2 |a_i|^2)      K19 (2), T20 (2.3)
    W(A) = A^T X / (lam n),   a_i in omega_i times the negated effective domain

with r_i = smoothing / omega_i, and Phi_i the Moreau envelope of the loss where smoothing > 0
(K19 (25)). omega = 1 but for sample weights; a row with omega_i = 0 is 0.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from fwlab._validation import (
    SMALLEST,
    Floats,
    Integers,
    as_features,
    as_floats,
    as_integer,
    as_labels,
    as_real,
)
from fwlab.features import DenseFeatures, Features, GramFeatures, SparseFeatures
from fwlab.gram import checked_gram
from fwlab.losses import DOMAIN_TOLERANCE, Loss, moreau_envelope
from fwlab.polytope import RowPolytopes

KERNELS = (None, "linear", "precomputed")
STORAGES = ("float64", "float32")
CHUNK = 1024


@dataclass(frozen=True)
class Certificate:
    """Values that bound each other: primal >= optimum >= dual, gap = primal - dual.

    augmented_gap is the gap of the problem in d + n dimensions that has the same dual
    (K19 (27)); without smoothing it is the gap. own_gap is the gap of the problem that a method
    solves where it may be another one.
    """

    primal: float
    dual: float
    gap: float
    augmented_gap: float
    own_gap: float | None = None


class Problem:
    """min over W of lam/2 |W|^2 + mean loss, with everything that its dual needs.

    X: (n, d) array or scipy.sparse matrix, or the (n, n) Gram matrix with kernel="precomputed".
    y: (n,) integers 0 .. n_classes-1. lam > 0. smoothing >= 0 is the constant of the Moreau
    envelope. kernel="linear" works on X X^T. sample_weight: (n,) non-negative weights omega.
    n_classes defaults to the largest label plus one. storage="float32" keeps X in half the room;
    sums are float64, and the problem that is solved and certified is that of the rounded X.

    Raises TypeError or ValueError with one sentence for anything else.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: Loss,
        lam: float,
        smoothing: float = 0.0,
        kernel: str | None = None,
        n_classes: int | None = None,
        sample_weight: Any = None,
        storage: str = "float64",
    ) -> None:
        if not isinstance(loss, Loss):
            raise TypeError(f"loss must be one of fwlab's losses; got {loss!r}.")
        if not (kernel is None or isinstance(kernel, str)) or kernel not in KERNELS:
            raise ValueError(f"kernel must be one of {KERNELS}; got {kernel!r}.")
        if not isinstance(storage, str) or storage not in STORAGES:
            raise ValueError(f"storage must be one of {STORAGES}; got {storage!r}.")
        if storage == "float32" and kernel is not None:
            raise ValueError(f'storage must be "float64" with kernel="{kernel}"; got "float32".')
        self.loss = loss
        self.lam = as_real("lam", lam, positive=True)
        self.smoothing = as_real("smoothing", smoothing, positive=False)
        self.kernel = kernel
        self.storage = storage
        self.notes = _conversion_notes(X, storage)
        self.X: Any = _checked_data(X, kernel, storage)
        self.y = _checked_labels(y, len_x=self.X.shape[0], n_classes=n_classes)
        self.n_classes = int(self.y.max()) + 1 if n_classes is None else int(n_classes)
        self.sample_weight = _checked_sample_weight(sample_weight, self.n_samples)
        self.polytopes = loss.polytopes(self.y, self.n_classes)
        self.features = _features(self.X, kernel)
        self.curvatures = self.features.square_norms() / self.lam_n

    @property
    def n_samples(self) -> int:
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    @property
    def lam_n(self) -> float:
        return self.lam * self.n_samples

    def weights(self, A: Any) -> Floats:
        """W(A) = A^T X / (lam n), (m, d). Raises ValueError with a precomputed kernel."""
        self._require_weights("weights")
        A = self._checked_dual(A)
        return np.ascontiguousarray(_features(self.X, None).transposed_product(A) / self.lam_n)

    def primal(self, W: Any) -> float:
        """P(W) for W (m, d). Raises ValueError with a precomputed kernel."""
        self._require_weights("primal")
        W = as_floats("W", W, ndims=(2,))
        if W.shape != (self.n_classes, self.n_features):
            raise ValueError(
                f"W must be (m, d) = {(self.n_classes, self.n_features)}; got shape {W.shape}."
            )
        return self.primal_value(_features(self.X, None).scores(W), float(np.vdot(W, W)))

    def dual(self, A: Any) -> float:
        """D(A) for A (n, m); -inf outside the domain, with the tolerance of Loss.in_domain."""
        A = self._checked_dual(A)
        if not self.is_feasible(A):
            return -np.inf
        return self.certificate(A).dual

    def gap(self, A: Any) -> float:
        """primal(weights(A)) - dual(A), +inf outside the domain. Needs no W."""
        A = self._checked_dual(A)
        return self.certificate(A).gap if self.is_feasible(A) else np.inf

    def augmented_gap(self, A: Any) -> float:
        """The smoothed gap of K19 (27), never below the gap; +inf outside the domain."""
        A = self._checked_dual(A)
        return self.certificate(A).augmented_gap if self.is_feasible(A) else np.inf

    def scores(self, A: Any, X_new: Any) -> Floats:
        """Prediction scores (n_new, m) of the machine W(A).

        X_new is (n_new, d), or with a precomputed kernel K_new (n_new, n) between the new samples
        and those of the problem.
        """
        A = self._checked_dual(A)
        rows = as_features("X_new", X_new)
        if rows.shape[1] != self.n_features:
            raise ValueError(f"X_new must have {self.n_features} columns; got {rows.shape[1]}.")
        if self.kernel == "precomputed":
            return rows @ (A / self.lam_n)
        return rows @ self.weights(A).T

    def is_feasible(self, A: Floats) -> bool:
        """Whether every row of A lies in omega_i times the negated domain, to tolerance."""
        slack = DOMAIN_TOLERANCE * self.loss.scale
        for rows, polytopes in self.chunks():
            omega = self.sample_weight[rows, None]
            scaled = -A[rows] / np.where(omega > 0, omega, 1.0)
            inside = polytopes.contains(scaled, slack)
            if not inside.all() or A[rows][omega[:, 0] == 0].any():
                return False
        return True

    def infeasibility(self, A: Floats) -> float:
        """Largest distance of an entry of A from the nearest feasible row."""
        rests = (A[rows] - self.nearest_feasible(A, rows) for rows, _ in self.chunks())
        return max(float(np.abs(rest).max()) for rest in rests)

    # The rest is for solvers: links and scores are passed in where a solver already has them.

    def with_loss(self, loss: Loss) -> "Problem":
        """The same problem with another loss; it shares the data."""
        other = copy(self)
        other.loss = loss
        other.polytopes = loss.polytopes(self.y, self.n_classes)
        return other

    def with_gram(self) -> "Problem":
        """The same problem with its products taken from X X^T, (n, n)."""
        other = copy(self)
        other.kernel = "linear"
        other.features = _features(self.X, "linear")
        return other

    def with_lam(self, lam: float) -> "Problem":
        """The same problem with another lam; it shares the data."""
        other = copy(self)
        other.lam = as_real("lam", lam, positive=True)
        other.curvatures = self.features.square_norms() / other.lam_n
        return other

    def restricted(self, index: Integers) -> "Problem":
        """The block steps of some samples: the same lam n, and with a Gram matrix their part."""
        other = copy(self)
        if isinstance(self.features, GramFeatures):
            other.features = GramFeatures(self.features.K[np.ix_(index, index)])
        else:
            other.features = self.features.rows(index)
        other.X = self.X[index]
        other.lam = self.lam_n / len(index)
        other.y = self.y[index]
        other.sample_weight = self.sample_weight[index]
        other.polytopes = self.polytopes.take(index)
        other.curvatures = self.curvatures[index]
        return other

    def link(self, A: Floats) -> Floats:
        """W(A), or with a Gram matrix A^T K / (lam n), (m, n)."""
        link = self.features.transposed_product(A)
        link /= self.lam_n
        return link

    def vertex_link(self, columns: Integers, entries: Floats) -> Floats:
        """The link of compact vertices (RowPolytopes.compact_vertices)."""
        link = self.features.transposed_vertex_product(columns, entries, self.n_classes)
        link /= self.lam_n
        return link

    def certificate(
        self,
        A: Floats,
        link: Floats | None = None,
        scores: Floats | None = None,
        coefficients: Floats | None = None,
    ) -> Certificate:
        """Primal, dual and gaps at A and the W that `link` holds, recomputed if not given.

        With coefficients C (n, m) the primal point is W(C), and link and scores are those of C.
        """
        C = A if coefficients is None else coefficients
        link = self.link(C) if link is None else link
        scores = self.features.scores(link) if scores is None else scores
        square_norm = self.features.link_norm(link, C, self.lam_n)
        primal = self.primal_value(scores, square_norm)
        augmented = self._augmented_primal(A, scores, square_norm) if self.smoothing else primal
        if coefficients is not None:
            square_norm = self.features.link_norm(self.link(A), A, self.lam_n)
        dual = self.dual_value(A, square_norm)
        return Certificate(primal, dual, primal - dual, augmented - dual)

    def chunks(self) -> Iterator[tuple[slice, RowPolytopes]]:
        """Slices of samples with their polytopes, so that temporary arrays stay small."""
        for start in range(0, self.n_samples, CHUNK):
            rows = slice(start, start + CHUNK)
            yield rows, self.polytopes.take(rows)

    def shifted_scores(self, A: Floats, scores: Floats) -> Floats:
        """s_i + (smoothing/omega_i) a_i: with delta, -n times the dual's gradient (T20 (2.24))."""
        return scores + self.ridge() * A if self.smoothing else scores

    def nearest_feasible(self, A: Floats, rows: slice) -> Floats:
        """The feasible rows nearest to A[rows]."""
        omega = self.sample_weight[rows, None]
        scaled = A[rows] / np.where(omega > 0, omega, 1.0)
        return omega * self.polytopes.take(rows).project(scaled)

    def block_gaps(self, A: Floats, scores: Floats) -> Floats:
        """n times the share of each block in the (augmented) gap, (n,), at the scores of W(A)."""
        shifted = self.shifted_scores(A, scores)
        products = np.einsum("ij,ij->i", shifted, A) + self.polytopes.cost_products(A)
        return products + self.sample_weight * self.polytopes.values(shifted)

    def vertex_curvature(
        self, A: Floats, columns: Integers, entries: Floats, link: Floats, scores: Floats
    ) -> float:
        """Minus the second derivative of D from A towards compact vertices U   (T20 (2.26)).

        link and scores are those of U - A.
        """
        square_norm = self.features.link_norm(link, -A, self.lam_n)
        if self.kernel is not None:
            picked = np.take_along_axis(scores, columns, axis=1)
            square_norm += float(np.vdot(picked, entries)) / self.lam_n
        ridge = self.ridge()[:, 0]
        own = np.einsum("ij,ij->i", entries, entries)
        own -= 2 * np.einsum("ij,ij->i", entries, np.take_along_axis(A, columns, axis=1))
        quadratic = self._quadratic(A) + float(np.vdot(ridge, own)) / (2 * len(A))
        return self.lam * max(0.0, square_norm) + 2 * max(0.0, quadratic)

    def curvature(self, direction: Floats, link: Floats) -> float:
        """Minus the second derivative of D along a direction (n, m) and its link   (T20 (2.26))."""
        square_norm = self.features.link_norm(link, direction, self.lam_n)
        return self.lam * max(0.0, square_norm) + 2 * self._quadratic(direction)

    def ridge(self) -> Floats:
        """smoothing / omega_i, (n, 1); 0 where omega_i = 0, whose rows of A are 0."""
        omega = self.sample_weight
        return (self.smoothing / np.where(omega > 0, omega, np.inf))[:, None]

    def primal_value(self, scores: Floats, square_norm: float) -> float:
        """P(W) from the scores X W^T and |W|^2."""
        if self.smoothing:
            values = np.concatenate(
                [
                    moreau_envelope(polytopes, scores[rows], self.smoothing)[0]
                    for rows, polytopes in self.chunks()
                ]
            )
        else:
            values = self.polytopes.values(scores)
        return self.lam / 2 * square_norm + float(np.mean(self.sample_weight * values))

    def dual_value(self, A: Floats, square_norm: float) -> float:
        """D(A) from A and |W(A)|^2."""
        linear = float(np.mean(self.polytopes.cost_products(A)))
        return -self.lam / 2 * square_norm - linear - self._quadratic(A)

    def _quadratic(self, A: Floats) -> float:
        """(1/n) sum_i smoothing/(2 omega_i) |a_i|^2."""
        if not self.smoothing:
            return 0.0
        return float(np.vdot(self.ridge()[:, 0], np.einsum("ij,ij->i", A, A))) / 2 / len(A)

    def _augmented_primal(self, A: Floats, scores: Floats, square_norm: float) -> float:
        ridge = self.ridge()
        values = np.concatenate(
            [
                polytopes.values(scores[rows] + ridge[rows] * A[rows])
                for rows, polytopes in self.chunks()
            ]
        )
        norm = self.lam / 2 * square_norm + self._quadratic(A)
        return norm + float(np.mean(self.sample_weight * values))

    def _checked_dual(self, A: Any) -> Floats:
        A = as_floats("A", A, ndims=(2,))
        if A.shape != (self.n_samples, self.n_classes):
            raise ValueError(
                f"A must be (n, m) = {(self.n_samples, self.n_classes)}; got shape {A.shape}."
            )
        return A

    def _require_weights(self, name: str) -> None:
        if self.kernel == "precomputed":
            raise ValueError(f'{name} needs W, which kernel="precomputed" does not have.')


def _features(X: Any, kernel: str | None) -> Features:
    if kernel == "precomputed":
        return GramFeatures(X)
    if kernel == "linear":
        gram = X @ X.T
        return GramFeatures(gram.toarray() if scipy.sparse.issparse(gram) else gram)
    return SparseFeatures(X) if scipy.sparse.issparse(X) else DenseFeatures(X)


def _checked_data(X: Any, kernel: str | None, storage: str) -> Any:
    if kernel == "precomputed":
        return checked_gram(X)
    return as_features("X", X, np.float32 if storage == "float32" else np.float64)


def _conversion_notes(X: Any, storage: str) -> tuple[str, ...]:
    if storage == "float32":
        return ("X is stored as float32, and the certificate is that of the stored X.",)
    if getattr(X, "dtype", None) == np.float32:
        return ("X was converted from float32 to float64.",)
    return ()


def _checked_labels(y: Any, len_x: int, n_classes: int | None) -> Integers:
    if n_classes is not None:
        n_classes = as_integer("n_classes", n_classes, low=2)
    labels = as_labels(y, n_classes)
    if len(labels) != len_x:
        raise ValueError(f"y must have one label a row of X, {len_x}; got {len(labels)}.")
    if n_classes is None and labels.min() == labels.max():
        raise ValueError(
            f"y must hold at least two classes unless n_classes is given; got only {labels[0]}."
        )
    return labels


def _checked_sample_weight(sample_weight: Any, n: int) -> Floats:
    if sample_weight is None:
        return np.ones(n)
    omega = as_floats("sample_weight", sample_weight, ndims=(1,)).copy()
    if len(omega) != n:
        raise ValueError(f"sample_weight must have one weight a row of X, {n}; got {len(omega)}.")
    if omega.min() < 0:
        raise ValueError(f"sample_weight must be non-negative; got {omega.min()}.")
    if omega[omega > 0].min(initial=1.0) < SMALLEST:
        raise ValueError(f"sample_weight must be 0 or at least {SMALLEST}; got a smaller weight.")
    if not omega.any():
        raise ValueError(f"sample_weight must not be all zero; got {n} zeros.")
    return omega
