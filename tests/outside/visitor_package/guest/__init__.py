"""Losses and methods that live outside fwlab."""
