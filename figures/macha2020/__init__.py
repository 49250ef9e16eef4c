"""Figures and tables of Mácha et al. (2020)."""
