"""Kernels of the negated domain of one row: vertices, membership, projections, Jacobian."""
