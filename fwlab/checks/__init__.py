"""Checks of a user's arguments: one sentence for each bad one."""
