"""The solvers: one driver, one file per family of methods, one registry."""
