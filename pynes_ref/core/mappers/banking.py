"""Page tables: which byte of ``mem`` answers an address on the CPU and PPU bus.

A board never sees a plain read. When one of its registers changes it rewrites
``nes.cart.cpu_page`` (2 KiB windows), ``cpu_wpage`` and ``ppu_page`` (1 KiB
windows) with the functions here. An entry is the offset of the window's first
byte in ``mem`` minus the window's first address, so that the reader adds the
whole address. ``NO_PAGE`` marks windows that are I/O, open bus or special.

Bank numbers wrap at the chip's size, as the unconnected upper address lines do.

Wiki: https://www.nesdev.org/wiki/CPU_memory_map and .../Mirroring
"""

import numpy as np

from ..jit import inner
from ..state import offset_of

NO_PAGE = -(1 << 40)

RAM_OFF = offset_of("ram")
VRAM_OFF = offset_of("vram")
PRG_RAM_OFF = offset_of("prg_ram")
CHR_RAM_OFF = offset_of("chr_ram")

KIB = 1024
PRG_UNIT = 8 * KIB
CHR_UNIT = KIB
CPU_WINDOW = 2 * KIB

# Nametable layouts. "Vertical mirroring" is a horizontal arrangement (PPU A10 selects the page).
HORIZONTAL, VERTICAL, SINGLE_A, SINGLE_B, FOUR_SCREEN = range(5)

# The page of nametable memory seen at $2000, $2400, $2800, $2C00.
NAMETABLES = np.array(
    [[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 2, 3]],
    dtype=np.int64,
)


@inner
def set_prg_8(nes, slot, bank):
    """Show 8 KiB PRG ROM bank ``bank`` at $8000 + slot * $2000."""
    cart = nes.cart
    base = cart.prg_off + bank % (cart.prg_size // 8192) * 8192 - (0x8000 + slot * 0x2000)
    for i in range(4):
        cart.cpu_page[16 + slot * 4 + i] = base
        cart.cpu_wpage[16 + slot * 4 + i] = NO_PAGE


@inner
def set_prg_16(nes, slot, bank):
    """Show 16 KiB PRG ROM bank ``bank`` at $8000 + slot * $4000."""
    for i in range(2):
        set_prg_8(nes, slot * 2 + i, bank * 2 + i)


@inner
def set_prg_32(nes, bank):
    """Show 32 KiB PRG ROM bank ``bank`` at $8000-$FFFF."""
    for i in range(4):
        set_prg_8(nes, i, bank * 4 + i)


@inner
def set_prg_ram(nes, bank, readable, writable):
    """Show 8 KiB PRG RAM bank ``bank`` at $6000-$7FFF; smaller chips repeat.

    Without RAM, or when it is not readable or writable, reads are open bus and
    writes are lost.
    """
    cart = nes.cart
    size = cart.prg_ram_size
    for i in range(4):
        window = 12 + i
        page = NO_PAGE
        if size > 0:
            page = cart.prg_ram_off + (bank * 8192 + i * 2048) % size - window * 2048
        cart.cpu_page[window] = page if readable else NO_PAGE
        cart.cpu_wpage[window] = page if writable else NO_PAGE


@inner
def set_chr_1(nes, slot, bank):
    """Show 1 KiB CHR bank ``bank`` at PPU slot * $0400."""
    cart = nes.cart
    cart.ppu_page[slot] = cart.chr_off + bank % (cart.chr_size // 1024) * 1024 - slot * 1024
    cart.ppu_wok[slot] = cart.chr_is_ram


@inner
def set_chr(nes, slot, bank, kib):
    """Show a CHR bank of ``kib`` (2, 4 or 8) KiB, counted in its own size, from PPU slot * $0400 on."""
    for i in range(kib):
        set_chr_1(nes, slot + i, bank * kib + i)


@inner
def set_nametables(nes, layout):
    """Lay out $2000-$2FFF and its mirror at $3000-$3EFF."""
    cart = nes.cart
    for i in range(8):
        page = VRAM_OFF + NAMETABLES[layout, i & 3] * 1024
        cart.ppu_page[8 + i] = page - (8 + i) * 1024
        cart.ppu_wok[8 + i] = 1
