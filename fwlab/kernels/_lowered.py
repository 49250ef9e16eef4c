"""A dispatcher that compiles a function in one way for Python and in another for kernels.

numba optimises each compiled function by itself, turns it into machine code with a wrapper for
Python, stores both, and then optimises its body again in every function that calls it. For a call
from another kernel all but the last is wasted: here the caller takes the code as it was lowered,
and LLVM optimises it only there. A call from Python compiles and stores the function as numba does.
All this uses private parts of numba; _plain does the same without them.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from llvmlite.binding import Linkage
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags, compile_extra
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.core.typing.templates import AbstractTemplate, infer_global

from fwlab.kernels import _plain
from fwlab.kernels._stored_code import StoredCode

# kernels have no closures, context managers, raise statements, array expressions, literal loops or
# parallel loops, and numba inlines none of the functions that they call: these passes would visit
# each kernel and leave it as it is
UNUSED_PASSES = {
    "WithLifting",
    "InlineClosureLikes",
    "RewriteDynamicRaises",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "InlineOverloads",
    "NopythonRewrites",
    "DumpParforDiagnostics",
}


# the arguments of call_instead, for _plain if it must take over
CHOICES: list[tuple[Callable, Callable, dict[str, Any]]] = []


class LoweringFlags(Flags):
    """Flags that are fast as part of a key, as numba looks up each overload by them.

    All of numba's Flags have the same hash, and a comparison of two reads every option.
    """

    def __hash__(self) -> int:
        values: Any = self._values
        return hash(frozenset(name for name, value in values.items() if value is True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LoweringFlags) and self._values == other._values


class FlatCompiler(CompilerBase):
    """A compiler without the passes that change nothing in a flat function."""

    def define_pipelines(self) -> list[Any]:
        """Return numba's own pipeline, except these passes."""
        pipeline: Any = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [one for one in pipeline.passes if one[0].__name__ not in UNUSED_PASSES]
        pipeline.finalize()
        return [pipeline]


class LoweredLibrary(JITCodeLibrary):
    """The code of a function as it was lowered, which kernels that call it link and optimise.

    `callees` is the code of all functions that it calls, themselves or through others: only a
    kernel links it, so that no code is copied at each level of calls.
    """

    @property
    def callees(self) -> list[Any]:
        libraries: Any = self._linking_libraries
        return list(dict.fromkeys(libraries))

    def finalize(self) -> None:
        """Make the code of this function ready to be linked."""
        module: Any = self._final_module
        for function in module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = "linkonce_odr"
        self._finalize_dynamic_globals()
        self._shared_module, self._finalized = module, True

    def _optimize_functions(self, module: Any) -> None:
        """Simplify each function, at a low level: kernels optimise them in their final place."""
        codegen: Any = self._codegen
        module.data_layout = codegen._data_layout
        manager, builder = codegen._function_pass_manager(opt=1)
        for function in module.functions:
            if not function.is_declaration:
                manager.run(function, builder)


@cache
def lowering_context(context: Any) -> Any:
    """Return the context with sizes of types that are looked up, and without repeated refreshes.

    numba parses a module for each size that it asks for, and refreshes the context for each
    operation that it looks up in vain before it takes another.
    """
    return context.subtarget(get_abi_sizeof=cache(context.get_abi_sizeof), refresh=lambda: None)


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
        flags: Any = LoweringFlags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        flags.no_compile, flags.no_cpython_wrapper = True, True
        library = LoweredLibrary(context.codegen(), self.py_func.__qualname__)
        context.refresh()
        result: Any = compile_extra(
            self.typingctx,
            lowering_context(context),
            self.py_func,
            args,
            return_type,
            flags,
            {},
            library,
            pipeline_class=FlatCompiler,
        )
        key = object()
        context.insert_user_function(key, result.fndesc, [library, *library.callees])
        return result._replace(entry_point=key)


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Let Python search for cycles rarely: numba's objects live on, and each search visits them."""
    before = gc.get_threshold()
    try:
        if before[0] > 0:
            gc.set_threshold(max(before[0], 50_000), *before[1:])
        yield
    finally:
        gc.set_threshold(*before)


class Kernel(CPUDispatcher):
    """A compiled function; in other kernels its LoweredFunction takes its place.

    If lowering fails where numba's own way works, all kernels go numba's way from then on.
    """

    lowers = True
    _cache: Any
    _compiler: Any

    @cached_property
    def lowered(self) -> Any:
        """The function for calls from kernels."""
        return LoweredFunction(self.py_func, targetoptions=self.targetoptions)

    def compile(self, sig: Any) -> Any:
        """Load or compile the function for these types of arguments."""
        with global_compiler_lock, collecting_rarely():
            try:
                return super().compile(sig)
            except Exception as error:
                if isinstance(error, MemoryError) or not Kernel.lowers:
                    raise
                reason = error
            return self._compile_plainly(sig, reason)

    def _compile_plainly(self, sig: Any, reason: Exception) -> Any:
        """Compile in numba's own way, in which all kernels go on if this succeeds."""
        Kernel.lowers = False
        try:
            while CHOICES:
                _plain.call_instead(*CHOICES.pop())
            # the old one remembers which types failed
            self._compiler = kernel_of(self.py_func, self.targetoptions)._compiler
            compiled = super().compile(sig)
        except BaseException:  # the error is in the function or its arguments
            Kernel.lowers = True
            raise
        _plain.warn_slower(reason)
        return compiled

    def get_call_template(self, args: Any, kws: Any) -> Any:
        # a number in the call would have code of its own
        args = [types.unliteral(one) for one in args]
        if Kernel.lowers:
            return self.lowered.get_call_template(args, kws)
        return super().get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        return self.lowered.get_overload(sig) if Kernel.lowers else super().get_overload(sig)


def kernel_of(function: Callable, options: dict[str, Any], folder: Path | None = None) -> Kernel:
    """Return the kernel of a function; its code is stored if there is a folder for it."""
    kernel = Kernel(function, targetoptions=options)
    if folder is not None:
        kernel._cache = StoredCode(folder, function)
    return kernel


def call_instead(function: Callable, choice: Callable, options: dict[str, Any]) -> None:
    """Let a call of `function` in a kernel become a call of what `choice` returns.

    `choice` gets the types of the arguments and returns a kernel, or a Python function to compile
    with these options.
    """

    @cache
    def kernel(chosen: Any) -> Kernel:
        return chosen if isinstance(chosen, Kernel) else kernel_of(chosen, options)

    class ChosenByType(AbstractTemplate):
        key = function

        def generic(self, args: Any, kws: Any) -> Any:
            if not Kernel.lowers:
                return None  # _plain finds the code
            dispatcher: Any = types.Dispatcher(kernel(choice(*args)))
            signature = dispatcher.get_call_type(self.context, args, kws)
            self.chosen = dispatcher.get_overload(signature)
            return signature

        def get_impl_key(self, sig: Any) -> Any:
            return self.chosen

    infer_global(function)(ChosenByType)
    CHOICES.append((function, choice, options))
