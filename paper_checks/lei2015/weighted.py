"""Check LP15 section 3.2 and C.4: the machine with fixed class weights and its dual."""

from collections.abc import Iterator
from fractions import Fraction

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
from paper_checks.lei2015.machine import GAP, ClassWeights, Machine, machines, solved_with_weights
from paper_checks.lei2015.scalar_losses import HINGE, SMOOTH_HINGE, ScalarLoss
from paper_checks.outcomes import both, equal
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
        least = solved_with_weights(machine, beta)
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


def partial_dual(case: Case, power: int, map_power: int, cap: float) -> Outcome:
    """Check that the optimal values agree, and w mapped from alpha is optimal."""
    machine: Machine = case.machine
    dual = ClassWeights(case.beta**power)
    alpha = machine.best_alpha(dual, cap)
    if cap != 1:
        value = float((alpha * machine.chosen).sum()) - dual.conjugate(alpha.T @ machine.x)
        return equal(value, case.least, GAP)
    alpha = machine.feasible(alpha)
    w = ClassWeights(case.beta**map_power).mapped(alpha.T @ machine.x)
    return both(
        equal(machine.dual(alpha, dual), case.least, GAP, beta=case.beta),
        equal(machine.primal(w, ClassWeights(case.beta)), case.least, GAP, beta=case.beta),
    )


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
        return partial_dual(case, power, map_power, 1.0)
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
