"""The 2C02's video memory bus: VRAM reads and writes, palette RAM, A12, the address latch, ``v``.

The PPU multiplexes its low eight address pins with its data pins. On the first
dot of every access the address goes out and an octal latch (74LS373) outside
the chip keeps A0-A7 (ALE); on the second dot only A8-A13 are driven and the
byte is read from {A8-A13, latch}. Normally both halves belong to one address.
They come apart when ``v`` moves between the two dots, or when the $2007 read
logic leaves a data byte in the latch: AccuracyCoin's "Hybrid Addresses" and
"ALE + Read" check that.

https://www.nesdev.org/wiki/PPU_memory_map, /PPU_pinout, /PPU_scrolling.
Called by ``ppu_render``, ``ppu_sprites``, ``ppu_regs`` and ``ppu``.
"""

import numpy as np

from .jit import inline, inner
from .mappers.dispatch import mapper_a12, mapper_a12_low

SHOW_BG, SHOW_SPRITES = 0x08, 0x10
RENDERING = SHOW_BG | SHOW_SPRITES
LINE, VBL_LINE, PRE_RENDER = 341, 241, 261
VBL = 0x80  # of $2002
HORIZONTAL, VERTICAL = 0x041F, 0x7BE0  # the bits of t that are copied to v


@inline
def is_rendering(ppu):
    """1 when PPUMASK shows anything and the line is one that fetches."""
    return (ppu.mask & RENDERING) != 0 and (ppu.scanline < 240 or ppu.scanline == PRE_RENDER)


@inline
def is_stored(ppu):
    """Whether this line's pixels go into the picture: a call ends some dots into line 0 of the next one."""
    return ppu.render != 0 or ppu.scanline == 0


@inline
def vram_read(nes, mem, addr):
    """The byte at ``addr`` ($0000-$3FFF, no palette); it stays on the data bus."""
    value = np.int64(mem[nes.cart.ppu_page[addr >> 10] + addr])
    nes.ppu.data_bus = value
    return value


@inline
def vram_write(nes, mem, addr, value):
    page = addr >> 10
    if nes.cart.ppu_wok[page]:
        mem[nes.cart.ppu_page[page] + addr] = value


@inline
def palette_cell(addr):
    """Cell of palette RAM: $3F10, $3F14, $3F18 and $3F1C are $3F00, $3F04, $3F08 and $3F0C."""
    cell = addr & 0x1F
    if cell & 3 == 0:
        cell &= 0x0F
    return cell


@inner
def a12_edge(nes, mem, addr, tick):
    ppu = nes.ppu
    level = (addr >> 12) & 1
    if level != ppu.a12:
        ppu.a12 = level
        if level:
            mapper_a12(nes, mem, tick)
        else:
            mapper_a12_low(nes, tick)


@inline
def drive_a12(nes, mem, addr, tick):
    """Show ``addr`` to a board that watches A12; ``tick`` is the number of the dot since power-on."""
    if nes.cart.a12_watch != 0:
        a12_edge(nes, mem, addr, tick)


@inline
def latch_address(ppu, addr, pattern):
    """First dot of an access (ALE). A latch left holding data stays so up to the next pattern fetch."""
    if ppu.latch_stale == 0:
        ppu.octal_latch = addr & 0xFF
    elif pattern:
        ppu.latch_stale = 0
    ppu.ale = 1


@inline
def latched_address(ppu, addr):
    """Second dot of an access to ``addr``: the address that memory sees."""
    if ppu.ale:
        ppu.ale = 0
        return (addr & 0x3F00) | ppu.octal_latch
    ppu.octal_latch = addr & 0xFF
    return addr


@inline
def next_tile(v):
    """``v`` one tile to the right: coarse X, into the other nametable after 31."""
    if v & 0x1F == 31:
        return (v & ~0x1F) ^ 0x0400
    return v + 1


@inline
def next_row(v):
    """``v`` one row down: fine Y, then coarse Y, into the other nametable after row 29 (not after 31)."""
    if v & 0x7000 != 0x7000:
        return v + 0x1000
    v &= ~0x7000
    y = (v >> 5) & 0x1F
    if y == 29:
        return (v & ~0x03E0) ^ 0x0800
    if y == 31:
        return v & ~0x03E0
    return v + 0x20


@inline
def step_v(ppu):
    """What an access of PPUDATA does to ``v``: +1 or +32, but a tile and a row while rendering."""
    if is_rendering(ppu):
        ppu.v = next_row(next_tile(ppu.v))
    elif ppu.ctrl & 0x04:
        ppu.v = (ppu.v + 32) & 0x7FFF
    else:
        ppu.v = (ppu.v + 1) & 0x7FFF
