"""Checks of a user's arguments: each error is one sentence."""
