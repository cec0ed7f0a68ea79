"""Emulators with injected bugs: what a grader must notice, and where.

``scanline``      the picture one scanline late: line y shows what belongs to y - 1; the top line stays
``ab-swap``       buttons A and B exchanged
``no-tri-noise``  triangle and noise channels silent (the emulator must offer ``mute``)
``broken``        all three
``early``         call 0 is not empty: one frame has already run, so that everything comes one call early
``blank``         nothing on the screen and no sound

``Bugged`` wraps any Candidate, so the same bug can be put into any emulator.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from abi.candidate import HEIGHT, PIXELS, WIDTH, Candidate, EmulatorError, drain

BUGS: dict[str, frozenset[str]] = {
    "scanline": frozenset({"scanline"}),
    "ab-swap": frozenset({"ab-swap"}),
    "no-tri-noise": frozenset({"no-tri-noise"}),
    "broken": frozenset({"scanline", "ab-swap", "no-tri-noise"}),
    "early": frozenset({"early"}),
    "blank": frozenset({"blank"}),
}
"""Bug name: the elementary bugs it is made of."""


@runtime_checkable
class Mutable(Protocol):
    """An emulator whose channels can be silenced without touching anything the program can see."""

    def mute(self, channels: Iterable[str]) -> None:
        """Silence ``pulse1``, ``pulse2``, ``triangle``, ``noise`` or ``dmc`` from now on, through resets too."""
        ...


class Bugged:
    """A Candidate with one of ``BUGS`` added."""

    def __init__(self, candidate: Candidate, bug: str) -> None:
        if bug not in BUGS:
            raise EmulatorError(f"there is no bug named {bug!r}; choose from {', '.join(BUGS)}")
        self._inner = candidate
        self._bugs = BUGS[bug]
        self._frame = np.zeros((HEIGHT, WIDTH), np.uint16)
        if "no-tri-noise" in self._bugs:
            if not isinstance(candidate, Mutable):
                raise EmulatorError("this emulator offers no way to silence its triangle and noise channels")
            candidate.mute(("triangle", "noise"))

    def emu_init(self) -> int:
        return self._inner.emu_init()

    def emu_rom_buffer(self) -> NDArray[np.uint8]:
        return self._inner.emu_rom_buffer()

    def emu_load_rom(self, length: int) -> int:
        return self._powered_on(self._inner.emu_load_rom(length))

    def emu_reset(self) -> int:
        return self._powered_on(self._inner.emu_reset())

    def _powered_on(self, done: int) -> int:
        if done and "early" in self._bugs:
            self._inner.emu_run_frame()
            drain(self._inner)
        return done

    def emu_set_keys(self, keys: int) -> None:
        if "ab-swap" in self._bugs:
            keys = keys & ~3 | (keys & 1) << 1 | (keys & 2) >> 1
        self._inner.emu_set_keys(keys)

    def emu_run_frame(self) -> None:
        self._inner.emu_run_frame()

    def emu_framebuffer(self) -> NDArray[np.uint16]:
        if "blank" in self._bugs:
            return np.zeros(PIXELS, np.uint16)
        frame = self._inner.emu_framebuffer()
        if "scanline" not in self._bugs:
            return frame
        frame = frame.reshape(HEIGHT, WIDTH)
        self._frame[0] = frame[0]
        self._frame[1:] = frame[:-1]
        return self._frame

    def emu_audio_samples(self) -> int:
        count = self._inner.emu_audio_samples()
        return 0 if "blank" in self._bugs else count

    def emu_audio_buffer(self) -> NDArray[np.int16]:
        return self._inner.emu_audio_buffer()

    def emu_audio_rate(self) -> int:
        return self._inner.emu_audio_rate()

    def emu_boot_frames(self) -> int:
        return self._inner.emu_boot_frames()
