"""Running a console without a window, and writing what came of it."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import files
from .movie import Movie

if TYPE_CHECKING:
    from .console import Console


@dataclass
class Outputs:
    """Which files a headless run writes; None = not wanted."""

    png: Path | None = None
    wav: Path | None = None
    npz: Path | None = None
    video: Path | None = None
    hashes: Path | None = None
    state: Path | None = None

    def paths(self) -> list[Path]:
        """The files that will be written."""
        return [p for p in (self.png, self.wav, self.npz, self.video, self.hashes, self.state) if p is not None]


@dataclass
class Run:
    """What a headless run gathers; sound and hashes only where an output wants them."""

    frames: int = 0
    seconds: float = 0.0
    audio_sha256: Any = field(default_factory=hashlib.sha256)
    audio: list = field(default_factory=list)
    samples: list = field(default_factory=list)
    hashes: list = field(default_factory=list)


def check_writable(outputs: Outputs, inputs: Iterable[Path] = (), state: Path | None = None) -> None:
    """Raise OSError now for an output that cannot be written, would replace an input, or is no PNG by its name.

    state: an input that only ``outputs.state`` may replace.
    """
    taken = {Path(os.path.realpath(path)): f"the input {path}" for path in inputs}
    loaded = Path(os.path.realpath(state)) if state else None
    for path in outputs.paths():
        files.check_writable(path)
        if files.is_special(path):
            continue
        at = Path(os.path.realpath(path))
        if at == loaded and path is not outputs.state:
            raise OSError(f"the output {path} would replace the input {state}; choose another name")
        if at in taken:
            raise OSError(f"the output {path} would replace {taken[at]}; choose another name")
        taken[at] = "another output"
    if outputs.png and outputs.png.suffix.lower() != ".png" and not files.is_special(outputs.png):
        raise OSError(f"{outputs.png}: the last frame is written as PNG; give a name that ends in .png")


def frame_sha256(frame: np.ndarray) -> str:
    """SHA-256 of a frame's little-endian bytes, the line of a ``--hashes`` file."""
    return hashlib.sha256(np.ascontiguousarray(frame, dtype="<u2")).hexdigest()


def run(
    console: Console,
    frames: int,
    movie: Movie,
    outputs: Outputs,
    start: int = 0,
    first: int = 0,
    tick: Callable[[int], object] | None = None,
) -> Run:
    """Run ``frames`` frames, the first of them number ``first`` of the replay; record those from ``start`` on.

    ``tick(n)`` is called after every frame. Raises OSError for an output that cannot be written.
    """
    result = Run(frames=frames)
    keep_sound = outputs.wav or outputs.npz
    video = npz = None
    try:
        if outputs.video:
            from .video import VideoWriter

            video = VideoWriter(outputs.video)
        if outputs.npz:
            from .npz import NpzWriter

            npz = NpzWriter(outputs.npz, max(first + frames - max(start, first), 0))
        begun = time.perf_counter()
        for n in range(first, first + frames):
            picture = console.run_frame(movie.keys_at(n))
            sound = console.drain_audio()
            if n >= start:
                result.audio_sha256.update(sound.astype("<i2", copy=False))
                if keep_sound:
                    result.audio.append(sound)
                    result.samples.append(len(sound))
                if npz:
                    npz.add(picture)
                if outputs.hashes:
                    result.hashes.append(frame_sha256(picture))
                if video:
                    video.add(console.rgb(), sound)
            if tick:
                tick(n)
        result.seconds = time.perf_counter() - begun
        if video:
            video.close()
        _write(console, result, outputs, npz)
    except BaseException:
        for writer in (video, npz):
            if writer:
                writer.abandon()
        raise
    return result


def _write(console, result, outputs, npz):
    def put(path, data):
        with files.naming(path):
            files.atomic_write(path, data)

    audio = np.concatenate(result.audio) if result.audio else np.zeros(0, np.int16)
    if outputs.png:
        put(outputs.png, png_bytes(console.rgb()))
    if outputs.wav:
        put(outputs.wav, wav_bytes(audio))
    if npz:
        npz.close(audio, result.samples)
    if outputs.hashes:
        put(outputs.hashes, "".join(f"{line}\n" for line in result.hashes).encode())
    if outputs.state:
        put(outputs.state, console.save_state())


def png_bytes(rgb: np.ndarray) -> bytes:
    """A PNG of ``uint8[h, w, 3]``."""
    import io

    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "PNG")
    return buffer.getvalue()


def wav_bytes(samples: np.ndarray, rate: int = 44_100) -> bytes:
    """A mono 16-bit WAV of ``int16[n]``."""
    import io
    import wave

    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(np.ascontiguousarray(samples, dtype="<i2").tobytes())
    return buffer.getvalue()
