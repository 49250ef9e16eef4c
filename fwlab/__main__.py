"""python -m fwlab: the command line."""

import sys

from fwlab.cli.commands import main

if __name__ == "__main__":
    sys.exit(main())
