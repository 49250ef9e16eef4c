"""List the timing tables, or make some: python -m figures.benchmarks [NAME ... | all] [--quick]."""

import argparse
import importlib
import pkgutil
import sys

from threadpoolctl import threadpool_limits

import figures.benchmarks
from figures.benchmarks.page import PAGE, print_page
from fwlab.command import run_command

NO_TABLES = {"__main__", "choice", "page", "timing", "versions_cases"}


def modules() -> dict[str, str]:
    """Return the name and first sentence of every table."""
    names = [m.name for m in pkgutil.iter_modules(figures.benchmarks.__path__)]
    tables = {}
    for name in sorted(set(names) - NO_TABLES):
        text = importlib.import_module(f"figures.benchmarks.{name}").__doc__ or ""
        tables[name] = text.split("\n")[0]
    return tables


def main() -> int:
    """Print the selected tables."""
    tables = modules()
    parser = argparse.ArgumentParser(prog="python -m figures.benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(["all", *tables]))
    parser.add_argument("--quick", action="store_true", help="smaller batches, fewer repeats")
    parser.add_argument(
        "--markdown", action="store_true", help="one page with the machine and its floors"
    )
    arguments = parser.parse_args()
    names = list(PAGE) if arguments.names == ["all"] else arguments.names
    unknown = sorted(set(names) - set(tables))
    if unknown:
        parser.error(f"no table is named {', '.join(unknown)}; there are: {', '.join(tables)}")
    if not names:
        for name, text in tables.items():
            print(f"{name:16} {text}")
    with threadpool_limits(1):
        if arguments.markdown:
            print_page(names, arguments.quick)
        else:
            for name in names:
                importlib.import_module(f"figures.benchmarks.{name}").run(quick=arguments.quick)
    return 0


if __name__ == "__main__":
    sys.exit(run_command("figures.benchmarks", main))
