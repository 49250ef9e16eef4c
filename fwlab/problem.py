"""The training problem and its Fenchel dual: the mathematics, one equation a line.

    P(W) = lam/2 |W|^2 + (1/n) sum_i omega_i Phi_i(W x_i)                      K19 (1), T20 (2.1)
    D(A) = -lam/2 |W(A)|^2 - (1/n) sum_i (<delta_i, a_i> + r_i/2 |a_i|^2)      K19 (2), T20 (2.3)
    W(A) = A^T X / (lam n),   a_i in omega_i times the negated effective domain

with r_i = smoothing / omega_i, and Phi_i the Moreau envelope of the loss where smoothing > 0
(K19 (25)). omega = 1 but for sample weights; a row with omega_i = 0 is 0. With a block norm
(fwlab.lp_norm) |W|^2 / 2 becomes R(W), and with V(A) = A^T X / (lam n), the link of A,

    D(A) = -lam R*(V(A)) - ..,   W(A) = grad R*(V(A))                        LP15 (D), Theorem 12
"""

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import as_features, as_floats, as_real
from fwlab.losses import DOMAIN_TOLERANCE, Loss, moreau_envelope
from fwlab.lp_norm import LpNorm
from fwlab.operators.domains import RowPolytopes
from fwlab.operators.features import GramFeatures, features_of
from fwlab.problem_input import (
    check_kinds,
    checked_data,
    checked_labels,
    checked_sample_weight,
    conversion_notes,
)
from fwlab.result import Certificate

CHUNK = 1024


class Problem:
    """min over W of lam R(W) + mean loss, with everything that its dual needs.

    X: (n, d) array or scipy.sparse matrix, or the (n, n) Gram matrix with kernel="precomputed".
    y: (n,) integers 0 .. n_classes-1. lam > 0. smoothing >= 0 is the constant of the Moreau
    envelope. kernel="linear" works on X X^T. sample_weight: (n,) non-negative weights omega.
    n_classes defaults to the largest label plus one. regularizer: a fwlab.LpNorm, by default
    LpNorm(2), R(W) = |W|^2 / 2. storage="float32" keeps X in half the room; sums are float64, and
    the problem that is solved and certified is that of the rounded X.

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
        regularizer: LpNorm | None = None,
        storage: str = "float64",
    ) -> None:
        check_kinds(loss, kernel, regularizer, storage)
        self.loss = loss
        self.lam = as_real("lam", lam, positive=True)
        self.smoothing = as_real("smoothing", smoothing, positive=False)
        self.regularizer = regularizer or LpNorm(2)
        self.kernel = kernel
        self.storage = storage
        self.notes = conversion_notes(X, storage)
        self.X: Any = checked_data(X, kernel, storage)
        self.y = checked_labels(y, len_x=self.X.shape[0], n_classes=n_classes)
        self.n_classes = int(self.y.max()) + 1 if n_classes is None else int(n_classes)
        self.sample_weight = checked_sample_weight(sample_weight, self.n_samples)
        self.polytopes = loss.polytopes(self.y, self.n_classes)
        self.features = features_of(self.X, kernel)
        self.curvatures = self.features.square_norms() / self.lam_n

    @property
    def n_samples(self) -> int:
        return len(self.y)

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    @property
    def lam_n(self) -> float:
        return self.lam * self.n_samples

    def weights(self, A: Any) -> Floats:
        """W(A), (m, d). Raises ValueError with a precomputed kernel, and with LpNorm(1)."""
        self._require_weights("weights")
        self.regularizer.require_representer("weights")
        V = self.combination(self._checked_dual(A))
        return V if self.regularizer.plain else self.regularizer.representer(V)

    def primal(self, W: Any) -> float:
        """P(W) for W (m, d). Raises ValueError with a precomputed kernel."""
        self._require_weights("primal")
        W = as_floats("W", W, ndims=(2,))
        if W.shape != (self.n_classes, self.n_features):
            raise ValueError(
                f"W must be (m, d) = {(self.n_classes, self.n_features)}; got shape {W.shape}."
            )
        square_norm = 2 * self.regularizer.value(W)
        return self.primal_value(features_of(self.X, None).scores(W), square_norm)

    def dual(self, A: Any) -> float:
        """D(A) for A (n, m); -inf outside the domain, with the tolerance of Loss.in_domain."""
        A = self._checked_dual(A)
        if not self.is_feasible(A):
            return -np.inf
        return self.dual_value(A, self.dual_square_norm(self.link(A), A))

    def gap(self, A: Any) -> float:
        """primal(weights(A)) - dual(A), +inf outside the domain. Needs no W, but raises ValueError
        with LpNorm(1), which has no weights(A)."""
        self.regularizer.require_representer("gap")
        A = self._checked_dual(A)
        return self.certificate(A).gap if self.is_feasible(A) else np.inf

    def augmented_gap(self, A: Any) -> float:
        """The smoothed gap of K19 (27), never below the gap; +inf outside the domain."""
        self.regularizer.require_representer("augmented_gap")
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
            return rows @ (self.expansion(A) / self.lam_n)
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
        other.features = features_of(self.X, "linear")
        return other

    def with_lam(self, lam: float) -> "Problem":
        """The same problem with another lam; it shares the data."""
        other = copy(self)
        other.lam = as_real("lam", lam, positive=True)
        other.curvatures = self.features.square_norms() / other.lam_n
        return other

    def restricted(self, index: Integers) -> "Problem":
        """The block steps of some samples: the same lam n, and with a Gram matrix their part.

        X stays whole, because the steps know it through its features alone.
        """
        other = copy(self)
        if isinstance(self.features, GramFeatures):
            other.features = GramFeatures(self.features.K[np.ix_(index, index)])
        else:
            other.features = self.features.rows(index)
        other.lam = self.lam_n / len(index)
        other.y = self.y[index]
        other.sample_weight = self.sample_weight[index]
        other.polytopes = self.polytopes.take(index)
        other.curvatures = self.curvatures[index]
        return other

    def combination(self, C: Floats) -> Floats:
        """C^T X / (lam n), (m, d), for coefficients C (n, m)."""
        product = features_of(self.X, None).transposed_product(C)
        return np.ascontiguousarray(product / self.lam_n)

    def expansion(self, A: Floats) -> Floats:
        """The coefficients (n, m) whose combination is W(A)."""
        if self.regularizer.plain:
            return A
        self.regularizer.require_representer("scores")
        return A * self.regularizer.class_weights(self.square_norms(self.link(A), A))

    def link(self, A: Floats) -> Floats:
        """V(A), or with a Gram matrix A^T K / (lam n), (m, n)."""
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
        """Primal, dual and gaps at A and W(A), from the link and its scores, recomputed if absent.

        With coefficients C (n, m) the primal point is the combination of C, and link and scores are
        those of C.
        """
        C = A if coefficients is None else coefficients
        link = self.link(C) if link is None else link
        scores = self.features.scores(link) if scores is None else scores
        if coefficients is None:
            square_norm = dual_square_norm = self.dual_square_norm(link, A)
            if not self.regularizer.plain:
                scores = scores * self.regularizer.class_weights(self.square_norms(link, A))
        else:
            square_norm = self.square_norm(link, C)
            dual_square_norm = self.dual_square_norm(self.link(A), A)
        primal = self.primal_value(scores, square_norm)
        augmented = self._augmented_primal(A, scores, square_norm) if self.smoothing else primal
        dual = self.dual_value(A, dual_square_norm)
        return Certificate(primal, dual, primal - dual, augmented - dual)

    def square_norms(self, link: Floats, A: Floats) -> Floats:
        """|v_j|^2, (m,), for the link V of A."""
        return np.maximum(self.features.class_products(link, link, A, self.lam_n), 0.0)

    def square_norm(self, link: Floats, C: Floats) -> float:
        """2 R(W) for the combination W of C."""
        if self.regularizer.plain:
            return self.features.link_norm(link, C, self.lam_n)
        return self.regularizer.square_norm(self.square_norms(link, C))

    def dual_square_norm(self, link: Floats, A: Floats) -> float:
        """2 R*(V) for the link V of A; it is 2 R(W(A)) too."""
        if self.regularizer.plain:
            return self.features.link_norm(link, A, self.lam_n)
        return self.regularizer.dual_square_norm(self.square_norms(link, A))

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
        """P(W) from the scores X W^T and 2 R(W)."""
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
        """D(A) from A and 2 R*(V(A))."""
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
