"""``pynes_ref`` as a candidate in this process, with the semantics of the ten C functions.

The buffers belong to the object; pointers are arrays here. See ABI.md.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from abi.candidate import PIXELS, ROM_BUFFER_BYTES, CandidateError, EmulatorError
from pynes_ref import Console, RomError
from pynes_ref.console import AUDIO_RATE
from pynes_ref.ines import Cartridge


class PynesRef:
    """One console behind the ten-function ABI (``candidate.Candidate``).

    hardware_sound: as for ``Console``.
    """

    def __init__(self, hardware_sound: bool = False) -> None:
        self._rom_buffer = np.zeros(ROM_BUFFER_BYTES, dtype=np.uint8)
        self._console: Console | None = None
        self._audio = np.zeros(0, dtype=np.int16)
        self._keys = 0
        self._muted: tuple[str, ...] = ()
        self._hardware_sound = hardware_sound

    @property
    def console(self) -> Console | None:
        """The console inside, for tools that look deeper than the ABI; None before a ROM is loaded."""
        return self._console

    def mute(self, channels: Iterable[str]) -> None:
        """Silence ``pulse1 pulse2 triangle noise dmc`` from now on, through loads and resets (``abi.bugs``)."""
        if not hasattr(Console, "mute"):
            raise EmulatorError("this console offers no way to silence its channels")
        self._muted = tuple(channels)
        if self._console is not None:
            self._console.mute(self._muted)

    def emu_init(self) -> int:
        """Nothing to set up: 1."""
        return 1

    def emu_rom_buffer(self) -> NDArray[np.uint8]:
        """8 MiB, writable."""
        return self._rom_buffer

    def emu_load_rom(self, length: int) -> int:
        """Put the first ``length`` bytes of the ROM buffer in the console, at power-on. 1, or 0 if they are no ROM."""
        if not 0 < length <= len(self._rom_buffer):
            return 0
        try:
            self._power(self._new(self._rom_buffer[:length].tobytes()))
        except RomError:
            return 0
        return 1

    def emu_reset(self) -> int:
        """Back to the state right after ``emu_load_rom``."""
        if self._console is None:
            return 0
        self._power(self._new(self._console.cartridge))
        return 1

    def _new(self, rom: bytes | Cartridge) -> Console:
        return Console(rom, hardware_sound=self._hardware_sound)

    def _power(self, console: Console) -> None:
        self._console = console
        self._keys = 0
        self._audio = self._audio[:0]
        if self._muted:
            console.mute(self._muted)

    def emu_set_keys(self, keys: int) -> None:
        """Hold these buttons of controller 1 (bits A B Select Start Up Down Left Right) from the next frame on."""
        self._keys = keys & 0xFF

    def emu_run_frame(self) -> None:
        """Run to the end of a frame."""
        if self._console is None:
            raise CandidateError("no ROM is loaded")
        self._console.run_frame(self._keys)

    def emu_framebuffer(self) -> NDArray[np.uint16]:
        """The picture, ``uint16[61440]``, ``(emphasis << 6) | colour``."""
        if self._console is None:
            return np.zeros(PIXELS, dtype=np.uint16)
        return self._console.frame.reshape(-1)

    def emu_audio_samples(self) -> int:
        """Drain the sound made since the last call into the audio buffer; returns the number of samples."""
        if self._console is None:
            return 0
        self._audio = self._console.drain_audio()
        return len(self._audio)

    def emu_audio_buffer(self) -> NDArray[np.int16]:
        """What the last ``emu_audio_samples`` drained, ``int16[n]``."""
        return self._audio

    def emu_audio_rate(self) -> int:
        """Samples a second."""
        return AUDIO_RATE

    def emu_boot_frames(self) -> int:
        """None: the first frame after a load is the first frame."""
        return 0
