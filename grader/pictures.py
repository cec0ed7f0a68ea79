"""Pictures and sound on disk: the ABI's palette, PNG and WAV files (byte-identical from run to run)."""

from __future__ import annotations

import struct
import wave
import zlib
from functools import cache
from importlib.resources import files
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from grader.metrics.video import HEIGHT, WIDTH, Palette

WAV_LIMIT = 20 * 1024 * 1024
"""Longer tracks are cut here (bytes of samples)."""


@cache
def palette() -> Palette:
    """The ABI's palette (``abi/nes_palette.pal``), read once a process."""
    return Palette(files("abi").joinpath("nes_palette.pal").read_bytes())


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(frame: NDArray[np.uint16], level: int = 9) -> bytes:
    """A frame of palette indices as a PNG: with a colour table when 256 colours do, else RGB."""
    frame = np.asarray(frame).reshape(HEIGHT, WIDTH) & 511
    used = np.unique(frame)
    if used.size <= 256:
        place = np.zeros(512, np.uint8)
        place[used] = np.arange(used.size, dtype=np.uint8)
        rows, kind = place[frame], 3
        table = _chunk(b"PLTE", palette().rgb[used].tobytes())
    else:
        rows, kind, table = palette().picture(frame).reshape(HEIGHT, WIDTH * 3), 2, b""
    return _png(rows, kind, table, level)


def rgb_png(image: NDArray[np.uint8], level: int = 9) -> bytes:
    """uint8[height, width, 3] as a PNG."""
    height, width, _ = image.shape
    return _png(np.ascontiguousarray(image).reshape(height, width * 3), 2, b"", level, width)


def _png(rows: NDArray[np.uint8], kind: int, table: bytes, level: int, width: int = WIDTH) -> bytes:
    filtered = np.zeros((rows.shape[0], rows.shape[1] + 1), np.uint8)  # filter 0 at the head of every row
    filtered[:, 1:] = rows
    head = struct.pack(">IIBBBBB", width, rows.shape[0], 8, kind, 0, 0, 0)
    body = zlib.compress(filtered.tobytes(), level)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + table + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def difference(ref: NDArray[np.uint16], cand: NDArray[np.uint16]) -> NDArray[np.uint8]:
    """Where two frames differ: a dimmed grey reference, differing pixels in bright red. uint8[240, 256, 3]."""
    tables = palette()
    ref, cand = (np.asarray(f).reshape(HEIGHT, WIDTH) & 511 for f in (ref, cand))
    grey = (tables.luma[ref] * 0.35).astype(np.uint8)
    image = np.repeat(grey[:, :, None], 3, axis=2)
    image[tables.identity[ref] != tables.identity[cand]] = (255, 48, 64)
    return image


def wav(samples: NDArray[np.int16], rate: int) -> bytes:
    """Mono 16-bit WAV, cut at 20 MB."""
    out = BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.asarray(samples[: WAV_LIMIT // 2], "<i2").tobytes())
    return out.getvalue()
