"""Run the command line: python -m fwlab."""

import sys

from fwlab.cli import main

if __name__ == "__main__":
    sys.exit(main())
