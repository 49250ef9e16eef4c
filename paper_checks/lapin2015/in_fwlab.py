"""Compare fwlab's losses and top-k accuracy with their definitions, for several rows of L15."""

from collections.abc import Iterator

import numpy as np

import fwlab
from paper_checks.cases import Rng
from paper_checks.definitions import margins, max_hinge, top_k, usunier
from paper_checks.lapin2015.forms import rows, top_k_error
from paper_checks.ledger import Case, Library, Outcome
from paper_checks.outcomes import equal

# float64 compared with float64: at most a hundred operations on a few numbers
FEW = 1e-13


def library_error(case: Case) -> Outcome:
    """State that fwlab's top-k accuracy of one sample is 1 minus the top-k error."""
    scores = np.array([[float(s) for s in case.scores]])
    accuracy = fwlab.metrics.topk_accuracy(np.array([case.y]), scores, case.k)
    return equal(float(accuracy), 1.0 - float(top_k_error(case.scores, case.y, case.k)), FEW)


def without_ties(rng: Rng, deep: bool) -> Iterator[Case]:
    return (case for case in rows(rng, deep) if case.kind == "normal" and case.k < case.m)


def library_losses(case: Case) -> Outcome:
    """Compare fwlab's losses of the scores against their definitions, in float64 on both sides."""
    scores = np.array([float(s) for s in case.scores])
    h = margins(tuple(scores.tolist()), case.y)
    found = [
        float(loss.value(scores, case.y))
        for loss in (fwlab.TopK(case.k), fwlab.Usunier(case.k), fwlab.MaxHinge())
    ]
    return equal(found, [top_k(h, case.k), usunier(h, case.k), max_hinge(h)], FEW)


LOSSES = Library(("fwlab.losses.TopK.value",), library_losses, rows)
