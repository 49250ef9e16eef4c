"""Prove how good any constant C could be on validation samples: see fwlab.choice.prove."""
