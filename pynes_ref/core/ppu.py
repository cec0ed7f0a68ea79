"""The 2C02G (NTSC PPU): its dots, lines and frames.

A dot is 4 master clocks; 341 dots a line, 262 lines a frame: 0-239 are shown,
241 dot 1 sets the VBL flag, 261 is the pre-render line. ``scanline`` and ``dot``
name the last dot that has run, ``dots`` counts them since power-on.

Nothing here runs by itself: whoever is about to see the PPU calls ``ppu_run``
with the dot count to reach, and however the way there is cut, the result is
the same. Registers change only between runs, so within one the mask, control
and fine X are constant.

Three gaits. While the mask has just been changed, a $2006 or $2007 access is
still working its way through, or a corruption of OAM is due, ``unsettled`` is
1 and each dot goes through ``_unsettled_before`` and ``_unsettled_after``.
Settled rendered lines run the same dots without those two. Settled dots that
render nothing are taken in one step.

https://www.nesdev.org/wiki/PPU_rendering, /PPU_frame_timing, /NMI.
``clock``, ``events`` and ``dma`` tick it; registers are in ``ppu_regs``.
"""

import numpy as np

from .jit import inline, inner, outline
from .ppu_eval import corrupt_oam, evaluate, follow_bus_late
from .ppu_line import run_line
from .ppu_render import (
    SERIAL_IN,
    backdrop,
    fetch_dot,
    fetch_nametable,
    load_shifters,
    sprite_dot,
    sprites_unseen,
)
from .ppu_sprites import HALTED, rearm_sprites, sprite_fetch_dot
from .ppu_vram import (
    HORIZONTAL,
    LINE,
    PRE_RENDER,
    RENDERING,
    SHOW_BG,
    SHOW_SPRITES,
    VBL,
    VBL_LINE,
    VERTICAL,
    drive_a12,
    is_rendering,
    is_stored,
    next_row,
    next_tile,
    step_v,
)

LAST_DOT = 340
SHORT_LAST_DOT = 339
WARM_UP = 29_658  # CPU cycles for which $2000, $2001, $2005 and $2006 cannot be written

# What a dot of a rendered line fetches: 0-7 the dots of a background tile.
SPRITES, DUMMY, NOTHING = 8, 9, 10


def _plan():
    plan = np.full(LINE, NOTHING, np.int64)
    for dot in range(LINE):
        if 1 <= dot <= 256 or 321 <= dot <= 336:
            plan[dot] = (dot - 1) & 7
        elif 257 <= dot <= 320:
            plan[dot] = SPRITES
        elif dot in (337, 339):
            plan[dot] = DUMMY
    return plan


PLAN = _plan()


@outline
def _unsettled_before(nes, mem, dot, tick):
    """The first half of a dot that is not settled. Returns 1 when the dot fetches."""
    ppu = nes.ppu
    if ppu.copy_delay > 0:
        ppu.copy_delay -= 1
        if ppu.copy_delay == 0:
            ppu.v = ppu.t
            drive_a12(nes, mem, ppu.v, tick)
    rendering = (ppu.mask & RENDERING) != 0
    # Loading the background shifters follows the mask some dots late, while shifting
    # follows it at once (AccuracyCoin, "BG Serial In").
    if ppu.load_delay > 0:
        ppu.load_delay -= 1
    else:
        ppu.load_on = rendering
    # Fetching and evaluation follow one dot late.
    fetching = ppu.rendered
    ppu.rendered = rendering
    if 240 <= ppu.scanline < PRE_RENDER:
        return False
    if fetching and not rendering and 329 <= dot <= 336:
        # The tile fetched first for the next line still reaches its place.
        ppu.bg <<= 32
    pre_render = ppu.scanline == PRE_RENDER
    if ppu.corrupt_pending and rendering and (dot == 0 if pre_render else dot > 0):
        corrupt_oam(nes)
    if 1 <= dot <= 64:
        if ppu.corrupt_armed and not pre_render and ppu.corrupt_pending == 0:
            ppu.corrupt_pending = 1
            ppu.corrupt_row = (dot - 1) >> 1
        ppu.corrupt_armed = 0
    if fetching:
        ppu.eval_dot = dot - 1
        evaluate(nes, dot)
    ppu.eval_dot = dot
    return fetching != 0


@outline
def _unsettled_after(nes, mem, tick):
    """The second half: the end of a $2007 read begun while rendering; then, is the PPU settled again?"""
    ppu = nes.ppu
    if ppu.read_delay > 0:
        ppu.read_delay -= 1
        if ppu.read_delay == 0:
            # The buffer takes what the fetches have on the bus at this dot, and the
            # read's ALE, one dot longer than theirs, leaves that byte in the latch.
            ppu.data_buffer = ppu.data_bus
            if is_rendering(ppu):
                ppu.octal_latch = ppu.data_bus
                ppu.latch_stale = 1
            if ppu.read_step:
                ppu.read_step = 0
                step_v(ppu)
                drive_a12(nes, mem, ppu.v, tick)
    rendering = (ppu.mask & RENDERING) != 0
    if (
        ppu.copy_delay == 0
        and ppu.read_delay == 0
        and ppu.load_delay == 0
        and (ppu.load_on != 0) == rendering
        and ppu.corrupt_armed == 0
        and not (ppu.corrupt_pending and rendering)
    ):
        ppu.unsettled = 0


@inline
def _flags_dot(ppu):
    """Dot 1 of the lines that are not shown: VBL begins on 241, all flags clear on 261."""
    if ppu.scanline == VBL_LINE:
        if ppu.vbl_suppressed == 0:
            ppu.status |= VBL
            if ppu.ctrl & 0x80:
                ppu.nmi_line = 1
    elif ppu.scanline == PRE_RENDER:
        ppu.status = 0
        ppu.nmi_line = 0
        ppu.vbl_suppressed = 0


@outline
def _run_dots(nes, mem, first, last):
    """Dots ``first``-``last`` of the present line, each in full."""
    ppu = nes.ppu
    line = ppu.scanline
    before = ppu.dots - ppu.dot
    shown = line < 240
    pre_render = line == PRE_RENDER
    mask = ppu.mask
    rendering = (mask & RENDERING) != 0
    renders = rendering and (shown or pre_render)
    bg_from = np.int64(256)
    if mask & SHOW_BG:
        bg_from = np.int64(0) if mask & 0x02 else np.int64(8)
    spr_from = np.int64(256)
    if mask & SHOW_SPRITES:
        spr_from = np.int64(0) if mask & 0x04 else np.int64(8)
    grey = np.int64(0x30) if mask & 0x01 else np.int64(0x3F)
    emphasis = (mask & 0xE0) << 1
    fine_x = 60 - 4 * ppu.x
    row = line * 256
    stored = is_stored(ppu)
    for dot in range(first, last + 1):
        fetching = renders
        if ppu.unsettled:
            fetching = _unsettled_before(nes, mem, dot, before + dot)
        if dot == 1 and not shown:
            _flags_dot(ppu)
        if fetching:
            step = PLAN[dot]
            if step < SPRITES:
                if step == 0 and ppu.load_on:
                    ppu.bg = load_shifters(ppu, ppu.bg)
                fetch_dot(nes, mem, step, before + dot)
                if step == 7:
                    ppu.v = next_tile(ppu.v)
                    if dot > 256:
                        ppu.bg <<= 32
                    elif dot == 256:
                        if ppu.eval_dot < 256:
                            evaluate(nes, dot)
                        ppu.v = next_row(ppu.v)
            elif step == SPRITES:
                if dot == 257:
                    ppu.spr_nt_addr = 0x2000 | (ppu.v & 0x0FFF)
                    ppu.v = (ppu.v & ~HORIZONTAL) | (ppu.t & HORIZONTAL)
                elif pre_render and 280 <= dot <= 304:
                    ppu.v = (ppu.v & ~VERTICAL) | (ppu.t & VERTICAL)
                sprite_fetch_dot(nes, mem, dot, before + dot)
            elif step == DUMMY:
                if dot == 339:
                    rearm_sprites(ppu)
                drive_a12(nes, mem, 0x2000, before + dot)
                fetch_nametable(nes, mem)
            elif dot == 0 and shown:
                # The idle dot already shows the address of the first pattern fetch,
                # except after vertical blanking (mmc3_test_2, 4-scanline_timing).
                drive_a12(nes, mem, (ppu.ctrl & 0x10) << 8, before + dot)
        if ppu.unsettled:
            _unsettled_after(nes, mem, before + dot)
        if shown and 1 <= dot <= 256:
            x = dot - 1
            colour = np.int64(0)
            if x >= bg_from:
                colour = (ppu.bg >> fine_x) & 15
                if colour & 3 == 0:
                    colour = np.int64(0)
            if ppu.spr_count:
                colour = sprite_dot(nes, x, colour, x >= spr_from, rendering)
            if colour == 0:
                colour = backdrop(ppu)
            if stored:
                ppu.frame[row + x] = (np.int64(ppu.palette[colour]) & grey) | emphasis
            if rendering:
                ppu.bg = (ppu.bg << 4) | SERIAL_IN
    ppu.dot = last
    ppu.dots = before + last


@outline
def _skip_dots(nes, first, last):
    """Dots ``first``-``last`` of the present line, settled and not rendering, in one step."""
    ppu = nes.ppu
    if ppu.scanline < 240:
        left = max(first, 1) - 1
        right = min(last, 256)
        if left < right:
            sprites_unseen(nes, right - left)
            if is_stored(ppu):
                pixel = np.int64(ppu.palette[backdrop(ppu)]) & (0x30 if ppu.mask & 0x01 else 0x3F)
                pixel |= (ppu.mask & 0xE0) << 1
                row = ppu.scanline * 256
                for x in range(left, right):
                    ppu.frame[row + x] = pixel
    elif first <= 1 <= last:
        _flags_dot(ppu)
    ppu.dots += last - ppu.dot
    ppu.dot = last


@inline
def _is_short(ppu):
    """Standing at the pre-render line's dot 339: odd frames leave out dot 340 when rendering.

    The decision sees the mask of two dots earlier (ppu_vbl_nmi, 10-even_odd_timing).
    """
    mask = ppu.mask if ppu.dots - 2 >= ppu.mask_dots else ppu.mask_before
    return ppu.odd_frame and mask & RENDERING


@inner
def _next_line(nes):
    ppu = nes.ppu
    # The position before dot 0, which always runs next.
    ppu.dot = -1
    ppu.eval_dot = -1
    if ppu.scanline == PRE_RENDER:
        ppu.scanline = 0
        ppu.odd_frame ^= 1
        ppu.frame_done = 1
    else:
        ppu.scanline += 1


@outline
def ppu_run(nes, mem, target):
    """Run until ``target`` dots since power-on have run."""
    ppu = nes.ppu
    while ppu.dots < target:
        if ppu.dot == LAST_DOT:
            if ppu.unsettled == 0 and ppu.scanline < 240 and ppu.mask & RENDERING:
                evaluate(nes, ppu.dot)
            _next_line(nes)
        elif ppu.dot == SHORT_LAST_DOT and ppu.scanline == PRE_RENDER and _is_short(ppu):
            _next_line(nes)
        last = np.int64(LAST_DOT)
        if ppu.scanline == PRE_RENDER and ppu.dot < SHORT_LAST_DOT:
            last = np.int64(SHORT_LAST_DOT)
        first = ppu.dot + 1
        last = min(last, ppu.dot + target - ppu.dots)
        if (
            first == 0
            and last == LAST_DOT
            and ppu.scanline < 240
            and ppu.unsettled == 0
            and ppu.mask & RENDERING
            and ppu.latch_stale == 0
            and ppu.ale == 0
            and ppu.oam_addr == 0
            and ppu.whole_lines
        ):
            run_line(nes, mem)
            continue
        if ppu.bus_late:
            follow_bus_late(nes)
        if ppu.unsettled == 0 and ((ppu.mask & RENDERING) == 0 or 240 <= ppu.scanline < PRE_RENDER):
            _skip_dots(nes, first, last)
        else:
            _run_dots(nes, mem, first, last)


@outline
def ppu_reset(nes):
    """The Reset button (the PPU stands at the end of a CPU cycle). OAM, palette and ``v`` keep their values.

    https://www.nesdev.org/wiki/PPU_power_up_state
    """
    ppu = nes.ppu
    if ppu.unsettled == 0 and is_rendering(ppu):
        evaluate(nes, ppu.dot)
    nes.scratch.status_quiet = 0
    ppu.ctrl = 0
    ppu.mask = 0
    ppu.mask_before = 0
    ppu.w = 0
    ppu.data_buffer = 0
    ppu.nmi_line = 0
    ppu.unsettled = 1
    ppu.writable_at = (ppu.dots - 2) // 3 + WARM_UP


def power_on_ppu(ppu):
    """Give a zeroed section ``nes["ppu"]`` its power-on state: one dot before scanline 0."""
    ppu["scanline"] = PRE_RENDER
    ppu["dot"] = LAST_DOT
    ppu["render"] = 1
    ppu["whole_lines"] = 1
    ppu["writable_at"] = WARM_UP
    ppu["oam2"][:] = 0xFF
    ppu["bus_oam2"][:] = 0xFF
    ppu["oam_bus"] = 0xFF
    ppu["eval_byte"] = 0xFF
    ppu["eval_dot"] = LAST_DOT
    ppu["spr_counter"][:] = HALTED
    ppu["spr_nt_addr"] = 0x2000
