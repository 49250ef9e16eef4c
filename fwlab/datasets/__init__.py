"""Data sets: named sets, synthetic sets, and a user's own file."""

from fwlab.datasets.named import Dataset, describe, load, names, read_file, synthetic
from fwlab.datasets.overview import overview

__all__ = ["Dataset", "describe", "load", "names", "overview", "read_file", "synthetic"]
