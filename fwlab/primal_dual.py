"""Define the objective of training and its Fenchel dual: the mathematics, one equation per line.

    P(W) = lam/2 |W|^2 + (1/n) sum_i omega_i Phi_i(W x_i)                      K19 (1), T20 (2.1)
    D(A) = -lam/2 |W(A)|^2 - (1/n) sum_i (<delta_i, a_i> + r_i/2 |a_i|^2)      K19 (2), T20 (2.3)
    W(A) = A^T X / (lam n),   a_i in omega_i times the negated effective domain

with r_i = smoothing / omega_i. If smoothing > 0, Phi_i is the Moreau envelope of the loss
(K19 (25)). omega_i is the sample weight, 1 by default; a row a_i with omega_i = 0 is 0. For the
cross-entropy its negated entropy, omega_i Phi_i*(-a_i / omega_i), is in the place of <delta_i, a_i>
(fwlab.operators.simplices). With a block norm (fwlab.lp_norm), R(W) replaces |W|^2 / 2, and with
the link V(A) = A^T X / (lam n)

    D(A) = -lam R*(V(A)) - ..,   W(A) = grad R*(V(A))                        LP15 (D), Theorem 12
"""

from collections.abc import Iterable, Iterator
from copy import copy
from typing import Any, Self

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import as_features, as_real
from fwlab.cross_entropy import EntropyLoss
from fwlab.losses import DOMAIN_TOLERANCE, Loss, moreau_envelope
from fwlab.lp_norm import LpNorm
from fwlab.operators.domains import Domains, RowPolytopes
from fwlab.operators.features import features_of
from fwlab.operators.features_interface import Features
from fwlab.operators.scores import Part, score_parts
from fwlab.operators.simplices import Simplices
from fwlab.operators.sums import mean_in_parts, square_in_parts
from fwlab.operators.tensor_rows import TensorRows
from fwlab.operators.vertices import Atom, Vertex, lowest_vertex
from fwlab.polytope_loss import PolytopeLoss
from fwlab.problem_input import check_scales, checked_matrix, lacks, require_array, require_weights
from fwlab.result import Certificate, Objectives

CHUNK = 1024


class PrimalDual:
    """P and D with their derivatives and products, from arguments that are checked.

    fwlab.Problem is made from a user's arguments; out of core each chunk takes its rows from the
    whole problem, with its lam n.

    Attributes
    ----------
    X : array or scipy.sparse matrix (n, d), or Gram matrix (n, n)
    y : array (n,)
        The index of each label in `classes`.
    classes : array (m,)
    n_classes : int
    loss : Loss, PolytopeLoss or EntropyLoss
    lam, smoothing : float
    regularizer : LpNorm
    kernel : None, "linear" or "precomputed"
    gram_shift : float
        What makes a Gram matrix positive semidefinite, added to its diagonal.
    storage : str
    notes : tuple of str
        What a user should know of X.
    sample_weight : array (n,)
    polytopes : Domains
        The effective domains of the conjugate losses.
    features : Features
        The products with X.
    curvatures : array (n,)
        |x_i|^2 / (lam n).
    """

    X: Any
    y: Integers
    classes: np.ndarray
    n_classes: int
    loss: Loss | PolytopeLoss | EntropyLoss
    lam: float
    smoothing: float
    regularizer: LpNorm
    kernel: str | None
    gram_shift: float
    storage: str
    notes: tuple[str, ...]
    sample_weight: Floats
    polytopes: Domains
    features: Features
    curvatures: Floats

    @property
    def n_samples(self) -> int:
        """Number of samples n."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number of columns of X: d, or n with a precomputed kernel."""
        return int(self.X.shape[1])

    @property
    def lam_n(self) -> float:
        """lam times n."""
        return self.lam * self.n_samples

    @property
    def in_family(self) -> bool:
        """Whether the loss has two weight vectors, which compiled methods need."""
        return isinstance(self.polytopes, RowPolytopes)

    @property
    def has_entropy(self) -> bool:
        """Whether the conjugate of the loss is an entropy, which is not linear on its domain."""
        return isinstance(self.polytopes, Simplices)

    @property
    def has_tensors(self) -> bool:
        """Whether X is a tensor of another library, on any device."""
        return isinstance(self.features, TensorRows)

    @property
    def row_polytopes(self) -> RowPolytopes:
        """The polytopes for compiled methods. Raises TypeError if the loss is not of the family."""
        if not isinstance(self.polytopes, RowPolytopes):
            raise TypeError(f"loss must be a fwlab.Loss here; got {self.loss!r}.")
        return self.polytopes

    def weights(self, A: Any) -> Floats:
        """Return W(A), (m, d). Raises ValueError with a precomputed kernel and with LpNorm(1)."""
        require_weights(self.kernel, "weights")
        self.regularizer.require_representer("weights")
        V = self.combination(self._checked_dual(A))
        return V if self.regularizer.plain else self.regularizer.representer(V)

    def primal(self, W: Any) -> float:
        """Return P(W) for W (m, d). Raises ValueError with a precomputed kernel."""
        require_weights(self.kernel, "primal", self.X)
        W = checked_matrix("W", "(m, d)", W, (self.n_classes, self.n_features))
        losses = self.losses(score_parts(features_of(self.X, None), W))[0]
        return self.objective(losses, self.square_norm_of(W))

    def dual(self, A: Any) -> float:
        """Return D(A) for A (n, m), or -inf outside the domain (tolerance of Loss.in_domain)."""
        A = self._checked_dual(A)
        if not self.is_feasible(A):
            return -np.inf
        data = self.at_data
        return data.dual_value(A, data.dual_square_norm(data.link(A), A))

    def gap(self, A: Any) -> float:
        """Return primal(weights(A)) - dual(A), or +inf outside the domain.

        It needs no W: a precomputed kernel is allowed. Raises ValueError with LpNorm(1).
        """
        self.regularizer.require_representer("gap")
        A = self._checked_dual(A)
        return self.at_data.certificate(A).gap if self.is_feasible(A) else np.inf

    def augmented_gap(self, A: Any) -> float:
        """Return the augmented gap, never below the gap, or +inf outside the domain (K19 (27))."""
        self.regularizer.require_representer("augmented_gap")
        A = self._checked_dual(A)
        return self.at_data.certificate(A).augmented_gap if self.is_feasible(A) else np.inf

    def scores(self, A: Any, X_new: Any) -> Floats:
        """Return the prediction scores (n_new, m) of the machine W(A).

        X_new is (n_new, d). With a precomputed kernel it is instead K_new (n_new, n), the kernel
        between the new samples and the problem's samples.
        """
        A = self._checked_dual(A)
        rows = as_features("X_new", X_new)
        if rows.shape[1] != self.n_features:
            raise ValueError(f"X_new must have {self.n_features} columns; got {rows.shape[1]}.")
        if self.kernel == "precomputed":
            return np.asarray(rows @ (self.expansion(A) / self.lam_n))
        return np.asarray(rows @ self.weights(A).T)

    def is_feasible(self, A: Floats) -> bool:
        """Return whether every row of A lies in omega_i times the negated domain, to tolerance.

        Raises ValueError for a loss without `contains`, and TypeError if X is a tensor.
        """
        self._require_array("is_feasible")
        if not self.polytopes.checks_membership:
            lacks(self.loss, "contains", "a test of feasibility")
        slack = DOMAIN_TOLERANCE * self.polytopes.scale
        for rows, polytopes in self.chunks():
            omega = self.sample_weight[rows, None]
            scaled = -A[rows] / np.where(omega > 0, omega, 1.0)
            inside = polytopes.contains(scaled, slack)
            unused = omega[:, 0] == 0
            if not (inside | unused).all() or A[rows][unused].any():
                return False
        return True

    def infeasibility(self, A: Floats) -> float:
        """Return the largest distance of an entry of A from its nearest feasible row.

        nan for a loss without `project`. Raises TypeError if X is a tensor.
        """
        self._require_array("infeasibility")
        if not self.polytopes.projects:
            return np.nan
        rests = (A[rows] - self.nearest_feasible(A, rows) for rows, _ in self.chunks())
        return max(float(np.abs(rest).max()) for rest in rests)

    # The methods below are for solvers, which pass in the links and scores that they already have.

    def with_loss(self, loss: Loss) -> Self:
        """Return this problem with another loss; both share the data."""
        other = copy(self)
        other.loss = loss
        other.polytopes = loss.polytopes(self.y, self.n_classes)
        return other

    def with_gram(self) -> Self:
        """Return this problem with products taken from the Gram matrix X X^T, (n, n)."""
        other = copy(self)
        other.kernel, other.features = "linear", features_of(self.X, "linear")
        return other

    @property
    def at_data(self) -> Self:
        """Return this problem with products from X: a copy with kernel="linear", else itself."""
        if self.kernel != "linear":
            return self
        other = copy(self)
        other.kernel, other.features = None, features_of(self.X, None)
        return other

    def with_lam(self, lam: float) -> Self:
        """Return this problem with another lam; both share the data."""
        other = copy(self)
        other.lam = as_real("lam", lam, positive=True)
        other.curvatures = other._checked_curvatures()
        return other

    def combination(self, C: Floats) -> Floats:
        """Return C^T X / (lam n), (m, d), for coefficients C (n, m)."""
        return np.ascontiguousarray(features_of(self.X, None).transposed_product(C) / self.lam_n)

    def expansion(self, A: Floats) -> Floats:
        """Return the coefficients (n, m) whose combination is W(A)."""
        if self.regularizer.plain:
            return A
        self.regularizer.require_representer("scores")
        return A * self.regularizer.class_weights(self.square_norms(self.link(A), A))

    def link(self, A: Floats) -> Floats:
        """Return V(A), (m, d), or with a Gram matrix A^T K / (lam n), (m, n)."""
        link = self.features.transposed_product(A)
        link /= self.lam_n
        return link

    def lowest(self, shifted: Floats) -> tuple[Vertex, Floats]:
        """Call the LMO of every sample at the gradient shifted + delta, (n, m).

        Returns omega times the vertices, and the losses (n,) that the vertices attain.
        """
        return lowest_vertex(self.polytopes, shifted, self.sample_weight)

    def atom_link(self, atom: Atom) -> Floats:
        """Return the link of a vertex or another atom."""
        link = atom.transposed_product(self.features)
        link /= self.lam_n
        return link

    def certificate(
        self,
        A: Floats,
        link: Floats | None = None,
        scores: Floats | None = None,
        coefficients: Floats | None = None,
    ) -> Certificate:
        """Return primal, dual and gaps at the feasible dual point A and a primal point.

        The primal point is the combination of `coefficients` (n, m), or W(A) without them. `link`
        and `scores` (n, m) belong to the coefficients, or to A; they are recomputed if absent.
        """
        C = A if coefficients is None else coefficients
        link = self.link(C) if link is None else link
        parts = score_parts(self.features, link, scores)
        if coefficients is None:
            square = dual_square = self.dual_square_norm(link, A)
            if not self.regularizer.plain:
                factors = self.regularizer.class_weights(self.square_norms(link, A))
                parts = ((rows, part * factors) for rows, part in parts)
        else:
            square = self.square_norm(link, C)
            dual_square = self.dual_square_norm(self.link(A), A)
        return self.values(self.losses(parts, A), A, square, dual_square).certificate()

    def values(self, losses: Floats, A: Floats, square: float, dual_square: float) -> Objectives:
        """Return P(W), D(A) and the augmented P, from `losses` (2, n), 2 R(W) and 2 R*(V(A))."""
        primal, augmented = (self.objective(each, square) for each in losses)
        return Objectives(primal, self.dual_value(A, dual_square), augmented + self.ridge_term(A))

    def square_norms(self, link: Floats, A: Floats) -> Floats:
        """Return |v_j|^2, (m,), for the link V of A."""
        return np.maximum(self.features.class_products(link, link, A, self.lam_n), 0.0)

    def square_norm(self, link: Floats, C: Floats) -> float:
        """Return 2 R(W) for the combination W of C, whose link is `link`."""
        if self.regularizer.plain:
            return self.features.link_norm(link, C, self.lam_n)
        return self.regularizer.square_norm(self.square_norms(link, C))

    def square_norm_of(self, W: Floats) -> float:
        """Return 2 R(W)."""
        if self.regularizer.plain:
            return square_in_parts(W)
        return self.regularizer.square_norm(np.einsum("ij,ij->i", W, W))

    def dual_square_norm(self, link: Floats, A: Floats) -> float:
        """Return 2 R*(V) for the link V of A, which equals 2 R(W(A))."""
        if self.regularizer.plain:
            return self.features.link_norm(link, A, self.lam_n)
        return self.regularizer.dual_square_norm(self.square_norms(link, A))

    def chunks(self) -> Iterator[tuple[slice, Domains]]:
        """Yield slices of samples with their polytopes, so that temporary arrays stay small."""
        for start in range(0, self.n_samples, CHUNK):
            rows = slice(start, start + CHUNK)
            yield rows, self.polytopes.take(rows)

    def shifted_scores(self, A: Floats, scores: Floats) -> Floats:
        """Return s_i + (smoothing/omega_i) a_i; adding delta_i gives -n grad D   (T20 (2.24))."""
        return scores + self.ridge() * A if self.smoothing else scores

    def nearest_feasible(self, A: Floats, rows: Integers | slice) -> Floats:
        """Return the feasible rows nearest to A[rows]."""
        omega = self.sample_weight[rows, None]
        scaled = A[rows] / np.where(omega > 0, omega, 1.0)
        return np.asarray(omega * self.polytopes.take(rows).project(scaled))

    def curvature(self, direction: Floats, link: Floats) -> float:
        """Return minus the second derivative of D along a direction (n, m)   (T20 (2.26))."""
        square_norm = self.features.link_norm(link, direction, self.lam_n)
        return self.lam * max(0.0, square_norm) + 2 * self.ridge_term(direction)

    def ridge(self, rows: slice = slice(None)) -> Floats:
        """Return smoothing / omega_i, (n, 1), and 0 where omega_i = 0, as a_i is 0 there."""
        omega = self.sample_weight[rows, None]
        return np.asarray(self.smoothing / np.where(omega > 0, omega, np.inf))

    def objective(self, losses: Floats, square_norm: float) -> float:
        """Return P(W) from the losses (n,) and 2 R(W)."""
        return self.lam / 2 * square_norm + mean_in_parts(self.sample_weight * losses)

    def losses(self, parts: Iterable[Part], A: Floats | None = None) -> Floats:
        """Return the losses and the augmented losses, (2, n), from parts of the scores.

        The augmented losses belong to the problem in d + n dimensions with the same dual (K19
        (27)); `objective` plus `ridge_term` is its primal. Without smoothing or A both are equal.
        """
        out = np.full((2, self.n_samples), np.nan)
        for rows, scores in parts:
            self.write_losses(rows, scores, A, out)
        return out

    def write_losses(
        self, rows: slice, scores: Floats, A: Floats | None, out: Floats
    ) -> Floats | None:
        """Write the losses of a part to out (2, n), as `losses` returns them.

        Returns the gradients of the envelopes, one row per sample, if there is smoothing.
        """
        polytopes = self.polytopes.take(rows)
        if not self.smoothing:
            out[:, rows] = polytopes.values(scores)
            return None
        out[:, rows], gradients = moreau_envelope(polytopes, scores, self.smoothing)
        if A is not None:
            out[1, rows] = polytopes.values(scores + self.ridge(rows) * A[rows])
        return gradients

    def dual_value(self, A: Floats, square_norm: float) -> float:
        """Return D(A) from A and 2 R*(V(A))."""
        conjugates = mean_in_parts(self.polytopes.conjugate_terms(A, self.sample_weight))
        return -self.lam / 2 * square_norm - conjugates - self.ridge_term(A)

    def ridge_term(self, A: Floats) -> float:
        """Return (1/n) sum_i smoothing/(2 omega_i) |a_i|^2."""
        if not self.smoothing:
            return 0.0
        return float(np.vdot(self.ridge()[:, 0], np.einsum("ij,ij->i", A, A))) / 2 / len(A)

    def _checked_curvatures(self) -> Floats:
        """Return minus the second derivative of n D along a unit vector in row i, (n,)."""
        squares = self.features.square_norms()
        check_scales(squares, self.lam_n, self.sample_weight, self.polytopes.scale)
        return squares / self.lam_n

    def _require_array(self, name: str) -> None:
        if self.has_tensors:
            require_array(name, self.X)

    def _checked_dual(self, A: Any) -> Floats:
        self._require_array("a dual point A")
        return checked_matrix("A", "(n, m)", A, (self.n_samples, self.n_classes))
