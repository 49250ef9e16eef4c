"""Classifiers with scikit-learn's conventions."""

from fwlab.estimators.topk_svc import TopKSVC

__all__ = ["TopKSVC"]
