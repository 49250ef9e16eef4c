"""Ranking machines of M20: TopPush, TopPushK and Pat&Mat, with kernels and certificates."""

from fwlab.ranking.objectives import PatMat, TopPush, TopPushK
from fwlab.ranking.problem import Problem
from fwlab.ranking.registry import methods
from fwlab.ranking.result import Result
from fwlab.ranking.solve import solve

__all__ = ["PatMat", "Problem", "Result", "TopPush", "TopPushK", "methods", "solve"]
