"""Check LP15 section 3.2 and C.4: the machine with fixed class weights and its dual."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from paper_checks.arithmetic import Truth, all_of
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.lei2015.lagrangian import (
    WeightsInLine,
    conjugates,
    dual_feasible,
    hinge_feasible,
    is_lagrangian_dual,
    line_problems,
    own,
    symbolic_line,
)
from paper_checks.lei2015.machine import ClassWeights, Machine, machines
from paper_checks.lei2015.scalar_losses import HINGE, SMOOTH_HINGE, ScalarLoss
from paper_checks.outcomes import at_most, both, same_optimum
from paper_checks.proofs import BySolver


def weighted_problems(rng: Rng, deep: bool, losses: tuple[ScalarLoss, ...]) -> Iterator[Case]:
    """Yield small problems with class weights, and problems on a line.

    Some weights are 0; each small problem comes with the certified optimum of (8).
    """
    for i, machine in enumerate(machines(rng, 6)):
        beta = rng.uniform(0.2, 2, machine.c)
        if i % 2:
            beta[int(rng.integers(machine.c))] = 0
        machine = Machine(machine.x, machine.y, machine.c, machine.C, losses[i % len(losses)])
        kind = "a class weight 0" if i % 2 else "positive class weights"
        least = machine.optimum(ClassWeights(beta))
        yield Case(kind=kind, machine=machine, beta=beta, least=least)
    for case in line_problems(rng, deep, (1,)):
        if case.loss is HINGE or len(losses) > 1:
            yield reachable(case)


def reachable(case: Case) -> Case:
    """Return whether w is 0 where the class weight is 0, as in (8)."""
    w = tuple(x if b else 0 * x for x, b in zip(case.w, case.beta, strict=True))
    return Case(**{**vars(case), "w": w})


def on_a_line(deep: bool) -> Iterator[Case]:
    return symbolic_line((2,))


def positive_weights(case: Case) -> Truth:
    return all_of(*(b > 0 for b in case.beta))


def partial_dual(case: Case, power: int, map_power: int, cap: int) -> Outcome:
    """Check that the optimal values agree, and w mapped from alpha is optimal."""
    machine: Machine = replace(case.machine, C=cap * case.machine.C)
    most, alpha = machine.dual_optimum(ClassWeights(case.beta**power))
    agree = same_optimum(most, case.least, beta=case.beta)
    if cap != 1:
        return agree
    sums, weights = alpha.T @ machine.x, ClassWeights(case.beta)
    value = machine.primal(ClassWeights(case.beta**map_power).mapped(sums), weights)
    excess = largest_excess(machine, weights, sums, most[1] - most[0])
    return both(agree, at_most(value, case.least[1] + excess, beta=case.beta))


def largest_excess(
    machine: Machine, weights: ClassWeights, sums: np.ndarray, short: float
) -> float:
    """Return the largest excess of (8) over its minimum at w_j = beta_j u_j.

    The dual value at the sums u is within `short` of its maximum. In the norm |u|^2 = sum_j beta_j
    |u_j|^2 the dual is strongly concave: |u - u*|^2 <= 2 short. The regulariser differs by at most
    |u| |u - u*|, and a margin by sqrt(2 max beta) |x| |u - u*|.
    """
    lengths = np.linalg.norm(machine.x, axis=1).sum()
    slope = machine.C * float(machine.loss.lipschitz) * np.sqrt(2 * weights.beta.max()) * lengths
    return float(np.sqrt(2 * short) * (np.sqrt(2 * weights.conjugate(sums)) + slope))


@claim(
    "LP15-prob14",
    "Problem 14, (9), (10)",
    "For fixed class weights the Lagrangian dual of (8) is the maximum of -(1/2) sum beta_j "
    "|u_j|^2 minus C sum l*(-alpha_iy/C), and the w that minimises the Lagrangian is w_j = beta_j "
    "u_j.",
    formula=r"\sup_\alpha-\frac{1}{2}\sum_j\beta_j\|\sum_i\alpha_{ij}\phi(x_i)\|_2^2"
    r"-C\sum_i\ell^*(-\frac{\alpha_{iy_i}}{C});\quad w_j=\beta_j\sum_i\alpha_{ij}\phi(x_i)",
    shapes="alpha: (n, c); beta: (c,)",
    judged="On a line: the objective is the infimum of the Lagrangian at every alpha, attained at "
    "(10). In the plane: the optimal values agree and (10) is optimal at an optimal alpha. A class "
    "with weight 0 has w_j = 0, with 0/0 = 0 in (8).",
    cases=lambda rng, deep: weighted_problems(rng, deep, (HINGE, SMOOTH_HINGE, SMOOTH_HINGE)),
    planted=(version("beta_j^2", power=2), version("w_j = beta_j^2 u_j", map_power=2)),
    proofs=(
        BySolver(
            "class weights, multipliers and w between those tried, where (10) is not the minimiser",
            cases=on_a_line,
            assuming=positive_weights,
            sized_by=("n", "c"),
        ),
    ),
)
def partially_dualised(case: Case, power: int = 1, map_power: int = 1) -> Outcome:
    if hasattr(case, "machine"):
        return partial_dual(case, power, map_power, 1)
    finite, gain = conjugates(case)
    regulariser = WeightsInLine(case.beta, power, map_power)
    return is_lagrangian_dual(case, regulariser, all_of(finite, dual_feasible(case)), gain)


@claim(
    "LP15-prob15",
    "Problem 15, (11)",
    "For the hinge it is the maximum of -(1/2) sum beta_j |u_j|^2 plus sum alpha_iy, over alpha_i "
    "<= C e_y with rows that sum to 0.",
    formula=r"\sup_\alpha-\frac{1}{2}\sum_j\beta_j\|\sum_i\alpha_{ij}\phi(x_i)\|_2^2"
    r"+\sum_i\alpha_{iy_i},\quad \alpha_i\leq e_{y_i}C,\ \alpha_i\cdot 1=0",
    shapes="alpha: (n, c); beta: (c,)",
    judged="1 is the vector of ones, see LP15-ones. A class with weight 0 has w_j = 0, with 0/0 = "
    "0 in (8).",
    cases=lambda rng, deep: weighted_problems(rng, deep, (HINGE,)),
    planted=(version("beta_j^2", power=2), version("alpha_i <= 2 C e_y", cap=2)),
    proofs=(
        BySolver(
            "an alpha that one of the two descriptions of the feasible set holds and not the other",
            cases=on_a_line,
            assuming=positive_weights,
            sized_by=("n", "c"),
        ),
    ),
)
def partial_hinge_dual(case: Case, power: int = 1, cap: int = 1) -> Outcome:
    if hasattr(case, "machine"):
        return partial_dual(case, power, 1, cap)
    gain = sum(own(case), Fraction(0))
    regulariser = WeightsInLine(case.beta, power)
    return is_lagrangian_dual(case, regulariser, hinge_feasible(case, cap), gain)
