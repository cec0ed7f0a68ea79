"""Writing files so that a reader finds the old bytes or the new ones, never a mixture."""

import contextlib
import os
import secrets
from pathlib import Path


def atomic_write(path: str | os.PathLike, data: bytes | bytearray | memoryview) -> None:
    """Replace the file at ``path`` by ``data``; a crash at any moment leaves the old or the new file whole.

    A temporary file in the same folder is written, synced to disk and renamed over
    the target. Raises ``OSError`` (disk full, no permission ...) with the old file untouched.
    """
    target = Path(os.path.realpath(path))  # a symbolic link stays a link
    name = target.with_name(f".{target.name[:80]}.{secrets.token_hex(6)}.tmp")
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
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


def _sync_folder(folder):
    # Some systems cannot open or sync a folder; the rename itself has happened.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
