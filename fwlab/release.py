"""Hold the version of fwlab, which has no other place: pyproject.toml reads it here."""

__version__ = "0.2.0"
