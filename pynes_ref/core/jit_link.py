"""How compiled functions become machine code: linked and optimised once, at the entry points.

Numba links each function with all it calls, optimises that and makes machine
code of it, at every level of the call tree. For the core, some eight levels
deep, that is most of the compile time. Here a function that only compiled code
calls stays LLVM IR (a *part*); an entry point (a *whole*) links every part it
reaches, once, and is the only thing optimised as a module.

Numba's internals are used for that (``numba.core``), so its minor version is
pinned in pyproject.toml.
"""

from numba import _dynfunc, from_dtype, njit, types
from numba.core import funcdesc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.core.typing.typeof import typeof_impl

from .jit import INLINE, OUTLINE, Part
from .state import NES

_COMMON = {"error_model": "numpy", "nogil": True, "_nrt": False}
_BARE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class _Part(JITCodeLibrary):
    """The IR of one function; what it calls is linked later."""

    def finalize(self):
        self._raise_if_finalized()
        self._finalize_dynamic_globals()
        self._finalized = True


class _Whole(JITCodeLibrary):
    """An entry point with every part below it."""

    def finalize(self):
        found, waiting = [], list(self._linking_libraries)
        seen = set()
        while waiting:
            library = waiting.pop(0)
            if library in seen:
                continue
            seen.add(library)
            found.append(library)
            if isinstance(library, _Part):
                waiting.extend(library._linking_libraries)
        self._linking_libraries = found
        super().finalize()


class _OutOfLine(Lower):
    def setup_function(self, fndesc):
        super().setup_function(fndesc)
        self.function.attributes.add("noinline")


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(NativeLowering):
    """Lower a function to a part; nothing is made executable."""

    _name = "pynes_ref_part_lowering"

    def run_pass(self, state):
        context, flags = state.targetctx, state.flags
        state.library = _Part(context.codegen(), state.func_id.func_qualname)
        fndesc = funcdesc.PythonFunctionDescriptor.from_specialized_function(
            state.func_ir,
            state.typemap,
            state.return_type,
            state.calltypes,
            mangler=context.mangler,
            inline=flags.forceinline,
            noalias=flags.noalias,
            abi_tags=[flags.get_mangle_string()],
        )
        with context.push_code_library(state.library):
            lower = self.lowering_class(context, state.library, fndesc, state.func_ir, metadata=state.metadata)
            lower.lower()
        # Numba knows a compiled function by an object; without a wrapper it cannot be called.
        known_as = _dynfunc.make_function(
            fndesc.lookup_module(), fndesc.qualname.split(".")[-1], "", 0, lower.env, (state.library,)
        )
        context.insert_user_function(known_as, fndesc, [state.library])
        state["cr"] = _LowerResult(fndesc, lower.call_helper, cfunc=known_as, env=lower.env)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class PartOutOfLineLowering(PartLowering):
    """The same for a function that must not be inlined."""

    _name = "pynes_ref_part_out_of_line_lowering"

    @property
    def lowering_class(self):
        return _OutOfLine


@register_pass(mutates_CFG=True, analysis_only=False)
class WholeLowering(NativeLowering):
    """Lower an entry point; its library links all parts."""

    _name = "pynes_ref_whole_lowering"

    def run_pass(self, state):
        state.library = _Whole(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().run_pass(state)


def _compiler(lowering):
    """Numba's compiler with another last step."""

    class Compiler(CompilerBase):
        def define_pipelines(self):
            manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
            manager.passes = [(lowering if p is NativeLowering else p, why) for p, why in manager.passes]
            manager.finalize()
            return [manager]

    return Compiler


_PART, _DOOR, _WHOLE = map(_compiler, (PartLowering, PartOutOfLineLowering, WholeLowering))


@typeof_impl.register(Part)
def _(part, context):
    return types.Dispatcher(part.dispatcher)


def make_part(function, how):
    """The dispatcher of a ``jit.Part``."""
    # A function compiled for an inlined caller would inherit ``forceinline``, so every other says no.
    pipeline = _DOOR if how == OUTLINE else _PART
    dispatcher = njit(**_COMMON, **_BARE, forceinline=how == INLINE, pipeline_class=pipeline)(function)
    resolve = dispatcher.get_call_template

    # A literal argument is an argument like any other: one compilation for all.
    def get_call_template(args, kws):
        return resolve(tuple(map(types.unliteral, args)), {k: types.unliteral(v) for k, v in kws.items()})

    dispatcher.get_call_template = get_call_template
    return dispatcher


def make_entry(function):
    """A dispatcher that Python can call."""
    return njit(**_COMMON, pipeline_class=_WHOLE)(function)


def compile_door(function, integers):
    """Symbol and object code of ``function(nes, mem, *integers)``."""
    dispatcher = njit(**_COMMON, **_BARE, pipeline_class=_WHOLE)(function)
    signature = (from_dtype(NES), types.Array(types.uint8, 1, "C"), *[types.int64] * integers)
    dispatcher.compile(signature)
    result = dispatcher.overloads[signature]
    return result.fndesc.llvm_func_name, result.library._get_compiled_object()
