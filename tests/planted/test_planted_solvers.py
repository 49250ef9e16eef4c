"""Defects planted in the problem, the driver, the solvers and their kernels: each must turn a quick
selection of tests red that is green on the code as it is."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from planting import NOT_PLANTED

ROOT = Path(__file__).parents[2]
PLANTING = Path(__file__).with_name("planting.py")
FILES = ("test_certificates", "test_driver", "test_special_problems", "test_solve_arguments")
# Two losses, one entrywise, with smoothing and weights: every line that plants touch runs there.
SELECTION = (
    "WeightedTopK-7 or Usunier-3 or open_loop or flattering or infeasible or statuses or relative "
    "or warm_start"
)


@dataclass(frozen=True)
class Defect:
    """What is wrong, and the passage of a module of fwlab that is replaced."""

    name: str
    module: str
    old: str
    new: str


DEFECTS = [
    Defect(
        "fw's LMO maximises",
        "solvers.frank_wolfe",
        "polytopes.compact_vertices(shifted)",
        "polytopes.compact_vertices(-shifted)",
    ),
    Defect(
        "a loss's LMO maximises",
        "losses",
        "polytopes.without_costs().vertices(rows)",
        "polytopes.without_costs().vertices(-rows)",
    ),
    Defect(
        "the joint loss has the entrywise domain",
        "losses",
        "        rho = _padded(self.rho, m)\n        return rho[:-1], rho[1:]",
        "        rho = _padded(self.rho, m)\n        return rho[:-1], np.zeros(m - 1)",
    ),
    Defect(
        "lower weights taken for upper ones",
        "kernels.support",
        "weights[place] = upper[place] if first else lower[place]",
        "weights[place] = lower[place] if first else upper[place]",
    ),
    Defect(
        "W stays behind in fw",
        "solvers.frank_wolfe",
        "state.link += step * link",
        "state.link += 0.0 * link",
    ),
    Defect(
        "W stays behind in a pass",
        "kernels.passes",
        "        add_block(changes, X[base : base + count], W)\n",
        "",
    ),
    Defect(
        "W stays behind in a sparse pass",
        "kernels.passes",
        "            add_multiple(W_T[indices[place]], data[place], change)\n",
        "            pass\n",
    ),
    Defect(
        "the next row of a block sees old scores",
        "kernels.passes",
        "for later in range(step + 1, place + count)",
        "for later in range(step + 2, place + count)",
    ),
    Defect(
        "the certificate is not recomputed",
        "solvers._driver",
        "    state.refresh()\n",
        "    pass\n",
    ),
    Defect(
        "a timed-out run reports success",
        "solvers._driver",
        "return Status.TIME_LIMIT if",
        "return Status.CONVERGED if",
    ),
    Defect(
        "relative=True is forgotten",
        "solvers._driver",
        "scale = _scale(certificate) if self.relative else 1.0",
        "scale = 1.0",
    ),
    Defect(
        "the caller's A0 is changed",
        "solvers._driver",
        'A = as_floats("A0", A0, ndims=(2,)).copy()',
        'A = as_floats("A0", A0, ndims=(2,))',
    ),
    Defect(
        "no 1/n in the dual",
        "problem",
        "linear = float(np.mean(self.polytopes.cost_products(A)))",
        "linear = float(np.sum(self.polytopes.cost_products(A)))",
    ),
    Defect(
        "no smoothing term in the dual",
        "problem",
        "return -self.lam / 2 * square_norm - linear - self._quadratic(A)",
        "return -self.lam / 2 * square_norm - linear",
    ),
    Defect(
        "lam instead of lam/2 before |W|^2",
        "problem",
        "return self.lam / 2 * square_norm + float(",
        "return self.lam * square_norm + float(",
    ),
    Defect(
        "ascent's curvature is twice too small",
        "problem",
        "self.features.square_norms() / self.lam_n",
        "self.features.square_norms() / (2 * self.lam_n)",
    ),
    Defect(
        "ascent's curvature is twice too large",
        "problem",
        "self.features.square_norms() / self.lam_n",
        "self.features.square_norms() / (0.5 * self.lam_n)",
    ),
    Defect(
        "fw's step may exceed 1",
        "solvers.frank_wolfe",
        "return 1.0 if slope >= bend else slope / bend",
        "return slope / bend",
    ),
    Defect(
        "bcfw's step may exceed 1",
        "kernels.block_steps",
        "step = 1.0 if gap >= bend else gap / bend",
        "step = gap / bend",
    ),
    Defect(
        "fw's LMO forgets the sample weight",
        "solvers.frank_wolfe",
        "        entries *= problem.sample_weight[:, None]\n",
        "",
    ),
    Defect(
        "a block's LMO forgets the sample weight",
        "kernels.block_steps",
        "entry = weight * weights[touched]",
        "entry = weights[touched]",
    ),
    Defect(
        "entries are sorted from the smallest up",
        "kernels.sorting",
        "while place > 0 and values[order[place - 1]] < values[index]:",
        "while place > 0 and values[order[place - 1]] > values[index]:",
    ),
    Defect(
        "the smallest entries are selected",
        "kernels.sorting",
        "while place > 0 and values[order[place - 1]] < values[j]:",
        "while place > 0 and values[order[place - 1]] > values[j]:",
    ),
    Defect(
        "zeta may reach 2 in the projection",
        "kernels.block_projection",
        "low, high, zeta = 0.0, 1.0, 1.0",
        "low, high, zeta = 0.0, 2.0, 2.0",
    ),
    Defect(
        "the projection is feasible but not nearest",
        "kernels.block_steps",
        "        new[j] *= weight\n",
        "        new[j] *= 0.75 * weight\n",
    ),
]


def run_selection(module: str, old: str, new: str) -> subprocess.CompletedProcess[str]:
    """The selected tests in a process of their own, up to the first failure."""
    files = [f"tests/solvers/{name}.py" for name in FILES]
    options = ["-x", "-q", "--tb=line", "-p", "no:cacheprovider", "-m", "small", "-k", SELECTION]
    return subprocess.run(
        [sys.executable, PLANTING, f"fwlab.{module}", old, new, *files, *options],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_the_code_as_it_is_passes():
    run = run_selection("problem", "class Problem:", "class Problem:")
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout


def test_a_passage_that_is_not_there_is_reported():
    run = run_selection("weights", "no such passage", "")
    assert run.returncode == NOT_PLANTED
    assert "no such passage" in run.stdout


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_the_suite_catches(defect):
    run = run_selection(defect.module, defect.old, defect.new)
    assert run.returncode == 1, run.stdout + run.stderr
    assert "1 failed" in run.stdout
