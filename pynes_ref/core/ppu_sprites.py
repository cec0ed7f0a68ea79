"""Sprites of the 2C02: their patterns and shifters.

Called by ``ppu`` (dots 257-320) and ``ppu_line``; ``ppu_eval`` fills the slots.
https://www.nesdev.org/wiki/PPU_rendering, /PPU_sprite_priority.
"""

import numpy as np

from .jit import inline, inner, outline
from .ppu_vram import drive_a12, vram_read

OVERFLOW, SPRITE_0_HIT = 0x20, 0x40
BEHIND = 0x20  # in a sprite pixel byte: drawn behind the background
HALTED = 0x100  # in a sprite's counter: it has run out, the shifter is at the output
UNUSED_X = 0xFF


def _spread(flip):
    """For each byte its 8 bits in the bytes of an int64, the first pixel in the top byte."""
    table = np.zeros(256, np.uint64)
    for value in range(256):
        for bit in range(8):
            if value >> bit & 1:
                table[value] |= np.uint64(1 << (8 * (7 - bit if flip else bit)))
    return table.view(np.int64)


SPREAD = _spread(False)
SPREAD_FLIPPED = _spread(True)
EVERY_BYTE = 0x0101010101010101


@inline
def sprite_height(ppu):
    return 16 if ppu.ctrl & 0x20 else 8


@outline
def fetch_sprite(nes, mem, slot):
    """Fetch the two pattern bytes of a slot of secondary OAM (https://www.nesdev.org/wiki/MMC3 counts the A12 rises).

    Empty slots fetch too (tile $FF). Both bytes are taken on the fourth dot of
    the slot; on the fifth the address is on the bus for boards that watch A12.
    """
    ppu = nes.ppu
    first = (4 * slot) & 28
    y = np.int64(ppu.oam2[first])
    tile = np.int64(ppu.oam2[first | 1])
    attr = np.int64(ppu.oam2[first | 2])
    height = sprite_height(ppu)
    # The in-range comparison sees the low 8 bits of the line, so that the pre-render
    # line counts as line 5 (AccuracyCoin, "Sprites on Scanline 0").
    row = (ppu.scanline & 0xFF) - y
    used = slot < ppu.spr_count
    load = used and 0 <= row < height
    row = min(max(row, 0), height - 1)
    if not used:
        row = 0
    elif attr & 0x80:
        row = height - 1 - row
    if height == 16:
        addr = ((tile & 1) << 12) | ((tile & 0xFE) << 4) | ((row & 8) << 1) | (row & 7)
    else:
        addr = ((ppu.ctrl & 0x08) << 9) | (tile << 4) | row
    cart = nes.cart
    ppu.spr_addr = addr
    page = cart.ppu_page[addr >> 10]
    lo = np.int64(mem[np.uint64(page + addr)])
    hi = np.int64(mem[np.uint64(page + (addr | 8))])
    ppu.spr_lo[slot & 7] = lo
    ppu.spr_hi[slot & 7] = hi
    if load:
        # A pixel is a byte: BEHIND, palette in bits 2-3, pattern in bits 0-1.
        if attr & 0x40:
            pixels = SPREAD_FLIPPED[lo] | (SPREAD_FLIPPED[hi] << 1)
        else:
            pixels = SPREAD[lo] | (SPREAD[hi] << 1)
        ppu.spr_pixels[slot & 7] = pixels | (((attr & 3) << 2 | (attr & BEHIND)) * EVERY_BYTE)
        ppu.spr_counter[slot & 7] = (ppu.spr_counter[slot & 7] & HALTED) | np.int64(ppu.oam2[first | 3])


@inner
def sprite_fetch_dot(nes, mem, dot, tick):
    """A dot of 257-320: per slot two nametable reads that lead nowhere, then the two pattern bytes."""
    ppu = nes.ppu
    ppu.oam_addr = 0
    slot = (dot - 257) >> 3
    step = (dot - 257) & 7
    if step == 3:
        fetch_sprite(nes, mem, slot)
    if step == 1 or step == 3:
        # The very first address went out before dot 257 copied t's horizontal bits.
        addr = ppu.spr_nt_addr if dot == 258 else 0x2000 | (ppu.v & 0x0FFF)
        vram_read(nes, mem, addr)
    elif step == 0:
        drive_a12(nes, mem, 0x2000, tick)
    elif step == 4:
        drive_a12(nes, mem, ppu.spr_addr, tick)
    elif step == 5:
        ppu.data_bus = np.int64(ppu.spr_lo[slot])
    elif step == 7:
        ppu.data_bus = np.int64(ppu.spr_hi[slot])


@inline
def rearm_sprites(ppu):
    """Dot 339: the X counters of the loaded sprites count again."""
    for i in range(ppu.spr_count):
        ppu.spr_counter[i] &= HALTED - 1
