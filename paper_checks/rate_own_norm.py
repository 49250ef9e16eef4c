"""Evaluate the rate of Frank-Wolfe on every dual of T20 and K19, in the norm of that dual.

On its domain the conjugate of every loss of these papers is linear. So with f = -D, for feasible
A and B,

    f(B) = f(A) + <f'(A), B - A> + |B - A|^2/2,   |V|^2 = lambda |w(V)|^2 + smoothing/n |V|_F^2.

f is a convex quadratic with L = 1, and the largest squared distance of two points of the domain is
the curvature C of T20's bound 2C/(t+2). Hence a certificate of figures/exact for "quadratic"
functions proves max D - D(A_t) <= bound C for every data set of every size, with or without
smoothing. This module evaluates such a proof, term by term, on a given small problem: this checks
the signs in figures/exact/rate_certificate.py on real runs, and is not part of the proof.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

import reference
from figures.exact.rate_certificate import (
    ONE,
    Expression,
    RateCertificate,
    error,
    expression,
    remainder,
)
from figures.exact.slow_training import Training
from paper_checks.kato2019.exact_problems import ExactProblem
from paper_checks.ledger import Case
from reference import exact

Array = np.ndarray


@dataclass(frozen=True)
class DualPoint:
    """A feasible A, as a vector of squared length |A|^2 in the metric, and -sum Phi*/n at A."""

    vector: Array
    offset: Fraction

    def towards(self, other: "DualPoint", step: Fraction) -> "DualPoint":
        """Return the convex combination (1 - step) * self + step * other."""
        return DualPoint(
            (1 - step) * self.vector + step * other.vector,
            (1 - step) * self.offset + step * other.offset,
        )


@dataclass(frozen=True, eq=False)
class OwnNorm:
    """A dual problem: each sample's vertices, and the weights of the squares in |A|^2."""

    rows: tuple[tuple[DualPoint, ...], ...]
    metric: Array

    def inner(self, u: Array, v: Array) -> Fraction:
        """Return <u, v>."""
        return Fraction(sum(self.metric * u * v))

    def dual(self, A: DualPoint) -> Fraction:
        """Return D(A)."""
        return A.offset - self.inner(A.vector, A.vector) / 2

    def slope(self, A: DualPoint, B: DualPoint) -> Fraction:
        """Return <f'(A), B - A> for f = -D."""
        return self.inner(A.vector, B.vector - A.vector) - (B.offset - A.offset)

    def mixture(self, weights: Sequence[Sequence[Fraction]]) -> DualPoint:
        """Return the point whose rows mix the vertices of each sample with these weights."""
        chosen = [
            (weight, vertex)
            for row, part in zip(self.rows, weights, strict=True)
            for vertex, weight in zip(row, part, strict=True)
        ]
        vector = sum(weight * vertex.vector for weight, vertex in chosen)
        return DualPoint(
            np.asarray(vector), sum((w * vertex.offset for w, vertex in chosen), Fraction(0))
        )

    def vertex(self, chosen: Sequence[int]) -> DualPoint:
        """Return the vertex of the whole domain that combines one vertex per sample."""
        pairs = zip(self.rows, chosen, strict=True)
        return self.mixture([[Fraction(int(j == k)) for j in range(len(r))] for r, k in pairs])

    def curvature(self) -> Fraction:
        """Return C, the largest |S - A|^2.

        It is convex in S and A, so the maximum is attained at vertices.
        """
        differences = [
            {tuple(u.vector - v.vector) for u, v in product(row, repeat=2)} for row in self.rows
        ]
        totals = (np.sum([np.array(d, object) for d in ds], axis=0) for ds in product(*differences))
        return max(self.inner(total, total) for total in totals)

    def oracle(self, A: DualPoint) -> DualPoint:
        """Return a vertex S with the least <f'(A), S>; at ties, each sample's first such vertex."""
        chosen = []
        for row in self.rows:
            values = [self.inner(A.vector, v.vector) - v.offset for v in row]
            chosen.append(values.index(min(values)))
        return self.vertex(chosen)

    def run(self, steps: Sequence[Fraction]) -> tuple[list[DualPoint], list[DualPoint]]:
        """Return (x_0, .., x_t) and (s_0, .., s_{t-1}) of a run from each sample's first vertex."""
        iterates, taken = [self.vertex([0] * len(self.rows))], []
        for step in steps:
            taken.append(self.oracle(iterates[-1]))
            iterates.append(iterates[-1].towards(taken[-1], step))
        return iterates, taken


def of_training(case: Case, smoothing: Fraction = Fraction(0)) -> OwnNorm:
    """Return the dual of a training problem of T20 (paper_checks/tajima2020/programs.py)."""
    scale = case.lam * len(case.y)
    links = [lambda a, psi=psi: psi.T @ a / scale for psi in case.features]
    return made(case.loss, case.y, case.features.shape[1], case.lam, smoothing, links)


def of_exact_problem(problem: ExactProblem) -> OwnNorm:
    """Return the dual of a training problem of K19, where W(A) = A^T X/(lam n)."""
    scale = problem.lam * problem.n
    links = [lambda a, x=x: np.outer(a, x).ravel() / scale for x in problem.X]
    return made(problem.loss, problem.y, problem.m, problem.lam, problem.smoothing, links)


def case_of(slow: Training) -> Case:
    """Return the training problem of T20 with the features and costs of slow_training.py."""
    m = len(slow.costs)
    costs = [[Fraction(0)] * m for _ in range(m)]
    costs[0] = list(slow.costs)
    return Case(
        kind="slow",
        loss=reference.StructuredHinge(costs),
        y=(0,),
        lam=Fraction(1),
        features=np.array([slow.features], object),
    )


def made(
    loss: Any, y: Sequence[int], m: int, lam: Fraction, smoothing: Fraction, links: Sequence[Any]
) -> OwnNorm:
    """Return the dual for samples with these labels.

    `links` maps each row of A to its contribution to w.
    """
    n, rows = len(y), []
    for i, (label, link) in enumerate(zip(y, links, strict=True)):
        row = []
        for slope, intercept in sorted(exact.pieces(loss, m, label).items(), reverse=True):
            a = -np.array(slope, object)
            entries = np.zeros((n, m), object)
            entries[i] = a
            row.append(DualPoint(np.concatenate([link(a), entries.ravel()]), intercept / n))
        rows.append(tuple(row))
    size = len(rows[0][0].vector) - n * m
    return OwnNorm(tuple(rows), np.array([lam] * size + [smoothing / n] * (n * m), object))


# --- a proof, term by term, on one problem -------------------------------------------------------


@dataclass(frozen=True)
class ProofTerms:
    """The terms of a certificate, evaluated on one run; they show that error <= bound * C.

    The difference bound * C - error is the sum of the terms and the quadratic form, all of which
    are nonnegative.
    """

    bound: Fraction
    error: Fraction
    terms: tuple[Fraction, ...]
    form: Fraction

    def holds(self) -> bool:
        """Return whether the identity and the signs are right."""
        identity = self.bound - self.error == sum(self.terms) + self.form
        return identity and min(*self.terms, self.form) >= 0


def proof_on(certificate: RateCertificate, dual: OwnNorm, best: DualPoint) -> ProofTerms:
    """Evaluate a certificate for quadratic functions on the run of Frank-Wolfe on a dual.

    `best` is a feasible point used in place of the optimum; the proof holds for every such point.
    """
    steps, functions = certificate.steps, certificate.functions
    iterates, taken = dual.run(steps)
    curvature = dual.curvature()
    vertices = dict(enumerate([iterates[0], *taken]))
    vectors = {("vertex", v): p.vector - best.vector for v, p in vertices.items()}
    values = {("l", v): dual.slope(best, p) for v, p in vertices.items()} | {ONE: curvature}

    def value(form: Expression) -> Fraction:
        linear = sum((x * values[s] for s, x in form.linear.items()), Fraction(0))
        pairs = form.quadratic.items()
        return linear + sum(x * dual.inner(vectors[a], vectors[b]) for (a, b), x in pairs)

    terms = [x * value(expression(steps, functions, k)) for k, x in certificate.multipliers.items()]
    found = dual.dual(best) - dual.dual(iterates[-1])
    if value(error(steps, functions)) != found:
        raise ValueError("the error of the run differs from that of the certificate")
    rest = value(remainder(certificate))
    return ProofTerms(certificate.bound * curvature, found, tuple(terms), rest)
