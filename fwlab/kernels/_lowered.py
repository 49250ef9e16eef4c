"""A dispatcher that compiles a function in one way for Python and in another for kernels.

numba optimises each compiled function by itself, turns it into machine code with a wrapper for
Python, stores both, and then optimises its body again in every function that calls it. For a call
from another kernel all but the last is wasted: here the caller takes the code as it was lowered,
and LLVM optimises it only there. A call from Python compiles and stores the function as numba does.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Flags, compile_extra
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature


class LoweredLibrary(JITCodeLibrary):
    """The code of a function as it was lowered, which its callers link and optimise."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class LoweredFunction(CPUDispatcher):
    """A function for calls from kernels only: it has no machine code of its own."""

    def compile(self, sig: Any) -> Any:
        """Lower the function for these types of arguments; return the key of its code."""
        overloads: Any = self.overloads
        args, return_type = normalize_signature(sig)
        with global_compiler_lock:
            if args not in overloads:
                overloads[args] = self._lowered(args, return_type)
        return overloads[args].entry_point

    def _lowered(self, args: Any, return_type: Any) -> Any:
        context: Any = self.targetctx
        flags: Any = Flags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        flags.no_compile, flags.no_cpython_wrapper = True, True
        library = LoweredLibrary(context.codegen(), self.py_func.__qualname__)
        result: Any = compile_extra(
            self.typingctx, context, self.py_func, args, return_type, flags, {}, library
        )
        key = object()
        context.insert_user_function(key, result.fndesc, [library])
        return result._replace(entry_point=key)


class Kernel(CPUDispatcher):
    """A compiled function; in other kernels its LoweredFunction takes its place."""

    def __init__(self, py_func: Any, *args: Any, **options: Any) -> None:
        super().__init__(py_func, *args, **options)
        self.lowered = LoweredFunction(py_func, *args, **options)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return self.lowered.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        return self.lowered.get_overload(sig)
