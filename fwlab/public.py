"""Everything that `import fwlab` offers; the first use of one of its names imports it."""

from typing import TYPE_CHECKING

from fwlab import bounds, datasets, metrics, ranking, weights
from fwlab.certification import Certification, certify
from fwlab.choice.prove import prove_choice
from fwlab.choice.proved_choice import ChoiceStatus, ProvedChoice
from fwlab.cross_entropy import CrossEntropy
from fwlab.excess import ExcessStatus
from fwlab.experiments import Comparison, compare
from fwlab.experiments.cross_validation import CrossValidation, cross_validate
from fwlab.experiments.path import path
from fwlab.experiments.suite import suite
from fwlab.experiments.suite_comparison import SuiteComparison, compare_suites
from fwlab.experiments.suite_report import SuiteReport
from fwlab.losses import (
    Loss,
    MaxHinge,
    PseudoTopK,
    StructuredHinge,
    TopK,
    Usunier,
    WeightedTopK,
    WeightedUsunier,
)
from fwlab.lp_norm import LpNorm
from fwlab.model import Model
from fwlab.operators.host_rows import HostRows
from fwlab.polytope_loss import PolytopeLoss
from fwlab.problem import Problem
from fwlab.projections import (
    project_knapsack,
    project_permutahedron,
    project_topk_cone,
    project_topk_simplex,
)
from fwlab.result import Result, Status
from fwlab.solvers.away_steps import AwayStep, Pairwise
from fwlab.solvers.blended_pairwise import BlendedPairwise
from fwlab.solvers.block_frank_wolfe import (
    BlockAwayStep,
    BlockBlendedPairwise,
    BlockFrankWolfe,
    BlockPairwise,
)
from fwlab.solvers.block_rules import BlockRule, DualBlock
from fwlab.solvers.frank_wolfe import FrankWolfe
from fwlab.solvers.method import Method, Needs, State
from fwlab.solvers.registry import methods, register_method
from fwlab.solvers.solve import solve
from fwlab.solvers.step_rules import Direction, OpenLoop, StepRule
from fwlab.topk_entropy import TopKEntropy
from fwlab.trace import Trace
from fwlab.verify import Enclosure, verify
from fwlab.versions import see_modules

if TYPE_CHECKING:
    # what fwlab imports one by one
    from fwlab import distributed, testing
    from fwlab.estimators import (
        PatMatClassifier,
        TopKClassifier,
        TopKSVC,
        TopKSVCCV,
        TopPushClassifier,
    )

__all__ = [
    "AwayStep",
    "BlendedPairwise",
    "BlockAwayStep",
    "BlockBlendedPairwise",
    "BlockFrankWolfe",
    "BlockPairwise",
    "BlockRule",
    "Certification",
    "ChoiceStatus",
    "Comparison",
    "CrossEntropy",
    "CrossValidation",
    "Direction",
    "DualBlock",
    "Enclosure",
    "ExcessStatus",
    "FrankWolfe",
    "HostRows",
    "Loss",
    "LpNorm",
    "MaxHinge",
    "Method",
    "Model",
    "Needs",
    "OpenLoop",
    "Pairwise",
    "PatMatClassifier",
    "PolytopeLoss",
    "Problem",
    "ProvedChoice",
    "PseudoTopK",
    "Result",
    "State",
    "Status",
    "StepRule",
    "StructuredHinge",
    "SuiteComparison",
    "SuiteReport",
    "TopK",
    "TopKClassifier",
    "TopKEntropy",
    "TopKSVC",
    "TopKSVCCV",
    "TopPushClassifier",
    "Trace",
    "Usunier",
    "WeightedTopK",
    "WeightedUsunier",
    "bounds",
    "certify",
    "compare",
    "compare_suites",
    "cross_validate",
    "datasets",
    "distributed",
    "methods",
    "metrics",
    "path",
    "project_knapsack",
    "project_permutahedron",
    "project_topk_cone",
    "project_topk_simplex",
    "prove_choice",
    "ranking",
    "register_method",
    "solve",
    "suite",
    "testing",
    "verify",
    "weights",
]

# what a program changes from here on is no longer fwlab's code
see_modules()
