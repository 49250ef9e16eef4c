"""Duality, oracle and relations of the losses, for 2 to 400 classes, without any solver."""

from itertools import pairwise
from math import comb, inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loss_table import cases, domain_points, entries, score_rows, seeds
from numpy.testing import assert_allclose, assert_array_equal

import fwlab

pytestmark = pytest.mark.small
few_classes = st.integers(2, 8)


def products(a, b):
    """Return <row of a, row of b>, (n,)."""
    return (a * b).sum(axis=1)


# ---------------------------------------------------------------- duality


@given(cases())
def test_fenchel_young_holds_with_equality_at_a_subgradient(case):
    g = case.loss.subgradient(case.scores, case.y)
    both = case.loss.value(case.scores, case.y) + case.loss.conjugate(g, case.y)
    assert_allclose(both, products(g, case.scores), rtol=0, atol=case.rounding)


@given(cases(), seeds)
def test_fenchel_young_inequality_in_the_domain(case, seed):
    v = domain_points(case.loss, case.m, case.y, seed)
    assert case.loss.in_domain(v, case.y).all()
    both = case.loss.value(case.scores, case.y) + case.loss.conjugate(v, case.y)
    assert (both >= products(v, case.scores) - case.rounding).all()


@given(cases())
def test_vertices_attain_the_loss_at_scores_with_costs(case):
    polytopes = case.loss.polytopes(case.y, case.m)
    vertices, losses = polytopes.lowest(case.scores)
    attained = products(polytopes.add_costs(case.scores), vertices)
    assert_allclose(-attained, losses, rtol=0, atol=case.rounding)


@given(cases(), st.data())
def test_subgradient_inequality(case, data):
    others = data.draw(score_rows(*case.scores.shape))
    g = case.loss.subgradient(case.scores, case.y)
    bound = case.loss.value(case.scores, case.y) + products(g, others - case.scores)
    assert (case.loss.value(others, case.y) >= bound - 2 * case.rounding).all()


@given(cases())
def test_the_subgradient_is_zero_exactly_where_the_loss_is(case):
    values = case.loss.value(case.scores, case.y)
    is_zero = ~case.loss.subgradient(case.scores, case.y).any(axis=1)
    assert (values >= 0).all()
    assert_array_equal(values == 0, is_zero)


@given(cases())
def test_outside_the_domain_the_conjugate_is_infinite(case):
    """Beyond a vertex other than 0, and where the entries do not sum to 0."""
    vertex = case.loss.subgradient(case.scores, case.y)
    touched = vertex.any(axis=1)
    tilted = vertex + 1e-5 * case.entry.weight_sum * np.eye(case.m)[case.y]
    for v, outside in [(1.00001 * vertex, touched), (tilted, np.full(len(touched), True))]:
        assert not case.loss.in_domain(v, case.y)[outside].any()
        assert (case.loss.conjugate(v, case.y)[outside] == inf).all()


@given(cases(), seeds, st.sampled_from([1e-6, 1e-3]))
def test_the_domain_tolerance_is_a_fraction_of_the_weights(case, seed, tol):
    """A move may change partial sums by the tolerance, and not by more."""
    rng, allowed = np.random.default_rng(seed), 0.9 * tol * case.entry.weight_sum
    vertex = case.loss.subgradient(case.scores, case.y)
    push = rng.standard_normal(vertex.shape)
    push *= allowed / abs(push).sum(axis=1, keepdims=True)
    assert case.loss.in_domain(vertex + push, case.y, tol=tol).all()
    true_class = np.eye(case.m)[case.y]
    for sign in (-1.0, 1.0):
        assert case.loss.in_domain(vertex + sign * allowed * true_class, case.y, tol=tol).all()
        moved = vertex + 1.2 * sign * allowed * true_class
        assert not case.loss.in_domain(moved, case.y, tol=tol).any()


@pytest.mark.parametrize("m", [3, 4, 7])
@pytest.mark.parametrize(("share", "expected"), [(0.95, True), (1.05, False)])
def test_the_tolerance_of_each_bound(m, share, expected):
    """Beyond vertices, where one entry alone breaks a bound, and at k = m, where all are equal.

    There one bound fixes zeta m between the largest and the smallest entries: with one entry off by
    e, the others ask for e <= tol + tol / (m - 2).
    """
    tol = 1e-4
    for sign in (-1, 1):
        v = np.full(m, 0.5 / m)
        v[0] += sign * share * tol * (1 + 1 / (m - 2))
        v[-1] = -v[:-1].sum()
        assert fwlab.TopK(m).in_domain(v, m - 1, tol=tol) == expected
    for beta in ([0.5, 0.5 + share * tol], [0.25, -share * tol]):
        v = np.array([*beta, -sum(beta)])
        assert fwlab.Usunier(2).in_domain(v, 2, tol=tol) == expected


# ---------------------------------------------------------------- the oracle


def weights_of(entry):
    """Return the weights rho in the definition of a loss of the papers; None for any other loss."""
    if entry.kind in ("MaxHinge", "StructuredHinge"):
        return [1.0]
    if entry.kind in ("TopK", "PseudoTopK", "Usunier"):
        return np.full(entry.arguments[0], 1.0 / entry.arguments[0])
    return entry.arguments[0] if entry.kind in ("WeightedTopK", "WeightedUsunier") else None


def first_maximiser(entry, margins, y):
    """Return the definition's weights beside the margins sorted stably, as a subgradient (m,)."""
    kind, m, rho = entry.kind, len(margins), weights_of(entry)
    classes = [j for j in range(m) if not (kind == "PseudoTopK" and j == y)]
    ordered = sorted(classes, key=lambda j: (-margins[j], j))
    beta = np.zeros(m)
    beta[ordered[: len(rho)]] = rho[: len(ordered)]
    if "Usunier" in kind:
        beta[margins <= 0] = 0.0
    if beta @ margins <= 0:
        return np.zeros(m)
    beta[y] -= beta.sum()
    return beta


@given(st.data(), few_classes)
def test_ties_go_to_the_lowest_index(data, m):
    """For the losses of the papers at once, with margins that are often 0, where y ties."""
    y = data.draw(st.integers(0, m - 1))
    row = np.round(2 * data.draw(score_rows(1, m))[0]) / 2
    for entry in entries(m, [y]):
        if entry.exact_in_binary and weights_of(entry) is not None:
            margins = np.array(entry.reference.for_sample(0).margins(row, y), dtype=float)
            found = entry.loss.subgradient(row[None], [y])[0]
            assert_array_equal(found, first_maximiser(entry, margins, y))
            found = entry.loss.lmo(row[None], [y])[0]
            assert_array_equal(found, -first_maximiser(entry, row - row[y], y))


@given(cases())
def test_lmo_attains_the_recession_of_the_loss(case):
    """The least <g, u> is minus the loss without costs, sorted and summed by the reference."""
    points = case.loss.lmo(case.scores, case.y)
    for i, (g, u) in enumerate(zip(case.scores, points, strict=True)):
        expected = -float(case.entry.reference.for_sample(i).recession(g, case.y[i]))
        assert_allclose(g @ u, expected, rtol=0, atol=case.rounding)
    assert case.loss.in_domain(-points, case.y, tol=1e-12).all()


@given(cases(few_classes))
def test_lmo_is_the_least_over_the_vertices(case):
    points = case.loss.lmo(case.scores, case.y)
    for g, u, label in zip(case.scores, points, case.y, strict=True):
        vertices = case.loss.vertices(case.m, label)
        assert_allclose(g @ u, (vertices @ g).min(), rtol=0, atol=case.rounding)
        assert abs(vertices - u).max(axis=1).min() <= 1e-15 * case.entry.size


@pytest.mark.grid
@pytest.mark.parametrize("m", range(2, 9))
def test_vertices_are_distinct_and_as_many_as_counted(m):
    counts = {
        fwlab.MaxHinge(): m,
        fwlab.WeightedTopK(np.arange(m, 0, -1)): 1 + (m - 1) * np.prod(range(1, m)),
    }
    for k in range(1, m + 1):
        counts[fwlab.TopK(k)] = comb(m, k) + (k > 1)
        counts[fwlab.Usunier(k)] = sum(comb(m - 1, i) for i in range(k + 1))
        if k < m:
            counts[fwlab.PseudoTopK(k)] = comb(m - 1, k) + 1
    for loss, count in counts.items():
        vertices = loss.vertices(m, m // 2)
        assert len(vertices) == len(np.unique(vertices, axis=0)) == count, loss
        labels = np.full(count, m // 2)
        assert loss.in_domain(-vertices, labels, tol=1e-15).all()
        assert loss.value(-4 * vertices, labels).min() >= 0


# ---------------------------------------------------------------- relations between losses


def assert_same(first, second, scores, y, seed):
    """Assert that two losses agree in every method: digit by digit, projections to rounding."""
    m = scores.shape[1]
    for name in ("value", "subgradient", "lmo"):
        assert_array_equal(getattr(first, name)(scores, y), getattr(second, name)(scores, y))
    inside = domain_points(first, m, y, seed)
    for v in (inside, 1.01 * inside, scores, first.subgradient(scores, y)):
        for name in ("in_domain", "conjugate"):
            assert_array_equal(getattr(first, name)(v, y), getattr(second, name)(v, y))
    close = {"rtol": 0, "atol": 1e-15 * m**1.5 * (1 + abs(scores).max())}
    assert_allclose(first.project(scores, y), second.project(scores, y), **close)
    for one, other in zip(first.moreau(scores, y, 0.5), second.moreau(scores, y, 0.5), strict=True):
        assert_allclose(one, other, **close)
    if m < 9:
        assert_array_equal(first.vertices(m, y[0]), second.vertices(m, y[0]))


@pytest.mark.turns
@given(cases(), seeds)
def test_the_special_cases_are_the_same_loss(case, seed):
    m, k = case.m, 1 + seed % case.m
    flat = fwlab.weights.flat(k)
    crammer_singer = fwlab.MaxHinge()
    for first, second in [
        (fwlab.WeightedTopK(flat), fwlab.TopK(k)),
        (fwlab.WeightedUsunier(flat), fwlab.Usunier(k)),
        (fwlab.TopK(1), crammer_singer),
        (fwlab.Usunier(1), crammer_singer),
        (fwlab.PseudoTopK(1), crammer_singer),
        (fwlab.StructuredHinge(1.0 - np.eye(m)), crammer_singer),
        (fwlab.StructuredHinge(1.0 - np.eye(m)[case.y], per_sample=True), crammer_singer),
    ]:
        assert_same(first, second, case.scores, case.y, seed)


@given(cases(), seeds)
def test_pseudo_is_below_topk_is_below_usunier(case, seed):
    k, rho = 1 + seed % case.m, np.sort(np.random.default_rng(seed).random(case.m))[::-1]
    chains = [
        [fwlab.PseudoTopK(min(k, case.m - 1)), fwlab.TopK(min(k, case.m - 1))],
        [fwlab.TopK(k), fwlab.Usunier(k), fwlab.MaxHinge()],
        [fwlab.WeightedTopK(rho), fwlab.WeightedUsunier(rho)],
    ]
    for chain in chains:
        values = [loss.value(case.scores, case.y) for loss in chain]
        for below, above in pairwise(values):
            assert (below <= above + case.m * case.rounding).all()


def relabelled(entry, order):
    """Return the loss for classes listed in another order: only costs distinguish classes."""
    if entry.kind != "StructuredHinge":
        return entry.loss
    costs = entry.loss.costs[:, order]
    if entry.loss.per_sample:
        return fwlab.StructuredHinge(costs, per_sample=True)
    return fwlab.StructuredHinge(costs[order])


@given(cases(), seeds)
def test_another_order_of_the_classes_changes_nothing_else(case, seed):
    order = np.random.default_rng(seed).permutation(case.m)
    old, new = case.loss, relabelled(case.entry, order)
    scores, y = case.scores[:, order], np.argsort(order)[case.y]
    close = {"rtol": 0, "atol": case.m * case.rounding}
    assert_allclose(new.value(scores, y), old.value(case.scores, case.y), **close)
    point = old.project(case.scores, case.y)
    assert_allclose(new.project(scores, y), point[:, order], **close)
    for v in (-point, case.scores):
        assert_allclose(new.conjugate(v[:, order], y), old.conjugate(v, case.y), **close)
    least = products(old.lmo(case.scores, case.y), case.scores)
    assert_allclose(products(new.lmo(scores, y), scores), least, **close)
    z, expected = new.moreau(scores, y, 0.5)[1], old.moreau(case.scores, case.y, 0.5)[1]
    assert_allclose(z, expected[:, order], **close)


# ---------------------------------------------------------------- batches and single rows


@given(cases())
def test_a_batch_is_its_rows_and_a_row_is_answered_in_kind(case):
    methods = {
        "value": (), "subgradient": (), "lmo": (), "conjugate": (), "in_domain": (),
        "project": (), "moreau": (0.5,),
    }  # fmt: skip
    per_sample = case.entry.arguments[1:] == (True,)
    for name, options in methods.items():
        together = getattr(case.loss, name)(case.scores, case.y, *options)
        for i, (row, label) in enumerate(zip(case.scores, case.y, strict=True)):
            loss = case.loss
            if per_sample:
                loss = fwlab.StructuredHinge(loss.costs[i : i + 1], per_sample=True)
            single = getattr(loss, name)(row, label, *options)
            expected = [part[i] for part in together] if name == "moreau" else [together[i]]
            for a, b in zip(single if name == "moreau" else [single], expected, strict=True):
                assert np.shape(a) == np.shape(b)
                assert_array_equal(a, b)


@given(cases(few_classes))
def test_any_real_array_will_do_and_none_is_changed(case):
    scores = np.round(case.scores)
    copies = [scores.astype(np.float32), scores.astype(int), np.asfortranarray(scores)]
    copies += [np.repeat(scores, 2, axis=1)[:, ::2], scores.tolist()]
    before = scores.copy(), case.y.copy()
    for name in ("value", "subgradient", "lmo", "project", "conjugate"):
        expected = getattr(case.loss, name)(scores, case.y)
        for other in copies:
            y = case.y.astype(np.int32) if isinstance(other, np.ndarray) else case.y.tolist()
            assert_array_equal(getattr(case.loss, name)(other, y), expected)
    assert_array_equal(scores, before[0])
    assert_array_equal(case.y, before[1])
