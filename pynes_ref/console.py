"""A console with a cartridge in it.

>>> nes = Console("game.nes")
>>> nes.run_frame(Button.RIGHT)          # uint16[240, 256], (emphasis << 6) | colour
>>> nes.rgb()                            # uint8[240, 256, 3]
>>> nes.drain_audio()                    # int16[n], mono, 44 100 Hz

Any number of consoles run side by side, in threads too: compiled code releases
the GIL and a console shares nothing with another.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from os import PathLike
from threading import Lock
from typing import BinaryIO

import numpy as np

from . import savestate, statecheck
from .core import frame as core
from .core.power import make_console
from .core.state import NES, STATE_BYTES
from .ines import Cartridge, load_rom
from .palette import to_rgb
from .views import Memory, Registers, read_only

AUDIO_RATE = 44_100
FRAME_RATE = 60.0988
CPU_RATE = 1_789_773
HEIGHT, WIDTH = 240, 256
SLICE = 256
"""Frames that compiled code runs before it lets Python look for Ctrl-C."""
CHANNELS = ("pulse1", "pulse2", "triangle", "noise", "dmc")

_CPU = {"a": "a", "x": "x", "y": "y", "s": "s", "p": "p", "pc": "pc", "cycles": "clk", "jammed": "jammed",
        "open_bus": "open_bus"}
_CPU_LIMITS = {"a": 0xFF, "x": 0xFF, "y": 0xFF, "s": 0xFF, "p": 0xFF, "pc": 0xFFFF}
_PPU = {name: name for name in ("ctrl", "mask", "status", "oam_addr", "v", "t", "x", "w", "scanline", "dot", "dots")}
_PPU_LIMITS = {"oam_addr": 0xFF, "v": 0x7FFF, "t": 0x7FFF, "x": 7, "w": 1}


class Console:
    """An NTSC NES (2A03G, 2C02G) holding one cartridge, at power-on.

    rom: path of an iNES or NES 2.0 file, or its bytes. Raises ``RomError`` (a
    ``ValueError``) for a file that is not a usable ROM. submapper: take the
    board's revision with this NES 2.0 number instead of the header's. famicom:
    controller ports that every read cycle clocks, as on the first Famicoms; on
    an NES, reads in consecutive cycles (a CPU halted by DMA) clock them once.
    hardware_sound: the sound of a console where that of the recordings, the
    default, is another (ACCURACY.md): noise an octave higher, pulse 1 not
    muted by $4001 = $08, the mixer's exact formula. Nothing else changes.

    Attributes: ``cpu``, ``ppu`` and ``apu`` are live views of registers as ints
    (those of the CPU, and the PPU's oam_addr, v, t, x and w, can be assigned to);
    ``memory`` is the CPU's address space; ``ram``, ``oam``, ``palette_ram`` and
    ``vram`` are live ``uint8`` arrays of 2048, 256, 32 and 4096 bytes. One thread
    at a time may use a console (RuntimeError when two run it at once); ``copy``,
    ``deepcopy`` and ``pickle`` work as ``clone`` does.

    The first ``run_frame`` after power-on runs nothing and returns a picture of
    zeros, which is colour $00, a grey, and no sound; the second is the first real
    frame. Replays and recordings count frames that way (abi/ABI.md, "Call 0").
    """

    def __init__(
        self,
        rom: str | PathLike | bytes | Cartridge,
        submapper: int | None = None,
        *,
        famicom: bool = False,
        hardware_sound: bool = False,
    ):
        self.cartridge = rom if isinstance(rom, Cartridge) else load_rom(rom, submapper)
        self._famicom = bool(famicom)
        self._hardware_sound = bool(hardware_sound)
        self._attach(*make_console(self.cartridge))
        self._start()

    def _attach(self, mem, nes):
        self._mem = mem
        self._nes = nes
        self._busy = Lock()
        self._frame = read_only(nes["ppu"]["frame"]).reshape(HEIGHT, WIDTH)
        self.ram: np.ndarray = nes["ram"]
        """Work RAM, ``uint8[2048]``, live and writable."""
        self.oam: np.ndarray = nes["ppu"]["oam"]
        """Sprite memory, ``uint8[256]``, live and writable."""
        self.palette_ram: np.ndarray = nes["ppu"]["palette"]
        """Palette RAM, ``uint8[32]``, live and writable."""
        self.vram: np.ndarray = nes["vram"]
        """Nametable RAM, ``uint8[4096]``, live: 2 KiB in the console, 2 more on four-screen boards."""
        self._cpu_page = nes["cart"]["cpu_page"]
        self.memory = Memory(self.peek, self._poke, self._peek_range)
        self.cpu = Registers(nes["cpu"], _CPU, _CPU_LIMITS)
        self.ppu = Registers(nes["ppu"], _PPU, _PPU_LIMITS)
        self.apu = Registers(nes["apu"], _apu_names(), {})

    def _start(self):
        self._nes["pads"]["every_read"] = self._famicom
        self._nes["apu"]["hardware"] = self._hardware_sound
        core.advance(self._nes, self._mem, core.START, 0, 0, 0)

    # Running -------------------------------------------------------------

    def _run(self, what, count, a, b):
        # Two threads in one record may never come to the end of a frame.
        if not self._busy.acquire(False):
            raise RuntimeError("this console is running in another thread")
        try:
            core.advance(self._nes, self._mem, what, count, a, b)
        finally:
            self._busy.release()

    def run_frame(self, buttons: int = 0, buttons2: int = 0) -> np.ndarray:
        """Run to the end of the frame with these buttons held; returns ``frame``.

        buttons, buttons2: bits of ``Button`` for controllers 1 and 2, ``|`` of
        any, opposite directions too; ValueError unless they are a byte. If the
        end of a frame has come under ``step_instruction``, that is the frame
        that this call ends: it runs nothing.
        """
        self._run(core.FRAMES, 1, _buttons(buttons), _buttons(buttons2))
        return self._frame

    def run_frames(
        self, n: int, buttons: int = 0, buttons2: int = 0, render: bool = True, sound: bool = True
    ) -> np.ndarray:
        """Run ``n`` frames; returns ``frame``.

        Without ``render`` no pixel is stored, without ``sound`` no sample is
        kept; the console's state is the same either way. At most the last 4 096
        samples, about five frames, wait for ``drain_audio``. Ctrl-C ends it
        between two frames.
        """
        n = index(n)
        if not 0 <= n < 1 << 63:
            raise ValueError(f"cannot run {n} frames")
        ppu, audio = self._nes["ppu"], self._nes["audio"]
        ppu["render"], audio["enabled"] = bool(render), bool(sound)
        try:
            keys, keys2 = _buttons(buttons), _buttons(buttons2)
            while True:
                some = min(n, SLICE)
                self._run(core.FRAMES, some, keys, keys2)
                n -= some
                if not n:
                    break
        finally:
            ppu["render"], audio["enabled"] = 1, 1
        return self._frame

    def step_instruction(self) -> int:
        """Run one instruction (or interrupt sequence); returns the CPU cycles it took, DMA included.

        The buttons are those of the last frame. 0 when the CPU is jammed.
        """
        before = int(self._nes["cpu"]["clk"])
        self._run(core.STEP, 1, 0, 0)
        return int(self._nes["cpu"]["clk"]) - before

    def reset(self) -> None:
        """Press the Reset button: RAM is kept, the CPU starts again at its reset vector."""
        self._run(core.RESET, 0, 0, 0)

    def power_cycle(self) -> None:
        """Switch off and on: the state right after construction, but battery RAM is kept."""
        kept = self.battery_ram.copy()
        self._mem[:STATE_BYTES] = make_console(self.cartridge)[0][:STATE_BYTES]
        self.battery_ram[:] = kept
        self._start()

    def mute(self, channels: Iterable[str] = ()) -> None:
        """Keep these channels from the mixer until the next call or power cycle: pulse1 pulse2 triangle noise dmc.

        Everything else about them stays as it is. ValueError for another name.
        """
        bits = 0
        for name in channels:
            if name not in CHANNELS:
                raise ValueError(f"no channel {name!r}; there are {', '.join(CHANNELS)}")
            bits |= 1 << CHANNELS.index(name)
        apu = self._nes["apu"]
        apu["mute"] = bits
        # The mixer looks again in the next cycle.
        apu["due"] = min(int(apu["due"]), self.cycles + 1)

    # Looking -------------------------------------------------------------

    @property
    def frame(self) -> np.ndarray:
        """The picture, ``uint16[240, 256]``, ``(emphasis << 6) | colour``; a live read-only view."""
        return self._frame

    def rgb(self, out: np.ndarray | None = None) -> np.ndarray:
        """The picture in colour, ``uint8[240, 256, 3]``, in ``out`` if given (an array of that shape and type)."""
        return to_rgb(self._frame, out)

    def drain_audio(self) -> np.ndarray:
        """Samples since the last call, ``int16[n]``, mono, 44 100 Hz. About 734 a frame.

        At most the last 4 096 are kept, so drain after every frame, or after every few.
        """
        audio = self._nes["audio"]
        count = int(audio["count"])
        samples = audio["out"][:count].copy()
        audio["count"] = 0
        return samples

    def peek(self, addr: int) -> int:
        """The byte the CPU would read at ``addr`` (taken modulo $10000), without side effects."""
        addr = index(addr) & 0xFFFF
        at = self._cpu_page.item(addr >> 11) + addr
        # A call of compiled code takes longer than this look at plain memory.
        return self._mem.item(at) if at >= 0 else int(core.peek(self._nes, self._mem, addr))

    def _peek_range(self, start: int, stop: int) -> bytes:
        parts = []
        while start < stop:
            end = min(stop, (start | 0x7FF) + 1)
            at = self._cpu_page.item(start >> 11) + start
            if at >= 0:
                parts.append(self._mem[at : at + end - start].tobytes())
            else:
                parts.append(bytes(int(core.peek(self._nes, self._mem, addr)) for addr in range(start, end)))
            start = end
        return b"".join(parts)

    def _poke(self, addr: int, value: int) -> None:
        core.poke(self._nes, self._mem, addr, value)

    def nametable(self, which: int) -> np.ndarray:
        """Tiles of a nametable (0 to 3, as the PPU sees it), ``uint8[30, 32]``, live."""
        window = 8 + (which & 3)
        start = int(self._nes["cart"]["ppu_page"][window]) + window * 0x400
        return self._mem[start : start + 960].reshape(30, 32)

    def attributes(self, which: int) -> np.ndarray:
        """The palette (0 to 3) of each tile of a nametable, ``uint8[30, 32]``."""
        window = 8 + (which & 3)
        start = int(self._nes["cart"]["ppu_page"][window]) + window * 0x400 + 960
        # A byte holds four squares of 2 x 2 tiles.
        shifts = np.array([[0, 2], [4, 6]], np.uint8).reshape(1, 2, 1, 2)
        squares = (self._mem[start : start + 64].reshape(8, 1, 8, 1) >> shifts & 3).reshape(16, 16)
        return squares.repeat(2, axis=0).repeat(2, axis=1)[:30]

    def pattern_table(self, which: int) -> np.ndarray:
        """The pattern table at PPU $0000 or $1000 as the board now has it: 256 tiles, ``uint8[256, 8, 8]``, 0 to 3."""
        page, mem = self._nes["cart"]["ppu_page"], self._mem
        windows = [int(page[w]) + w * 0x400 for w in range(4 * (which & 1), 4 * (which & 1) + 4)]
        planes = np.concatenate([mem[start : start + 0x400] for start in windows]).reshape(256, 2, 8, 1)
        bits = np.unpackbits(planes, axis=3)
        return bits[:, 0] | bits[:, 1] << 1

    @property
    def cycles(self) -> int:
        """CPU cycles since power-on (8 before the first instruction)."""
        return int(self._nes["cpu"]["clk"])

    @property
    def jammed(self) -> bool:
        """True when a JAM opcode has stopped the CPU; frames then pass without effect."""
        return bool(self._nes["cpu"]["jammed"])

    # Keeping -------------------------------------------------------------

    def snapshot(self) -> np.ndarray:
        """The raw state as ``uint8[n]``, for ``restore`` in the same process; fastest, unchecked."""
        return self._mem[:STATE_BYTES].copy()

    def restore(self, snapshot: np.ndarray) -> None:
        """Put a ``snapshot`` of this ROM back."""
        self._mem[:STATE_BYTES] = snapshot

    def save_state(self, file: BinaryIO | None = None) -> bytes:
        """The exact state, undrained audio included, as bytes; also written to ``file`` if given."""
        data = savestate.pack(self._mem[:STATE_BYTES], self.cartridge.sha256)
        if file is not None:
            file.write(data)
        return data

    def load_state(self, source: bytes | BinaryIO) -> None:
        """Restore a ``save_state``. Raises ``StateError``, changing nothing, if it is not a sound one of this ROM."""
        data = source if isinstance(source, bytes | bytearray | memoryview) else source.read()
        raw = savestate.unpack(data, self.cartridge.sha256)
        wrong = statecheck.fault(raw, self._nes["cart"])
        if wrong:
            raise savestate.StateError(f"the save state is damaged ({wrong}); use another copy")
        self._mem[:STATE_BYTES] = np.frombuffer(raw, dtype=np.uint8)
        apu = self._nes["apu"]
        if apu["hardware"] != self._hardware_sound:  # how it sounds is a matter of the listener
            apu["hardware"] = self._hardware_sound
            # A channel that has been silent and is not any more has to be brought up to date first.
            apu["touched_at"] = apu["control_at"] = apu["due"] = self.cycles + 1

    def clone(self) -> Console:
        """An independent console in the same state."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        mem = self._mem.copy()
        twin._attach(mem, mem[: NES.itemsize].view(NES)[0])
        return twin

    def __copy__(self) -> Console:
        return self.clone()

    def __deepcopy__(self, memo: dict) -> Console:
        return self.clone()

    def __reduce__(self) -> tuple:
        cart = self.cartridge
        options = bytes(cart.prg.obj), cart.submapper, self._famicom, self._hardware_sound
        return _unpickled, (type(self), *options, self.save_state())

    @property
    def battery_ram(self) -> np.ndarray:
        """RAM that a battery keeps, ``uint8[n]``, live and writable; empty on boards without one."""
        start, size = self.cartridge.battery_range
        return self._nes["prg_ram"][start : start + size]

    def __repr__(self) -> str:
        return f"<Console {self.cartridge.board} cycle {self.cycles}>"


def _unpickled(kind, rom, submapper, famicom, hardware_sound, state):
    console = object.__new__(kind)
    Console.__init__(console, rom, submapper, famicom=famicom, hardware_sound=hardware_sound)
    console.load_state(state)
    return console


def _buttons(value):
    value = index(value)
    if not 0 <= value <= 0xFF:
        raise ValueError(f"buttons must be a byte, not {value}")
    return value


def _apu_names():
    fields = NES["apu"].names
    return {name: name for name in fields if NES["apu"][name].kind == "i"}
