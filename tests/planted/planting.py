"""Run pytest on the library with a passage of one module replaced in memory.

    NUMBA_DISABLE_JIT=1 python planting.py MODULE OLD NEW [pytest's arguments]

The file on disk is not touched. An inner compiled function cannot be replaced under a compiled
caller, hence no JIT. The exit code is pytest's: 0 if all tests passed, 1 if one failed; it is 70 if
OLD does not occur exactly once in the module (the code has moved on and the defect must follow).
"""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType

NOT_PLANTED = 70


class Replacing(SourceFileLoader):
    """A loader that replaces a passage of the source and leaves no trace in any cache."""

    old: str
    new: str

    def get_code(self, fullname: str) -> CodeType:
        source = self.get_data(self.path).decode()
        if source.count(self.old) != 1:
            print(f"{self.path} holds {source.count(self.old)} times: {self.old}")
            sys.stdout.flush()
            raise SystemExit(NOT_PLANTED)
        return compile(source.replace(self.old, self.new), self.path, "exec")


class Planter(MetaPathFinder):
    """Finds one module as usual and gives it the replacing loader."""

    def __init__(self, module: str, old: str, new: str) -> None:
        self.module, self.old, self.new = module, old, new

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        if name != self.module:
            return None
        spec = PathFinder.find_spec(name, path)
        loader = Replacing(name, spec.origin)
        loader.old, loader.new = self.old, self.new
        spec.loader = loader
        return spec


def main(module: str, old: str, new: str, *arguments: str) -> int:
    import pytest

    sys.meta_path.insert(0, Planter(module, old, new))
    __import__(module)
    return pytest.main(list(arguments))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
