"""Try the statements of the papers, each by code that computes its verdict."""
