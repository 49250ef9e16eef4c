"""The store of one function's machine code, in the form in which numba's dispatchers take a cache.

numba's own cache trusts its files: an index that was cut short ends every later call with an error
of pickle, and two processes that compile at the same time can leave an index whose entries name the
code of other types. Here each combination of types has a file of its own, and no file is an index.
"""

import hashlib
import pickle
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from fwlab.kernels import _machine_code


class StoredCode(NullCache):
    """The stored machine code of a function, one file per combination of argument types.

    The folder must be one for the present sources of the function and all that it calls.
    """

    def __init__(self, folder: Path, function: Callable) -> None:
        self.folder = folder
        self.function = function

    @property
    def cache_path(self) -> str:
        return str(self.folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the stored code for these types of arguments, or None.

        Whatever goes wrong, the function can still be compiled.
        """
        with suppress(Exception):
            # numba's own cache also imports and registers all that it can compile: 0.2 s
            rtsys.initialize(target_context)
            content = _machine_code.read(self.folder, self._name(sig, target_context.codegen()))
            if content is not None:
                stored, parts = pickle.loads(content)
                # two types can have the same text
                if stored == sig:
                    return CompileResult._rebuild(target_context, *parts)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store compiled code if that is possible, unless it holds addresses of this process."""
        with suppress(Exception):
            if not data.lifted and not data.library.has_dynamic_globals:
                content = dumps((sig, data._reduce()))
                _machine_code.write(self.folder, self._name(sig, data.codegen), content)

    def _name(self, sig: Any, codegen: Any) -> str:
        code = self.function.__code__
        place = self.function.__module__, self.function.__qualname__, code.co_firstlineno
        text = repr((place, str(sig), codegen.magic_tuple()))
        return f"{hashlib.sha256(text.encode()).hexdigest()[:40]}.code"
