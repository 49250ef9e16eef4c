"""`python -m fwlab.docs build --out DIR`: write the site, complete without a network."""

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from fwlab.command import run_command

NEEDED = ("sphinx", "myst_parser", "numpydoc", "sphinx_gallery", "furo", "jinja2", "latex2mathml")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 1 if a page is not right, 2 for bad input."""
    options = parser().parse_args(arguments)
    lacking = [name for name in NEEDED if find_spec(name) is None]
    if lacking:
        print(f"{', '.join(lacking)} not found; pip install 'fwlab[docs]'", file=sys.stderr)
        return 2
    from fwlab.docs.build import build

    try:
        return build(options.out, options.ledger, examples=not options.no_examples)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    made = argparse.ArgumentParser("python -m fwlab.docs", description=__doc__)
    commands = made.add_subparsers(required=True)
    one = commands.add_parser("build", help="write the site")
    one.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the site")
    one.add_argument(
        "--ledger",
        type=Path,
        metavar="FILE",
        help="records of `python -m paper_checks --json`; the stored ones if not given",
    )
    one.add_argument(
        "--no-examples", action="store_true", help="show the examples without running them"
    )
    return made


if __name__ == "__main__":
    sys.exit(run_command("fwlab.docs", main))
