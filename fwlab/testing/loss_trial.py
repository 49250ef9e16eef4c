"""`check_loss`: try a loss on drawn inputs, and report the smallest one that contradicts it."""

from typing import Any

import numpy as np

from fwlab.checks.arguments import as_generator, as_integer, as_real
from fwlab.losses import Loss
from fwlab.polytope_loss import PolytopeLoss
from fwlab.testing.domain_checks import CONTAINS_CHECKS, PROGRAM_CHECK, PROJECTION_CHECK
from fwlab.testing.loss_checks import VALUE_CHECKS, LossCheck
from fwlab.testing.shrinking import Contradiction, Inputs, contradiction_of, smallest
from fwlab.testing.tried_loss import TriedLoss

UNIT = 2.0**-52
# one batch of rows: small integers, which make ties, normal numbers, large ones, and almost equal
SCALES = (0.0, 1.0, 100.0, 1e-3)
PROGRAMS = 6


def check_loss(loss: Any, m: int, rng: Any = 0, unit: float = UNIT) -> None:
    """Try a loss of your own for m classes; raise AssertionError if it contradicts itself.

    The message names the functions, the row, what was expected and what came, and the smallest
    input that was found. Tried are

    - the shapes and types of all answers, finite numbers, arguments that stay as they are, equal
      answers to equal questions, and rows that do not depend on each other;
    - `lmo`, which must return the lowest of all its points;
    - `value` against `lmo`: Phi(s) = -<s + delta, lmo(s + delta)>;
    - the convexity of `value`, and -lmo(s + delta) as its subgradient at s;
    - Fenchel and Young's inequality, with vertices and their combinations;
    - `contains` or `in_domain`, which must accept these and reject points 1e-6 beyond them;
    - `project` against its variational inequality;
    - `lmo` against linear programs, if the loss has `inequalities`, or is of the family and m <= 7.

    Equal inputs give equal verdicts. It takes about a second. A loss whose costs belong to single
    samples cannot be tried, because it does not say what other rows cost.

    Parameters
    ----------
    loss : Loss or PolytopeLoss
        An object of your class.
    m : int
        The number of classes.
    rng : int or numpy Generator
        The seed of the drawn inputs.
    unit : float
        The relative error of one operation of the loss: the rounding of float64, or more if the
        loss computes its answers by an iteration. Each comparison allows 8 (m + 4) units of the
        numbers that it sums.

    Raises
    ------
    AssertionError
        If the loss contradicts itself.
    TypeError, ValueError
        If an argument is not as described.
    """
    if not isinstance(loss, Loss | PolytopeLoss):
        raise TypeError(f"loss must be a fwlab.Loss or a fwlab.PolytopeLoss; got {loss!r}.")
    m = as_integer("m", m, low=2)
    generator = as_generator(rng)
    tried = TriedLoss(loss, as_real("unit", unit, positive=True))
    for check, programs in _checks(tried, m):
        for inputs in _drawn(check, m, generator, programs):
            _tried(check, tried, inputs)


def _checks(tried: TriedLoss, m: int) -> list[tuple[LossCheck, bool]]:
    """Return all checks that a loss allows, and whether each one solves linear programs."""
    checks = [(check, False) for check in VALUE_CHECKS]
    if tried.describes(m):
        checks.append((PROGRAM_CHECK, True))
    if tried.checks_membership:
        checks += [(check, False) for check in CONTAINS_CHECKS]
    if tried.projects:
        checks.append((PROJECTION_CHECK, False))
    return checks


def _drawn(
    check: LossCheck, m: int, generator: np.random.Generator, programs: bool
) -> list[Inputs]:
    """Return batches of rows with all labels, for each scale."""
    batches = []
    for scale in SCALES[:2] if programs else SCALES:
        y = generator.permutation(np.arange(max(m, 4)) % m)
        y = y[:PROGRAMS] if programs else y
        points = {}
        for name in check.draws:
            drawn = generator.standard_normal((len(y), m))
            points[name] = scale * drawn if scale else np.round(2 * drawn)
        batches.append(Inputs(y, points))
    return batches


def _tried(check: LossCheck, tried: TriedLoss, inputs: Inputs) -> None:
    """Raise AssertionError with the smallest input if a check finds a contradiction."""

    def run(smaller: Inputs) -> None:
        # a smaller size may be one for which the loss is not defined
        check.run(tried, smaller)

    found = contradiction_of(run, inputs)
    if found is None:
        return
    inputs, found = smallest(run, inputs, found)
    raise Contradiction(found.kind, f"{found}\nThe smallest input found: {inputs}.") from (
        found.__cause__
    )
