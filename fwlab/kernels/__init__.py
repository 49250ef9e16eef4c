"""Compiled kernels: flat functions of arrays and named layouts, one concept per file."""
