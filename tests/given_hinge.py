"""The max hinge as a visitor's loss, which nothing of the family may be assumed of."""

import fwlab


class GivenHinge(fwlab.PolytopeLoss):
    """The max hinge by its value, times `share`, and its LMO: a contradiction unless share is 1."""

    def __init__(self, share=1.0):
        self.share = share

    def value(self, scores, y):
        return self.share * fwlab.MaxHinge().value(scores, y)

    def lmo(self, gradient, y):
        return fwlab.MaxHinge().lmo(gradient, y)
