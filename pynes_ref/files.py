"""Writing files so that a reader finds the old bytes or the new ones, never a mixture."""

import contextlib
import errno
import io
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
MOST_DIGITS = 9  # of the number of an open file, which is a C int


def atomic_write(path: str | os.PathLike, data: bytes | bytearray | memoryview) -> None:
    """Replace the file at ``path`` by ``data``, as ``replacing`` does."""
    with replacing(path) as file:
        file.write(data)


@contextlib.contextmanager
def replacing(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """A file to write; it is at ``path`` when the block has ended, and never when the block has raised.

    A temporary file in the same folder is written, synced to disk and renamed over the target, so that a crash at
    any moment leaves the old or the new file whole. Raises ``OSError`` (disk full, no permission ...) with the old
    file untouched. A device or a pipe (``/dev/stdout``) is written to at once, not replaced; ``seekable()`` is False.
    """
    if is_special(path):
        with _open_special(path) as file:
            yield _Stream(file)
        return
    target = Path(os.path.realpath(path))  # a symbolic link stays a link
    name, handle = _temporary(target)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
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


def _open_special(path):
    name = os.path.abspath(path)
    number = {"/dev/stdout": "1", "/dev/stderr": "2"}.get(name, name.removeprefix("/dev/fd/"))
    if number.isdecimal():
        if len(number) > MOST_DIGITS:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        # Opened by its name it would have a position of its own, and what is printed later would overwrite this.
        return os.fdopen(os.dup(int(number)), "wb")
    return open(path, "ab")


class _Stream(io.RawIOBase):
    """Bytes go one way: /dev/stdout may be a file, which seeks, but perhaps has something in it already."""

    def __init__(self, file):
        self._file = file

    def writable(self):
        return True

    def write(self, data):
        return self._file.write(data)


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


def unwritable(path: str | os.PathLike, error: Exception) -> OSError:
    """An ``OSError`` that says in one line which file cannot be written, why, and what to do if that is known."""
    why = getattr(error, "strerror", None) or error
    hint = ": free some space there or choose another place" if getattr(error, "errno", None) in FULL else ""
    return OSError(f"cannot write {path}: {why}{hint}")


@contextlib.contextmanager
def naming(path: str | os.PathLike, *errors: type[Exception]) -> Iterator[None]:
    """Turn an ``OSError``, or one of ``errors``, of the block into what ``unwritable`` makes of it."""
    try:
        yield
    except (OSError, *errors) as error:
        raise unwritable(path, error) from None


def _sync_folder(folder):
    # Some systems cannot open or sync a folder; the rename itself has happened.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
