"""The command line: fwlab compare | solve | predict | data | methods | losses | info | warmup."""

from fwlab.cli.main import main

__all__ = ["main"]
