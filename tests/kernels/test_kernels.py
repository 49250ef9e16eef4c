"""Every compiled kernel against its own Python source, on the calls that the library makes.

The library runs with all kernels interpreted while a recorder keeps some calls of each. Every call
is then repeated twice from equal copies of its arguments, compiled and interpreted: results and
changed arrays must agree. A kernel that no run reaches is an error.
"""

import importlib
import os
import pkgutil
import subprocess
import sys
from contextlib import contextmanager

import numba
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from in_turn import TURNS
from loss_table import entries, some_ks

import fwlab
from fwlab import kernels
from fwlab.distributed.same_chunks import WORDS, checksum
from fwlab.kernels.domains.sorting import INSERTION_LENGTH
from fwlab.kernels.layouts import StepRecord
from fwlab.kernels.products import blocks
from fwlab.kernels.steps import passes
from fwlab.kernels.steps.rules import EXACT
from fwlab.operators.features import SHORT_ROWS, DenseFeatures
from fwlab.solvers import ascent
from fwlab.solvers.method import State
from fwlab.solvers.newton import Proximal
from fwlab.solvers.panel_groups import PanelGroups
from fwlab.solvers.registry import REGISTRY
from fwlab.solvers.warm_up import _iterate_once_per_form

KEPT = 2  # calls of each kernel a run
SEEDS = range(12)
# they return arrays that nobody has filled yet, or with padding that nobody fills
SHAPES_ONLY = {
    "products.dense.copy_in_lines",
    "steps.block.make_block_scratch",
    "domains.projection.make_projection_scratch",
    "domains.metric_projection.make_metric_scratch",
    "domains.vertices.make_vertex_scratch",
    "steps.entropy_passes.make_entropy_scratch",
    "steps.norm_block.make_norm_scratch",
    "steps.panels.make_panel_scratch",
}

# it returns a part of an argument, which only callers that are compiled with it can read
PART_OF_ARGUMENT = "steps.block.block_of"


def size_in_move(shift, kappa, scratch):
    steps = scratch.steps * (kappa * (scratch.new + scratch.e) + abs(shift))
    return np.sum(np.maximum(1.0, scratch.e) * (1.0 + steps))


# of terms that may cancel
SIZES = {
    "products.blocks.dot": lambda a, b: np.abs(a) @ np.abs(b[: len(a)]),
    "steps.entropy_row._sums": lambda t, p, e, _: np.sum(e + e * t * (p + e) / (1.0 + t * e)),
    "steps.entropy_row._move": size_in_move,
}


def all_kernels():
    """Return {"folder.module.name": compiled kernel}; it is empty if numba's JIT is off."""
    found = {}
    for info in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}."):
        module = importlib.import_module(info.name)
        for name, kernel in vars(module).items():
            source = getattr(kernel, "py_func", None)
            own = module.__name__, name  # not that of another module, nor another name of one here
            if source is not None and (source.__module__, source.__name__) == own:
                found[f"{info.name.removeprefix(kernels.__name__ + '.')}.{name}"] = kernel
    return found


KERNELS = all_kernels()
pytestmark = [
    pytest.mark.small,
    # sums modulo 2^64
    pytest.mark.filterwarnings("ignore:overflow encountered in scalar:RuntimeWarning"),
    pytest.mark.skipif(
        bool(numba.config.DISABLE_JIT), reason="without the JIT a kernel is its Python source"
    ),
]


# ---------------------------------------------------------------- recorded runs


def copied(argument):
    if isinstance(argument, tuple):
        parts = [copied(part) for part in argument]
        return type(argument)(*parts) if hasattr(argument, "_fields") else tuple(parts)
    return np.array(argument, order="C") if isinstance(argument, np.ndarray) else argument


class Recorder:
    """Stands in for a kernel: runs its source and keeps a random choice of its calls."""

    def __init__(self, kernel, rng):
        self.kernel, self.rng, self.seen, self.calls = kernel, rng, 0, []

    def __call__(self, *arguments):
        self.seen += 1
        if len(self.calls) < KEPT:
            self.calls.append(copied(arguments))
        elif self.rng.random() < KEPT / self.seen:
            self.calls[self.rng.integers(KEPT)] = copied(arguments)
        return self.kernel.py_func(*arguments)


@contextmanager
def recording(rng):
    """Bind every name in fwlab that is bound to a kernel to its recorder instead.

    New arrays that nobody has filled hold what a reader of them would notice: NaN, or a number
    whose sums overflow.
    """
    unfilled, empty = rng.choice([np.nan, 1e300]), np.empty

    def make_unfilled(*arguments, **options):
        array = empty(*arguments, **options)
        if array.dtype.kind == "f":
            with np.errstate(over="ignore"):
                array.fill(unfilled)
        return array

    recorders = {name: Recorder(kernel, rng) for name, kernel in KERNELS.items()}
    by_kernel = {id(recorder.kernel): recorder for recorder in recorders.values()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(np, "empty", make_unfilled)
        for module_name, module in list(sys.modules.items()):
            if module_name.split(".")[0] == fwlab.__name__:
                for name, value in list(vars(module).items()):
                    if id(value) in by_kernel:
                        patch.setattr(module, name, by_kernel[id(value)])
        yield recorders


def use_losses(rng):
    m = int(rng.choice([2, 3, 5, 7, 40]))
    y = rng.integers(0, m, 3)
    entry = rng.choice(np.array(entries(m, y, some_ks(m)), dtype=object))
    scores = rng.integers(-3, 4, (3, m)) / 2 if rng.random() < 0.5 else rng.standard_normal((3, m))
    for name in ("value", "subgradient", "lmo", "conjugate", "in_domain", "project"):
        getattr(entry.loss, name)(scores, y)
    entry.loss.project(2.0**40 * scores, y)
    entry.loss.moreau(scores, y, 0.5)
    entry.loss.projection_jacobian(scores, y)
    above_all = np.append(9.0, rng.standard_normal(79))  # all others take part
    fwlab.WeightedUsunier(np.linspace(2.0, 1.0, 70)).project(above_all, 0)


def use_long_rows(rng):
    y = rng.integers(0, 600, 2)
    for scale in (0.02, 1.0):
        scores = scale * rng.standard_normal((2, 600))
        fwlab.TopK(int(rng.integers(1, 6))).project(scores, y)
        fwlab.WeightedTopK(fwlab.weights.linear(int(rng.integers(2, 6)))).project(scores, y)
        fwlab.TopK(INSERTION_LENGTH + 1).value(scores, y)


def use_projections(rng):
    for d in (6, 200):
        a, k = rng.integers(-9, 10, (2, d)) / 4, int(rng.integers(1, 6))
        if rng.random() < 0.5:
            a = rng.standard_normal((2, d)) - rng.choice([0.0, 2.0])
        bias = rng.choice([0.0, 1.0])
        fwlab.project_topk_simplex(a, k, 1.5, bias)
        fwlab.project_topk_cone(a, k, bias)
        fwlab.project_knapsack(a, 1.0, 0.25, bias=bias)
        fwlab.project_knapsack(a, 1.0, 0.25, equality=True)
        for scale in (1.0, 2.0**40):
            fwlab.project_permutahedron(scale * a[:, :80], np.arange(min(d, 80)))
    for d in (200, 5000):
        fwlab.project_topk_cone(rng.standard_normal((2, d)), 60, bias=0.0)
    # enough equal entries to be sorted by bytes
    fwlab.project_knapsack(np.zeros(1100), 1.0, 0.25, bias=1.0)


def use_products(rng):
    features = DenseFeatures(rng.standard_normal((20, SHORT_ROWS)))
    features.transposed_product(rng.standard_normal((20, 3)) * (rng.random((20, 3)) < 0.2))
    checksum(rng.standard_normal((4, WORDS)))


def drawn_weights(rng, n):
    return np.append(1.0, rng.choice([0.0, 1.0, 2.0], n - 1))


def use_solvers(rng):
    n, m, d = 9, int(rng.choice([3, 6])), 4
    X, y = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7), rng.integers(0, m, n)
    weight = drawn_weights(rng, n)
    loss = fwlab.TopK(int(rng.integers(1, m)))
    for data, kernel in [(X, None), (scipy.sparse.csr_array(X), None), (X @ X.T, "precomputed")]:
        problem = fwlab.Problem(
            data, y, loss, 0.1, rng.choice([0.0, 0.5]), kernel, n_classes=m, sample_weight=weight
        )
        for method, default in REGISTRY.items():
            if default().refuses(problem) is None:
                fwlab.solve(problem, method, tol=0.0, max_iter=2)
        regularizer = fwlab.LpNorm(rng.choice([1.0, 1.5, 3.0]))
        for norm_loss in (fwlab.MaxHinge(), loss):
            normed = fwlab.Problem(
                data, y, norm_loss, 0.1, 0.0, kernel, n_classes=m, regularizer=regularizer
            )
            fwlab.solve(normed, "direct", tol=0.0, max_iter=2)
        fwlab.solve(problem, "bcfw", order="gap", tol=0.0, max_iter=1)
        fwlab.solve(problem, "bcfw", step="adaptive", tol=0.0, max_iter=2)
        if problem.kernel is None:
            multiply_by_hessian(problem, rng)
    single = fwlab.Problem(X, y, loss, 0.1, n_classes=m, storage="float32")
    fwlab.solve(single, "subgradient", tol=0.0, max_iter=2)


def use_entropies(rng):
    """Take small and large steps of the cross-entropy, where Wright's omega has other series."""
    m, C = int(rng.choice([2, 3, 6])), rng.choice([1e-3, 0.1, 1e3])
    X, y = rng.standard_normal((9, 4)) * (rng.random((9, 4)) < 0.7), rng.integers(0, m, 9)
    weight = drawn_weights(rng, 9)
    for data, kernel in [(X, None), (scipy.sparse.csr_array(X), None), (X @ X.T, "precomputed")]:
        problem = fwlab.Problem(
            data, y, fwlab.CrossEntropy(), C, 0.0, kernel, n_classes=m, sample_weight=weight
        )
        fwlab.solve(problem, "ascent", tol=0.0, max_iter=3)


def multiply_by_hessian(problem, rng):
    """Call what Newton's method needs for many unknowns."""
    W = rng.standard_normal((problem.n_classes, problem.n_features))
    proximal = Proximal(problem, np.zeros((problem.n_samples, problem.n_classes)), 1.0)
    hessian = proximal.hessian(proximal.at(W, problem.features.scores(W)))
    hessian.diagonal()
    hessian.product(W)


def use_faces(rng):
    X, y = rng.standard_normal((20, 3)), np.arange(20) % 10
    for data in (X, scipy.sparse.csr_array(X)):
        k = int(rng.integers(2, 5))
        for loss in (fwlab.MaxHinge(), fwlab.TopK(k), fwlab.PseudoTopK(k)):
            fwlab.solve(fwlab.Problem(data, y, loss, 0.5), "ascent", tol=0.0, max_iter=9)


def use_rows_of_scores(rng):
    """Compute scores of two and four rows at once: a processor uses one of them."""
    X, W, scores = rng.standard_normal((4, 9)), rng.standard_normal((5, 9)), np.zeros((4, 5))
    blocks.four_rows_of_scores(X, W, 0, 0, scores)
    blocks.two_rows_of_scores(X, W, 0, 0, scores)


def use_single_precision(rng):
    """Take sums of one term: longer float32 sums would differ by more than assert_same allows."""
    X = np.zeros((9, SHORT_ROWS), np.float32)
    X[np.arange(9), rng.permutation(SHORT_ROWS)[:9]] = rng.standard_normal(9)
    problem = fwlab.Problem(X, np.arange(9) % 5, fwlab.TopK(2), 0.1, storage="float32")
    fwlab.solve(problem, "ascent", tol=0.0, max_iter=2)


def use_panels(rng):
    """Visit rows that agree, and rows of about one direction, whose panels conflict."""
    n, m = 70, 40
    for X in (rng.standard_normal((n, 9)), np.ones((n, 3)) + 0.1 * rng.standard_normal((n, 3))):
        problem = fwlab.Problem(X, rng.integers(0, m, n), fwlab.TopK(2), 0.1, 0.1, n_classes=m)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ascent, "panel_groups", lambda problem: PanelGroups(2, 2))
            fwlab.solve(problem, "ascent", tol=0.0, max_iter=3)
    state = State(problem, np.zeros((n, m)), rng)
    workspace = ascent.Ascent(EXACT).start(state)
    record = StepRecord(workspace.moves, workspace.active_sets.arrays, workspace.estimates)
    data = problem.X, state.link, state.A, workspace.dual(problem)
    PanelGroups(2, 2).compile(EXACT, workspace.visit(problem), *data, record)


def use_ranking(rng):
    X, y = rng.standard_normal((9, 3)), np.arange(9) % 2
    for surrogate in ("quadratic", "hinge"):
        for objective in (
            fwlab.ranking.TopPushK(int(rng.integers(1, 4)), surrogate),
            fwlab.ranking.PatMat(0.3, surrogate),
        ):
            fwlab.ranking.solve(X, y, objective, 1.0, method="pairwise", tol=0.0, max_iter=2)


RUNS = [
    use_losses,
    use_long_rows,
    use_projections,
    use_products,
    use_solvers,
    use_entropies,
    use_faces,
    use_rows_of_scores,
    use_single_precision,
    use_panels,
    use_ranking,
]


# ---------------------------------------------------------------- compiled against interpreted


def assert_same(first, second, size=0.0):
    """Assert equal integers, and floats equal to the rounding of sums in another order."""
    if isinstance(first, tuple):
        assert len(first) == len(second)
        for a, b in zip(first, second, strict=True):
            assert_same(a, b, size)
    elif np.asarray(first).dtype.kind == "f":
        sizes = np.abs(first, where=np.isfinite(first), out=np.zeros(np.shape(first)))
        atol = 1e-13 * sizes.max(initial=size)
        np.testing.assert_allclose(second, first, rtol=1e-12, atol=atol)
    else:
        np.testing.assert_array_equal(second, first)


def shapes(arrays):
    """Return shape and kind of each array of a nested tuple."""
    if isinstance(arrays, tuple):
        return tuple(shapes(array) for array in arrays)
    return arrays.shape, arrays.dtype.kind


def as_written(kernel, arguments):
    """Return what the source of a kernel returns."""
    with pytest.MonkeyPatch.context() as patch:
        if kernel is passes.step_block:
            patch.setattr(passes, "block_of", passes.block_of.py_func)
        return kernel.py_func(*arguments)


def assert_compiled_as_written(recorders):
    for name in recorders.keys() - {PART_OF_ARGUMENT}:
        recorder = recorders[name]
        for arguments in recorder.calls:
            compiled, interpreted = copied(arguments), copied(arguments)
            answers = as_written(recorder.kernel, interpreted), recorder.kernel(*compiled)
            if name in SHAPES_ONLY:
                answers = [shapes(answer) for answer in answers]
            size = SIZES.get(name, lambda *_: 0.0)(*arguments)
            try:
                assert_same(*answers, size)
                assert_same(interpreted, compiled, size)
            except AssertionError as error:
                raise AssertionError(f"{name}{arguments} differs from its source") from error


def run_recorded(run, seed):
    rng = np.random.default_rng(seed)
    with recording(rng) as recorders:
        run(rng)
    return recorders


@pytest.fixture(scope="module")
def recorded():
    """Provide recorders of every run with each of SEEDS; the first ones record the warm-up, too."""
    _iterate_once_per_form.cache_clear()
    return [run_recorded(run, seed) for run in RUNS for seed in SEEDS]


def assert_every_kernel_is_reached(recorded):
    assert len(KERNELS) > 80
    assert not [name for name in KERNELS if not any(found[name].seen for found in recorded)]


# each kernel is compiled apart from its callers, which takes a second; a commit tries one part
@pytest.mark.turns
@pytest.mark.parametrize("part", range(TURNS))
def test_kernels_do_what_their_source_says(recorded, part):
    assert_every_kernel_is_reached(recorded)
    names = set(sorted(KERNELS)[part::TURNS])
    for recorders in recorded:
        assert_compiled_as_written({name: recorders[name] for name in names & recorders.keys()})


@pytest.mark.deep
@given(st.sampled_from(RUNS), st.integers(0, 2**32 - 1))
def test_kernels_do_what_their_source_says_on_any_seed(run, seed):
    assert_compiled_as_written(run_recorded(run, seed))


@pytest.mark.deep
def test_kernels_stay_within_bounds_and_need_no_new_processor():
    test = f"{__file__}::{test_kernels_do_what_their_source_says.__name__}"
    switches = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CPU_NAME": "generic"}
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", test], env=os.environ | switches, check=True
    )
