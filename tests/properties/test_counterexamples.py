"""The two errors that K19 section 8 finds in the earlier theories, as property tests.

L15 Proposition 3 calls phi, the top-k hinge with margins delta + s, y-compatible: the two sides of
K19 (28) would agree for every v. K19 Proposition 6 denies it for 2 <= k < m with the vector (69).
Chu et al. hold the true class's entries of the other dual (32) at 0; K19 Proposition 7: that trains
the pseudo top-k hinge.

The first part is in exact fractions. `lhs` and `rhs` are the reference's two sides of (28) at a v
without the true class.
"""

from fractions import Fraction
from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounding import value_rounding

import fwlab
import reference
from reference.counterexamples import kato_vector, lhs, rhs
from reference.exact import pieces

SIZES = [(m, k) for m in range(2, 9) for k in range(1, m + 1)]
seeds = st.integers(0, 2**32 - 1)


@st.composite
def sizes(draw, smallest_m=2, smallest_k=1, below=0):
    """Draw (m, k) with m <= 8 and smallest_k <= k <= m - below."""
    m = draw(st.integers(smallest_m, 8))
    return m, draw(st.integers(smallest_k, m - below))


# ---------------------------------------------------------------- K19 Proposition 6


def in_left_set(v, k):
    """Return whether some last entry puts v in the top-k simplex (K19 (68)).

    Its bounds are linear in it.
    """
    total = sum(v)
    least = max(0, k * max(v) - total)
    most = 1 - total if k == 1 else min(1 - total, total / (k - 1))
    return min(v) >= 0 and total >= 0 and least <= most


def in_right_set(v, k):
    """Return whether the last entry 0 puts v in the top-k simplex (K19 (65))."""
    return min(v) >= 0 and sum(v) <= 1 and k * max(v) <= sum(v)


@given(sizes(3, 2, below=1), st.data())
def test_the_vector_69_refutes_compatibility(size, data):
    m, k = size
    v = data.draw(st.permutations(kato_vector(m, k)))
    y = data.draw(st.integers(0, m - 1))
    assert in_left_set(v, k) and not in_right_set(v, k)
    assert lhs(reference.TopK(k), v, y) == -sum(v) == Fraction(1 - m, m)
    assert rhs(reference.TopK(k), v, y) == inf


@given(sizes(), st.data())
def test_both_sides_are_minus_the_sum_on_the_sets_of_k19(size, data):
    """(64) and (67), at random fractions and at points of the left set."""
    m, k = size
    y = data.draw(st.integers(0, m - 1))
    entry = st.integers(-1, 2 * k).map(lambda i: Fraction(i, 2 * k))
    v = data.draw(st.lists(entry, min_size=m - 1, max_size=m - 1))
    slopes = [s[:y] + s[y + 1 :] for s in pieces(reference.TopK(k), m, y, centred=False)]
    chosen = data.draw(st.lists(st.sampled_from(sorted(slopes)), min_size=3, max_size=3))
    mixed = [sum(parts) / 3 for parts in zip(*chosen, strict=True)]
    assert in_left_set(mixed, k)
    for point in (v, mixed):
        for side, holds in ((lhs, in_left_set), (rhs, in_right_set)):
            expected = -sum(point) if holds(point, k) else inf
            assert side(reference.TopK(k), point, y) == expected


def is_compatible(loss, m, y):
    """Return whether both sides of (28) agree for every v, decided exactly.

    Each side is convex,
    and finite on a polytope where it is minus the sum of v. The right one is the smaller; so they
    agree if they do at the left one's vertices, which are among the slopes of phi without the true
    class. Wrong classes are alike: one slope of each kind is enough.
    """
    slopes = {tuple(sorted(s[:y] + s[y + 1 :])) for s in pieces(loss, m, y, centred=False)}
    return all(lhs(loss, v, y) == rhs(loss, v, y) for v in slopes)


@pytest.mark.parametrize(("m", "k"), SIZES)
def test_the_topk_hinge_is_compatible_for_k_1_only(m, k):
    """For k = m, which Proposition 6 leaves out, it is not compatible either; nor for m = k = 2."""
    assert {is_compatible(reference.TopK(k), m, y) for y in (0, m - 1)} == {k == 1}


@pytest.mark.parametrize(("m", "k"), [(m, k) for m, k in SIZES if m <= 6])
def test_the_pseudo_topk_and_usunier_hinges_are_compatible(m, k):
    """K19 on (71), and L15's second loss."""
    assert is_compatible(reference.Usunier(k), m, m - 1)
    if k < m:
        assert is_compatible(reference.PseudoTopK(k), m, m - 1)


@given(sizes(3, 2, below=1), st.data())
def test_the_vector_69_parts_the_two_effective_domains(size, data):
    """K19 (30): fwlab's domain of the pseudo top-k hinge is a proper part of the top-k hinge's."""
    m, k = size
    y = data.draw(st.integers(0, m - 1))
    v = np.insert(np.array(kato_vector(m, k), dtype=float), y, -(m - 1) / m)
    assert fwlab.TopK(k).in_domain(v, y) and not fwlab.PseudoTopK(k).in_domain(v, y)
    rng = np.random.default_rng(data.draw(seeds))
    pseudo = rng.dirichlet(np.ones(3)) @ fwlab.PseudoTopK(k).subgradient(
        rng.standard_normal((3, m)), np.full(3, y)
    )
    assert fwlab.TopK(k).in_domain(pseudo, y)


# ---------------------------------------------------------------- K19 Proposition 7


@st.composite
def problems(draw):
    """Draw X (n, d), y, m, k, lam; some X with ties and zero rows."""
    m, k = draw(sizes(3, below=1).filter(lambda size: size[0] <= 5))
    n, d = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(seeds))
    X = rng.standard_normal((n, d)) if draw(st.booleans()) else rng.integers(-1, 2, (n, d)) * 1.0
    return X, rng.integers(0, m, n), m, k, draw(st.sampled_from([0.05, 0.3]))


def distance_bound(lam, *gaps):
    """Bound the distance of two solutions, each with |W - W*|^2 <= 2 gap / lam."""
    return sum(sqrt(2 * gap / lam) for gap in gaps)


@settings(max_examples=1 + settings().max_examples // 3)
@given(problems())
def test_fixing_the_true_classes_trains_the_pseudo_topk_hinge(problem):
    """The fixed dual, cvxpy on the pseudo primal, and block ascent have one optimum and one W."""
    X, y, m, k, lam = problem
    other = reference.OtherDual(X, y, reference.TopK(k), lam, m)
    fixed = other.fixed_optimum()
    training = reference.linear_training(X, y, reference.PseudoTopK(k), lam, n_classes=m)
    pseudo, rounding = training.optimum(), value_rounding(training)
    own = fwlab.solve(
        fwlab.Problem(X, y, fwlab.PseudoTopK(k), lam, n_classes=m), tol=1e-10, max_iter=10_000
    )
    assert own.success
    intervals = [
        (fixed.value_lower, fixed.value_upper),
        (pseudo.value_lower, pseudo.value_upper),
        (own.dual - rounding, own.primal + rounding),
    ]
    assert max(low for low, _ in intervals) <= min(high for _, high in intervals)
    W = other.weights(fixed.point)
    # an entry is a rounded sum of at most n m terms whose sizes add up to at most mean |x| / lam
    rounded = (len(X) * m + 4) * 2.0**-53 * np.linalg.norm(np.abs(X).mean(axis=0)) * m / lam
    for point, gap in ((pseudo.point, pseudo.width), (own.W.ravel(), own.gap + 2 * rounding)):
        assert np.linalg.norm(W - point) <= distance_bound(lam, fixed.width, gap) + 2 * rounded


@settings(max_examples=1 + settings().max_examples // 3)
@given(problems())
def test_the_fixed_optimum_is_never_above_the_true_one(problem):
    X, y, m, k, lam = problem
    fixed = reference.OtherDual(X, y, reference.TopK(k), lam, m).fixed_optimum()
    true = fwlab.solve(
        fwlab.Problem(X, y, fwlab.TopK(k), lam, n_classes=m), tol=1e-9, max_iter=10_000
    )
    training = reference.linear_training(X, y, reference.TopK(k), lam, n_classes=m)
    rounding = value_rounding(training)
    assert true.success and fixed.value_lower <= true.primal + rounding
    if k == 1:
        assert fixed.value_upper >= true.dual - rounding


@pytest.mark.parametrize(("m", "k"), [(3, 2), (4, 2), (5, 3), (5, 4)])
def test_the_fixed_optimum_can_be_strictly_below(m, k):
    """So the fixation harms: K19 section 8 on the gaps that remain."""
    rng = np.random.default_rng(0)
    X, y, lam = rng.standard_normal((6, 2)), np.arange(6) % m, 0.1
    fixed = reference.OtherDual(X, y, reference.TopK(k), lam, m).fixed_optimum()
    true = fwlab.solve(
        fwlab.Problem(X, y, fwlab.TopK(k), lam, n_classes=m), tol=1e-9, max_iter=10_000
    )
    assert true.success and fixed.value_upper < true.dual - 1e-3
