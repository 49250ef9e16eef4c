"""Compare fwlab with T20's formulas on its training problems, where psi(x, j) = e_j (x) x."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import fwlab
import reference
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Outcome
from paper_checks.outcomes import both, equal
from paper_checks.tajima2020.programs import (
    along,
    array,
    dual,
    primal,
    rationals,
    step_of,
    trainings,
    weights,
)


def linear_trainings(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield training problems whose features are Kronecker products of rows x (n, d)."""
    for case in trainings(rng, False):
        d = int(rng.integers(1, 4))
        x = rationals(rng, (case.n, d), 6, 3)
        features = array([np.kron(np.eye(case.m, dtype=int), row[None, :]) for row in x])
        w = rationals(rng, (case.m * d,), 6, 2)
        yield Case(**{**vars(case), "d": case.m * d, "x": x, "features": features, "w": w})


def in_fwlab(case: Case, *names: str, smoothing: Any = 0) -> Any:
    """Return the comparison of fwlab's functions of these names with the formulas."""
    problem = fwlab.Problem(
        case.x.astype(float),
        np.array(case.y),
        fwlab_loss(case.loss),
        float(case.lam),
        float(smoothing),
        n_classes=case.m,
    )
    return both(*(compared(name, problem, case, smoothing) for name in names)) if names else problem


def compared(name: str, problem: fwlab.Problem, case: Case, smoothing: Any) -> Outcome:
    """Compare one function of fwlab's problem with the formula, at the case's A and w."""
    A = case.A.astype(float)
    match name:
        case "weights":
            return equal(list(problem.weights(A).ravel()), floats(weights(case, case.A)))
        case "dual":
            return equal(problem.dual(A), float(dual(case, case.A, smoothing)))
        case "primal":
            W = case.w.astype(float).reshape(case.m, -1)
            return equal(problem.primal(W), float(primal(case, case.w)))
        case "gap":
            gap = primal(case, weights(case, case.A)) - dual(case, case.A)
            return equal(problem.gap(A), float(gap))
        case "curvature":
            step = step_of(case)
            found = problem.curvature(step.astype(float), problem.link(step.astype(float)))
            return equal(found, float(along(case, step, smoothing)[1]))
    raise ValueError(name)


def floats(numbers: Any) -> list[float]:
    return [float(x) for x in np.ravel(numbers)]


def fwlab_loss(loss: reference.Loss) -> Any:
    """Return fwlab's version of a loss of the reference."""
    match loss:
        case reference.StructuredHinge():
            return fwlab.StructuredHinge([[float(c) for c in row] for row in loss.costs])
        case reference.TopK(k):
            return fwlab.TopK(k)
        case reference.Usunier(k):
            return fwlab.Usunier(k)
        case reference.PseudoTopK(k):
            return fwlab.PseudoTopK(k)
        case reference.WeightedTopK(rho):
            return fwlab.WeightedTopK([float(r) for r in rho])
        case reference.WeightedUsunier(rho):
            return fwlab.WeightedUsunier([float(r) for r in rho])
    return fwlab.MaxHinge()
