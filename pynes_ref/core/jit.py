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

from numba import config, njit, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.typed_passes import NativeLowering

from ..jitcache import ENVIRONMENT, cache_folder
from .jit_link import PartLowering, PartOutOfLineLowering, WholeLowering

_COMMON = {"error_model": "numpy", "nogil": True, "_nrt": False}
_BARE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


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


def _part(function, **options):
    dispatcher = njit(**_COMMON, **_BARE, **options)(function)
    resolve = dispatcher.get_call_template

    # A literal argument is an argument like any other: one compilation for all.
    def get_call_template(args, kws):
        return resolve(tuple(map(types.unliteral, args)), {k: types.unliteral(v) for k, v in kws.items()})

    dispatcher.get_call_template = get_call_template
    return dispatcher


def inner(function):
    """Compile a function for compiled callers; LLVM decides whether to inline it."""
    # A function compiled for an inlined caller would inherit ``forceinline``.
    return _part(function, forceinline=False, pipeline_class=_PART)


def inline(function):
    """Compile a helper that is inlined wherever it is called."""
    return _part(function, forceinline=True, pipeline_class=_PART)


def outline(function):
    """Compile a door between chips, which is never inlined."""
    return _part(function, forceinline=False, pipeline_class=_DOOR)


def entry(function):
    """Compile a function that Python calls; cached where a cache folder can be written."""
    folder = cache_folder()
    if folder is None:
        warnings.warn(
            f"no cache folder can be written, so the console compiles at every start; set {ENVIRONMENT} to a folder",
            RuntimeWarning,
            stacklevel=2,
        )
        return njit(**_COMMON, pipeline_class=_WHOLE)(function)
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        return njit(**_COMMON, cache=True, pipeline_class=_WHOLE)(function)
    finally:
        config.CACHE_DIR = before
