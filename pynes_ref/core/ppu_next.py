"""When the 2C02 can next do something that others notice: NMI, the end of a frame, rises of A12.

Bounds, not forecasts: nothing happens before the dot count returned unless a
register is accessed. The closer they are, the less often ``events.arm`` has to
look again. https://www.nesdev.org/wiki/PPU_frame_timing, /MMC3.
"""

import numpy as np

from .jit import inner, outline
from .ppu_vram import LINE, PRE_RENDER, RENDERING, VBL_LINE
from .state import NEVER

FRAME_DOTS = 262 * LINE
# Dots on which A12 can rise after it has been low: first background pattern fetch
# of a line, first sprite fetch, the next line's first tile.
TILE_RISE, SPRITE_RISE, PREFETCH_RISE = 5, 261, 325
SPRITE_FETCH, PREFETCH = 257, 321
LONG_LOW = 2  # M2 cycles: background and sprite tiles leave A12 low for 4 dots at most


@outline
def ppu_next_nmi_dot(nes):
    """A dot count before which ``nmi_line`` cannot change unless a register is accessed."""
    ppu = nes.ppu
    if ppu.nmi_line:
        edge = PRE_RENDER * LINE + 1
    elif ppu.ctrl & 0x80:
        edge = VBL_LINE * LINE + 1
    else:
        return NEVER
    position = ppu.scanline * LINE + ppu.dot
    if position < edge:
        return ppu.dots + edge - position
    # The next frame may begin a dot early.
    return ppu.dots + FRAME_DOTS - 1 + edge - position


@inner
def _count_rises(nes):
    """``scratch.rises``: how often the 8x16 sprites of each line raise A12 after it has been low for long.

    The tile's bit 0 is A12. A slot after one that raised it finds it low for too
    short a time, and empty slots fetch tile $FF.
    """
    scratch, oam = nes.scratch, nes.ppu.oam
    rises, found = scratch.rises, scratch.found
    changed = scratch.rises_made ^ 1
    for i in range(256):
        changed |= np.int64(scratch.rises_oam[i] ^ oam[i])
    if changed == 0:
        return
    scratch.rises_made = 1
    for i in range(256):
        scratch.rises_oam[i] = oam[i]
    for line in range(240):
        rises[line] = 0
        found[line] = 0
    for n in range(64):
        y = np.int64(oam[4 * n])
        high = np.int64(oam[4 * n + 1]) & 1
        for line in range(y, min(y + 16, 240)):
            before = np.int64(found[line])
            if before < 0x10:
                # Twice the count, and whether the last one was high.
                found[line] = ((before + 2) & 0x1E) | high
                rises[line] += high & ~before
    for line in range(240):
        if found[line] < 0x10:
            rises[line] += 1 & ~np.int64(found[line])


@inner
def _tall_rise(nes, clocks):
    """Dots 257 to 340: dots to the rise that comes after ``clocks`` others; or -1 - (what is left of them)."""
    ppu = nes.ppu
    dot = ppu.dot
    before = np.int64(0)
    for slot in range((dot - SPRITE_FETCH) >> 3, 8):
        high = np.int64(ppu.oam2[(4 * slot + 1) & 31]) & 1
        rise = SPRITE_RISE + 8 * slot
        if dot >= rise:
            high = ppu.a12  # $2000 may have been written since
        elif high and not before:
            if clocks == 0:
                return rise - dot
            clocks -= 1
        before = high
    if ppu.ctrl & 0x10 and dot < PREFETCH_RISE:
        if clocks == 0:
            return PREFETCH_RISE - dot
        clocks -= 1
    return -1 - clocks


@inner
def _tall_wait(nes, clocks):
    """``ppu_next_a12_dot`` for 8x16 sprites on a line that fetches; dots to wait."""
    ppu = nes.ppu
    line, dot = ppu.scanline, ppu.dot
    background = 1 if ppu.ctrl & 0x10 else 0
    # First line whose fetches all lie ahead, counted from this one.
    ahead = np.int64(0)
    if dot >= SPRITE_FETCH:
        wait = _tall_rise(nes, clocks)
        if wait > 0:
            return wait
        clocks = -1 - wait
        ahead = np.int64(1)
    elif dot > 0 or ppu.oam_addr or line == PRE_RENDER:
        # Evaluation ends before dot 257; then it is known what raises A12.
        return SPRITE_FETCH - dot
    _count_rises(nes)
    top = line - 262 if line == PRE_RENDER else line
    while top + ahead < 240:
        clocks -= np.int64(nes.scratch.rises[(top + ahead) & 0xFF]) + background
        if clocks < 0:
            # A frame may be a dot short.
            return ahead * LINE + SPRITE_RISE - dot - 1
        ahead += 1
    return (PRE_RENDER - top) * LINE + TILE_RISE - dot - 1


@inner
def _rise_at_once(nes, background, sprites):
    """1 if A12 can rise where it does not on an undisturbed line, because $2000 has just been written."""
    ppu = nes.ppu
    dot = ppu.dot
    if ppu.scanline >= 240 and ppu.scanline != PRE_RENDER:
        return 0
    if SPRITE_FETCH <= dot < PREFETCH and (dot - SPRITE_FETCH) & 7 == 3 and ppu.spr_addr & 0x1000:
        return 1  # a sprite's address is made a dot before it goes out
    if ppu.a12 or ppu.dots // 3 - nes.cart.a12_low_at <= LONG_LOW:
        return 0
    if dot < SPRITE_FETCH or dot >= PREFETCH_RISE:
        return 1 if background else 0
    return 1 if sprites and SPRITE_RISE <= dot < PREFETCH else 0


@outline
def ppu_next_a12_dot(nes, clocks):
    """A dot count before which no more than ``clocks`` filtered rises of A12 can come unless a register is accessed.

    8x8 sprites and a background give one such rise a line, on dot 261 or 325,
    and the background one more on dot 5 of the pre-render line; 8x16 sprites
    can give several between dots 261 and 317. https://www.nesdev.org/wiki/MMC3
    """
    ppu = nes.ppu
    if ppu.unsettled or nes.cart.a12_watch > 1:
        return ppu.dots + 1
    if ppu.mask & RENDERING == 0:
        return NEVER
    background = ppu.ctrl & 0x10
    tall = ppu.ctrl & 0x20
    sprites = tall or ppu.ctrl & 0x08
    if _rise_at_once(nes, background, sprites):
        if clocks == 0:
            return ppu.dots + 1
        clocks -= 1
    if not (background or sprites):
        return NEVER
    line, dot = ppu.scanline, ppu.dot
    first = np.int64(SPRITE_RISE if sprites else PREFETCH_RISE)
    after_blank = (PRE_RENDER - line) * LINE + (TILE_RISE if background else first) - dot
    if 240 <= line < PRE_RENDER:
        wait = after_blank
    elif tall:
        return ppu.dots + max(np.int64(1), _tall_wait(nes, clocks))
    elif dot < first:
        wait = first - dot
    elif background and dot < PREFETCH_RISE:
        wait = PREFETCH_RISE - dot
    elif line == 239:
        wait = after_blank
    else:
        wait = LINE - dot + first
    lines = np.int64(0) if tall else clocks
    if background and lines:
        lines -= 1
    # A frame may be a dot short.
    return ppu.dots + max(np.int64(1), wait + lines * LINE - 2)


@outline
def ppu_next_frame_dot(nes):
    """The first dot count at which ``frame_done`` can be raised."""
    ppu = nes.ppu
    left = FRAME_DOTS - (ppu.scanline * LINE + ppu.dot)
    if left > 1 and ppu.odd_frame:
        left -= 1
    return ppu.dots + left
