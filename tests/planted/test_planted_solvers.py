"""Defects planted in the problem, the driver, the solvers and their kernels: each must turn a quick
selection of tests red that is green on the code as it is."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from planting import NOT_PLANTED

ROOT = Path(__file__).parents[2]
PLANTING = Path(__file__).with_name("planting.py")
# Of the tests of all losses two losses run, the joint one without smoothing, the entrywise one with
# it, both with and without weights.
LOSSES_OR_OTHERS = (
    "WeightedTopK-7 and not smoothing or Usunier-3 and smoothing or not test_certificates or vertex"
)


@dataclass(frozen=True)
class Defect:
    """What is wrong, the test that sees it, and the passage of a module of fwlab replaced."""

    name: str
    caught_by: str
    module: str
    old: str
    new: str


DEFECTS = [
    Defect(
        "fw's LMO maximises",
        "test_certificates.py::test_the_dual_never_falls",
        "solvers.frank_wolfe",
        "problem.lowest(shifted)",
        "problem.lowest(-shifted)",
    ),
    Defect(
        "a loss's LMO maximises",
        "test_certificates.py::test_the_gap_is_the_sum_of_block_gaps",
        "losses",
        "polytopes.without_costs().lowest(rows)",
        "polytopes.without_costs().lowest(-rows)",
    ),
    Defect(
        "the joint loss has the entrywise domain",
        "test_certificates.py::test_the_final_certificate_by_hand",
        "losses",
        "return rho[:-1], rho[1:]",
        "return rho[:-1], np.zeros(len(rho) - 1)",
    ),
    Defect(
        "lower weights taken for upper ones",
        "test_certificates.py::test_the_final_certificate_by_hand",
        "kernels.domains.vertices",
        "entries[place] = upper[place] if first else lower[place]",
        "entries[place] = lower[place] if first else upper[place]",
    ),
    Defect(
        "W stays behind in fw",
        "test_certificates.py::test_checkpoints_tell_the_gap_of_their_iterate",
        "solvers.frank_wolfe",
        "state.link += link",
        "state.link += 0.0 * link",
    ),
    Defect(
        "W stays behind in a pass",
        "test_certificates.py::test_checkpoints_tell_the_gap_of_their_iterate",
        "kernels.steps.passes",
        "        add_block(changes, block, padded, classes, touched)\n",
        "",
    ),
    Defect(
        "W stays behind in a sparse pass",
        "test_certificates.py::test_forms_of_the_data_give_the_same_iterates",
        "kernels.steps.passes",
        "            add_multiple(W_T[indices[place]], values[place], change)\n",
        "            pass\n",
    ),
    Defect(
        "the next row of a block sees old scores",
        "test_certificates.py::test_forms_of_the_data_give_the_same_iterates",
        "kernels.steps.passes",
        "for later in range(step + 1, after)",
        "for later in range(step + 2, after)",
    ),
    Defect(
        "the certificate is not recomputed",
        "test_driver.py::test_a_flattering_score_table_is_not_success",
        "solvers.method",
        "        self.round_to_domain()\n        self.refresh()\n",
        "        self.round_to_domain()\n",
    ),
    Defect(
        "a timed-out run reports success",
        "test_driver.py::test_statuses",
        "solvers.stopping",
        "return Status.TIME_LIMIT if",
        "return Status.CONVERGED if",
    ),
    Defect(
        "relative=True is forgotten",
        "test_driver.py::test_relative_tolerance_is_a_fraction_of_the_larger_value",
        "solvers.stopping",
        "scale = _scale(certificate) if self.relative else 1.0",
        "scale = 1.0",
    ),
    Defect(
        "the caller's A0 is changed",
        "test_solve_arguments.py::test_a_warm_start_is_used_and_left_alone",
        "solvers.solve",
        'A = as_floats("A0", A0, ndims=(2,)).copy()',
        'A = as_floats("A0", A0, ndims=(2,))',
    ),
    Defect(
        "no 1/n in the dual",
        "test_certificates.py::test_every_primal_is_above_every_dual",
        "problem",
        "linear = float(np.mean(self.polytopes.cost_products(A)))",
        "linear = float(np.sum(self.polytopes.cost_products(A)))",
    ),
    Defect(
        "no smoothing term in the dual",
        "test_certificates.py::test_the_gap_is_the_sum_of_block_gaps",
        "problem",
        "return -self.lam / 2 * square_norm - linear - self.ridge_term(A)",
        "return -self.lam / 2 * square_norm - linear",
    ),
    Defect(
        "lam instead of lam/2 before |W|^2",
        "test_certificates.py::test_the_final_certificate_by_hand",
        "problem",
        "return self.lam / 2 * square_norm + float(",
        "return self.lam * square_norm + float(",
    ),
    Defect(
        "ascent's curvature is twice too small",
        "test_certificates.py::test_ascent_solves_orthogonal_samples_in_one_pass",
        "problem",
        "self.features.square_norms() / self.lam_n",
        "self.features.square_norms() / (2 * self.lam_n)",
    ),
    Defect(
        "ascent's curvature is twice too large",
        "test_certificates.py::test_ascent_solves_orthogonal_samples_in_one_pass",
        "problem",
        "self.features.square_norms() / self.lam_n",
        "self.features.square_norms() / (0.5 * self.lam_n)",
    ),
    Defect(
        "the exact step may exceed its limit",
        "test_certificates.py::test_steps_end_at_the_vertex",
        "kernels.steps.exact_step",
        "return limit if slope >= limit * curvature else slope / curvature",
        "return slope / curvature",
    ),
    Defect(
        "fw's LMO forgets the sample weight",
        "test_certificates.py::test_the_final_dual_point_is_feasible",
        "operators.vertices",
        "        entries *= omega[:, None]\n",
        "",
    ),
    Defect(
        "a block's LMO forgets the sample weight",
        "test_certificates.py::test_the_final_dual_point_is_feasible",
        "kernels.steps.block",
        "entry, touched = block.omega * scratch.entries[place], scratch.places[place]",
        "entry, touched = scratch.entries[place], scratch.places[place]",
    ),
    Defect(
        "entries are sorted from the smallest up",
        "test_certificates.py::test_the_dual_never_falls",
        "kernels.domains.sorting",
        "rank += values[i] > value",
        "rank += values[i] < value",
    ),
    Defect(
        "the smallest entries are selected",
        "test_certificates.py::test_the_final_certificate_by_hand",
        "kernels.domains.sorting",
        "while place > 0 and values[order[place - 1]] < values[j]:",
        "while place > 0 and values[order[place - 1]] > values[j]:",
    ),
    Defect(
        "zeta may reach 2 in the projection",
        "test_certificates.py::test_every_primal_is_above_every_dual",
        "kernels.domains.projection",
        "low, high = 0.0, zeta",
        "low, high, zeta = 0.0, 2.0, 2.0",
    ),
    Defect(
        "the projection is feasible but not nearest",
        "test_certificates.py::test_ascent_solves_orthogonal_samples_in_one_pass",
        "kernels.steps.block",
        "        new[j] *= omega\n",
        "        new[j] *= 0.75 * omega\n",
    ),
    Defect(
        "the search on the full dual of a block norm goes down",
        "test_lp_norm_methods.py::test_the_dual_never_falls_and_never_exceeds_the_primal",
        "solvers.segment",
        "t * curvature > 0)",
        "t * curvature < 0)",
    ),
    Defect(
        "another power in the representer map",
        "test_lp_norm_methods.py::test_the_gap_is_that_of_the_frank_wolfe_direction",
        "lp_norm",
        "np.power(shares, self.q / 2 - 1, out=powers",
        "np.power(shares, self.q / 2 - 1.1, out=powers",
    ),
    Defect(
        "a class that vanishes stays away",
        "test_lp_norm_methods.py::test_a_class_that_vanishes_in_the_first_pass_returns",
        "solvers.alternate",
        "floor = max(0.5**k, LEAST)",
        "floor = 0.0",
    ),
    Defect(
        "block steps with a block norm lose track of the squares",
        "test_lp_norm_methods.py::test_the_dual_never_falls_and_never_exceeds_the_primal",
        "kernels.steps.norm_block",
        "return max(0.0, square + grown)",
        "return max(0.0, square - grown)",
    ),
]


@dataclass
class Planting:
    """Runs tests with a passage of a module replaced, in forks of one process without the JIT."""

    server: subprocess.Popen[str]
    output: Path

    def run(self, module: str, old: str, new: str, tests: Iterable[str]) -> tuple[int, str]:
        """Exit code and output of the tests, up to the first failure."""
        options = ["-x", "-q", "--tb=line", "-p", "no:cacheprovider", "-k", LOSSES_OR_OTHERS]
        files = [f"tests/solvers/{test}" for test in tests]
        request = [f"fwlab.{module}", old, new, str(self.output), [*files, *options]]
        assert self.server.stdin is not None and self.server.stdout is not None
        self.output.unlink(missing_ok=True)
        print(json.dumps(request), file=self.server.stdin, flush=True)
        code = self.server.stdout.readline()
        assert code, f"the server died of {request}"
        return int(code), self.output.read_text()


@pytest.fixture(scope="module")
def planting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planting]:
    # its environment is its own: options for this run are not for that one, whose coverage would
    # end ours, and plugins take a second each time
    own = {"PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "NUMBA_DISABLE_JIT": "1"}
    own |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")  # no threads to fork
    with subprocess.Popen(
        [sys.executable, PLANTING],
        cwd=ROOT,
        env={**os.environ, **own, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        yield Planting(server, tmp_path_factory.mktemp("planting") / "output")


def test_the_code_as_it_is_passes(planting):
    tests = dict.fromkeys(defect.caught_by for defect in DEFECTS)
    code, output = planting.run("problem", "class Problem:", "class Problem:", tests)
    assert code == 0 and " passed" in output, output


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_the_suite_catches(defect, planting):
    code, output = planting.run(defect.module, defect.old, defect.new, [defect.caught_by])
    assert code == 1 and "1 failed" in output, output


def test_a_passage_that_is_not_there_is_no_catch(planting):
    tests = ["test_driver.py::test_statuses"]
    code, output = planting.run("weights", "no such passage", "", tests)
    assert code == NOT_PLANTED and "no such passage" in output
