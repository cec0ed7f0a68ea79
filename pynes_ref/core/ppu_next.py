"""When the 2C02 can next do something that others notice: NMI, flags of $2002, rises of A12, the end of a frame.

Bounds, not forecasts: nothing happens before the dot count returned unless a
register is accessed. The closer they are, the less often ``events.arm`` has to
look again. https://www.nesdev.org/wiki/PPU_frame_timing, /MMC3.
"""

import numpy as np

from .jit import inner, outline
from .ppu_sprites import OVERFLOW, SPRITE_0_HIT, sprite_height
from .ppu_vram import LINE, PRE_RENDER, RENDERING, VBL, VBL_LINE
from .state import NEVER

FRAME_DOTS = 262 * LINE
# Dots on which A12 can rise after it has been low: first background pattern fetch
# of a line, first sprite fetch, the next line's first tile.
TILE_RISE, SPRITE_RISE, PREFETCH_RISE = 5, 261, 325
SPRITE_FETCH, PREFETCH = 257, 321
FULL = 16  # of scratch.found: eight sprites
LONG_LOW = 2  # M2 cycles: undisturbed, A12 is low for 4 dots between tiles of table 1


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
def _next_sprite_flag(nes, last):
    """Position of the first dot that can set a sprite flag, ``last`` if none before that; 0 = at once."""
    ppu = nes.ppu
    # The pre-render line is the one before line 0. Its evaluation finds nothing.
    line = np.int64(-1) if ppu.scanline == PRE_RENDER else ppu.scanline
    dot = ppu.dot
    begun = line >= 0 and dot < 257
    start = ppu.oam_addr
    if begun and ppu.eval_dot >= 0:
        if ppu.eval_found:
            return 0  # with the OAM and the height of that time
        fresh = ppu.eval_dot <= 64 or ppu.eval_first
        start = 4 * ppu.eval_n + ppu.eval_m if fresh else ppu.eval_start
    if start and (begun or dot >= 257):
        return 0  # OAMADDR was written; evaluation does not begin with sprite 0
    height = sprite_height(ppu)
    if ppu.mask & RENDERING == RENDERING and not ppu.status & SPRITE_0_HIT:
        if ppu.spr_zero and begun:
            return 0
        if ppu.spr_zero and dot >= 257:
            last = (line + 1) * LINE  # found, whatever OAM holds now
        y = np.int64(ppu.oam[0])
        above = max(y, max(line, 0))
        if above < min(y + height, 239):
            last = min(last, (above + 1) * LINE + np.int64(ppu.oam[3]))
    if not ppu.status & OVERFLOW:
        _look_at_oam(nes, height)
        first = max(line, 0)
        if line >= 0 and dot > 64:
            if begun and nes.scratch.found[line] >= FULL:
                return 0
            first += 1
        for top in range(first, 240):
            if nes.scratch.found[top] >= FULL:
                last = min(last, top * LINE + 65)
                break
    return last


@inner
def ppu_next_status_dot(nes):
    """A dot count before which no flag of $2002 changes, unless by an access; 0 when it is not known.

    The flags before are those of the present dot, VBL clear. Dot 0 of lines 241
    and 261 counts as a change, because a read there has effects of its own.
    """
    ppu = nes.ppu
    position = ppu.scanline * LINE + ppu.dot
    if ppu.unsettled or ppu.status & VBL or position == VBL_LINE * LINE or position == PRE_RENDER * LINE:
        return 0
    if VBL_LINE * LINE < position < PRE_RENDER * LINE:
        return ppu.dots + PRE_RENDER * LINE - position
    if position > PRE_RENDER * LINE:
        position -= FRAME_DOTS
    edge = np.int64(VBL_LINE * LINE)
    if ppu.mask & RENDERING:
        edge = _next_sprite_flag(nes, edge)
    # A frame may be a dot short.
    return ppu.dots + edge - position - 1


@inner
def _look_at_oam(nes, height):
    """``scratch.found`` and ``rises``, if OAM or the height of sprites have changed.

    The tile's bit 0 is A12 of tall sprites. A slot after one that raised it finds
    it low for too short a time, and empty slots fetch tile $FF.
    """
    scratch, oam = nes.scratch, nes.ppu.oam
    rises, found = scratch.rises, scratch.found
    changed = scratch.found_height ^ height
    for i in range(256):
        changed |= np.int64(scratch.found_oam[i] ^ oam[i])
    if changed == 0:
        return
    scratch.found_height = height
    for i in range(256):
        scratch.found_oam[i] = oam[i]
    for line in range(240):
        rises[line] = 0
        found[line] = 0
    for n in range(64):
        y = np.int64(oam[4 * n])
        high = np.int64(oam[4 * n + 1]) & 1
        for line in range(y, min(y + height, 240)):
            before = np.int64(found[line])
            if before < FULL:
                found[line] = ((before + 2) & ~1) | high
                rises[line] += high & ~before
    for line in range(240):
        if found[line] < FULL:
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
    if (ahead == 0 and (dot >= 0 or line == PRE_RENDER)) or ppu.oam_addr:
        # Evaluation ends before dot 257; then it is known what raises A12.
        return ahead * LINE + SPRITE_FETCH - dot - 1
    _look_at_oam(nes, np.int64(16))
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
    if ppu.a12:
        return 0
    # The pattern fetch to come: on the fifth and seventh dot of a background tile, the fifth of a sprite.
    step = (dot - 1) & 7
    wait = (4 - step) & 7
    if SPRITE_RISE <= dot < PREFETCH:
        if not sprites:
            return 0
        if step == 4:
            wait = np.int64(8)
    elif background and not SPRITE_FETCH <= dot < PREFETCH_RISE:
        if step == 4 or step == 5:
            wait = 6 - step
    else:
        return 0
    return 1 if (ppu.dots + wait) // 3 - nes.cart.a12_low_at > LONG_LOW else 0


@outline
def ppu_next_a12_dot(nes, clocks):
    """A dot count before which no more than ``clocks`` filtered rises of A12 can come unless a register is accessed.

    8x8 sprites and a background give one such rise a line, on dot 261 or 325,
    and the background one more on dot 5 of the pre-render line; 8x16 sprites
    can give several between dots 261 and 317. https://www.nesdev.org/wiki/MMC3
    """
    ppu = nes.ppu
    if ppu.unsettled or nes.cart.a12_watch > 1 or not ppu.whole_lines:
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
def ppu_hold_status(nes):
    """After a read of $2002: until when further reads need not run the PPU."""
    nes.scratch.status_quiet = ppu_next_status_dot(nes) if nes.ppu.whole_lines else np.int64(0)


@outline
def ppu_next_frame_dot(nes):
    """The first dot count at which ``frame_done`` can be raised."""
    ppu = nes.ppu
    left = FRAME_DOTS - (ppu.scanline * LINE + ppu.dot)
    if left > 1 and ppu.odd_frame:
        left -= 1
    return ppu.dots + left
