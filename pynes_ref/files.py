"""Writing files so that a reader finds the old bytes or the new ones, never a mixture."""

import contextlib
import os
import secrets
import stat
from pathlib import Path


def atomic_write(path: str | os.PathLike, data: bytes | bytearray | memoryview) -> None:
    """Replace the file at ``path`` by ``data``; a crash at any moment leaves the old or the new file whole.

    A temporary file in the same folder is written, synced to disk and renamed over
    the target. Raises ``OSError`` (disk full, no permission ...) with the old file untouched. A device or a
    pipe (``/dev/stdout``) is written to, not replaced.
    """
    if is_special(path):
        with open(path, "ab") as file:
            file.write(data)
        return
    target = Path(os.path.realpath(path))  # a symbolic link stays a link
    name, handle = _temporary(target)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(OSError):
            os.chmod(name, target.stat().st_mode & 0o7777)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    _sync_folder(target.parent)


def _temporary(target):
    """(path, handle) of a new file beside ``target``."""
    name = target.with_name(f".{target.name[:60]}.{secrets.token_hex(6)}.tmp")
    return name, os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)


def is_special(path: str | os.PathLike) -> bool:
    """True when ``path`` leads to a device, a pipe or a socket, or names an open file as ``/dev/stdout`` does."""
    if os.path.abspath(path).startswith(("/dev/std", "/dev/fd/", "/proc/")):
        return True
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def check_writable(path: str | os.PathLike) -> None:
    """Raise ``OSError`` (one line) now for a path that ``atomic_write`` could not write later."""
    if is_special(path):
        return
    if os.path.isdir(path):
        raise OSError(f"{path} is a folder, not a file to write")
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise OSError(f"cannot write {path}: {target.parent} is not a folder; make it first")
    try:
        with contextlib.suppress(FileNotFoundError):
            os.stat(target)  # refuses a name that is too long
        name, handle = _temporary(target)
        os.close(handle)
        os.unlink(name)
    except OSError as error:
        raise unwritable(path, error) from None


def unwritable(path: str | os.PathLike, error: OSError) -> OSError:
    """An ``OSError`` that says in one line which file cannot be written, why, and what to do."""
    return OSError(f"cannot write {path}: {error.strerror or error}: free some space there or choose another place")


def _sync_folder(folder):
    # Some systems cannot open or sync a folder; the rename itself has happened.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
