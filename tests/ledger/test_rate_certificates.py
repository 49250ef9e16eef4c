"""Proofs of rates: real certificates are accepted, forged ones rejected for the right reason."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from figures.exact import performance_estimation as pep
from figures.exact import rate_recurrence
from figures.exact import worst_case_training as worst
from figures.exact.rate_certificate import (
    ONE,
    STAR,
    Inequality,
    error,
    expression,
    is_semidefinite,
    weakness,
)
from figures.exact.slow_training import inner, is_counterexample, minus, square
from paper_checks import rate_lower_bounds, rate_own_norm
from paper_checks.kato2019 import linear_rates
from paper_checks.kato2019.exact_problems import random_problem
from paper_checks.tajima2020 import convergence
from paper_checks.tajima2020.programs import costly_losses, trainings

KINDS = ("smooth", "quadratic")
# the least bounds of the steps 2/(t+1), in units of L D^2: from the program, not proved
LEAST = {"smooth": {2: 0.3126, 4: 0.1780, 6: 0.1243}, "quadratic": {2: 5 / 18, 3: 2 / 9, 6: 0.1172}}


def proof(t=4, bound=Fraction(1, 3), functions="smooth"):
    found = pep.certificate(pep.open_loop_steps(t), bound, functions)
    assert found is not None
    return found


def changed(certificate, **multipliers):
    """Return the certificate with some multipliers changed, by "kind i j"."""
    names = {name: Inequality(name.split()[0], *map(int, name.split()[1:])) for name in multipliers}
    numbers = {names[name]: number for name, number in multipliers.items()}
    return replace(certificate, multipliers={**certificate.multipliers, **numbers})


# --- certificates --------------------------------------------------------------------------------


@pytest.mark.parametrize("functions", KINDS)
@pytest.mark.parametrize(
    "t", [1, 2, 3, 5, 7, *(pytest.param(t, marks=pytest.mark.deep) for t in (12, 20))]
)
def test_the_guarantee_of_the_paper_is_proved(t, functions):
    assert pep.prove_open_loop(t, functions=functions)
    assert pep.prove_open_loop(t, constant=1, shift=1, functions=functions)  # half of it


@pytest.mark.parametrize(("functions", "t"), [(f, t) for f in KINDS for t in LEAST[f]])
def test_the_least_bound_is_proved_and_less_is_not(functions, t):
    steps, least = pep.open_loop_steps(t), LEAST[functions][t]
    assert pep.least_bound(steps, functions) == pytest.approx(least, abs=1e-4)
    assert pep.prove(steps, Fraction(round(1.001 * least * 10**5), 10**5), functions)
    assert not pep.prove(steps, Fraction(round(0.9 * least * 10**5), 10**5), functions)


def test_short_proofs_are_exact():
    for t, bound in ((1, Fraction(1, 2)), (2, Fraction(5, 18)), (3, Fraction(2, 9))):
        assert pep.prove(pep.open_loop_steps(t), bound, "quadratic")
    by_hand = {
        Inequality("diameter", 0, 1): Fraction(1, 18),
        Inequality("diameter", 1, 2): Fraction(2, 9),
        Inequality("lmo", 0, STAR): Fraction(1, 3),
        Inequality("lmo", 1, STAR): Fraction(2, 3),
    }
    assert (
        pep.certificate(pep.open_loop_steps(2), Fraction(5, 18), "quadratic").multipliers == by_hand
    )


@pytest.mark.parametrize("ell", [3, Fraction(5, 2)])
def test_other_open_loop_steps(ell):
    constant = ell**2 / (2 * (Fraction(ell) - 1))
    assert pep.prove_open_loop(4, ell, ell - 1, constant, ell)
    assert not pep.prove_open_loop(4, ell, ell - 1, constant / 2, ell)


def test_a_changed_multiplier_is_rejected():
    real = proof()
    for named, number in real.multipliers.items():
        forged = replace(real, multipliers={**real.multipliers, named: number + Fraction(1, 10**6)})
        assert "differ by" in weakness(forged), named
    dropped = dict(list(real.multipliers.items())[1:])
    assert "differ by" in weakness(replace(real, multipliers=dropped))


def test_a_negative_multiplier_is_rejected():
    # a cycle keeps all equalities: -1/10^6 times two inequalities between the iterates 3 and 4
    real = proof()
    down, up = Inequality("smooth", 3, 4), Inequality("smooth", 4, 3)
    least = Fraction(-1, 10**6)
    forged = {**real.multipliers, down: real.multipliers[down] + least, up: least}
    assert weakness(replace(real, multipliers=forged)) == "the multiplier of smooth 4 3 is negative"


def test_an_indefinite_form_is_rejected():
    real = proof()
    down, up = Inequality("smooth", 3, 4), Inequality("smooth", 4, 3)
    forged = {**real.multipliers, down: real.multipliers[down] + 9, up: Fraction(9)}
    text = "the matrix is not positive semidefinite"
    assert weakness(replace(real, multipliers=forged)) == text
    # half of the bound, with half of the multipliers of the diameter: all equalities hold
    halved = {k: x / 2 if k.kind == "diameter" else x for k, x in real.multipliers.items()}
    assert weakness(replace(real, bound=real.bound / 2, multipliers=halved)) == text


def test_a_lower_bound_is_rejected():
    real = proof()
    lower = replace(real, bound=real.bound - Fraction(1, 10**6))
    assert weakness(lower) == "the coefficients of one 0 differ by -1/1000000"


def test_malformed_certificates_are_rejected():
    real = proof()
    one = Fraction(1)
    assert "not a Fraction" in weakness(replace(real, bound=0.5))
    assert "two kinds" in weakness(replace(real, functions="convex"))
    assert "steps" in weakness(replace(real, steps=(Fraction(3, 2), *real.steps[1:])))
    assert "steps" in weakness(replace(real, steps=()))
    for name in ("smooth 0 5", "lmo 4 0", "lmo -1 0", "diameter 0 5", "optimal 1 -1", "free 0 0"):
        assert "is not an inequality" in weakness(changed(real, **{name: one})), name
    quadratic = changed(proof(functions="quadratic"), **{"smooth 0 1": one})
    assert "is not an inequality" in weakness(quadratic)


def test_the_steps_belong_to_the_proof():
    real = proof()
    longer = (*real.steps[:-1], real.steps[-1] + Fraction(1, 10**6))
    assert weakness(replace(real, steps=longer))


def test_semidefinite_matrices():
    rng = np.random.default_rng(0)
    for size in range(1, 6):
        for _ in range(20):
            factor = rng.integers(-2, 3, (size, rng.integers(1, size + 1))).astype(object)
            gram = (factor @ factor.T) * Fraction(1)
            assert is_semidefinite(gram.tolist())
            gram[size // 2, size // 2] -= 1
            floats = np.linalg.eigvalsh(gram.astype(float))
            if abs(floats[0]) > 1e-9:
                assert is_semidefinite(gram.tolist()) == (floats[0] > 0)
    assert not is_semidefinite([[Fraction(0), Fraction(1)], [Fraction(1), Fraction(5)]])


# --- the inequalities hold for real functions ----------------------------------------------------


def huber(x):
    return x * x / 2 if abs(x) <= 1 else abs(x) - Fraction(1, 2)


def bend(x):
    """Return the derivative of huber."""
    return max(Fraction(-1), min(Fraction(1), x))


def run_of_huber(steps, rng):
    """Return the iterates, the vertices s_i after x_0, the best point and D^2 of Frank-Wolfe on a
    sum of two Huber functions, L = 1, over a random polygon."""
    hull = [tuple(Fraction(int(x), 2) for x in rng.integers(-6, 7, 2)) for _ in range(4)]
    points, vertices = [hull[0]], [hull[0]]
    for step in steps:
        gradient = [bend(x) for x in points[-1]]
        vertices.append(min(hull, key=lambda s, g=gradient: inner(g, s)))
        pairs = zip(points[-1], vertices[-1], strict=True)
        points.append(tuple((1 - step) * x + step * s for x, s in pairs))
    best = min([*hull, *points], key=lambda x: sum(map(huber, x)))
    return points, vertices, best, max(square(minus(u, v)) for u in hull for v in hull)


@pytest.mark.parametrize("seed", range(20))
def test_the_inequalities_hold_for_a_smooth_function(seed):
    certificate = proof(3, Fraction(2, 5))
    steps = certificate.steps
    points, vertices, best, diameter = run_of_huber(steps, np.random.default_rng(seed))
    star = [bend(x) for x in best]
    linear, vectors = {ONE: diameter}, {}
    for i, x in enumerate(points):
        fall = sum(map(huber, x)) - sum(map(huber, best))
        linear["phi", i] = fall - inner(star, minus(x, best))
        vectors["gradient", i] = minus([bend(z) for z in x], star)
    for v, x in enumerate(vertices):
        linear["l", v] = inner(star, minus(x, best))
        vectors["vertex", v] = minus(x, best)

    def value(form):
        pairs = form.quadratic.items()
        products = sum(x * inner(vectors[a], vectors[b]) for (a, b), x in pairs)
        return products + sum(x * linear[s] for s, x in form.linear.items())

    assert min(value(expression(steps, "smooth", k)) for k in certificate.multipliers) >= 0
    assert value(error(steps, "smooth")) == fall <= certificate.bound * diameter


def small_duals():
    rng = np.random.default_rng(1)
    for trial in range(8):
        problem = random_problem(rng, 1 + trial % 2, 2, 2 + trial % 3)
        yield rate_own_norm.of_exact_problem(replace(problem, smoothing=Fraction(trial % 2)))
    for trial, case in enumerate(trainings(rng, False)):
        if len(case.y) <= 2 and trial % 3 == 0:
            yield rate_own_norm.of_training(case, Fraction(trial % 2))
    for case in trainings(rng, False, costly_losses):
        if len(case.y) <= 2:
            yield rate_own_norm.of_training(case)


def test_every_term_of_a_proof_on_duals_of_the_papers():
    for dual in small_duals():
        iterates, _ = dual.run(pep.open_loop_steps(8))
        best = max(iterates, key=dual.dual)
        for t, bound in ((2, Fraction(5, 18)), (4, Fraction(17, 100))):
            assert rate_own_norm.proof_on(proof(t, bound, "quadratic"), dual, best).holds()


def test_a_dual_is_that_of_the_paper():
    rng = np.random.default_rng(2)
    for trial in range(8):
        problem = replace(random_problem(rng, 2, 2, 3), smoothing=Fraction(trial % 3, 3))
        dual = rate_own_norm.of_exact_problem(problem)
        point = dual.mixture([[Fraction(1, len(row))] * len(row) for row in dual.rows])
        A = point.vector[-problem.n * problem.m :].reshape(problem.n, problem.m)
        assert dual.dual(point) == problem.dual(A)


# --- counterexamples -----------------------------------------------------------------------------


@pytest.mark.turns
@pytest.mark.parametrize("t", [1, 2, 3, 5, 8, pytest.param(20, marks=pytest.mark.deep)])
def test_less_than_the_worst_case_is_refuted_by_a_training_problem(t):
    steps = pep.open_loop_steps(t)
    least = Fraction(round(pep.least_bound(steps, "quadratic") * 10**6), 10**6)
    for share in (Fraction(9, 10), Fraction(99, 100)):
        slow = worst.refute(steps, share * least)
        assert slow is not None and is_counterexample(slow, steps, share * least)
        assert not pep.prove(steps, share * least, "quadratic")
    assert worst.refute(steps, Fraction(101, 100) * least) is None


def test_a_slow_training_problem_is_one_of_the_paper():
    slow = worst.refute_open_loop(4, constant=1)
    dual = rate_own_norm.of_training(rate_own_norm.case_of(slow))
    iterates, _ = dual.run(pep.open_loop_steps(4))
    costs = zip(slow.costs, slow.features, strict=True)
    best = max(cost - square(p) / 2 for cost, p in costs)
    assert dual.curvature() == slow.curvature
    assert [best - dual.dual(A) for A in iterates[1:]] == slow.errors(pep.open_loop_steps(4))


@pytest.mark.parametrize(
    "steps",
    [
        pep.open_loop_steps(5, 1, 1),  # 1/(t+1)
        (Fraction(1, 4),) * 6,
        tuple(Fraction(2, (t + 1) ** 2) for t in range(1, 6)),
    ],
)
def test_a_first_step_below_one_has_no_bound(steps):
    for bound in (Fraction(2, len(steps) + 2), Fraction(1000)):
        assert not pep.prove(steps, bound)
        slow = worst.refute(steps, bound)
        assert is_counterexample(slow, steps, bound)
    assert pep.least_bound(steps) == np.inf


def test_a_forged_counterexample_is_rejected():
    steps, bound = pep.open_loop_steps(3), Fraction(1, 5)
    slow = worst.refute(steps, bound)
    assert is_counterexample(slow, steps, bound)
    for forged in (
        replace(slow, costs=(Fraction(1), *slow.costs[1:])),
        replace(slow, costs=(slow.costs[0], -slow.costs[1], *slow.costs[2:])),
        replace(slow, costs=tuple(map(float, slow.costs))),
        replace(slow, costs=(Fraction(0),) * len(slow.costs)),
    ):
        assert not is_counterexample(forged, steps, bound)


# --- all t ---------------------------------------------------------------------------------------


def test_the_recurrence_proves_the_guarantee_for_all_t():
    prove = rate_recurrence.prove_for_all_steps
    assert prove()  # 2 C/(t + 2)
    assert prove(shift=3)  # 2 C/(t + 3), a little less
    assert prove(constant=4) and prove(shift=0)
    assert not prove(constant=Fraction(19, 10))
    assert not prove(shift=4)
    assert not prove(shift=Fraction(16, 5))  # the step holds, h_1 <= 1/2 does not suffice
    assert not prove(numerator=1) and not prove(numerator=1, offset=0)
    assert not prove(offset=2)


def test_the_recurrence_for_other_numerators():
    assert rate_recurrence.prove_for_every_numerator()
    assert not rate_recurrence.prove_for_every_numerator(Fraction(99, 100))
    assert rate_recurrence.prove_constant_is_least()
    for ell in (Fraction(3, 2), 3, 7):
        constant = Fraction(ell) ** 2 / (2 * (ell - 1))
        assert rate_recurrence.prove_for_all_steps(ell, ell - 1, constant, ell)
        assert not rate_recurrence.prove_for_all_steps(ell, ell - 1, constant * 9 / 10, ell)


def test_the_proved_rate_agrees_with_the_recurrence_itself():
    h = Fraction(1, 2)
    for t in range(1, 200):
        assert h <= Fraction(2, t + 3)
        gamma = Fraction(2, t + 2)
        h = (1 - gamma) * h + gamma**2 / 2


def test_linear_convergence_inside():
    assert rate_recurrence.prove_linear_inside()
    assert not rate_recurrence.prove_linear_inside(Fraction(11, 10))


@pytest.mark.turns
def test_the_guarantee_as_the_ledger_tries_it():
    cases = list(convergence.slow_trainings(np.random.default_rng(0), False))
    assert {case.kind for case in cases} == {"random, small integers", "random, fractions", "slow"}
    slow = [case for case in cases if case.kind == "slow"]
    assert all(convergence.guarantee.form(case).holds for case in cases)
    assert all(convergence.guarantee.form(case, constant=1, shift=1).holds for case in cases)
    for case in slow:
        constant = 1 if case.steps <= 3 else Fraction(3, 4)
        assert not convergence.guarantee.form(case, constant=constant).holds


@pytest.mark.turns
def test_the_theorems_as_the_ledger_asks_for_them():
    first, always = (
        convergence.guaranteed_for_first_steps,
        convergence.guaranteed_for_all_steps,
    )
    assert always(False) and first(False) and first(False, functions="smooth")
    assert always(False, shift=3) and first(False, constant=1, shift=1)
    for wrong in ({"constant": 1}, {"numerator": 1}, {"numerator": Fraction(1, 4), "offset": 0}):
        assert not always(False, **wrong) and not first(False, **wrong)


# --- rates from below ----------------------------------------------------------------------------


def test_a_linear_rate_fails_on_the_duals_of_the_paper():
    for case in linear_rates.duals_without_linear_rate():
        assert not linear_rates.linear_rate(case, "fw-open-loop").holds
        assert linear_rates.linear_rate(case, "fw").holds == (case.kind == "exact, interior")
        with pytest.raises(ValueError, match="no theorem"):
            linear_rates.linear_rate(case, "subgradient")
    assert linear_rates.linear_inside(False)
    assert not linear_rates.linear_inside(False, method="fw-open-loop")
    assert linear_rates.exponential_inside(False, relative=True)
    assert not linear_rates.exponential_inside(False, relative=True, share=0.5)
    assert not linear_rates.exponential_inside(False, relative=True, method="fw-open-loop")


def test_the_bounds_from_below():
    odd = [t for t in range(1, 60) if t % 4 in (1, 2)]
    found = list(rate_lower_bounds.fixed_step_errors(60))
    assert all(found[t - 1] >= Fraction(1, (t * (t + 1)) ** 2) for t in odd)
    found = list(rate_lower_bounds.line_search_errors(12))
    assert all(error >= Fraction(1, 96 * t) for t, error in enumerate(found, 1))


def test_no_linear_rate_for_fixed_steps_or_on_the_boundary():
    assert rate_lower_bounds.prove_fixed_steps_are_not_linear()
    assert not rate_lower_bounds.prove_fixed_steps_are_not_linear(3, 2)
    assert rate_lower_bounds.prove_line_search_is_not_linear()
    assert not rate_lower_bounds.prove_line_search_is_not_linear(95)
