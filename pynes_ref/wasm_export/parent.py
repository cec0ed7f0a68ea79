"""The process that builds modules, started with settings of its own.

Numba reads its settings when it is imported, and the build needs other ones:
IR that nobody has optimised (NUMBA_OPT=0) and that knows no particular machine.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path

from .bugs import BUGS

PACKAGES = Path(__file__).resolve().parents[2]
TIMEOUT = 900


class ExportError(Exception):
    """No module can be made; one line: why, and what to do."""


def export(bug: str = "", waiting: Callable[[float], None] | None = None) -> bytes:
    """The console as a module, with the bug of that name (``BUGS``) if one is given.

    Takes about 20 s, in a process of its own; ``waiting`` is then called every second with
    the seconds that have passed. The same sources, and versions of Python's packages, give the same bytes.
    """
    return export_all([bug], waiting)[bug]


def export_all(bugs: Iterable[str], waiting: Callable[[float], None] | None = None) -> dict[str, bytes]:
    """Several modules by the names of their bugs ("" for none), in little more time than one."""
    bugs = list(bugs)
    for bug in bugs:
        if bug and bug not in BUGS:
            raise ExportError(f"there is no bug named {bug!r}; choose from {', '.join(BUGS)}")
    if find_spec("ziglang") is None:
        raise ExportError("the linker is missing: pip install 'pynes-ref[wasm-build]'")
    with tempfile.TemporaryDirectory() as folder:
        numbers = {bug: BUGS.get(bug, 0) for bug in bugs}
        _run([folder, *map(str, sorted(set(numbers.values())))], folder, waiting)
        return {bug: Path(folder, f"{number}.wasm").read_bytes() for bug, number in numbers.items()}


def _run(arguments, cache, waiting):
    command = [sys.executable, "-m", "pynes_ref.wasm_export.build", *arguments]
    begun = time.monotonic()
    with subprocess.Popen(command, env=_environment(cache), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as child:
        try:
            while True:
                try:
                    _, told = child.communicate(timeout=1)
                    break
                except subprocess.TimeoutExpired:
                    passed = time.monotonic() - begun
                if passed > TIMEOUT:
                    raise ExportError(f"the build has not ended within {TIMEOUT} s")
                if waiting is not None:
                    waiting(passed)
        except BaseException:
            child.kill()
            raise
    if child.returncode:
        lines = told.strip().splitlines() or [f"exit status {child.returncode}"]
        raise ExportError(f"the build failed: {lines[-1]}")


def _environment(cache):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return kept | {
        "NUMBA_OPT": "0",
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join([str(PACKAGES), *filter(None, [kept.get("PYTHONPATH")])]),
        # Nothing is kept there, and the builds in the user's folder stay.
        "PYNES_REF_CACHE": cache,
    }
