"""Save states: the console's record, compressed, behind a header that identifies it.

Layout, little-endian: magic (8 bytes), format version (u32), SHA-256 of the
ROM file (32), SHA-256 of the record's layout (32), SHA-256 of the record (32),
length of the record (u64), then one zstd frame.
"""

import hashlib
import struct

import zstandard

from .core.state import NES

MAGIC = b"PYNESST\0"
VERSION = 1
_HEADER = struct.Struct("<8sI32s32s32sQ")
LEVEL = 1


class StateError(ValueError):
    """A save state that cannot be loaded here: one line saying why."""


def _layout(dtype):
    if dtype.names is None:
        return dtype.str if dtype.subdtype is None else f"{dtype.subdtype[0].str}{dtype.shape}"
    return "{" + ",".join(f"{name}@{dtype.fields[name][1]}:{_layout(dtype.fields[name][0])}" for name in dtype.names) + "}"


LAYOUT_HASH = hashlib.sha256(_layout(NES).encode()).digest()


def pack(record, rom_sha256):
    """A save state (bytes) of ``record`` (the record's bytes) for the ROM with this hex SHA-256."""
    raw = bytes(record)
    header = _HEADER.pack(
        MAGIC, VERSION, bytes.fromhex(rom_sha256), LAYOUT_HASH, hashlib.sha256(raw).digest(), len(raw)
    )
    return header + zstandard.ZstdCompressor(level=LEVEL).compress(raw)


def unpack(data, rom_sha256):
    """The record's bytes from a save state; StateError when it is damaged or another ROM's or version's."""
    data = bytes(data)
    if len(data) < _HEADER.size or data[:8] != MAGIC:
        raise StateError("not a save state of pynes_ref; make one with save_state() or --save-state")
    _, version, rom, layout, checksum, size = _HEADER.unpack_from(data)
    if version != VERSION:
        raise StateError(f"save state format {version} is not known here (this version reads format {VERSION})")
    if rom != bytes.fromhex(rom_sha256):
        raise StateError(f"the save state belongs to another ROM (SHA-256 {rom.hex()}); load that ROM first")
    if layout != LAYOUT_HASH or size != NES.itemsize:
        raise StateError("the save state was made by another version of pynes_ref; load it with that version")
    try:
        raw = zstandard.ZstdDecompressor().decompress(data[_HEADER.size :], max_output_size=size)
    except zstandard.ZstdError:
        raise StateError("the save state is damaged (it does not decompress); use another copy") from None
    if len(raw) != size or hashlib.sha256(raw).digest() != checksum:
        raise StateError("the save state is damaged (its checksum is wrong); use another copy")
    return raw
