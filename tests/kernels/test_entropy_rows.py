"""A row of the cross-entropy's dual: its maximiser against Wright's omega function of scipy.

The gain of a step is measured in the objective <c, q> - kappa/2 |q|^2 - sum_j q_j log q_j.
"""

import math

import numpy as np
import pytest
from scipy.special import wrightomega

from fwlab.kernels.steps import entropy_row as module
from fwlab.kernels.steps.entropy_passes import make_entropy_scratch
from fwlab.kernels.steps.entropy_row import (
    SERIES,
    lambert_series,
    maximise_row,
    wright_omega,
)
from fwlab.kernels.steps.exponentials import LEAST, MOST, exponentials

pytestmark = pytest.mark.small
EPS = 2.0**-52
# the spread of a gradient over |d|_1, at most
ENOUGH = 0.3


def test_exponentials():
    x = np.concatenate([np.linspace(LEAST, MOST, 1500), [0.0, -0.0, LEAST, MOST, -1e-300]])
    found = x.copy()
    exponentials(found)
    exact = np.array([math.exp(v) for v in x])
    # a few roundings of a number near 1
    assert (np.abs(found - exact) <= 4 * EPS * exact).all()
    assert found[-5] == 1.0


def test_exponentials_outside():
    x = np.array([-math.inf, -1e300, -701.0, 101.0, 1e300])
    exponentials(x)
    assert (x[:3] == 0.0).all() and (x[3:] == x[3]).all()
    assert x[3] == pytest.approx(math.exp(MOST), rel=4 * EPS)


def test_omega_is_that_of_scipy():
    for v in np.concatenate([np.linspace(SERIES, 8, 600), 10.0 ** np.arange(1, 308)]):
        assert wright_omega(v) == pytest.approx(wrightomega(v), rel=32 * EPS)
    for v in np.linspace(-60, SERIES, 60):
        z = math.exp(v)
        # the series leaves out 54/5 z^5, 30 EPS at its end
        assert z * lambert_series(z) == pytest.approx(wrightomega(v), rel=40 * EPS)


def exact_row(c, kappa):
    """Return the maximiser over the simplex by bisection on mu, in log q + kappa q = c - mu."""
    shifts = c - c.max()

    def shares(mu):
        return wrightomega(shifts - mu + math.log(kappa)).real / kappa

    low, high = -kappa - 1.0, math.log(len(c)) + 1.0
    for _ in range(200):
        mu = (low + high) / 2
        low, high = (mu, high) if shares(mu).sum() > 1 else (low, mu)
    q = shares(high)
    return q / q.sum()


def entropy(q):
    return -sum(share * math.log(share) for share in q if share > 0)


def rise(s, kappa, q, old):
    """Return what the objective gains from the old row to q, and the size of its terms."""
    d = q - old
    terms = [np.vdot(s - s.max(), d), -kappa / 2 * (d @ d), entropy(q), -entropy(old)]
    return sum(terms), sum(abs(term) for term in terms) + np.abs(s - s.max()) @ np.abs(d)


def stored(q, y):
    """Return shares as a row of the dual holds them: at y the sum of the others."""
    row = q.copy()
    row[y] = min(1.0, sum(share for j, share in enumerate(q) if j != y))
    return row


def stepped(s, y, kappa, old):
    """Return the shares after a step, checked, from the shares `old`; and `old` as it is held."""
    row, scratch, m = stored(old, y), make_entropy_scratch(len(s)), len(s)
    assert maximise_row(s, y, kappa, row, scratch)
    new = scratch.new.copy()
    others = sum(share for j, share in enumerate(new) if j != y)
    assert (new >= 0).all() and (new <= 1).all() and abs(others - new[y]) <= m * EPS
    q, held = new.copy(), row.copy()
    q[y], held[y] = 1.0 - new[y], 1.0 - row[y]
    return q, held, new[y]


def starts(rng, m, y):
    """Yield rows: certain, wrong, far inside, and with shares of all sizes."""
    yield np.eye(m)[y]
    yield np.eye(m)[(y + 1) % m]
    yield np.full(m, 1.0 / m)
    q = np.exp(20 * rng.normal(size=m))
    yield q / q.sum()


@pytest.mark.parametrize("power", [-12, -6, -2, 0, 1, 2, 4, 8, 12])
@pytest.mark.parametrize("m", [2, 3, 17])
def test_the_step_is_the_maximiser(m, power):
    """It misses at most ENOUGH^2 / 8 of |d|_1^2, and rises by (1 - ENOUGH) / 2 of that."""
    rng, kappa = np.random.default_rng(m), 10.0**power
    for size in (0.0, 0.1, 3.0, kappa):
        s, y = size * rng.normal(size=m), int(rng.integers(m))
        for old in starts(rng, m, y):
            q, held, _ = stepped(s, y, kappa, old)
            gained, scale = rise(s, kappa, q, held)
            best, _ = rise(s, kappa, exact_row(s + kappa * held, kappa), held)
            slack = 8 * m * EPS * (scale + kappa)
            assert best - gained <= ENOUGH**2 / 4 / (1 - ENOUGH) * gained + slack


@pytest.mark.parametrize("power", range(-12, 13, 3))
@pytest.mark.parametrize("m", [2, 5, 30])
def test_the_objective_never_falls_at_scores_of_all_sizes(m, power):
    rng, kappa = np.random.default_rng(100 + m), 10.0**power
    for size in 10.0 ** np.concatenate([rng.uniform(-300, 300, 6), [-300.0, -1.0, 1.0, 300.0]]):
        s, y = np.clip(size * rng.normal(size=m), -1e300, 1e300), int(rng.integers(m))
        s[rng.integers(m)] = s[0]
        for old in starts(rng, m, y):
            q, held, _ = stepped(s, y, kappa, old)
            gained, scale = rise(s, kappa, q, held)
            assert gained >= -8 * m * EPS * scale


def test_no_share_is_negative_where_rounding_ends_the_search():
    """With kappa = 4e16 a change of t by one rounding moves the logarithms of shares by 4."""
    s = np.array([3.2e16, 0.0, 1.6e16 - 54.0])
    q = stepped(s, 1, 4e16, np.array([0.0, 1.0, 0.0]))[0]
    assert q == pytest.approx([0.4, 0.6, 0.0], abs=16 * EPS)


def test_the_search_ends_between_two_sums_that_rounding_swaps():
    """There log q_1 + 2 kappa q_1 = s_1 - s_0; an exponent is right to a unit of s_1."""
    s, kappa = np.array([0.0, -86.25083379921456]), 1.3329588223119527e36
    q = stepped(s, 0, kappa, np.array([1.0, 0.0]))[0]
    exact = wrightomega(s[1] + math.log(2 * kappa)) / (2 * kappa)
    assert q[1] == pytest.approx(exact, rel=2 * 86 * EPS)


def test_an_almost_certain_label_keeps_the_digits_of_the_others():
    """There log q_j + kappa q_j = s_j - s_y + kappa t + log(1 - t), with t the sum of the q_j."""
    for margin in (30.0, 100.0, 600.0):
        s = np.array([-margin, 0.0, -margin - 1.0])
        t = stepped(s, 1, 2.0, np.array([0.0, 1.0, 0.0]))[2]
        exact = math.exp(-margin) * (1.0 + math.exp(-1.0))
        # nu and the exponent are right to a unit of the margin; the shares matter by 4 t
        assert t == pytest.approx(exact, rel=4 * EPS * margin + 8 * exact)


def test_a_row_at_its_maximiser_stays():
    rng = np.random.default_rng(3)
    for kappa in (0.0, 1e-3, 1.0, 30.0):
        s = rng.normal(size=6)
        q = np.full(6, 1.0 / 6)
        for _ in range(60):
            # with the scores s - kappa (q - q_0), as if all other rows stayed
            q = stepped(s - kappa * (q - 1.0 / 6), 2, kappa, q)[0]
        again = stepped(s - kappa * (q - 1.0 / 6), 2, kappa, q)[0]
        assert np.abs(again - q).sum() <= 60 * EPS


@pytest.mark.parametrize("kappa", [0.0, 0.5, 5.0, 500.0, 1e9])
def test_the_search_with_a_bracket_needs_no_guess(kappa):
    """From any t it ends at the maximiser, which the first search may not reach."""
    rng = np.random.default_rng(0)
    s, old, scratch = rng.normal(size=7) * max(1.0, kappa), rng.dirichlet(np.ones(7)), None
    exact = exact_row(s + kappa * old, kappa or 1e-300)
    for t in (0.0, 1e-9, 0.5, 1.0 - 1.0 / 7):
        scratch = make_entropy_scratch(7)
        b, _ = module._read_row(s, 2, kappa, stored(old, 2), scratch)
        after = module._search(t, kappa, scratch)
        assert 0.0 <= after < 1.0
        for _ in range(3):
            # each is a Newton step from its last end
            after = module._search(after, kappa, scratch)
        scratch.new[b] = 1.0 - after
        assert np.abs(scratch.new - exact).sum() <= 1e-9
        assert scratch.new.sum() == pytest.approx(1.0, abs=8 * EPS)
