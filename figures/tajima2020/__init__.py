"""Figures and tables of Tajima et al. (2020)."""
