"""Check a loss or a method of your own against the promises that fwlab relies on."""

from fwlab.testing.loss_trial import check_loss
from fwlab.testing.method_trial import check_method

__all__ = ["check_loss", "check_method"]
