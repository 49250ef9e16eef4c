"""Classifiers with scikit-learn's conventions."""

from fwlab.estimators.ranking import PatMatClassifier, TopPushClassifier
from fwlab.estimators.topk_classifier import TopKClassifier
from fwlab.estimators.topk_svc import TopKSVC
from fwlab.estimators.topk_svc_cv import TopKSVCCV

__all__ = ["PatMatClassifier", "TopKClassifier", "TopKSVC", "TopKSVCCV", "TopPushClassifier"]
