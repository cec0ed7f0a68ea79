"""Where compiled code is kept between runs.

Each build of the core has a folder of its own, named by a hash of every core
source, of the versions that shape the machine code, of the processor and of
Numba's settings; a stale folder is never looked at again, and the oldest are
removed. A file is one door's object code behind a checksum; it appears whole
or not at all, so that processes may compile at the same time. The grader's
metrics keep theirs here too (``grader/metrics/kept.py``): nothing is written
into the installed packages.
"""

import hashlib
import os
import platform
import sys
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path

CORE = Path(__file__).parent / "core"
KEEP = 4
ENVIRONMENT = "PYNES_REF_CACHE"
_SETTINGS = ("NUMBA_OPT", "NUMBA_BOUNDSCHECK", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_ENABLE_AVX",
             "NUMBA_LOOP_VECTORIZE", "NUMBA_SLP_VECTORIZE", "NUMBA_DEBUGINFO", "NUMBA_DISABLE_JIT")


def core_sources():
    """The source files of the compiled core, sorted by path."""
    return sorted(CORE.rglob("*.py"))


@cache
def source_hash():
    """Hex SHA-256 of all core sources with their names: the identity of this build of the console."""
    digest = hashlib.sha256()
    for path in core_sources():
        digest.update(path.relative_to(CORE).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


def _processor():
    import llvmlite.binding as llvm

    return [llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()]


@cache
def build_key():
    """Hex hash of everything that decides the machine code of the core."""
    parts = [source_hash(), sys.version, platform.machine()]
    parts += [version(name) for name in ("numba", "llvmlite", "numpy")]
    parts += _processor()
    parts += [f"{name}={os.environ.get(name, '')}" for name in _SETTINGS]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


def cache_root():
    """The folder that holds all builds: ``PYNES_REF_CACHE``, else the user's cache folder."""
    chosen = os.environ.get(ENVIRONMENT)
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "pynes_ref"


@cache
def cache_folder():
    """This build's cache folder, made and checked to be writable; None when there is none."""
    try:
        folder = cache_root() / build_key()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, RuntimeError):
        return None
    _prune(folder)
    return folder


def _prune(present):
    """Remove all but the newest builds; another process may do the same."""
    import shutil

    try:
        os.utime(present)
        builds = sorted((p for p in present.parent.iterdir() if p.is_dir()), key=lambda p: p.stat().st_mtime)
    except OSError:
        return
    for old in builds[:-KEEP]:
        if old != present:
            shutil.rmtree(old, ignore_errors=True)


def _file(name):
    folder = cache_folder()
    return None if folder is None else folder / f"{name}.code"


def read_code(name):
    """Symbol and object code of a door, or None when they are not there whole."""
    path = _file(name)
    try:
        data = b"" if path is None else path.read_bytes()
    except OSError:
        return None
    checksum, rest = data[:32], data[32:]
    if not rest or hashlib.sha256(rest).digest() != checksum:
        return None
    symbol, _, code = rest.partition(b"\0")
    return symbol.decode(), code


def write_code(name, symbol, code):
    """Keep a door's object code; False when that is not possible."""
    path = _file(name)
    if path is None:
        return False
    rest = symbol.encode() + b"\0" + code
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_bytes(hashlib.sha256(rest).digest() + rest)
        os.replace(part, path)
    except OSError:
        part.unlink(missing_ok=True)
        return False
    return True


def is_warm():
    """True when this build's compiled code is in its cache folder."""
    return read_code("advance") is not None
