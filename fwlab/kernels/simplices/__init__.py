"""Kernels of projections onto the top-k simplex and cone, and the knapsack set."""
