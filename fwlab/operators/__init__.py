"""Batched operators: domains row by row, their Jacobians, and X in each storage."""
