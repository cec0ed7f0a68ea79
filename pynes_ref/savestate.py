"""Save states: the console's record, compressed, behind a header that identifies it.

Layout, little-endian: magic (8 bytes), format version (u32), SHA-256 of the
ROM file (32), SHA-256 of the record's layout (32), SHA-256 of what follows
(32), one zstd frame.
"""

import hashlib
import struct

import numpy as np
import zstandard

from .core.state import NES, STATE_BYTES

MAGIC = b"PYNESST\0"
VERSION = 1
_HEADER = struct.Struct("<8sI32s32s32s")
LEVEL = 1
MAX_BYTES = 2 * STATE_BYTES
"""More than any save state has."""


class StateError(ValueError):
    """A save state that cannot be loaded here: one line saying why."""


def _layout(dtype):
    if dtype.names is None:
        return dtype.str if dtype.subdtype is None else f"{dtype.subdtype[0].str}{dtype.shape}"
    fields = ((name, *dtype.fields[name][:2]) for name in dtype.names)
    return "{" + ",".join(f"{name}@{offset}:{_layout(kind)}" for name, kind, offset in fields) + "}"


LAYOUT_HASH = hashlib.sha256(_layout(NES).encode()).digest()


def pack(record: np.ndarray, rom_sha256: str) -> bytes:
    """A save state (bytes) of ``record`` (the record's bytes) for the ROM with this hex SHA-256."""
    frame = zstandard.ZstdCompressor(level=LEVEL).compress(bytes(record))
    return _HEADER.pack(MAGIC, VERSION, bytes.fromhex(rom_sha256), LAYOUT_HASH, hashlib.sha256(frame).digest()) + frame


def unpack(data: bytes | bytearray | memoryview, rom_sha256: str) -> bytes:
    """The record's bytes from a save state; StateError when it is damaged or another ROM's or version's."""
    data = bytes(data)
    if len(data) < _HEADER.size or data[:8] != MAGIC:
        raise StateError("not a save state of pynes_ref; make one with save_state() or --save-state")
    _, version, rom, layout, checksum = _HEADER.unpack_from(data)
    frame = data[_HEADER.size :]
    if version != VERSION:
        raise StateError(f"save state format {version} is not known here (this version reads format {VERSION})")
    if rom != bytes.fromhex(rom_sha256):
        raise StateError(f"the save state belongs to another ROM (SHA-256 {rom.hex()}); load that ROM first")
    if layout != LAYOUT_HASH:
        raise StateError("the save state was made by another version of pynes_ref; load it with that version")
    if hashlib.sha256(frame).digest() != checksum:
        raise StateError("the save state is damaged (its checksum is wrong); use another copy")
    # What follows can only fail for bytes that somebody made by hand: never more is unpacked than fits.
    try:
        if zstandard.frame_content_size(frame) == STATE_BYTES:
            return zstandard.ZstdDecompressor().decompress(frame, allow_extra_data=False)
    except zstandard.ZstdError:
        pass
    raise StateError("the save state is damaged (it does not unpack to a console); use another copy")
