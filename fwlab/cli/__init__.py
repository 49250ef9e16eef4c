"""The command line: fwlab compare | solve | data | info | warmup."""

from fwlab.cli.commands import main

__all__ = ["main"]
