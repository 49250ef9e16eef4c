"""Check T20 section 2.5: the cost of line 6 of Algorithm 1, a subgradient by sorting."""

import math
from collections.abc import Iterator
from typing import Any

import reference
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import counted, equal
from paper_checks.tajima2020.cost import PER_UNIT, Counting, operations


def sorted_subgradient(loss: reference.Loss, s: list[Counting], y: int) -> list[Any]:
    """Return a subgradient by sorting the margins: rho in their order, and minus its sum at y.

    A joint loss is 0 where its sum is not positive; an entrywise one leaves out margins below 0.
    """
    m = len(s)
    rho = [Counting(r) for r in weights_of(loss, m)]
    margins = [s_j - s[y] + int(j != y) for j, s_j in enumerate(s)]
    order = sorted(range(m), key=margins.__getitem__, reverse=True)
    if isinstance(loss, reference.TopK | reference.WeightedTopK):
        value = Counting(0)
        for place, j in enumerate(order):
            value = value + margins[j] * rho[place]
        taken = order if Counting(0) < value else []
    else:
        taken = [j for j in order if Counting(0) < margins[j]]
    found, whole = [Counting(0)] * m, Counting(0)
    for place, j in enumerate(taken):
        found[j], whole = rho[place], whole + rho[place]
    found[y] = found[y] - whole
    return [x.value for x in found]


def weights_of(loss: reference.Loss, m: int) -> list[Any]:
    """Return the weights of the sorted margins, (m,)."""
    if isinstance(loss, reference.TopK | reference.Usunier):
        return [1 / loss.k if j < loss.k else 0 for j in range(m)]
    return list(loss.numbers())


def scored_losses(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield scores for growing m, for each of the four losses."""
    for m in (4, 16, 128, 1024, 8192 if deep else 2048):
        s, k = rng.integers(-4, 5, m), max(1, m // 3)
        rho = tuple(max(0.0, 1 - j / (m // 2 + 1)) for j in range(m))
        losses = (
            reference.TopK(k),
            reference.Usunier(k),
            reference.WeightedTopK(rho),
            reference.WeightedUsunier(rho),
        )
        for loss in losses:
            name = type(loss).__name__
            yield Case(kind=f"m = {m}", m=m, name=name, loss=loss, y=int(rng.integers(m)), s=s)


@claim(
    "T20-line6",
    "2.5, Table 3 line 6",
    "A subgradient of the top-k hinge, the Usunier loss or their weighted versions takes "
    "O(m log m) operations.",
    formula=r"O(m\log m)",
    shapes="m classes",
    judged=f"O(x) as at most {PER_UNIT} x operations, counted while the subgradient is computed",
    cases=scored_losses,
    sides=("operations", "allowed"),
    planted=(
        version("O(log m)", bound=lambda m: math.ceil(math.log2(m))),
        version("O(sqrt(m))", bound=lambda m: math.isqrt(m)),
    ),
    not_proved="a count of operations at growing sizes",
)
def cost_of_subgradient(case: Case, bound: Any = lambda m: m * math.ceil(math.log2(m))) -> Outcome:
    """Count the operations, and compare the loss with the value attained by the subgradient."""
    s = [Counting(int(x)) for x in case.s]
    v, cost = operations(lambda: sorted_subgradient(case.loss, s, case.y))
    asked = case.loss.delta(case.m, case.y)
    attained = sum(v_j * (int(x) + d) for v_j, x, d in zip(v, case.s, asked, strict=True))
    value = case.loss.value([int(x) for x in case.s], case.y)
    right = equal(float(attained), float(value))
    return counted(cost, PER_UNIT * bound(case.m)) if right.holds else right
