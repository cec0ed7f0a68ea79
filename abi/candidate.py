"""The ABI in Python: what every emulator looks like to the tools of this project.

``Candidate`` is a structural type: anything with these methods is one. They mean exactly what the C
functions of ``nes_emu.h`` mean (ABI.md); pointers become NumPy arrays. A method that traps, hangs or
answers nonsense raises ``CandidateError``.

``start``, ``load``, ``audio_rate`` and ``drain`` are the short sequences that every caller needs. NumPy is imported
where they use it: a command that leaves the work to others does not wait for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDTH, HEIGHT = 256, 240
PIXELS = WIDTH * HEIGHT
PIXEL_MASK = 0x1FF
"""A pixel is ``(emphasis << 6) | colour``; higher bits are ignored."""
AUDIO_RATE = 44_100
ROM_BUFFER_BYTES = 8 * 1024 * 1024
MAX_SAMPLES = 44_100
"""More samples than this in one call are no sound of one frame and are dropped (a frame makes 734)."""
MAX_BOOT_FRAMES = 600
MAX_AUDIO_RATE = 384_000
"""Samples a second; what answers more, or less than 1, is broken."""

REQUIRED = {
    "emu_init": ((), "i32"),
    "emu_rom_buffer": ((), "i32"),
    "emu_load_rom": (("i32",), "i32"),
    "emu_reset": ((), "i32"),
    "emu_set_keys": (("i32",), ""),
    "emu_run_frame": ((), ""),
    "emu_framebuffer": ((), "i32"),
    "emu_audio_buffer": ((), "i32"),
    "emu_audio_samples": ((), "i32"),
    "emu_audio_rate": ((), "i32"),
}
"""The ten functions with their WebAssembly parameter and result types."""
OPTIONAL = {"emu_boot_frames": ((), "i32")}


class EmulatorError(Exception):
    """An emulator that cannot be opened at all: one line saying what is wrong and, if known, what to do."""


class CandidateError(Exception):
    """A call that trapped, ran out of fuel or time, or failed: one line.

    ``dead``: nothing more can be asked of this instance (its process is gone, or it hangs).
    """

    def __init__(self, message: str, dead: bool = False) -> None:
        super().__init__(message)
        self.dead = dead


@runtime_checkable
class Candidate(Protocol):
    """An emulator behind the ABI. Arrays are views that the next call may overwrite: copy what you keep."""

    def emu_init(self) -> int:
        """Set up; once, before anything else. 1 = done, 0 = failed."""
        ...

    def emu_rom_buffer(self) -> NDArray[np.uint8]:
        """Where to write the ROM image, at least 8 MiB, writable."""
        ...

    def emu_load_rom(self, length: int) -> int:
        """Parse the first ``length`` bytes of the ROM buffer and power on. 1 = done, 0 = not a ROM it can run."""
        ...

    def emu_reset(self) -> int:
        """Power on again: the state right after ``emu_load_rom`` (not the Reset button). 1 = done."""
        ...

    def emu_set_keys(self, keys: int) -> None:
        """Buttons of controller 1 held from now on: bit 0 A, B, Select, Start, Up, Down, Left, bit 7 Right."""
        ...

    def emu_run_frame(self) -> None:
        """Run to the end of the frame."""
        ...

    def emu_framebuffer(self) -> NDArray[np.uint16]:
        """The last finished picture, 61 440 pixels row by row (any shape of that size, C order)."""
        ...

    def emu_audio_samples(self) -> int:
        """Number of samples since the last call of this function (it drains)."""
        ...

    def emu_audio_buffer(self) -> NDArray[np.int16]:
        """Those samples, mono int16: at least as many as ``emu_audio_samples`` just said."""
        ...

    def emu_audio_rate(self) -> int:
        """Samples a second: 44100."""
        ...

    def emu_boot_frames(self) -> int:
        """Calls of ``emu_run_frame`` to make and throw away after loading; 0 unless the module says otherwise."""
        ...


def start(candidate: Candidate) -> None:
    """``emu_init``, checked."""
    if not candidate.emu_init():
        raise CandidateError("emu_init returned 0 (set-up failed)")


def load(candidate: Candidate, rom: bytes) -> None:
    """Write a ROM into the emulator's buffer and power it on; CandidateError when it does not take it."""
    import numpy as np

    buffer = candidate.emu_rom_buffer()
    if len(rom) > len(buffer):
        raise CandidateError(f"the ROM has {len(rom)} bytes, the emulator's ROM buffer only {len(buffer)}")
    buffer[: len(rom)] = np.frombuffer(rom, np.uint8)
    if not candidate.emu_load_rom(len(rom)):
        raise CandidateError("emu_load_rom returned 0 (the emulator refuses this ROM)")


def audio_rate(candidate: Candidate) -> int:
    """Samples a second, 1 to ``MAX_AUDIO_RATE``; CandidateError when the emulator answers anything else."""
    rate = candidate.emu_audio_rate()
    if not 1 <= rate <= MAX_AUDIO_RATE:
        raise CandidateError(f"emu_audio_rate answers {rate}; 1 to {MAX_AUDIO_RATE} samples a second are possible")
    return rate


def drain(candidate: Candidate) -> NDArray[np.int16]:
    """The samples produced since the last drain, copied."""
    import numpy as np

    count = candidate.emu_audio_samples()
    if count <= 0:
        return np.zeros(0, np.int16)
    return np.array(candidate.emu_audio_buffer()[:count], np.int16)


def boot(candidate: Candidate, frames: int) -> None:
    """Run ``frames`` frames and throw their picture and sound away."""
    for _ in range(frames):
        candidate.emu_run_frame()
        drain(candidate)
