"""The five papers: how to cite each one, and where it can be read."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """One paper: authors and year, title, where it appeared, and its address."""

    authors: str
    title: str
    venue: str
    address: str


PAPERS = {
    "K19": Paper(
        "T. Kato and Y. Hirohashi (2019)",
        "Learning Weighted Top-k Support Vector Machine",
        "ACML 2019, PMLR 101, pages 774 to 789",
        "https://proceedings.mlr.press/v101/kato19a.html",
    ),
    "L15": Paper(
        "M. Lapin, M. Hein and B. Schiele (2015)",
        "Top-k Multiclass SVM",
        "NIPS 2015",
        "https://arxiv.org/abs/1511.06683",
    ),
    "T20": Paper(
        "K. Tajima, Y. Hirohashi, E. R. R. Zara and T. Kato (2020)",
        "Frank-Wolfe Algorithm for Learning SVM-Type Multi-Category Classifiers",
        "arXiv 2008.08894",
        "https://arxiv.org/abs/2008.08894",
    ),
    "M20": Paper(
        "V. Mácha, L. Adam and V. Šmídl (2020)",
        "Nonlinear Classifiers for Ranking Problems Based on Kernelized SVM",
        "arXiv 2002.11436",
        "https://arxiv.org/abs/2002.11436",
    ),
    "LP15": Paper(
        "Y. Lei, Ü. Dogan, A. Binder and M. Kloft (2015)",
        "Multi-class SVMs: From Tighter Data-Dependent Generalization Bounds to Novel Algorithms",
        "NIPS 2015",
        "https://arxiv.org/abs/1506.04359",
    ),
}
