"""Kernels of products of X, W and sparse steps."""
