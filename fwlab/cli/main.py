"""Parse a call of the command line, and only then import what its command computes with."""

from collections.abc import Sequence

from fwlab.cli.flags import BadInput
from fwlab.cli.options import parse
from fwlab.cli.output import plain_warnings
from fwlab.command import complain, run_command
from fwlab.launch import imported


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    return run_command("fwlab", lambda: _run(argv))


def _run(argv: Sequence[str] | None) -> int:
    try:
        with plain_warnings():
            options = parse(argv)
            # all of fwlab, before a visitor's package can change it
            from fwlab import public as public
            from fwlab.cli import commands

            imported()
            return commands.run(options)
    except BadInput as error:
        complain(error)
        return 2
