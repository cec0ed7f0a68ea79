"""Numba functions whose machine code is kept where the console's is (``pynes_ref.jitcache``).

Numba's own cache would write beside the source, that is, into ``site-packages``; pip leaves such files behind, and
their folder then hides a package of the same name.
"""

from __future__ import annotations

import hashlib
import inspect
import pickle
from collections.abc import Callable
from functools import cache

from numba import njit
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from pynes_ref import jitcache


@cache
def _source_hash(file: str) -> bytes:
    with open(file, "rb") as source:
        return hashlib.sha256(source.read()).digest()


class _Kept(NullCache):
    """A file a signature, in the folder of this build (Numba, Python, processor), behind a checksum."""

    def __init__(self, function: Callable) -> None:
        self._name = function.__name__
        self._file = inspect.getfile(function)

    @property
    def cache_path(self):
        return jitcache.cache_folder()

    def _key(self, signature) -> str:
        digest = hashlib.sha256(_source_hash(self._file) + str(signature).encode())
        return f"{self._name}-{digest.hexdigest()[:20]}"

    def load_overload(self, sig, target_context):
        found = jitcache.read_code(self._key(sig))
        if found is None:
            return None
        target_context.refresh()
        return CompileResult._rebuild(target_context, *pickle.loads(found[1]))

    def save_overload(self, sig, data):
        jitcache.write_code(self._key(sig), self._name, dumps(data._reduce()))


def kept_njit(function: Callable) -> Callable:
    """``numba.njit`` without the GIL and with C's division, compiled once for each build.

    Without a folder that can be written it is compiled in every process. For functions that call no other
    function of ours: an edit is seen in ``function``'s own file only.
    """
    compiled = njit(error_model="numpy", nogil=True)(function)
    compiled._cache = _Kept(function)
    return compiled
