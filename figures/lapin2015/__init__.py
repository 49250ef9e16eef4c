"""Figures and tables of Lapin, Hein & Schiele (2015)."""
