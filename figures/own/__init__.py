"""Figures and tables of this project."""
