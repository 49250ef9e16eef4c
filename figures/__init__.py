"""Figures and tables: one script each."""
