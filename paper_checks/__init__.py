"""Statements of the papers, each with the code that tries it and the verdict the code computes."""
