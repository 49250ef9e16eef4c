"""Compiled kernels: flat functions, arrays in, arrays out, one subject a file."""
