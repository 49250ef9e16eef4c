"""Prove how good any constant C of a softmax head could be on validation samples."""

import reprlib
from typing import Any

import numpy as np

from fwlab.arrays import Integers, on_host
from fwlab.checks.arguments import LARGEST, as_features, as_real
from fwlab.checks.labels import codes_of_rows, encoded_labels, require_two_classes
from fwlab.choice.clock import Clock
from fwlab.choice.knots import Knots
from fwlab.choice.point import TrainingSamples
from fwlab.choice.proved_choice import ChoiceStatus, ProvedChoice, merged, statement
from fwlab.choice.validation import Validation
from fwlab.choice.walk import SHARE, Stretch, Walk
from fwlab.cross_entropy import CrossEntropy, EntropyLoss
from fwlab.operators.features import features_of
from fwlab.problem import Problem
from fwlab.solvers.interrupt import deferred_interrupt
from fwlab.solvers.lbfgs import Lbfgs
from fwlab.solvers.warm_up import warm_up
from fwlab.threads import run_threads
from fwlab.topk_entropy import TopKEntropy

# knots before the walk
PER_DECADE, FEWEST, MOST = 4, 5, 41
LEAST_SLACK, LEAST_SAMPLES = 0.002, 2


def prove_choice(
    X: Any,
    y: Any,
    X_validation: Any,
    y_validation: Any,
    C: tuple[float, float] = (1e-2, 1e2),
    loss: EntropyLoss | None = None,
    slack: float | None = None,
    time_limit: float | None = None,
    sample_weight: Any = None,
) -> ProvedChoice:
    """Choose C by the accuracy on validation samples, and prove what another C could gain.

    The proof is about the exact optimum W*(C) of (1/2) |W|^2 + C sum_i loss_i for every real C of
    the interval, and includes all rounding errors (fwlab.choice.stretch).
    Ctrl-C and the time limit end it with what is proved so far.

    Parameters
    ----------
    X, y : array or sparse matrix (n, d), array (n,)
        The training samples, and their labels of any kind. For a regularised intercept let X end in
        a constant feature.
    X_validation, y_validation : array or sparse matrix (n_validation, d), array (n_validation,)
        The samples that measure accuracy: the share whose largest score, ties to the first class,
        is at their label. A label that y does not have counts as wrong.
    C : (float, float)
        The ends of the interval, as in LogisticRegression: C multiplies the sum of the losses.
    loss : CrossEntropy, optional
        The only loss with such a proof here.
    slack : float, optional
        The accuracy that another C may gain, as a share: 0.01 is one point. By default 0.2 points
        or 2 samples, whichever is more. A smaller slack takes more points.
    time_limit : float, optional
        Seconds of the whole call, without those that compile. The call may be late by one
        evaluation.
    sample_weight : array (n,), optional
        Weights of the training samples.

    Returns
    -------
    ProvedChoice
        The chosen C with its machine, the bound of the accuracy over C, and what is proved.

    Raises
    ------
    TypeError, ValueError
        With one sentence, before any work, if an argument is not as described.
    """
    low, high = _interval(C)
    _check_loss(loss)
    rows = as_features("X", X)
    require_two_classes(encoded_labels(on_host(y))[1])
    problem = Problem(rows, y, CrossEntropy(), C=high, sample_weight=sample_weight)
    others, codes = _validation(X_validation, y_validation, problem)
    slack = _slack(slack, len(codes))
    if time_limit is not None:
        time_limit = as_real("time_limit", time_limit, positive=False)
    with run_threads(1):
        warm_up(problem, Lbfgs())
        with deferred_interrupt() as interrupt:
            clock = Clock(time_limit, interrupt)
            knots = Knots(problem, others, codes, clock)
            knots.add_grid(_grid(low, high), SHARE)
            allowed = int(np.floor(slack * len(codes) * (1 + 1e-12)))
            validation = Validation.of(others, codes)
            walk = Walk(TrainingSamples.of(problem), validation, knots, allowed)
            walk.run()
            return _result(walk, (low, high), len(codes))


def _interval(C: Any) -> tuple[float, float]:
    """Return the checked ends of the interval."""
    ends = list(C) if np.iterable(C) and not isinstance(C, str | bytes) else []
    if len(ends) != 2:
        raise TypeError(f"C must be a pair of positive numbers, (low, high); got {C!r}.")
    low, high = (as_real("C", end, positive=True) for end in ends)
    if not low < high:
        raise ValueError(f"C must be (low, high) with low < high; got {C!r}.")
    return low, high


def _check_loss(loss: Any) -> None:
    """Raise TypeError unless the loss is the cross-entropy."""
    if loss is None or isinstance(loss, CrossEntropy):
        return
    if isinstance(loss, TopKEntropy) and loss.k == 1:
        return
    raise TypeError(
        "loss must be fwlab.CrossEntropy(), because the proof needs the second derivatives of a "
        f"softmax; got {reprlib.repr(loss)}."
    )


def _validation(X: Any, y: Any, problem: Problem) -> tuple[Any, Integers]:
    """Return the checked validation samples with their classes."""
    rows = as_features("X_validation", X)
    if rows.shape[1] != problem.n_features:
        raise ValueError(
            f"X_validation must have {problem.n_features} columns, as X has; got {rows.shape[1]}."
        )
    finite = np.isfinite(features_of(rows, None).square_norms())
    if not finite.all():
        raise ValueError(
            f"X_validation must be finite and at most {LARGEST:g} in size; row "
            f"{int(np.argmin(finite))} is not."
        )
    try:
        return rows, codes_of_rows(y, problem.classes, rows.shape[0])
    except (TypeError, ValueError) as error:
        told = str(error).replace("y must", "y_validation must", 1)
        raise type(error)(told) from None


def _slack(slack: Any, n: int) -> float:
    """Return the checked slack, or the default for n validation samples."""
    if slack is None:
        return min(1.0, max(LEAST_SLACK, LEAST_SAMPLES / n))
    share = as_real("slack", slack, positive=False)
    if share > 1:
        raise ValueError(f"slack must be a share of the samples, at most 1; got {slack}.")
    return share


def _grid(low: float, high: float) -> np.ndarray:
    """Return the C of the first knots, both ends included."""
    number = int(np.clip(PER_DECADE * np.log10(high / low) + 1, FEWEST, MOST))
    # rounding may take C of a short interval out of it
    grid = np.geomspace(low, high, number).clip(low, high)
    grid[0], grid[-1] = low, high
    return grid


def _result(walk: Walk, interval: tuple[float, float], n: int) -> ProvedChoice:
    """Return the outcome of a walk."""
    knots, (low, high) = walk.knots, interval
    assert knots.best is not None
    stretches = list(walk.stretches)
    reached = stretches[-1].high if stretches else low
    if reached < high:
        possible = walk.validation.n_always + len(walk.validation.codes)
        stretches.append(Stretch(reached, high, possible))
    edges = np.array([low, *(stretch.high for stretch in stretches)])
    most = np.array([stretch.n_right for stretch in stretches])
    proved = merged(edges, most <= walk.most)
    status = _status(walk, reached == high, proved == [interval])
    limit, Cs = walk.most / n, sorted(knots.n_right)
    told = statement(proved, interval, limit)
    right = knots.n_right[knots.best_C]
    return ProvedChoice(
        C=knots.best_C,
        accuracy=right / n,
        machine=knots.best,
        slack=walk.allowed / n,
        interval=interval,
        proved=proved,
        bound=float(most.max()) / n,
        edges=edges,
        bounds=most / n,
        knots=np.array(Cs),
        accuracies=np.array([knots.n_right[C] for C in Cs]) / n,
        status=status,
        message=(
            f"C = {knots.best_C:.4g} has a validation accuracy of {right / n:.4f}, and {told}. "
            f"{status.value}"
        ),
        n_points=walk.n_points,
        wall_seconds=knots.clock.spent,
    )


def _status(walk: Walk, is_whole: bool, is_proved: bool) -> ChoiceStatus:
    if is_proved:
        return ChoiceStatus.PROVED
    if is_whole:
        return ChoiceStatus.OPEN
    is_pressed = walk.knots.clock.interrupt.pressed
    return ChoiceStatus.INTERRUPTED if is_pressed else ChoiceStatus.TIME_LIMIT
