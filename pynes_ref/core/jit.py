"""The decorators of the compiled core.

Four kinds of function exist (reasons and measurements in ARCHITECTURE.md):

``inner``
    called from compiled code only. It has no Python wrapper, so calling it
    from the interpreter crashes: only ``entry`` functions are public.
``inline``
    an ``inner`` that LLVM must inline; for helpers of a few lines.
``outline``
    an ``inner`` that LLVM must not inline: the doors between chips. Without
    them every access of the CPU would hold a copy of the whole console, and
    the core would not compile in ten minutes.
``entry``
    callable from Python and kept in the on-disk cache (``jitcache.py``).

``error_model='numpy'`` drops the zero-division checks, ``nogil`` lets consoles
run in threads, ``_nrt=False`` removes array reference counting (records and
buffers are owned by Python and outlive every call).
"""

import warnings

from numba import config, njit
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

from ..jitcache import ENVIRONMENT, cache_folder

_COMMON = {"error_model": "numpy", "nogil": True, "_nrt": False}
_BARE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}



class _OutOfLine(Lower):
    def setup_function(self, fndesc):
        super().setup_function(fndesc)
        self.function.attributes.add("noinline")


@register_pass(mutates_CFG=True, analysis_only=False)
class _OutOfLineLowering(NativeLowering):
    _name = "pynes_ref_out_of_line_lowering"

    @property
    def lowering_class(self):
        return _OutOfLine


class _OutOfLineCompiler(CompilerBase):
    def define_pipelines(self):
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [(_OutOfLineLowering if p is NativeLowering else p, why) for p, why in manager.passes]
        manager.finalize()
        return [manager]


# A function compiled for an inlined caller would inherit ``forceinline``.
inner = njit(**_COMMON, **_BARE, forceinline=False)
inline = njit(**_COMMON, **_BARE, forceinline=True)
outline = njit(**_COMMON, **_BARE, forceinline=False, pipeline_class=_OutOfLineCompiler)


def entry(function):
    """Compile a function that Python calls; cached where a cache folder can be written."""
    folder = cache_folder()
    if folder is None:
        warnings.warn(
            f"no cache folder can be written, so the console compiles at every start; set {ENVIRONMENT} to a folder",
            RuntimeWarning,
            stacklevel=2,
        )
        return njit(**_COMMON)(function)
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        return njit(**_COMMON, cache=True)(function)
    finally:
        config.CACHE_DIR = before
