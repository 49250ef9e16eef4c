"""Timing tables: one module each, with a function `run(quick)` that prints its table."""
