"""Seals: a small file beside a recording by which its reader knows the bytes its writer wrote.

A zstd checksum costs a hash of everything that is unpacked, 120 KB a picture; a seal costs one of the file, about a
hundredth of it. The seal of ``x.refcache`` is ``x.refcache.seal``, a line of hexadecimal digits: SHA-256 of ``MARK``
and the file. ``MARK`` keeps apart what ``sha256sum`` says of any file and what the writer vouches for: a complete
recording in one zstd frame, all of whose pixels are possible.

Nobody needs a seal. Where there is none, or it is of other bytes, the recording is read and checked without it.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import BinaryIO

MARK = b"pynes_ref refcache seal 1\n"
LARGEST = 1 << 26
"""Larger files (hours of play) are read without a look at their seal, which takes them into memory whole."""
_ZSTD = bytes.fromhex("28b52ffd")
_CHECKSUM, _RESERVED = 0x04, 0x08  # bits of the frame header's descriptor (RFC 8878, 3.1.1.1.1)


class Sealer:
    """A binary file that is being written, and the digest of what it was given."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = hashlib.sha256(MARK)

    def write(self, data: bytes) -> int:
        """Hand the bytes on."""
        self._digest.update(data)
        return self._file.write(data)

    def seal(self) -> bytes:
        """The content of the seal's file for everything written so far: 64 hexadecimal digits and a newline."""
        return _line(self._digest)


def _line(digest: hashlib._Hash) -> bytes:
    return f"{digest.hexdigest()}\n".encode()


def path_of(recording: Path) -> Path:
    """Where the seal of a recording belongs."""
    return recording.with_name(f"{recording.name}.seal")


def sealed(recording: Path) -> bytearray | None:
    """The recording's zstd frame, without its checksum, if the file is what its seal says; else None.

    What is checked is what is returned: nothing that happens to the file later can matter.
    """
    if not all(os.path.isfile(path) for path in (recording, path_of(recording))):  # a pipe would never answer
        return None
    try:
        with path_of(recording).open("rb") as file:
            seal = file.read(66)
        if recording.stat().st_size > LARGEST:
            return None
        data = bytearray(recording.read_bytes())
    except OSError:
        return None
    digest = hashlib.sha256(MARK)
    digest.update(data)
    if seal != _line(digest):
        return None
    if data[:4] != _ZSTD or len(data) < 10 or data[4] & (_CHECKSUM | _RESERVED) != _CHECKSUM:
        return None
    data[4] &= ~_CHECKSUM
    del data[-4:]
    return data
