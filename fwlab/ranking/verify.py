"""Enclose the certificate of a ranking run in ball arithmetic, without a formula of the solver.

`enclose` takes what a problem stores (rows or kernel matrix, labels, constants) and a dual point,
and encloses the exact values of

    P at the machine of the point: the stored w with a linear kernel, or else the combination of
      the kernel's columns with the coefficients (alpha; -beta), in which a positive that counts has
      the rounded difference of its two variables,
    D at the repaired point, which meets every constraint exactly (fwlab.ranking.rounding).

Kernel values, scores, the threshold, losses and sums are computed anew, from their definitions, by
python-flint's balls, which hold every rounding error. The root of the quantile equation is
enclosed between two numbers where the signs of the equation are certain.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from fwlab.ranking.problem import Problem

Interval = tuple[float, float]
PRECISION = 256  # bits; a float has 53
ROWS = 128  # of the kernel matrix, held at a time
NEWTON_STEPS = 300


def enclose(
    problem: Problem, point: Any, progress: Callable[[int, int], None] | None = None
) -> tuple[Interval, Interval, Interval]:
    """Return intervals that hold the exact primal, dual and gap of a dual point.

    Parameters
    ----------
    problem : Problem
    point : Point or Result
        The dual variables alpha, beta and delta. If it also has a machine, P is taken at its w.
    progress : callable, optional
        progress(rows, n) is called as rows of the kernel matrix are done.

    Returns
    -------
    primal, dual, gap : tuples (low, high)
        Floats, rounded outwards. The dual of a point that no repair makes feasible is -inf.

    Raises
    ------
    ImportError
        If python-flint is not installed.
    """
    flint = _flint()
    with flint.ctx.workprec(_precision(problem)):
        return _enclose(flint, problem, point, progress)


def _flint() -> Any:
    try:
        import flint
    except ImportError:
        raise ImportError("verify needs python-flint: pip install 'fwlab[verify]'") from None
    return flint


def _precision(problem: Problem) -> int:
    """Return enough bits that cancellation in sigma |x - z|^2 leaves PRECISION of them."""
    if problem.kernel != "rbf":
        return PRECISION
    largest = float(np.abs(_gram(problem).X).max()) or 1.0
    size = np.log2(problem.sigma) + 2 * np.log2(largest)
    return PRECISION + int(max(0.0, size)) + 32


def _enclose(
    flint: Any, problem: Problem, point: Any, progress: Callable[[int, int], None] | None
) -> tuple[Interval, Interval, Interval]:
    arb, p = flint.arb, problem.n_positive
    alpha, beta = ([arb(float(v)) for v in values] for values in (point.alpha, point.beta))
    delta = None if point.delta is None else arb(float(point.delta))
    repaired = _repaired(arb, problem, alpha, beta, delta)
    c = [arb(float(value)) for value in problem.coefficients(point)]
    moved = [*repaired[0], *(-b for b in repaired[1])]
    if problem.kernel == "linear":
        scores, square, dual_square = _linear(flint, problem, point, moved)
    else:
        scores, dual_scores = _products(flint, problem, c, moved, progress)
        square, dual_square = _dot(arb, c, scores), _dot(arb, moved, dual_scores)
    t = _threshold(arb, problem, scores[p:])
    primal = square / 2 + arb(problem.C) * _losses(arb, problem, t, scores[:p])
    dual = _linear_part(arb, problem, *repaired)
    if dual is None:
        return _outwards(primal), (-np.inf, -np.inf), (np.inf, np.inf)
    dual -= dual_square / 2
    return _outwards(primal), _outwards(dual), _outwards(primal - dual)


def _outwards(value: Any) -> Interval:
    """Return floats below and above a ball."""
    low, high = float(value.lower()), float(value.upper())
    return float(np.nextafter(low, -np.inf)), float(np.nextafter(high, np.inf))


def _dot(arb: Any, a: list[Any], b: list[Any]) -> Any:
    return sum((x * y for x, y in zip(a, b, strict=True)), arb(0))


def _repaired(
    arb: Any, problem: Problem, alpha: list[Any], beta: list[Any], delta: Any
) -> tuple[list[Any], list[Any], Any]:
    """Return the repaired alpha, beta and delta."""
    objective: Any = problem.objective
    theta, one = arb(float(objective.theta)), arb(1)
    hinge = objective.surrogate == "hinge"
    if hinge:
        alpha = [a.min(arb(problem.C) * theta) for a in alpha]
    totals = sum(alpha, arb(0)), sum(beta, arb(0))
    if totals[0].is_zero() or totals[1].is_zero():
        alpha, beta = [arb(0) for _ in alpha], [arb(0) for _ in beta]
    else:
        alpha = [a * one.min(totals[1] / totals[0]) for a in alpha]
        beta = [b * one.min(totals[0] / totals[1]) for b in beta]
    largest = beta[0]
    for b in beta[1:]:
        largest = largest.max(b)
    if delta is not None:
        return alpha, beta, delta.max(largest / _theta2(arb, problem)) if hinge else delta
    total = sum(beta, arb(0))
    mean, cap = total / len(beta), total / objective.K
    if largest <= cap:
        return alpha, beta, None
    share = ((largest - cap) / (largest - mean)).nonnegative_part()
    if not share.is_finite():
        share = arb(0.5, 0.5)  # all beta are equal to a rounding error of the balls
    share = share.min(one)
    return alpha, [b + share * (mean - b) for b in beta], None


def _theta2(arb: Any, problem: Problem) -> Any:
    objective: Any = problem.objective
    return arb(float(objective.theta if objective.theta2 is None else objective.theta2))


def _budget(arb: Any, problem: Problem) -> Any:
    rule: Any = problem.threshold
    return arb(rule.budget)


def _linear(flint: Any, problem: Problem, point: Any, c: list[Any]) -> tuple[list[Any], Any, Any]:
    """Return the scores and |w|^2 of the stored w, and |X^T c|^2."""
    machine = point.machine if hasattr(point, "machine") else problem.machine(point)
    X = _matrix(flint, _gram(problem).X)
    w = flint.arb_mat([[float(v)] for v in machine.coefficients])
    v = X.transpose() * flint.arb_mat([[value] for value in c])
    return (X * w).entries(), (w.transpose() * w)[0, 0], (v.transpose() * v)[0, 0]


def _gram(problem: Problem) -> Any:
    """Return the holder of the rows X or of the kernel matrix K, positives first, then counted."""
    return problem.gram


def _matrix(flint: Any, X: Any) -> Any:
    return flint.arb_mat((X if isinstance(X, np.ndarray) else X.toarray()).tolist())


def _products(
    flint: Any,
    problem: Problem,
    c: list[Any],
    moved: list[Any],
    progress: Callable[[int, int], None] | None,
) -> tuple[list[Any], list[Any]]:
    """Return K c and K moved."""
    n, gram = len(c), _gram(problem)
    both = flint.arb_mat([list(pair) for pair in zip(c, moved, strict=True)])
    rows = None if problem.kernel == "precomputed" else _matrix(flint, gram.X)
    out: list[list[Any]] = []
    for start in range(0, n, ROWS):
        stop = min(n, start + ROWS)
        if rows is None:
            K = flint.arb_mat(gram.K[start:stop].tolist())
        else:
            K = _rbf(flint, rows, start, stop, problem.sigma)
        out += (K * both).tolist()
        if progress is not None:
            progress(stop, n)
    return [row[0] for row in out], [row[1] for row in out]


def _rbf(flint: Any, X: Any, start: int, stop: int, sigma: float) -> Any:
    """Return rows of the kernel matrix of the rows of X."""
    table, scale = X.tolist(), flint.arb(float(sigma))
    inner = (flint.arb_mat(table[start:stop]) * X.transpose()).tolist()
    squares = [_dot(flint.arb, row, row) for row in table]
    return flint.arb_mat(
        [
            [
                (-scale * (squares[i] + squares[j] - 2 * row[j])).exp() if i != j else 1
                for j in range(len(table))
            ]
            for i, row in enumerate(inner, start)
        ]
    )


def _losses(arb: Any, problem: Problem, t: Any, positives: list[Any]) -> Any:
    """Return the sum of the surrogate at t - s over the positives' scores s."""
    theta, power = arb(float(problem.objective.theta)), _power(problem)
    terms = ((1 + theta * (t - s)).nonnegative_part() ** power for s in positives)
    return sum(terms, arb(0))


def _power(problem: Problem) -> int:
    return 1 if problem.objective.surrogate == "hinge" else 2


def _linear_part(
    arb: Any, problem: Problem, alpha: list[Any], beta: list[Any], delta: Any
) -> Any | None:
    """Return D without its norm, from the conjugates; None where it is -inf."""
    theta, C = arb(float(problem.objective.theta)), arb(problem.C)
    hinge = problem.objective.surrogate == "hinge"
    value = sum(alpha, arb(0)) / theta
    if not hinge:
        value -= sum((a * a for a in alpha), arb(0)) / (4 * C * theta * theta)
    if delta is None:
        return value
    theta2 = _theta2(arb, problem)
    value += sum(beta, arb(0)) / theta2 - _budget(arb, problem) * delta
    if hinge:
        return value
    squares = sum((b * b for b in beta), arb(0))
    if squares.is_zero():
        return value
    if not delta > 0:
        return None
    return value - squares / (4 * theta2 * theta2 * delta)


def _threshold(arb: Any, problem: Problem, scores: list[Any]) -> Any:
    """Return the threshold of the counted rows' scores."""
    if hasattr(problem.objective, "K"):
        K = problem.objective.K
        # the mean of the K largest grows with every score
        low = _descending([s.lower() for s in scores])[:K]
        high = _descending([s.upper() for s in scores])[:K]
        return (sum(low, arb(0)) / K).union(sum(high, arb(0)) / K)
    return _root(arb, problem, scores)


def _descending(values: list[Any]) -> list[Any]:
    """Sort exact numbers downwards; their order is certain."""
    return sorted(values, reverse=True)


def _root(arb: Any, problem: Problem, scores: list[Any]) -> Any:
    """Return the t with sum_j l2(s_j - t) = budget, enclosed by a certain change of sign.

    The sum minus the budget is convex and falls, so that Newton's method rises to the root from a t
    below it, where the largest score alone takes the whole budget.
    """
    theta, power, budget = _theta2(arb, problem), _power(problem), _budget(arb, problem)

    def terms(t: Any) -> list[Any]:
        return [(1 + theta * (s - t)).nonnegative_part() for s in scores]

    top = max(s.mid() for s in scores)
    t = (top + (1 - (budget if power == 1 else budget.sqrt())) / theta).mid()
    for _ in range(NEWTON_STEPS):
        inside = terms(t)
        value = sum((v**power for v in inside), arb(0)) - budget
        slope = sum((power * v ** (power - 1) for v in inside if v.mid() > 0), arb(0))
        step = (value / (theta * slope)).mid()
        if not step.is_finite() or abs(step) <= abs(t) * arb(2) ** (16 - PRECISION):
            break
        t = (t + step).mid()
    width = (abs(t) + 1 / theta + max(s.rad() for s in scores)).upper() * arb(2) ** (24 - PRECISION)
    while True:
        above = sum((v**power for v in terms(t - width)), arb(0)) - budget
        below = sum((v**power for v in terms(t + width)), arb(0)) - budget
        if above > 0 and below < 0:
            return (t - width).union(t + width)
        width *= 16
