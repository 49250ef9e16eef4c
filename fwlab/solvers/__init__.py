"""The solvers: one driver, one file a family of methods, one registry."""
