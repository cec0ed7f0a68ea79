"""``pynes_ref`` as a candidate in this process, with the semantics of the ten C functions.

The buffers belong to the object; pointers are arrays here. See ABI.md.
"""

from __future__ import annotations

import numpy as np

from pynes_ref import Console, RomError
from pynes_ref.console import AUDIO_RATE

ROM_BUFFER = 8 * 1024 * 1024


class PynesRef:
    """One console behind the ten-function ABI (``candidate.Candidate``)."""

    def __init__(self):
        self._rom_buffer = None
        self._console = None
        self._audio = np.zeros(0, dtype=np.int16)
        self._keys = 0

    @property
    def console(self) -> Console | None:
        """The console inside, for tools that look deeper than the ABI; None before a ROM is loaded."""
        return self._console

    def emu_init(self) -> None:
        """Forget any ROM."""
        self.__init__()

    def emu_rom_buffer(self, size: int) -> np.ndarray | None:
        """A writable ``uint8[size]`` for the ROM file; None when ``size`` is not possible."""
        if not 0 < size <= ROM_BUFFER:
            return None
        self._rom_buffer = np.zeros(size, dtype=np.uint8)
        return self._rom_buffer

    def emu_load_rom(self, size: int) -> int:
        """Put the first ``size`` bytes of the ROM buffer in the console, at power-on. 1, or 0 if they are no ROM."""
        if self._rom_buffer is None or not 0 < size <= len(self._rom_buffer):
            return 0
        try:
            self._console = Console(self._rom_buffer[:size].tobytes())
        except RomError:
            return 0
        self._keys = 0
        return 1

    def emu_reset(self) -> None:
        """Back to the state right after ``emu_load_rom``."""
        if self._console is not None:
            self._console = Console(self._console.cartridge)
        self._keys = 0

    def emu_set_keys(self, keys: int) -> None:
        """Hold these buttons of controller 1 (bits A B Select Start Up Down Left Right) from the next frame on."""
        self._keys = keys & 0xFF

    def emu_run_frame(self) -> None:
        """Run to the end of a frame."""
        if self._console is not None:
            self._console.run_frame(self._keys)

    def emu_framebuffer(self) -> np.ndarray:
        """The picture, ``uint16[61440]``, ``(emphasis << 6) | colour``."""
        if self._console is None:
            return np.zeros(61440, dtype=np.uint16)
        return self._console.frame.reshape(-1)

    def emu_audio_samples(self) -> int:
        """Drain the sound made since the last call into the audio buffer; returns the number of samples."""
        if self._console is None:
            return 0
        self._audio = self._console.drain_audio()
        return len(self._audio)

    def emu_audio_buffer(self) -> np.ndarray:
        """What the last ``emu_audio_samples`` drained, ``int16[n]``."""
        return self._audio

    def emu_audio_rate(self) -> int:
        """Samples a second."""
        return AUDIO_RATE
