"""A cartridge board by itself, for tests: CPU accesses, and edges of the PPU's A12."""

import numpy as np

from pynes_ref.core.jit import entry as jit
from pynes_ref.core.mappers import dispatch
from pynes_ref.core.power import make_console
from pynes_ref.ines import KIB, load_rom

OPEN_BUS = -1


@jit
def _write(nes, mem, addr, value, n):
    page = nes.cart.cpu_wpage[addr >> 11] + addr
    if page >= 0:
        mem[page] = value
    else:
        dispatch.mapper_write(nes, mem, addr, value, n)


@jit
def _read(nes, mem, addr):
    page = nes.cart.cpu_page[addr >> 11] + addr
    if page >= 0:
        return np.int64(mem[page])
    return np.int64(dispatch.mapper_read(nes, mem, addr, 0))


@jit
def edge(nes, mem, dots, rise):
    if rise:
        dispatch.mapper_a12(nes, mem, dots)
    else:
        dispatch.mapper_a12_low(nes, dots)
    return nes.cart.irq_line


@jit
def quiet(nes):
    return dispatch.mapper_irq_quiet(nes)


@jit
def reset(nes, mem, hard):
    dispatch.mapper_reset(nes, mem, hard)


class Board:
    """A cartridge whose PRG bytes 0 and 1 of each 8 KiB say the bank number, CHR byte 0 of each 1 KiB too."""

    def __init__(self, mapper, prg_kib, chr_kib=0, submapper=0, prg_ram=0, chr_ram=7, flags6=0, fill=0xFF):
        prg = np.full(prg_kib * KIB, fill, np.uint8)
        for bank in range(prg_kib // 8):
            prg[bank * 8192] = bank
        chr_rom = np.zeros(chr_kib * KIB, np.uint8)
        chr_rom[::1024] = np.arange(chr_kib, dtype=np.int64) & 255
        header = bytearray(b"NES\x1a" + bytes(12))
        header[4], header[5] = prg_kib // 16, chr_kib // 8
        header[6] = (mapper & 15) << 4 | flags6
        header[7] = mapper & 0xF0 | 8
        header[8] = submapper << 4
        header[10], header[11] = prg_ram, 0 if chr_kib else chr_ram
        self.cart = load_rom(bytes(header) + prg.tobytes() + chr_rom.tobytes())
        self.mem, self.nes = make_console(self.cart)
        self.n = 100
        self.dots = 1000

    def write(self, addr, value, cycles=4):
        self.n += cycles
        _write(self.nes, self.mem, addr, value, self.n)

    def read(self, addr):
        return int(_read(self.nes, self.mem, addr))

    def prg(self):
        """The 8 KiB banks at $8000, $A000, $C000, $E000."""
        return [self.read(0x8000 + i * 0x2000) for i in range(4)]

    def chr(self):
        """The 1 KiB banks in the pattern tables, as offsets from the first."""
        slot = self.nes["cart"]
        return [int(slot["ppu_page"][i] + i * 1024 - slot["chr_off"]) // 1024 for i in range(8)]

    def nametables(self):
        slot = self.nes["cart"]
        base = int(self.nes.dtype.fields["vram"][1])
        pages = [int(slot["ppu_page"][8 + i] + (8 + i) * 1024 - base) // 1024 for i in range(8)]
        assert pages[:4] == pages[4:]
        return pages[:4]

    def rise(self, low=100):
        """Clock the counter: A12 falls, stays low for ``low`` dots, rises. The IRQ line."""
        edge(self.nes, self.mem, self.dots, 0)
        self.dots += low
        irq = int(edge(self.nes, self.mem, self.dots, 1))
        self.dots += 10
        return irq

    def mmc1(self, addr, value):
        for i in range(5):
            self.write(addr, value >> i & 1)


# Layouts seen at $2000, $2400, $2800, $2C00.
H, V, A, B, FOUR = [0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 2, 3]
