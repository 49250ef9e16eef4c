"""The constant C for which a machine is an optimum: hints of `certify`, and their silence."""

import numpy as np
import pytest
from heads import D, M, N, X, Y
from sklearn.linear_model import LogisticRegression

import fwlab
from fwlab import other_constant


def converged(C, **options):
    model = LogisticRegression(C=C, fit_intercept=False, tol=1e-9, max_iter=10**4)
    return model.fit(X, Y, **options).coef_


@pytest.mark.parametrize(
    ("rho", "name", "words"),
    [
        (2.0, "2", "lam |W|^2 in place of lam/2 |W|^2"),
        (0.5, "1/2", "lam/2 |W|^2 in place of lam |W|^2"),
        (float(N), "n", "the mean of the losses, where C multiplies their sum"),
        (1.0 / N, "1/n", "the sum of the losses, where C multiplies their mean"),
        (7.0, "7", ""),
    ],
)
def test_the_hint_names_the_other_constant(rho, name, words):
    problem = fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=0.5)
    found = fwlab.certify(problem, converged(0.5 / rho))
    assert f"with rho = {name}, that is C = {0.5 / rho:.4g} " in found.hint
    assert words in found.hint and found.hint in found.message
    # at the C of the hint the machine is an optimum
    assert fwlab.certify(problem.with_lam(rho * problem.lam), found.W).excess < 1e-9


def test_there_is_no_hint_at_this_constant_or_at_none():
    problem = fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=0.5)
    for W in (converged(0.5), np.zeros((M, D)), np.random.default_rng(0).normal(size=(M, D))):
        assert fwlab.certify(problem, W).hint == ""
    line = fwlab.Problem(np.arange(1.0, 5.0)[:, None], [0, 0, 0, 1], fwlab.CrossEntropy(), 1.0)
    for t in (0.05, -0.05):
        rho = other_constant.other_factor(line, np.array([[t], [-t]]))
        assert rho is None if t < 0 else rho > 1
    # at the kinks of a hinge nothing tells rho
    hinge = fwlab.Problem(X, Y, fwlab.MaxHinge(), C=0.5)
    half = fwlab.solve(hinge.with_lam(2 * hinge.lam), tol=1e-12).W
    assert fwlab.certify(hinge, half).hint == ""


def test_what_is_far_from_every_optimum_gets_no_hint(monkeypatch):
    problem = fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=0.5)
    W = converged(0.05) * (1 + 0.5 * np.random.default_rng(0).normal(size=(M, D)))
    assert other_constant.other_factor(problem, W) is None
    monkeypatch.setattr(other_constant, "MISSED", 1.0)
    assert other_constant.other_factor(problem, W) > 1.2


@pytest.mark.parametrize("omega", [None, np.linspace(0.5, 2, N)], ids=["", "sample weights"])
def test_the_factor_of_an_optimum_is_exact(omega):
    form = {} if omega is None else {"sample_weight": omega}
    problem = fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=0.5, **form)
    assert other_constant.other_factor(problem, converged(0.1, **form)) == pytest.approx(5, 1e-4)
    smoothed = fwlab.Problem(X, Y, fwlab.TopK(2), C=0.5, smoothing=0.5, **form)
    W = fwlab.solve(smoothed.with_lam(5 * smoothed.lam), "auto", tol=1e-12).W
    assert other_constant.other_factor(smoothed, W) == pytest.approx(5, 1e-4)


def test_what_is_no_convention():
    assert other_constant._convention(2.03, 100)[0] == "2"
    assert other_constant._convention(2.05, 100)[0] == "2.05"
    assert other_constant._convention(1.97, 100)[0] == "2"
