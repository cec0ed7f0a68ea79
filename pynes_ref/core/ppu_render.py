"""The background pipeline of the 2C02 and the composition of a pixel.

Every eight dots fetch a nametable byte, an attribute byte and two pattern
bytes; each access takes two dots (``ppu_vram``). The fetched row of eight
pixels enters the shift registers on the next first dot. The four 16-bit shift
registers (two planes, two attribute bits) are one int64, ``bg``, of 16 nibbles
AAPP: the pixel on screen with fine X = 0 is the top nibble.

https://www.nesdev.org/wiki/PPU_rendering, /PPU_palettes. Called by ``ppu``.
"""

import numpy as np

from .jit import inline, inner
from .ppu_sprites import BEHIND, HALTED, SPRITE_0_HIT
from .ppu_vram import RENDERING, drive_a12, latch_address, latched_address, palette_cell, vram_read


def _nibbles():
    """For each byte its 8 bits in the nibbles of 32 bits, bit 7 on top."""
    table = np.zeros(256, np.int64)
    for value in range(256):
        for bit in range(8):
            table[value] |= (value >> bit & 1) << (4 * bit)
    return table


NIBBLES = _nibbles()
EVERY_NIBBLE = 0x11111111
HIGH_HALF = ~0xFFFFFFFF
SERIAL_IN = 2  # the pattern shifters take in 0 (low plane) and 1 (high plane)


@inline
def load_shifters(ppu, bg):
    """Put the fetched row under the eight pixels still being shifted out."""
    row = NIBBLES[ppu.fetch_lo] | (NIBBLES[ppu.fetch_hi] << 1) | (ppu.fetch_at * (4 * EVERY_NIBBLE))
    return (bg & HIGH_HALF) | row


@inline
def _nt_addr(v):
    return 0x2000 | (v & 0x0FFF)


@inline
def _at_addr(v):
    return 0x23C0 | (v & 0x0C00) | ((v >> 4) & 0x38) | ((v >> 2) & 0x07)


@inline
def _pattern_addr(ppu):
    return ((ppu.ctrl & 0x10) << 8) | (ppu.fetch_nt << 4) | ((ppu.v >> 12) & 7)


@inline
def fetch_nametable(nes, mem):
    ppu = nes.ppu
    ppu.fetch_nt = vram_read(nes, mem, latched_address(ppu, _nt_addr(ppu.v)))


@inner
def fetch_dot(nes, mem, phase, tick):
    """One dot of the eight of a tile: an address goes out on the even ones, a byte comes in on the odd ones."""
    ppu = nes.ppu
    if phase == 0:
        drive_a12(nes, mem, 0x2000, tick)
        latch_address(ppu, _nt_addr(ppu.v), phase & 4)
    elif phase == 1:
        fetch_nametable(nes, mem)
    elif phase == 2:
        latch_address(ppu, _at_addr(ppu.v), phase & 4)
    elif phase == 3:
        v = ppu.v
        byte = vram_read(nes, mem, latched_address(ppu, _at_addr(v)))
        ppu.fetch_at = (byte >> (((v >> 4) & 4) | (v & 2))) & 3
    else:
        addr = _pattern_addr(ppu) | ((phase & 2) << 2)
        if phase & 1 == 0:
            drive_a12(nes, mem, addr, tick)
            latch_address(ppu, addr, phase & 4)
        else:
            byte = vram_read(nes, mem, latched_address(ppu, addr))
            if phase == 5:
                ppu.fetch_lo = byte
            else:
                ppu.fetch_hi = byte


@inline
def sprite_dot(nes, x, colour, visible, rendering):
    """Run the sprite shifters for the pixel ``x`` and lay them over the background pixel ``colour``.

    The X counters run on every visible dot, the shifters only while rendering.
    """
    ppu = nes.ppu
    over = np.int64(0)
    slot = np.int64(-1)
    for i in range(ppu.spr_count):
        counter = ppu.spr_counter[i]
        if counter == 0 or counter >= HALTED:
            pixels = ppu.spr_pixels[i]
            if slot < 0 and visible and (pixels >> 56) & 3:
                over = (pixels >> 56) & 0xFF
                slot = i
            ppu.spr_counter[i] = counter | HALTED
            if rendering:
                ppu.spr_pixels[i] = pixels << 8
        elif counter == 1:
            ppu.spr_counter[i] = HALTED
        else:
            ppu.spr_counter[i] = counter - 1
    if slot < 0:
        return colour
    if colour:
        if slot == 0 and ppu.spr_zero and x < 255:
            ppu.status |= SPRITE_0_HIT
        if over & BEHIND:
            return colour
    return 0x10 | (over & 0x0F)


@inner
def sprites_unseen(nes, dots):
    """What ``sprite_dot`` does to the counters in ``dots`` visible dots without rendering."""
    ppu = nes.ppu
    for i in range(ppu.spr_count):
        counter = ppu.spr_counter[i]
        if counter <= dots:
            ppu.spr_counter[i] = HALTED
        elif counter < HALTED:
            ppu.spr_counter[i] = counter - dots


@inline
def backdrop(ppu):
    """The palette cell of a transparent pixel: that of $3F00, or while not rendering where ``v`` points."""
    if ppu.mask & RENDERING == 0 and ppu.v & 0x3F00 == 0x3F00:
        return palette_cell(ppu.v)
    return np.int64(0)
