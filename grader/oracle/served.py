"""ROMs by name, from one folder and nowhere else."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PureWindowsPath

MAX_NAME = 255


class BadName(Exception):
    """Not a name of something inside a folder."""


class NoSuchRom(Exception):
    """There is no such file (or it is no plain file, or one must follow a symbolic link to reach it)."""


class TooLarge(Exception):
    """The file is larger than a ROM may be."""


def parts_of(name: str) -> list[str]:
    """The components of a relative name; BadName for anything that is or may become something else."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise BadName from None
    parts = name.split("/")
    bad = any(part in ("", ".", "..") or len(part) > MAX_NAME for part in parts)
    control = any(ord(c) < 32 or c in "\\:\x7f" for c in name)
    if bad or control or len(name) > 1024 or PureWindowsPath(name).is_absolute():
        raise BadName
    return parts


def read_rom(folder: Path, name: str, limit: int) -> bytes:
    """The bytes of ``folder/name``.

    Every component is opened relative to the one before it and without following links, so that nothing that is
    renamed or replaced in between leads outside.
    """
    parts = parts_of(name)
    try:
        handle = _walk(folder, parts) if os.open in os.supports_dir_fd else _resolve(folder, parts)
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise NoSuchRom
            if status.st_size > limit:
                raise TooLarge
            with os.fdopen(handle, "rb", closefd=False) as file:
                data = file.read(limit + 1)
        finally:
            os.close(handle)
    except OSError:
        raise NoSuchRom from None
    if len(data) > limit:
        raise TooLarge
    return data


def _walk(folder: Path, parts: list[str]) -> int:
    plain = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # NONBLOCK: a named pipe must not hang us
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            deeper = os.open(part, plain | os.O_DIRECTORY, dir_fd=here)
            os.close(here)
            here = deeper
        return os.open(parts[-1], plain, dir_fd=here)
    finally:
        os.close(here)


def _resolve(folder: Path, parts: list[str]) -> int:
    path = folder.joinpath(*parts)
    root = folder.resolve()
    if path.resolve() != root.joinpath(*parts):
        raise FileNotFoundError
    return os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
