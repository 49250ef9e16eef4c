"""List the timing tables, or make some: python -m figures.benchmarks [NAME ...] [--quick]."""

import argparse
import importlib
import pkgutil

from threadpoolctl import threadpool_limits

import figures.benchmarks


def modules() -> dict[str, str]:
    """Name and first sentence of every table."""
    names = [m.name for m in pkgutil.iter_modules(figures.benchmarks.__path__)]
    tables = {}
    for name in sorted(set(names) - {"__main__", "timing"}):
        text = importlib.import_module(f"figures.benchmarks.{name}").__doc__ or ""
        tables[name] = text.split("\n")[0]
    return tables


def main() -> None:
    tables = modules()
    parser = argparse.ArgumentParser(prog="python -m figures.benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(tables))
    parser.add_argument("--quick", action="store_true", help="smaller batches, fewer repeats")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(tables))
    if unknown:
        parser.error(f"no table is named {', '.join(unknown)}; there are: {', '.join(tables)}")
    for name, text in tables.items():
        if not arguments.names:
            print(f"{name:16} {text}")
    for name in arguments.names:
        with threadpool_limits(1):
            importlib.import_module(f"figures.benchmarks.{name}").run(quick=arguments.quick)


if __name__ == "__main__":
    main()
