"""A run from power-on and the files that come of it; the same for ``oracle run`` here and ``POST /oracle``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from abi.candidate import AUDIO_RATE, HEIGHT, WIDTH
from grader.oracle import machine as formats
from grader.oracle.client import Fault
from grader.oracle.machine import FRAME_BYTES, RGBA_BYTES, Machine
from pynes_ref.movie import Movie, MovieError, parse

MAX_REPLAY_EVENTS = 100_000
DUMPS = ("none", "final", "all")
IMAGES = ("ppm", "png", "none")

FORMATS: dict[str, Any] = {
    "abi_version": 1,
    "width": WIDTH,
    "height": HEIGHT,
    "framebuffer_bytes": FRAME_BYTES,
    "framebuffer_format": "u16 little-endian, row by row, (emphasis << 6) | colour",
    "framebuffer_rgba_bytes": RGBA_BYTES,
    "audio_format": "i16 little-endian, mono",
    "audio_rate": AUDIO_RATE,
    "key_bits": "0=A 1=B 2=Select 3=Start 4=Up 5=Down 6=Left 7=Right",
}
"""What every ``info`` says."""


@dataclass(frozen=True)
class Run:
    """What is wanted of a run. Frames and sound before ``start`` are run but not dumped."""

    frames: int
    movie: Movie = field(default_factory=Movie)
    start: int = 0
    dump: str = "none"
    image: str = "ppm"
    audio: bool = False

    @property
    def dumped(self) -> int:
        """How many frames are dumped."""
        if self.dump == "all":
            return max(self.frames - self.start, 0)
        return int(self.dump == "final" and self.frames > 0)


def read_replay(text: str) -> Movie:
    """A replay's text; Fault names the line at fault."""
    try:
        movie = parse(text, "replay")
    except MovieError as error:
        raise Fault(ascii(str(error))[1:-1]) from None
    if len(movie.events) > MAX_REPLAY_EVENTS:
        raise Fault(f"replay: more than {MAX_REPLAY_EVENTS} events")
    return movie


def image_files(picture: Any, number: int, image: str) -> Iterator[tuple[str, bytes]]:
    """``frame_NNNNN.idx`` and, if wanted, its image."""
    name = f"frame_{number:05d}"
    yield f"{name}.idx", formats.idx(picture)
    if image == "ppm":
        yield f"{name}.ppm", formats.ppm(picture)
    elif image == "png":
        yield f"{name}.png", formats.png(picture)


def files(machine: Machine, run: Run, used: Callable[[int], int]) -> Iterator[tuple[str, bytes] | None]:
    """Run a fresh machine; yields every file as soon as it is there, None after a frame without one.

    ``used(frames)`` records frames and answers the total; it is told once, also when the run is given up. The
    machine's lock is held while frames are run, not between.
    """
    sound = []
    told = False
    try:
        for number in range(run.frames):
            with machine.lock:
                samples = machine.step(run.movie.keys_at(number))
            if run.audio and number >= run.start:
                sound.append(samples)
            wanted = run.dump == "all" and number >= run.start
            if wanted or (run.dump == "final" and number == run.frames - 1):
                yield from image_files(machine.picture, number, run.image)
            yield None
        if run.audio:
            yield "audio.wav", formats.wav(sound, AUDIO_RATE)
        told = True
        summary = {
            "frames_executed": machine.frame,
            "from_frame": run.start,
            "frames_used_total": used(machine.frame),
            "audio_rate": AUDIO_RATE,
            "audio_samples": sum(samples.size for samples in sound),
            "last_frame_sha256": hashlib.sha256(formats.idx(machine.picture)).hexdigest(),
        }
        yield "summary.json", json.dumps(summary).encode() + b"\n"
    finally:
        if not told:
            used(machine.frame)
