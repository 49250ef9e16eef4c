"""Figures and tables of Kato & Hirohashi (2019)."""
