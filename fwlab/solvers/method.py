"""Define the base class of methods, the needs they declare, and the state of a training run."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from fwlab.arrays import Floats
from fwlab.certificate import certificate_of
from fwlab.losses import Loss
from fwlab.operators.given_domains import contradiction, outside
from fwlab.operators.repair import repair_distances
from fwlab.primal_dual import CHUNK, PrimalDual
from fwlab.result import Certificate, Objectives
from fwlab.rounding import distances
from fwlab.solvers.certificate_time import seconds_to_certify
from fwlab.solvers.run_state import RunState
from fwlab.solvers.same_data import changed_row
from fwlab.solvers.sampled_gap import sampled_gap
from fwlab.solvers.segment import move
from fwlab.solvers.smoothness import smoothness
from fwlab.text import describe

# fractions of the size of a domain: the projection of a feasible row moves it by less than SHOWS,
# rounding errors move a row by less than EXPLAINED
SHOWS, EXPLAINED = 1e-14, 1e-6
# operations on a score when a state is judged
PER_SCORE = 10.0


@dataclass(frozen=True)
class Needs:
    """The parts of `State` that a method needs; the driver provides them.

    Attributes
    ----------
    scores : bool
        state.scores, the scores of state.link; the method changes both together.
    coefficients : bool
        state.coefficients C (n, m), at first a copy of A. The primal point is the combination of C
        instead of W(A), and state.link is the link of C; the method changes both.
    best_primal : bool
        The primal point is the best one that the method or a checkpoint offered.
    own_values : bool
        The method keeps state.values up to date, so that a checkpoint computes nothing, and
        state.best_link, the primal point.
    gram : bool
        The method may call state.use_gram(), within max_gram_memory.
    own_loss : Loss or None
        The loss whose dual the method maximises, if it is not the loss of the problem.
    """

    scores: bool = False
    coefficients: bool = False
    best_primal: bool = False
    own_values: bool = False
    gram: bool = False
    own_loss: Loss | None = None


class Method:
    """A way to solve problems. Subclass it and define `iterate`; everything else has a default.

    A method holds its options, which its constructor takes as keyword arguments; a frozen dataclass
    is the simplest form. Everything that changes during a run is in the state (`State`) and in the
    workspace, so that one object can serve several runs. The certificate uses only one thing that a
    method computes, the dual point state.A. Before a run, a copy of the method makes an iteration
    on two samples, so that nothing is left to compile when the clock starts.
    `fwlab.testing.check_method` tries a method on small problems.

    Examples
    --------
    Frank-Wolfe with steps 2/(t + 2)::

        @dataclass(frozen=True)
        class Plain(fwlab.Method):
            any_loss = True

            def needs(self, problem):
                return fwlab.Needs(scores=True)

            def iterate(self, state, workspace):
                problem = state.problem
                vertex, losses = problem.lowest(problem.shifted_scores(state.A, state.scores))
                D = -state.A
                vertex.add_to(D, 1.0)  # the direction from A to the LMO's vertex
                state.move(D, problem.link(D), 2 / (state.n_steps + 2))
                state.n_steps += 1
                state.n_lmo += problem.n_samples

    Attributes
    ----------
    any_norm : bool
        Whether the method takes an LpNorm other than LpNorm(2). False by default.
    any_loss : bool
        Whether the method takes a PolytopeLoss. It then calls no compiled function of a loss, and
        state.A stays a convex combination of the start and of vertices that `Problem.lowest`
        returned. False by default.
    takes_entropy : bool
        Whether the method takes CrossEntropy and TopKEntropy, whose conjugates are not linear.
        False by default.
    without_entropy : str
        The reason why the method does not take CrossEntropy and TopKEntropy, if so.
    takes_tensors : bool
        Whether the method takes a problem whose X is a tensor. False by default.
    """

    any_norm: bool = False
    any_loss: bool = False
    takes_entropy: bool = False
    without_entropy: str = "its steps are made for a dual that is quadratic on polytopes"
    takes_tensors: bool = False

    @property
    def name(self) -> str:
        """The name in tables and figures of a method that is passed as an object."""
        return repr(self)

    @property
    def sentence(self) -> str:
        """One sentence that tells the user what the method does: by default its first docline."""
        return (type(self).__doc__ or f"{type(self).__name__}.").strip().splitlines()[0]

    @property
    def monotone(self) -> bool:
        """Whether the dual never falls, up to rounding; `fwlab.testing.check_method` tries it."""
        return False

    def refuses(self, problem: Any) -> str | None:
        """Return the reason why the method does not take a problem, or None if it does."""
        return None

    def needs(self, problem: PrimalDual) -> Needs:
        """Return what the method needs of the state of a training run."""
        return Needs()

    def start(self, state: Any) -> Any:
        """Prepare the run and return a workspace, which is handed to every iteration."""
        return None

    def iterate(self, state: Any, workspace: Any) -> None:
        """Make one iteration: change the dual point, and all that follows it, in place."""
        raise NotImplementedError(f"{type(self).__name__} must define `iterate`.")

    def progress(self, state: Any, workspace: Any) -> float | None:
        """Return a number that costs nothing and falls about as the gap does, or None.

        It tells when the gap may be small enough to be worth judging; 0 asks for that at once.
        """
        return None

    def warm_up(self, state: Any) -> None:
        """Call the compiled functions that a first iteration does not reach."""

    def __repr__(self) -> str:
        return describe(self)


@dataclass(eq=False)
class State(RunState):
    """The state of a training run; a method changes it in place.

    Attributes
    ----------
    problem : Problem
        `given_problem`, or `gram_problem`, which takes its products from the Gram matrix.
    A : array (n, m)
        The dual point.
    rng : numpy.random.Generator
        The generator for all random choices.
    needs : Needs
        The further arrays that the method needs.
    max_gram_memory : int
        Bytes that the Gram matrix may take; 0 unless the method needs it.
    link : array (m, d), or (m, n) with a Gram matrix
        V(A), which is W(A) except with an LpNorm; A^T K / (lam n) with a Gram matrix. A method
        changes A and link together, for instance by `move`.
    n_lmo, n_projections, n_rows, n_steps, active, step : int, int, float, int, int, float
        The counters that the trace shows, kept by the method; fwlab.solvers.run_state defines the
        first three, and `active` counts the atoms held. `move` counts its rows of scores.
    values : Objectives
        P and a lower bound of D at the points of a method that keeps them (Needs.own_values).
    own_problem : Problem or None
        The problem with the method's own loss.
    judged : tuple or None
        n_steps and the certificate of the last judgement.
    infeasibility : float or None
        A bound of the infeasibility of A when it was last certified; None if it has to be computed.
    """

    counts_work = True

    problem: PrimalDual
    A: Floats
    rng: np.random.Generator
    needs: Needs = Needs()
    max_gram_memory: int = 0
    link: Floats = field(init=False)
    scores: Floats = field(init=False)
    coefficients: Floats | None = field(init=False, default=None)
    own_problem: PrimalDual | None = field(init=False, default=None)
    given_problem: PrimalDual = field(init=False)
    gram_problem: PrimalDual | None = field(init=False, default=None)
    values: Objectives = field(init=False)
    best_link: Floats = field(init=False)
    best_primal: float = field(init=False, default=np.inf)
    judged: tuple[int, Certificate] | None = field(init=False, default=None)
    infeasibility: float | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.given_problem = self.problem
        self.max_gram_memory *= self.needs.gram
        if self.needs.coefficients:
            self.coefficients = self.A.copy()
        self._change_problem(self.problem)
        self.best_link = self.link

    @cached_property
    def smoothness(self) -> float:
        """The largest curvature of the dual along a direction of norm 1, to 1 %."""
        return smoothness(self.given_problem)

    @property
    def gradient(self) -> Floats:
        """Minus n times the gradient of the dual at A, (n, m), if the state keeps the scores."""
        return self.problem.polytopes.add_costs(self.problem.shifted_scores(self.A, self.scores))

    def move(self, D: Floats, link: Floats, step: float) -> None:
        """Move A along D (n, m), and the link and the scores with it; D and link are scaled.

        link is problem.link(D).
        """
        move(self.A, self.link, D, link, step)
        if self.needs.scores:
            self.scores += self.problem.features.scores(link)
            self.n_rows += self.problem.n_samples

    @property
    def machine(self) -> Floats:
        """The coefficients of the link: A unless the method has its own."""
        return self.A if self.coefficients is None else self.coefficients

    def weights(self) -> Floats:
        """Return the primal point, (m, d)."""
        if self.needs.best_primal or self.needs.own_values:
            return np.ascontiguousarray(self.best_link)
        if self.problem.kernel is None and (
            self.coefficients is not None or self.problem.regularizer.plain
        ):
            return np.ascontiguousarray(self.link)
        if self.coefficients is not None:
            return self.problem.combination(self.coefficients)
        return self.problem.weights(self.A)

    def expansion(self) -> Floats | None:
        """Return the coefficients whose combination is the primal point, None if they are A."""
        if self.coefficients is not None or self.problem.regularizer.plain:
            return self.coefficients
        return self.problem.expansion(self.A)

    def offer(self, link: Floats, primal: float) -> None:
        """Keep this link if its primal value is the lowest so far."""
        if primal < self.best_primal:
            self.best_link, self.best_primal = link.copy(), primal

    def use_gram(self) -> None:
        """Take products through the Gram matrix from now on; it is computed once."""
        if self.problem is self.gram_problem:
            return
        self.gram_problem = self.gram_problem or self.given_problem.with_gram()
        self._change_problem(self.gram_problem)

    def judge(self) -> Certificate:
        """Return the certificate of what the method tracks; offer the link if that is needed."""
        if self.needs.own_values:
            return self.values.certificate()
        return self._judged(self._known_scores())

    def certify(self) -> Certificate:
        """Return the certificate of A and the primal point, from scratch.

        Without a test of membership, A is feasible as a convex combination of vertices. A row is a
        contradiction if it exceeds the loss, or if it lies outside the hull of all points of the
        LMO.
        """
        if self.problem is not self.given_problem:
            self._change_problem(self.given_problem)
        rho = self.round_to_domain()
        self.refresh()
        problem, own_gap, found = self.problem, None, ""
        if self.needs.best_primal or self.own_problem is not None or not problem.polytopes.trusted:
            tracked = self._judged(self._known_scores())
            own_gap, found = tracked.own_gap, tracked.contradiction
        certificate = self._certified(rho)
        if self.needs.best_primal:
            self.best_primal = certificate.primal
        found = found or certificate.contradiction
        if not (problem.polytopes.trusted or found):
            found = outside(problem.polytopes, self.A, problem.sample_weight)
        found = found or changed_row(problem)
        if own_gap is not None:
            certificate = replace(certificate, own_gap=own_gap)
        certificate = certificate.contradicted(found)
        self.judged = self.n_steps, certificate
        return certificate

    def sampled_gap(self) -> float | None:
        return sampled_gap(self)

    def seconds_to_certify(self, judgement: float) -> float:
        """Predict the seconds of `certify` from a certificate of some samples."""
        return seconds_to_certify(self)

    def _certified(self, rho: Floats) -> Certificate:
        """Return the certificate of A and the primal point; rho (n,) are `distances` of A."""
        problem, scores = self.problem, self.scores if self.needs.scores else None
        if self.coefficients is not None:
            if problem.kernel == "precomputed":
                return certificate_of(problem, self.A, coefficients=self.coefficients, rho=rho)
            return certificate_of(problem, self.A, self.weights(), rho=rho)
        if self.needs.best_primal or self.needs.own_values:
            return certificate_of(problem, self.A, self.weights(), self.link, rho=rho)
        return certificate_of(problem, self.A, link=self.link, scores=scores, rho=rho)

    @property
    def checkpoint_cost(self) -> float:
        """A bound for iterations that make at least one product with X."""
        product = 2.0 * self.problem.features.row_length
        product_of_judge = 0.0 if self.needs.scores or self.needs.own_values else product
        return (product_of_judge + PER_SCORE) / (product + PER_SCORE)

    def _known_scores(self) -> Floats | None:
        """Return the link's scores if the method keeps them or two values need them, else None."""
        if self.needs.scores:
            return self.scores
        if self.own_problem is None and self.problem.polytopes.trusted:
            return None
        return self.problem.features.scores(self.link)

    def _judged(self, scores: Floats | None) -> Certificate:
        """Return the certificate of what the method tracks; `scores` are as _known_scores says."""
        A, link, own = self.A, self.link, self.own_problem
        certificate = self.problem.certificate(A, link, scores, self.coefficients)
        if self.needs.best_primal:
            self.offer(link, certificate.primal)
            gap = self.best_primal - certificate.dual
            certificate = replace(certificate, primal=self.best_primal, gap=gap)
        if not self.problem.polytopes.trusted:
            assert scores is not None
            omega, smoothing = self.problem.sample_weight, self.problem.smoothing
            found = contradiction(self.problem.polytopes, A, scores, omega, smoothing)
            certificate = replace(certificate, contradiction=found)
        if own is not None:
            own_gap = own.certificate(A, link, scores).gap if own.is_feasible(A) else np.inf
            certificate = replace(certificate, own_gap=own_gap)
        self.judged = self.n_steps, certificate
        return certificate

    def round_to_domain(self) -> Floats:
        """Project the rows of A that miss the domain by rounding errors that show.

        A block step projects a point whose size grows as the sample weight falls, and its rounding
        errors grow with that size. Rows that are far from the domain stay, as no rounding explains
        them, and so do those that a projection takes no nearer. Returns the `distances` of A, (n,).
        """
        problem, self.infeasibility = self.problem, None
        rho = distances(problem, self.A)
        if not problem.in_family:
            self.infeasibility = float(rho.max()) if problem.polytopes.trusted else None
            return rho
        size, off = problem.polytopes.scale * problem.sample_weight, rho.copy()
        seen = np.flatnonzero(rho > SHOWS * size)
        for start in range(0, len(seen), CHUNK):
            rows = seen[start : start + CHUNK]
            nearest = problem.nearest_feasible(self.A, rows)
            off[rows] = np.abs(self.A[rows] - nearest).max(axis=1)
            part = problem.sample_weight[rows], problem.row_polytopes.take(rows)
            distance = repair_distances(nearest, *part)
            rounded = (off[rows] > SHOWS * size[rows]) & (off[rows] <= EXPLAINED * size[rows])
            taken = rounded & (distance < rho[rows])
            moved = rows[taken]
            self.A[moved], rho[moved] = nearest[taken], distance[taken]
            off[moved] = distance[taken]
        self.infeasibility = float(off.max())
        return rho

    def refresh(self) -> None:
        """Recompute what the method tracks from A and, if it has them, its coefficients."""
        self.link = self.problem.link(self.machine)
        if self.needs.scores:
            self.scores = self.problem.features.scores(self.link)
        if self.needs.best_primal and np.isfinite(self.best_primal):
            self.best_primal = self.problem.primal(self.best_link)

    def _change_problem(self, problem: PrimalDual) -> None:
        self.problem = problem
        if self.needs.own_loss is not None:
            self.own_problem = problem.with_loss(self.needs.own_loss)
        self.refresh()
