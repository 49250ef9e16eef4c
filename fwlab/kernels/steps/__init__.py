"""Kernels of block steps and passes."""
