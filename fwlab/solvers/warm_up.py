"""Compile what a run needs before its clock starts."""

from copy import deepcopy
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from fwlab.cross_entropy import CrossEntropy
from fwlab.kernels.domains.sorting import COUNTING_LENGTH
from fwlab.kernels.layouts import EqualWeights
from fwlab.losses import TopK, WeightedTopK
from fwlab.operators.features import MANY_CLASSES, SHORT_ROWS, DenseFeatures, is_writeable
from fwlab.operators.sizes import row_maxima, row_sizes
from fwlab.primal_dual import PrimalDual
from fwlab.problem import Problem
from fwlab.rounding import distances
from fwlab.solvers.compiling import compiling_shown
from fwlab.solvers.method import Method, State
from fwlab.solvers.panel_groups import LEAST_CLASSES, suits_groups
from fwlab.solvers.proximal_hessian import MOST_UNKNOWNS


class Form(NamedTuple):
    """The form of a problem: numba compiles one version per form. indices is None for a dense X."""

    kernel: str | None
    indices: str | None
    writeable: bool
    storage: str
    smoothed: bool
    many_classes: bool
    long_rows: bool
    long_rows_of_gram: bool
    scores_by_blas: bool
    many_unknowns: bool
    in_groups: bool
    entropy: bool
    equal_weights: bool


def warm_up(problem: PrimalDual, method: Method) -> None:
    """Run one iteration of the method on two samples of the form of the problem's.

    numba compiles a second version for read-only arrays, such as memory maps, and for float32. What
    only rows need that are not proved to be near their domains is compiled if there are any.
    """
    sparse = scipy.sparse.issparse(problem.X)
    values = problem.X.data if sparse else problem.X
    kernel, m, d = problem.kernel, problem.n_classes, problem.n_features
    form = Form(
        kernel=kernel,
        indices=problem.X.indices.dtype.str if sparse else None,
        writeable=is_writeable(problem.X),
        storage=values.dtype.name,
        smoothed=problem.smoothing > 0,
        many_classes=m > COUNTING_LENGTH + 1,
        long_rows=not sparse and kernel != "precomputed" and d >= SHORT_ROWS,
        long_rows_of_gram=kernel is not None and problem.n_samples >= SHORT_ROWS,
        scores_by_blas=m >= MANY_CLASSES and values.dtype == np.float64,
        many_unknowns=kernel is None and m * d > MOST_UNKNOWNS,
        in_groups=suits_groups(problem),
        entropy=problem.has_entropy,
        equal_weights=problem.in_family and isinstance(problem.row_polytopes.weights, EqualWeights),
    )
    try:
        _iterate_once_per_form(method, form)
    except TypeError:
        # an option, such as an array, cannot be hashed
        _iterate_once(method, form)


@cache
def _iterate_once_per_form(method: Method, form: Form) -> None:
    _iterate_once(method, form)


def _iterate_once(method: Method, form: Form) -> None:
    method, tiny = deepcopy(method), _two_samples(form)
    if method.refuses(tiny):
        return
    with compiling_shown():
        A, rng = np.zeros((2, tiny.n_classes)), np.random.default_rng(0)
        state = State(tiny, A, rng, method.needs(tiny))
        method.iterate(state, method.start(state))
        method.warm_up(state)
        tiny.certificate(state.A)
        distances(tiny, state.A)
        row_maxima(row_sizes(state.A, np.abs(state.A[0])).lengths[None])
        _multiply_long_rows(form, tiny.n_classes)


def _multiply_long_rows(form: Form, m: int) -> None:
    """Compile the products of rows that are longer than the two samples'."""
    row, A = np.zeros((1, SHORT_ROWS), dtype=form.storage), np.zeros((1, m))
    if form.long_rows_of_gram:
        row.flags.writeable = form.writeable or form.kernel == "linear"
        DenseFeatures(row).transposed_product(A)
    if form.long_rows:
        row.flags.writeable = form.writeable
        DenseFeatures(row).transposed_product(A)
        if not form.scores_by_blas:
            DenseFeatures(row).scores(np.zeros((m, SHORT_ROWS)))


def _two_samples(form: Form) -> PrimalDual:
    m = MOST_UNKNOWNS // SHORT_ROWS + 2 if form.many_unknowns else 2 + (not form.equal_weights)
    m = COUNTING_LENGTH + 2 if form.many_classes else m
    d = SHORT_ROWS - 1 if form.many_unknowns else 2
    if form.in_groups:
        m, d = max(m, LEAST_CLASSES), SHORT_ROWS
    X: Any = np.eye(2, d, dtype=form.storage)
    if form.indices is not None:
        places = np.arange(3, dtype=form.indices)
        X = scipy.sparse.csr_matrix((np.ones(2, form.storage), places[:2], places), shape=(2, d))
    (X if form.indices is None else X.data).flags.writeable = form.writeable
    loss: Any = TopK(1) if form.equal_weights else WeightedTopK((0.6, 0.4))
    if form.entropy:
        loss = CrossEntropy()
    return Problem(
        X,
        np.array([0, 1]),
        loss,
        1.0,
        smoothing=float(form.smoothed),
        kernel=form.kernel,
        n_classes=m,
        storage=form.storage,
    )
