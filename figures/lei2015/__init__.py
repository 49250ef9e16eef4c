"""Figures and tables of Lei et al. (2015)."""
