"""The decorators of the compiled core.

Three kinds of function exist (reasons and measurements in ARCHITECTURE.md):

``inner``
    called from compiled code only. It has no Python wrapper, so calling it
    from the interpreter crashes: only ``entry`` functions are public.
``inline``
    an ``inner`` that LLVM must inline; for helpers of a few lines.
``entry``
    callable from Python and kept in the on-disk cache (``jitcache.py``).

``error_model='numpy'`` drops the zero-division checks, ``nogil`` lets consoles
run in threads, ``_nrt=False`` removes array reference counting (records and
buffers are owned by Python and outlive every call).
"""

import warnings

from numba import config, njit

from ..jitcache import ENVIRONMENT, cache_folder

_COMMON = {"error_model": "numpy", "nogil": True, "_nrt": False}
_BARE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

inner = njit(**_COMMON, **_BARE)
inline = njit(**_COMMON, **_BARE, forceinline=True)


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
