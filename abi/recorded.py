"""Recordings: ``.refcache`` files (version 1) read, and opened as an emulator.

One zstd stream around, little-endian::

    "NESREFC\\0"  u32 version = 1
    3 strings    hex SHA-256 of the reference, of the ROM, of the replay file (of nothing without a replay)
    u32          frame_count
    u32          audio_rate
    u16 vector   frame_count * 61440 palette indices
    u32 vector   samples of each frame
    i16 vector   all samples
    f32 f32      video tau, audio tau

Strings and vectors are a u64 length (in items) and the items.

A replay of 6 000 frames is 0.7 GB unpacked, so pictures are never held all at once. Opening reads the stream
through once and checks everything (0.1 s for such a replay); ``frames`` reads it again, a frame at a time. Who
reads it anyway opens it ``lazily`` and has it checked on the way. A file with a seal (``abi.seal``) is as it was
written: then neither zstd's checksum is computed nor are impossible pixels looked for.
"""

from __future__ import annotations

import hashlib
import io
import os
import struct
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import zstandard
from numpy.typing import NDArray

from abi.candidate import MAX_SAMPLES, PIXEL_MASK, PIXELS, ROM_BUFFER_BYTES, CandidateError, EmulatorError
from abi.seal import sealed

MAGIC = b"NESREFC\0"
VERSION = 1
NO_REPLAY = hashlib.sha256(b"").hexdigest()
MAX_FRAMES = 2_000_000  # nine hours; a larger count is damage
_PIECE = 1 << 24  # a damaged length must not reserve more memory than the file has data


class RecordingError(EmulatorError):
    """A ``.refcache`` that is missing, damaged or of another version: one line naming file and fault."""


class _Padded:
    """A file followed by an empty zstd frame: a stream that is cut short then fails and does not just end."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.filler = bytes.fromhex("28b52ffd2000010000")

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(size)
        if not data:
            data, self.filler = self.filler, b""
        return data


class _Stream:
    """Exact reads from a zstd file, every fault a RecordingError."""

    def __init__(self, path: Path, seal: bool = False) -> None:
        """``seal``: take the file whole and without its checksum if it has a seal (``self.sealed``)."""
        self.path = path
        if os.path.exists(path) and not os.path.isfile(path):  # opening a pipe would wait for its other end
            raise self.fail("not a regular file")
        data = sealed(path) if seal else None
        self.sealed = data is not None
        try:
            self.file: BinaryIO = path.open("rb") if data is None else io.BytesIO(data)
        except OSError as error:
            raise RecordingError(f"{path}: {error.strerror or error}") from None
        self.reader = zstandard.ZstdDecompressor().stream_reader(_Padded(self.file), read_size=1 << 20)

    def fail(self, what: str) -> RecordingError:
        return RecordingError(f"{self.path}: {what}")

    def piece(self, size: int) -> bytes:
        """That many bytes, unpacked where they stay; fewer at the stream's end."""
        try:
            return self.reader.read(size)
        except zstandard.ZstdError as error:
            raise self.fail(f"damaged or not a recording ({error})") from None
        except OSError as error:
            raise self.fail(str(error.strerror or error)) from None

    def read(self, size: int, what: str) -> bytearray:
        data = bytearray()
        while len(data) < size:
            wanted = min(size - len(data), _PIECE)
            piece = self.piece(wanted)
            if len(piece) != wanted:
                raise self.fail(f"truncated: it ends inside {what}")
            data += piece
        return data

    def number(self, form: str, what: str) -> int:
        return struct.unpack("<" + form, self.read(struct.calcsize("<" + form), what))[0]

    def length(self, expected: int, what: str) -> int:
        size = self.number("Q", f"the length of {what}")
        if size != expected:
            raise self.fail(f"damaged: {what} should have {expected} items, not {size}")
        return size

    def at_end(self) -> bool:
        return not self.piece(1)

    def close(self) -> None:
        self.reader.close()
        self.file.close()


class Header(NamedTuple):
    """What a recording is of."""

    reference_sha256: str
    rom_sha256: str
    replay_sha256: str
    frame_count: int
    audio_rate: int


def _header(stream: _Stream) -> Header:
    """Everything up to the first picture."""
    if stream.read(8, "the magic number") != MAGIC:
        raise stream.fail("not a recording (wrong magic number)")
    version = stream.number("I", "the version")
    if version != VERSION:
        raise stream.fail(f"version {version}; only version {VERSION} can be read: record it again")
    hashes = []
    for what in ("reference", "ROM", "replay"):
        size = stream.number("Q", f"the hash of the {what}")
        if size > 128:
            raise stream.fail(f"damaged: the hash of the {what} should be short, not {size} bytes")
        text = stream.read(size, f"the hash of the {what}").decode("ascii", "replace")
        if len(text) != 64 or set(text) - set("0123456789abcdef"):
            raise stream.fail(f"damaged: the hash of the {what} is not 64 hexadecimal digits")
        hashes.append(text)
    frame_count = stream.number("I", "the frame count")
    if frame_count > MAX_FRAMES:
        raise stream.fail(f"damaged: {frame_count} frames")
    audio_rate = stream.number("I", "the audio rate")
    if not 1 <= audio_rate <= 768_000:
        raise stream.fail(f"damaged: an audio rate of {audio_rate}")
    stream.length(frame_count * PIXELS, "the pictures")
    return Header(*hashes, frame_count, audio_rate)


def _pictures(stream: _Stream, frame_count: int) -> Iterator[NDArray[np.uint16]]:
    """The pictures: uint16[61440], each all of a ``bytes`` object of its own, which compares fastest."""
    for _ in range(frame_count):
        data = stream.piece(2 * PIXELS)
        if len(data) != 2 * PIXELS:
            raise stream.fail("truncated: it ends inside the pictures")
        picture = np.frombuffer(data, "<u2")
        if not stream.sealed and int(picture.max()) > PIXEL_MASK:
            raise stream.fail("damaged: it has pixels above 511")
        yield picture


def read_header(path: str | PathLike[str]) -> Header:
    """The header alone, without a look at the rest."""
    stream = _Stream(Path(path))
    try:
        return _header(stream)
    finally:
        stream.close()


class _Tail(NamedTuple):
    """What follows the pictures."""

    samples: NDArray[np.uint32]
    audio: NDArray[np.int16]
    video_tau: float
    audio_tau: float


class Recording:
    """What an emulator showed and played in one run.

    Reading and checking happen in the constructor; ``lazily``, it looks at the header alone, and damage behind it
    shows as a RecordingError from ``frames`` or from the first use of what stands behind the pictures.
    Attributes: ``path``, ``header``, ``frame_count``, ``audio_rate``, ``samples`` (uint32 a frame), ``audio`` (int16),
    ``video_tau`` and ``audio_tau`` (float32 values).
    """

    def __init__(self, path: str | PathLike[str], lazily: bool = False) -> None:
        self.path = Path(path)
        self.header = read_header(self.path)
        self.frame_count = self.header.frame_count
        self.audio_rate = self.header.audio_rate
        self._tail: _Tail | None = None
        if not lazily:
            self._whole()

    def _whole(self) -> _Tail:
        if self._tail is None:
            for _ in self.frames():
                pass
        assert self._tail is not None
        return self._tail

    @property
    def samples(self) -> NDArray[np.uint32]:
        """Samples of each frame."""
        return self._whole().samples

    @property
    def audio(self) -> NDArray[np.int16]:
        """All samples."""
        return self._whole().audio

    @property
    def video_tau(self) -> float:
        """Threshold of the picture metric."""
        return self._whole().video_tau

    @property
    def audio_tau(self) -> float:
        """Threshold of the sound metric."""
        return self._whole().audio_tau

    def _read_tail(self, stream: _Stream) -> _Tail:
        stream.length(self.frame_count, "the sample counts")
        samples = np.frombuffer(stream.read(4 * self.frame_count, "the sample counts"), "<u4")
        if self.frame_count and int(samples.max()) > max(MAX_SAMPLES, self.audio_rate):
            raise stream.fail(f"damaged: {int(samples.max())} samples in one frame")
        total = int(samples.sum(dtype=np.uint64))
        stream.length(total, "the sound")
        audio = np.frombuffer(stream.read(2 * total, "the sound"), "<i2")
        video_tau, audio_tau = struct.unpack("<ff", stream.read(8, "the thresholds"))
        if not stream.at_end():
            raise stream.fail("damaged: bytes after the end")
        if not (0 < video_tau <= 1 and 0 <= audio_tau < 1e6):  # NaN fails, too
            raise stream.fail("damaged: impossible thresholds")
        samples.flags.writeable = audio.flags.writeable = False
        return _Tail(samples, audio, video_tau, audio_tau)

    def frames(self) -> Iterator[NDArray[np.uint16]]:
        """Every picture in turn, uint16[61440], read-only."""
        stream = _Stream(self.path, seal=True)
        try:
            if _header(stream) != self.header:
                raise stream.fail("it changed while it was in use")
            yield from _pictures(stream, self.frame_count)
            if self._tail is None:
                self._tail = self._read_tail(stream)
        finally:
            stream.close()


class Recorded:
    """A recording, or several of one ROM each, played as an emulator. It does not look at the buttons."""

    def __init__(self, recordings: list[Recording]) -> None:
        self._by_rom = {recording.header.rom_sha256: recording for recording in reversed(recordings)}
        self._recording: Recording | None = None
        self._rom = np.zeros(ROM_BUFFER_BYTES, np.uint8)

    def emu_init(self) -> int:
        return 1

    def emu_rom_buffer(self) -> NDArray[np.uint8]:
        return self._rom

    def emu_load_rom(self, length: int) -> int:
        digest = hashlib.sha256(self._rom[:length].tobytes()).hexdigest()
        self._recording = self._by_rom.get(digest)
        return self.emu_reset() if self._recording else 0

    def emu_reset(self) -> int:
        if self._recording is None:
            return 0
        self._frames = self._recording.frames()
        self._frame = np.zeros(PIXELS, np.uint16)
        self._at = -1
        self._ends = np.cumsum(self._recording.samples, dtype=np.int64)
        self._drained = 0
        self._sound = self._recording.audio[:0]
        return 1

    def emu_set_keys(self, keys: int) -> None:
        pass

    def emu_run_frame(self) -> None:
        if self._recording is None:
            raise CandidateError("no ROM is loaded")
        frame = next(self._frames, None)
        if frame is None:
            raise CandidateError(f"{self._recording.path.name} ends after {self._recording.frame_count} frames")
        self._frame = frame
        self._at += 1

    def emu_framebuffer(self) -> NDArray[np.uint16]:
        return self._frame

    def emu_audio_samples(self) -> int:
        if self._recording is None or self._at < 0:
            return 0
        end = int(self._ends[self._at])
        self._sound = self._recording.audio[self._drained : end]
        self._drained = end
        return self._sound.size

    def emu_audio_buffer(self) -> NDArray[np.int16]:
        return self._sound

    def emu_audio_rate(self) -> int:
        return self._recording.audio_rate if self._recording else 44_100

    def emu_boot_frames(self) -> int:
        return 0


def find(folder: str | PathLike[str], case_id: str, rom_sha256: str, replay_sha256: str) -> Path | None:
    """The recording of a testcase in a folder: ``<id>.refcache``, else any file whose hashes match.

    RecordingError when there is none, but something else in its place.
    """
    folder = Path(folder)
    named = folder / f"{case_id}.refcache"
    if named.is_file():
        return named
    for path in sorted(folder.glob("*.refcache")):
        try:
            header = read_header(path)
        except RecordingError:
            continue
        if (header.rom_sha256, header.replay_sha256) == (rom_sha256, replay_sha256):
            return path
    if named.exists():
        raise RecordingError(f"{named}: not a regular file")
    return None
