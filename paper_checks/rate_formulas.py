"""Express the inequalities behind the rates of figures/exact as formulas about symbols.

Each formula here is the negation of what is proved, so it is unsatisfiable.
"""

from collections.abc import Iterator

from figures.exact.rate_recurrence import (
    TIME,
    Number,
    exact,
    first_slack,
    linear_slacks,
    slack_of_step,
)
from paper_checks.arithmetic import Truth
from paper_checks.rational_functions import is_negative


def recurrence_fails(
    numerator: Number = 2, offset: Number = 1, constant: Number = 2, shift: Number = 2
) -> Iterator[tuple[str, Truth]]:
    """Yield the negations of the induction's parts in `prove_for_all_steps`: t = 1, t to t + 1.

    The second formula says that the bound fails for t + 1 although it holds for t.
    """
    c, s = exact(constant), exact(shift)
    yield "t = 1", is_negative(first_slack(c, s), ())
    yield "all t", is_negative(slack_of_step(exact(numerator), c, s).subs(TIME, TIME + 1), (TIME,))


def linear_fails() -> Iterator[tuple[str, Truth]]:
    """Yield the negation of each inequality of `prove_linear_inside`."""
    for size, slack, names in linear_slacks():
        yield size, is_negative(slack, names)
