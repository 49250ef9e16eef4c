"""Try a loss or a method of your own against what fwlab assumes of it."""

from fwlab.testing.loss_trial import check_loss
from fwlab.testing.method_trial import check_method

__all__ = ["check_loss", "check_method"]
