"""The ellipsoid against the exact optimum, which ball arithmetic encloses: no false proof."""

import numpy as np
import pytest
import scipy.sparse
from choice.exact_optimum import bits, exact_optimum

import fwlab
import fwlab.ellipsoid as module
from fwlab.ellipsoid import ellipsoid_of

flint = pytest.importorskip("flint", reason="python-flint, the extra verify, is not installed")

RUNS, DEEP_RUNS, TOGETHER = 300, 10_000, 50
NEW = 6


def drawn_rows(rng, n, d):
    """Return rows at any scale: some alike, some 0, of too low a rank, or of uneven features."""
    scale = 10.0 ** rng.choice([rng.uniform(-2, 2), rng.uniform(-150, 150)], p=[0.7, 0.3])
    X, kind = rng.normal(size=(n, d)), rng.integers(6)
    if kind == 0:
        X[rng.integers(n)] = X[0]
    elif kind == 1:
        X[rng.integers(n)] = 0.0
    elif kind == 2:
        X[:, -1] = X[:, 0]
    elif kind == 3:
        X *= 10.0 ** rng.uniform(-3, 3, size=d)
    elif kind == 4:
        X += 10.0
    return X * scale, scale


def drawn_problem(rng):
    """Return a problem, or None if its numbers leave the floats, with its arrays."""
    n, m, d = int(rng.integers(2, 9)), int(rng.integers(2, 4)), int(rng.integers(1, 3))
    X, scale = drawn_rows(rng, n, d)
    y, omega = rng.integers(0, m, n), np.ones(n)
    if rng.random() < 0.3:
        omega = rng.random(n) * (rng.random(n) < 0.8)
        omega[0] = 1.0
    C = 10.0 ** rng.uniform(-3, 6)
    if rng.random() < 0.8:
        # the scores of the optimum are then of any size, whatever the scale of the rows
        C = C / scale / scale
    kind = scipy.sparse.csr_matrix if rng.random() < 0.2 else np.asarray
    form = {"C": C, "n_classes": m, "sample_weight": omega}
    try:
        return fwlab.Problem(kind(X), y, fwlab.CrossEntropy(), **form), X
    except ValueError:
        return None


def drawn_machine(rng, problem):
    """Return a machine near the optimum, and one at some distance."""
    best = fwlab.solve(problem, "lbfgs", tol=1e-12, relative=True, max_iter=500).W
    size, noise = np.abs(best).max(), rng.normal(size=best.shape)
    kind = rng.integers(4)
    if kind == 0:
        return best, np.zeros_like(best)
    if kind == 1:
        return best, best
    return best, best + size * noise * 10.0 ** rng.uniform(-8, 0.5)


def differences(exact, x, c):
    """Return balls that hold the exact optimum's scores of a sample less that of class c."""
    scores = exact.scores(x)
    with bits():
        return [s - scores[c] for s in scores]


def check(seed):
    """Try an ellipsoid; return how much of the allowed error was met, None without ellipsoid."""
    rng = np.random.default_rng([53, seed])
    drawn = drawn_problem(rng)
    if drawn is None:
        return None
    problem, X = drawn
    best, W = drawn_machine(rng, problem)
    found = ellipsoid_of(problem, W)
    if found is None:
        return None
    m, C = problem.n_classes, 1 / problem.lam_n
    try:
        exact = exact_optimum(X, problem.y, problem.sample_weight, C, best)
    except (ArithmeticError, ZeroDivisionError):
        return None
    rows = rng.integers(0, len(X), NEW)
    X_new = X[rows] + rng.normal(size=(NEW, X.shape[1])) * np.abs(X).mean()
    classes = rng.integers(0, m, NEW)
    leads, slack = found.leads(X_new, classes)
    proved, labels = found.proved(X_new), (X_new @ found.centre.T).argmax(axis=1)
    worst, (least, most) = 0.0, (0, 0)
    for i, x in enumerate(X_new):
        with bits():
            for j, exactly in enumerate(differences(exact, x, classes[i])):
                away = float(abs(exactly - flint.arb(float(leads[i, j]))).lower())
                assert away <= slack[i, j], seed
                worst = max(worst, away / slack[i, j] if j != classes[i] else 0.0)
            if proved[i]:
                own = differences(exact, x, labels[i])
                assert not any(lead >= 0 for j, lead in enumerate(own) if j != labels[i]), seed
        may, must = exact.may_be_right(x, classes[i])
        least, most = least + must, most + may
    low, high = found.proved_accuracy(X_new, classes, 1)
    assert low * NEW <= most + 1e-9 and least <= high * NEW + 1e-9, seed
    return worst


@pytest.mark.turns
@pytest.mark.parametrize("first", range(0, RUNS, TOGETHER))
def test_the_optimum_lies_in_the_ellipsoid(first):
    ratios = [check(seed) for seed in range(first, first + TOGETHER)]
    found = [ratio for ratio in ratios if ratio is not None]
    assert len(found) > TOGETHER / 2 and np.median(found) < 0.9


@pytest.mark.turns
@pytest.mark.parametrize("first", range(0, RUNS, TOGETHER))
def test_the_optimum_lies_in_the_ellipsoid_around_any_machine(first, monkeypatch):
    """Without Newton's steps the centre is the machine, and the ellipsoid is large."""
    monkeypatch.setattr(module, "MOST_STEPS", 0)
    ratios = [check(seed) for seed in range(first, first + TOGETHER)]
    # some optima lie at the border, up to the margins of the bounds
    assert 0.8 < max(ratio for ratio in ratios if ratio is not None) <= 1


@pytest.mark.deep
@pytest.mark.parametrize("steps", [0, module.MOST_STEPS])
@pytest.mark.parametrize("first", range(RUNS, DEEP_RUNS, TOGETHER))
def test_the_optimum_lies_in_the_ellipsoid_in_10000_runs(first, steps, monkeypatch):
    monkeypatch.setattr(module, "MOST_STEPS", steps)
    for seed in range(first, first + TOGETHER):
        check(seed)
