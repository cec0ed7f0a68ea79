"""Many consoles with the same cartridge, run side by side.

>>> batch = ConsoleBatch("game.nes", 64)
>>> frames = batch.run_frame(buttons)        # buttons: uint8[64]; frames: uint16[64, 240, 256]
>>> batch.ram[:, 0x75]                       # one byte of every console's work RAM

The consoles' memories are the rows of one array, so pictures and RAM of all
are views, never copies. Compiled code releases the GIL; threads share the work.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from os import PathLike

import numpy as np

from .console import CHANNELS, HEIGHT, WIDTH, Console
from .core import frame as core
from .core.power import make_console
from .core.state import NES, STATE_BYTES
from .ines import Cartridge, load_rom
from .palette import to_rgb

__all__ = ["CHANNELS", "ConsoleBatch"]

_ROW_ALIGNMENT = 64


class ConsoleBatch:
    """``n`` consoles at power-on with the ROM in them.

    rom: path, bytes or ``Cartridge``. threads: how many work at once (default:
    one a core). Raises ``RomError`` for a file that is not a usable ROM and
    ``ValueError`` if ``n`` is not positive.
    """

    def __init__(self, rom: str | PathLike | bytes | Cartridge, n: int, threads: int | None = None):
        if n < 1:
            raise ValueError(f"a batch of {n} consoles is none")
        self.cartridge = rom if isinstance(rom, Cartridge) else load_rom(rom)
        mem, _ = make_console(self.cartridge)
        row = -(-len(mem) // _ROW_ALIGNMENT) * _ROW_ALIGNMENT
        self._mem = np.zeros((n, row), np.uint8)
        self._mem[:, : len(mem)] = mem
        self._rows = [m[: len(mem)] for m in self._mem]
        records = self._mem[:, : NES.itemsize].view(NES)[:, 0]
        self._records = [records[i] for i in range(n)]
        self.frames: np.ndarray = records["ppu"]["frame"].reshape(n, HEIGHT, WIDTH)
        """The pictures, ``uint16[n, 240, 256]``, ``(emphasis << 6) | colour``; a live view."""
        self.ram: np.ndarray = records["ram"]
        """Work RAM, ``uint8[n, 2048]``; a live, writable view."""
        self._all = records
        self._workers = min(threads or os.cpu_count() or 1, n)
        self._pool = ThreadPoolExecutor(self._workers) if self._workers > 1 else None
        self._each(lambda i: core.advance(self._records[i], self._rows[i], core.START, 0, 0, 0))

    def __len__(self) -> int:
        return len(self._rows)

    def _each(self, task):
        n = len(self)
        if self._pool is None:
            for i in range(n):
                task(i)
            return
        bounds = [n * k // self._workers for k in range(self._workers + 1)]

        def part(k):
            for i in range(bounds[k], bounds[k + 1]):
                task(i)

        list(self._pool.map(part, range(self._workers)))

    def run_frame(self, buttons: int | Sequence[int] | np.ndarray = 0, render: bool = True) -> np.ndarray:
        """Run every console one frame; ``buttons``: one byte for all or ``uint8[n]``. Returns ``frames``."""
        return self.run_frames(1, buttons, render=render)

    def run_frames(
        self,
        count: int,
        buttons: int | Sequence[int] | np.ndarray = 0,
        render: bool = True,
        sound: bool = False,
    ) -> np.ndarray:
        """Run every console ``count`` frames with its buttons held; returns ``frames``.

        Without ``render`` no pixel is stored, without ``sound`` no sample is
        kept; states are the same either way.
        """
        if count < 0:
            raise ValueError(f"cannot run {count} frames")
        held = np.broadcast_to(np.asarray(buttons), (len(self),))
        if held.size and (held.min() < 0 or held.max() > 0xFF):
            raise ValueError("buttons must be bytes (0 to 255)")
        held = held.tolist()
        self._all["ppu"]["render"] = bool(render)
        self._all["audio"]["enabled"] = bool(sound)
        try:
            self._each(lambda i: core.advance(self._records[i], self._rows[i], core.FRAMES, count, held[i], 0))
        finally:
            self._all["ppu"]["render"] = 1
            self._all["audio"]["enabled"] = 1
        return self.frames

    def rgb(self) -> np.ndarray:
        """The pictures in colour, ``uint8[n, 240, 256, 3]``."""
        return to_rgb(self.frames)

    def drain_audio(self) -> list[np.ndarray]:
        """Each console's samples since the last call, ``int16``."""
        out = []
        for record in self._records:
            audio = record["audio"]
            out.append(audio["out"][: int(audio["count"])].copy())
            audio["count"] = 0
        return out

    def snapshot(self, i: int) -> np.ndarray:
        """Raw state of console ``i``, ``uint8[...]``; fits ``Console.restore`` with the same ROM."""
        return self._mem[i, :STATE_BYTES].copy()

    def restore(self, snapshot: np.ndarray, which: Sequence[int] | slice = slice(None)) -> None:
        """Put a snapshot into the consoles ``which`` (default: all)."""
        self._mem[which, :STATE_BYTES] = snapshot

    def console(self, i: int) -> Console:
        """An independent ``Console`` in the state of console ``i``."""
        console = Console(self.cartridge)
        console.restore(self.snapshot(i))
        return console

    def close(self) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()
