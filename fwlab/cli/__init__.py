"""The command line: fwlab compare | solve | predict | data | methods | losses | info | warmup."""

from fwlab.cli.commands import main

__all__ = ["main"]
