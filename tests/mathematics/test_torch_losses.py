"""Hinges and projections in torch against the compiled kernels, where torch is installed."""

import subprocess
import sys

import numpy as np
import pytest

import fwlab

torch = pytest.importorskip("torch", reason="torch, the extra torch, is not installed")

from fwlab import torch_losses  # noqa: E402 - after the skip
from fwlab.torch_projection import nearest_points  # noqa: E402 - after the skip

M = 6
HINGES = [
    fwlab.MaxHinge(),
    fwlab.TopK(1),
    fwlab.TopK(3),
    fwlab.TopK(M),
    fwlab.PseudoTopK(2),
    fwlab.PseudoTopK(M - 1),
    fwlab.Usunier(3),
    fwlab.Usunier(M),
]
OTHERS = [
    fwlab.WeightedTopK([1.0, 0.5]),
    fwlab.WeightedUsunier([1.0, 0.5, 0.1]),
    fwlab.StructuredHinge(np.abs(np.subtract.outer(np.arange(M), np.arange(M))).astype(float)),
]
each = pytest.mark.parametrize("loss", HINGES, ids=repr)


def drawn(seed, n=60, m=M):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, m)) * 10.0 ** rng.uniform(-3, 2, (n, 1))
    scores[::4] = np.round(scores[::4])
    return scores, rng.integers(0, m, n)


def hostile(rng, n, m):
    """Return rows with ties, of all scales, with common offsets and entries far from the others."""
    c = rng.normal(size=(n, m)) * 10.0 ** rng.uniform(-6, 8, (n, 1))
    c[1::8] = np.round(c[1::8])
    c[2::8] = np.round(4 * rng.normal(size=c[2::8].shape)) / 4
    c[3::8] = rng.normal(size=c[3::8].shape) * 0.3
    c[4::8] += 10.0 ** rng.uniform(0, 10, (len(c[4::8]), 1))
    c[5::8, 0] *= 1e6
    c[6::8] = rng.choice([-1.0, 0.0, 1.0], size=c[6::8].shape) * 10.0 ** rng.uniform(-3, 3)
    c[7::24] = 0.0
    return c


def cases(m):
    for k in sorted({1, 2, 3, m // 2, m - 1, m} & set(range(1, m + 1))):
        yield fwlab.TopK(k), k, k - 1
        yield fwlab.Usunier(k), k, 0
        if k < m:
            yield fwlab.PseudoTopK(k), k, k


@pytest.mark.parametrize("m", [2, 3, 5, 10, 40, 100])
def test_projections_are_those_of_the_kernels_on_hostile_rows(m):
    """Compare 14,400 rows or more; entries are right to a few units of the largest of their row."""
    rng = np.random.default_rng(m)
    for loss, k, r in cases(m):
        c, y = hostile(rng, 200, m), rng.integers(0, m, 200)
        expected = loss.project(c, y)
        found = nearest_points(torch.asarray(c), torch.asarray(y), k, r).numpy()
        slack = 2.0**-50 * (m + np.abs(c).max(axis=1))
        assert (np.abs(found - expected).max(axis=1) <= slack).all()
        assert loss.in_domain(-found, y, tol=1e-13).all()


def test_the_number_of_hostile_rows():
    assert sum(200 * len(list(cases(m))) for m in (2, 3, 5, 10, 40, 100)) >= 14_400


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@each
def test_projections_of_losses(loss, dtype):
    c, y = drawn(0)
    c = torch.asarray(c).to(getattr(torch, dtype))
    found = torch_losses.project(loss, c, torch.asarray(y, dtype=torch.int32))
    assert found.dtype == c.dtype
    slack = 16 * torch.finfo(c.dtype).eps * (1 + np.abs(c.numpy()).max(axis=1, keepdims=True))
    assert (np.abs(found.numpy() - loss.project(c.double().numpy(), y)) <= slack).all()


@pytest.mark.parametrize("smoothing", [0.0, 1e-3, 0.5, 10.0])
@pytest.mark.parametrize("loss", HINGES + OTHERS, ids=lambda loss: type(loss).__name__)
def test_values_and_gradients_are_those_of_the_kernels(loss, smoothing):
    scores, y = drawn(1)
    given = torch.tensor(scores, requires_grad=True)
    values = torch_losses.losses(loss, given, torch.asarray(y), smoothing)
    factors = torch.asarray(np.linspace(-1, 2, 60))
    (values * factors).sum().backward()
    if smoothing:
        expected, z = loss.moreau(scores, y, smoothing)
        gradients = (scores - z) / smoothing
    else:
        expected, gradients = loss.value(scores, y), loss.subgradient(scores, y)
    assert np.array_equal(values.detach().numpy(), expected)
    expected = factors.numpy()[:, None] * gradients
    assert given.grad.numpy() == pytest.approx(expected, rel=1e-12, abs=1e-10)


@pytest.mark.parametrize("smoothing", [0.0, 1e-3, 0.5, 10.0])
@each
def test_what_other_devices_compute_is_the_same(loss, smoothing):
    """The functions for other devices run on a CPU as well; ties may choose other subgradients."""
    scores, y = drawn(2)
    given = torch.asarray(scores), torch.asarray(y), smoothing
    values, gradients = torch_losses._by_tensors(loss, *given)
    expected, others = torch_losses._by_kernels(loss, *given)
    size = 1 + np.abs(scores).max(axis=1)
    assert ((values - expected).abs().numpy() <= 1e-14 * size).all()
    if smoothing:
        slack = 1e-14 * (1 + size / smoothing)
        assert ((gradients - others).abs().amax(dim=1).numpy() <= slack).all()
    else:
        assert loss.in_domain(gradients.numpy(), y).all()
        attained = loss.value(scores, y) + loss.conjugate(gradients.numpy(), y)
        assert (scores * gradients.numpy()).sum(axis=1) == pytest.approx(attained, abs=1e-10)


@pytest.mark.parametrize("loss", HINGES + OTHERS, ids=lambda loss: type(loss).__name__)
def test_gradcheck(loss):
    rng = np.random.default_rng(3)
    scores = torch.tensor(rng.normal(size=(12, M)), requires_grad=True)
    y = torch.asarray(rng.integers(0, M, 12))
    for smoothing in (0.25, 4.0):
        assert torch.autograd.gradcheck(
            lambda s, gamma=smoothing: torch_losses.losses(loss, s, y, gamma), scores
        )


@each
def test_a_tiny_smoothing_does_not_overflow(loss):
    scores, y = drawn(6)
    given = 1e10 * torch.asarray(scores), torch.asarray(y), 1e-305
    values, gradients = torch_losses._by_tensors(loss, *given)
    expected, _ = torch_losses._by_kernels(loss, *given)
    assert torch.isfinite(gradients).all()
    assert values.numpy() == pytest.approx(expected.numpy(), rel=1e-12, abs=1e-3)


def test_a_second_derivative_is_refused():
    scores = torch.zeros((2, M), dtype=torch.float64, requires_grad=True)
    values = torch_losses.losses(fwlab.TopK(2), scores, torch.tensor([0, 1]), 0.5)
    (gradient,) = torch.autograd.grad((values**2).sum(), scores, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()


def test_float32_scores_have_the_digits_of_float32():
    scores, y = drawn(4)
    given = torch.tensor(scores, dtype=torch.float32, requires_grad=True)
    values = torch_losses.losses(fwlab.TopK(3), given, torch.asarray(y, dtype=torch.int32), 0.5)
    values.sum().backward()
    assert values.dtype == given.grad.dtype == torch.float32
    expected = fwlab.TopK(3).moreau(given.detach().double().numpy(), y, 0.5)[0]
    assert values.detach().numpy() == pytest.approx(expected, rel=1e-6)


def test_minus_the_gradients_are_a_dual_point_with_the_gap_of_the_step():
    """P(W) - D(A) = lam/2 |W - W(A)|^2, the squared gradient of P."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, M, 40)
    problem = fwlab.Problem(X, y, fwlab.TopK(2), lam=0.1, smoothing=0.5)
    W = torch.tensor(rng.normal(size=(M, 3)), requires_grad=True)
    scores = torch.asarray(X) @ W.T
    scores.retain_grad()
    losses = torch_losses.losses(problem.loss, scores, torch.asarray(y), problem.smoothing)
    objective = losses.mean() + problem.lam / 2 * (W * W).sum()
    objective.backward()
    assert objective.item() == pytest.approx(problem.primal(W.detach().numpy()), rel=1e-12)
    gap = problem.primal(W.detach().numpy()) - problem.dual(-40 * scores.grad.numpy())
    assert gap == pytest.approx((W.grad**2).sum().item() / (2 * problem.lam), rel=1e-9)


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"loss": fwlab.CrossEntropy()}, TypeError, r"loss must be a fwlab.Loss; got CrossEntropy"),
        (
            {"scores": np.zeros((3, M))},
            TypeError,
            "scores must be a tensor of torch; got a ndarray",
        ),
        ({"scores": torch.zeros(3)}, TypeError, r"scores must be \(n, m\) of .*; got \(3,\) of"),
        ({"scores": torch.zeros((3, M), dtype=torch.int64)}, TypeError, "of torch.int64"),
        ({"scores": torch.full((3, M), torch.nan)}, ValueError, "scores must be finite"),
        ({"y": torch.zeros(3)}, TypeError, r"y must be \(3,\) integers; got \(3,\) of torch.float"),
        ({"y": torch.zeros(2, dtype=torch.int64)}, TypeError, r"y must be \(3,\) integers; got"),
        ({"y": torch.tensor([0, M, 1])}, ValueError, r"y must be in 0\.\.5; got 0 to 6\."),
        ({"smoothing": -1.0}, ValueError, "smoothing must be"),
        ({"loss": fwlab.TopK(M + 1)}, ValueError, "k must be"),
    ],
)
def test_bad_arguments_get_one_sentence(change, error, said):
    given = {"loss": fwlab.TopK(2), "scores": torch.zeros((3, M)), "y": torch.tensor([0, 1, 2])}
    with pytest.raises(error, match=said):
        torch_losses.losses(**{**given, "smoothing": 0.5, **change})


def test_projections_refuse_what_they_do_not_know():
    c, y = torch.zeros((3, M)), torch.tensor([0, 1, 2])
    with pytest.raises(TypeError, match="MaxHinge, TopK, PseudoTopK or Usunier here; got Weighted"):
        torch_losses.project(OTHERS[0], c, y)
    with pytest.raises(ValueError, match=r"c must be finite\."):
        torch_losses.project(HINGES[2], c * torch.inf, y)


def test_nothing_else_imports_torch():
    code = "import sys, fwlab; fwlab.TopK(2); fwlab.solve; print('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"
