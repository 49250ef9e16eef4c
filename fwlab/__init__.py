"""A laboratory for top-k and multi-class SVMs: dual solvers with certificates."""

from fwlab import bounds, datasets, metrics, ranking, weights
from fwlab.experiments import Comparison, compare
from fwlab.experiments.cross_validation import CrossValidation, cross_validate
from fwlab.experiments.path import path
from fwlab.losses import (
    MaxHinge,
    PseudoTopK,
    StructuredHinge,
    TopK,
    Usunier,
    WeightedTopK,
    WeightedUsunier,
)
from fwlab.lp_norm import LpNorm
from fwlab.problem import Problem
from fwlab.projections import (
    project_knapsack,
    project_permutahedron,
    project_topk_cone,
    project_topk_simplex,
)
from fwlab.result import Result, Status, Trace
from fwlab.solvers.registry import methods
from fwlab.solvers.solve import solve

__all__ = [
    "Comparison",
    "CrossValidation",
    "LpNorm",
    "MaxHinge",
    "Problem",
    "PseudoTopK",
    "Result",
    "Status",
    "StructuredHinge",
    "TopK",
    "Trace",
    "Usunier",
    "WeightedTopK",
    "WeightedUsunier",
    "bounds",
    "compare",
    "cross_validate",
    "datasets",
    "methods",
    "metrics",
    "path",
    "project_knapsack",
    "project_permutahedron",
    "project_topk_cone",
    "project_topk_simplex",
    "ranking",
    "solve",
    "weights",
]
