"""A laboratory for top-k and multi-class SVMs and softmax: dual solvers with certificates.

`import fwlab` takes no time. The first use of a name, or of a module that computes, imports them
all (fwlab.public), so that what a program changes later is seen as its own code (fwlab.versions).
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

# first, so that Ctrl-C during the imports below ends the command line with a sentence
from fwlab import launch as launch
from fwlab.release import __version__ as __version__

if TYPE_CHECKING:
    from fwlab.public import *  # noqa: F403 - type checkers see every name

# modules that compute nothing, with which the command line starts
LIGHT = {
    "cli",
    "command",
    "files",
    "launch",
    "provenance",
    "release",
    "streams",
    "text",
    "toml_text",
}
ON_DEMAND = ("distributed", "testing")
ESTIMATORS = (
    "PatMatClassifier",
    "TopKClassifier",
    "TopKSVC",
    "TopKSVCCV",
    "TopPushClassifier",
)


def __getattr__(name: str) -> Any:
    """Import what is first named; what few programs need, scikit-learn for one, on its own."""
    if name in ON_DEMAND or (_is_importing() and find_spec(f"fwlab.{name}")):
        return import_module(f"fwlab.{name}")
    if name in ESTIMATORS:
        try:
            return getattr(import_module("fwlab.estimators"), name)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "sklearn":
                raise
            sentence = f"fwlab.{name} needs scikit-learn: pip install scikit-learn."
            raise ImportError(sentence) from error
    this = sys.modules[__name__]
    if not name.startswith("__") or name == "__all__":
        public = import_module("fwlab.public")
        if name in vars(this):
            return vars(this)[name]
        if name == "__all__":
            return public.__all__
    # with both, Python's traceback suggests a name
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=this)


def __dir__() -> list[str]:
    """List what is imported on demand, too, for completion in notebooks."""
    public = import_module("fwlab.public")
    return sorted({*globals(), *public.__all__})


class Package(ModuleType):
    """The package, which imports everything as soon as a module that computes is complete."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if not isinstance(value, ModuleType) or name in LIGHT:
            return
        if name == "public":  # fwlab.verify is a function there, not the module
            vars(self).update({n: vars(value)[n] for n in value.__all__ if n in vars(value)})
        elif not _is_importing():
            import_module("fwlab.public")

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        """Be imported by worker processes, which get the functions of a user's script."""
        return import_module, (self.__name__,)


def _is_importing() -> bool:
    """Return whether a module of fwlab is being imported, so that others may be incomplete."""
    return any(
        name.startswith("fwlab.") and getattr(module.__spec__, "_initializing", False)
        for name, module in list(sys.modules.items())
    )


sys.modules[__name__].__class__ = Package
