"""A whole visible line of the 2C02 in one step, for lines that nothing disturbs.

``run_line`` leaves the same record that the dots 0-340 of ``ppu._run_dots``
leave, except that it puts off the machine that follows the OAM data bus
(``bus_late``): the next whole line starts it anew, and anything else runs it
first. The last line of a picture runs it in full. ``ppu_run`` calls it when rendering is on and settled, no
register can be accessed before the line ends, and OAMADDR is 0 (dots 257-320
of the line before have made it so).

Working memory is ``nes.scratch``, which is no part of the state.
https://www.nesdev.org/wiki/PPU_rendering
"""

import numpy as np

from .jit import inline, inner, outline
from .ppu_eval import commit_sprites, evaluate
from .ppu_render import EVERY_NIBBLE, NIBBLES
from .ppu_sprites import (
    BEHIND,
    HALTED,
    OVERFLOW,
    SPRITE_0_HIT,
    fetch_sprite,
    rearm_sprites,
    sprite_height,
)
from .ppu_vram import HORIZONTAL, SHOW_BG, SHOW_SPRITES, a12_edge, is_stored, next_row

LAST_LINE = 239
FETCHED = 32  # tiles fetched on dots 1-256; the first lands in row 2 of ``scratch.rows``


@inline
def _row(lo, hi, at):
    return NIBBLES[lo] | (NIBBLES[hi] << 1) | (at * (4 * EVERY_NIBBLE))


@inner
def _fetch_tiles(nes, mem, count, at_row, tick):
    """Fetch ``count`` tiles from ``v`` on into ``scratch.rows``; ``tick`` numbers the first one's first dot."""
    ppu, cart, rows = nes.ppu, nes.cart, nes.scratch.rows
    page = cart.ppu_page
    v = ppu.v
    pattern = ((ppu.ctrl & 0x10) << 8) | ((v >> 12) & 7)
    watch = cart.a12_watch
    nt = at = lo = hi = np.int64(0)
    done = np.int64(0)
    while done < count:
        # As far as the nametable goes.
        coarse_x = v & 31
        run = min(count - done, 32 - coarse_x)
        addr = 0x2000 | (v & 0x0FFF)
        names = page[addr >> 10] + addr
        addr = 0x23C0 | (v & 0x0C00) | ((v >> 4) & 0x38)
        attributes = page[addr >> 10] + addr
        lower = (v >> 4) & 4
        for j in range(run):
            x = coarse_x + j
            nt = np.int64(mem[np.uint64(names + j)])
            at = (np.int64(mem[np.uint64(attributes + (x >> 2))]) >> (lower | (x & 2))) & 3
            addr = pattern | (nt << 4)
            chr_at = page[addr >> 10] + addr
            lo = np.int64(mem[np.uint64(chr_at)])
            hi = np.int64(mem[np.uint64(chr_at + 8)])
            rows[at_row + done + j] = _row(lo, hi, at)
            if watch and (pattern & 0x1000 or done + j == 0):  # with table 0 it stays low
                a12_edge(nes, mem, 0x2000, tick + 8 * (done + j))
                a12_edge(nes, mem, addr, tick + 8 * (done + j) + 4)
        done += run
        v = v + run if coarse_x + run < 32 else (v & ~31) ^ 0x0400
    ppu.v = v
    ppu.fetch_nt = nt
    ppu.fetch_at = at
    ppu.fetch_lo = lo
    ppu.fetch_hi = hi


@inner
def _make_colours(nes):
    """Colours of the 32 palette cells, and of the 256 pairs of background pixels, if palette or mask have changed."""
    ppu, scratch = nes.ppu, nes.scratch
    mask = ppu.mask
    changed = scratch.made_mask ^ (mask + 1)
    for i in range(32):
        changed |= np.int64(scratch.made_palette[i] ^ ppu.palette[i])
    if changed == 0:
        return
    grey = np.int64(0x30) if mask & 0x01 else np.int64(0x3F)
    emphasis = (mask & 0xE0) << 1
    for i in range(32):
        cell = i if i & 3 else 0
        scratch.colours[i] = (np.int64(ppu.palette[cell]) & grey) | emphasis
        scratch.made_palette[i] = ppu.palette[i]
    for i in range(256):
        scratch.pairs[i] = np.int64(scratch.colours[i >> 4]) | (np.int64(scratch.colours[i & 15]) << 16)
    scratch.made_mask = mask + 1


@inline
def _background(nes, x):
    """Pattern bits of the background pixel at ``x``; 0 is transparent."""
    at = x + nes.ppu.x
    return (nes.scratch.rows[at >> 3] >> (28 - 4 * (at & 7))) & 3


@inner
def _draw_background(nes, bg_from):
    """Colour the rows, from fine X on, eight pixels at a time."""
    ppu, scratch = nes.ppu, nes.scratch
    rows, pairs, frame = scratch.rows, scratch.pairs, ppu.frame
    start = ppu.scanline * 256
    shift = 4 * ppu.x
    for k in range(32):
        row = ((((rows[k] << 32) | rows[k + 1]) << shift) >> 32) & 0xFFFFFFFF
        if 8 * k < bg_from:
            row = np.int64(0)
        left = np.int64(pairs[row >> 24]) | (np.int64(pairs[(row >> 16) & 0xFF]) << 32)
        right = np.int64(pairs[(row >> 8) & 0xFF]) | (np.int64(pairs[row & 0xFF]) << 32)
        # Masked, so that no index can be negative and LLVM makes two stores of the eight.
        at = (start + 8 * k) & 0xFFF8
        frame[at] = left & 0xFFFF
        frame[at | 1] = (left >> 16) & 0xFFFF
        frame[at | 2] = (left >> 32) & 0xFFFF
        frame[at | 3] = (left >> 48) & 0xFFFF
        frame[at | 4] = right & 0xFFFF
        frame[at | 5] = (right >> 16) & 0xFFFF
        frame[at | 6] = (right >> 32) & 0xFFFF
        frame[at | 7] = (right >> 48) & 0xFFFF


@inline
def _left(ppu, i):
    """First pixel of a sprite of the line; its shifter may already be running."""
    left = ppu.spr_counter[i]
    return np.int64(0) if left >= HALTED else left


@inner
def _draw_sprites(nes, bg_from, spr_from):
    """Lay the line's sprites over pixels 0-254 and run their shifters so far."""
    ppu, scratch = nes.ppu, nes.scratch
    over, colours = scratch.over, scratch.colours
    start = ppu.scanline * 256
    # The sprite with the lowest number wins, so it is put down last.
    for i in range(ppu.spr_count - 1, -1, -1):
        left = _left(ppu, i)
        bits = ppu.spr_pixels[i]
        for j in range(min(np.int64(8), 255 - left)):
            pixel = (bits >> (56 - 8 * j)) & 0xFF
            if pixel & 3:
                x = left + j
                over[x] = pixel
                if i == 0 and ppu.spr_zero and x >= spr_from and x >= bg_from and _background(nes, x):
                    ppu.status |= SPRITE_0_HIT
    for i in range(ppu.spr_count):
        left = _left(ppu, i)
        shown = min(np.int64(8), 255 - left)
        for x in range(left, left + shown):
            pixel = np.int64(over[x])
            if pixel == 0:
                continue
            over[x] = 0
            behind = pixel & BEHIND and x >= bg_from and _background(nes, x)
            if x >= spr_from and not behind and is_stored(ppu):
                ppu.frame[start + x] = colours[0x10 | (pixel & 0x0F)]
        if ppu.spr_counter[i] < HALTED:
            ppu.spr_counter[i] = HALTED
        ppu.spr_pixels[i] = np.int64(0) if shown == 8 else ppu.spr_pixels[i] << (8 * shown)


@inner
def _draw_last_pixel(nes, bg_from, spr_from):
    """Pixel 255, whose dot has already emptied the slots that the next line does not use."""
    ppu, scratch = nes.ppu, nes.scratch
    over = np.int64(0)
    for i in range(ppu.spr_count):
        bits = ppu.spr_pixels[i]
        if over == 0 and (bits >> 56) & 3:
            over = (bits >> 56) & 0xFF
        ppu.spr_pixels[i] = bits << 8
        ppu.spr_counter[i] |= HALTED
    behind = over & BEHIND and bg_from <= 255 and _background(nes, np.int64(255))
    if over and spr_from <= 255 and not behind and is_stored(ppu):
        ppu.frame[ppu.scanline * 256 + 255] = scratch.colours[0x10 | (over & 0x0F)]


@inner
def _evaluate_line(nes):
    """Dots 0-256 of sprite evaluation from OAMADDR 0: what ``evaluate`` does, in one pass."""
    ppu = nes.ppu
    line = ppu.scanline
    height = sprite_height(ppu)
    oam, oam2 = ppu.oam, ppu.oam2
    for i in range(32):
        oam2[i] = 0xFF
    found = np.int64(0)
    zero = np.int64(0)
    n = np.int64(0)
    m = np.int64(0)
    copied = np.int64(-1)
    full = np.int64(0)
    bus_first = np.int64(oam[252])
    while n < 64:
        y = np.int64(oam[(4 * n) & 0xFF])
        if 0 <= line - y < height:
            if found == 0:
                bus_first = y
            if n == 0:
                zero = np.int64(1)
            for i in range(4):
                oam2[(4 * found + i) & 31] = oam[(4 * n + i) & 0xFF]
            found += 1
            copied = n
            if found == 8:
                full = np.int64(1)
                n += 1
                break
        n += 1
    at = 4 * (n - 1)
    if copied == n - 1:
        at += 3
    if full and n < 64:
        # The search for a ninth goes astray: it steps through the bytes, too.
        while True:
            at = (4 * n + m) & 0xFF
            y = np.int64(oam[at])
            if 0 <= line - y < height:
                ppu.status |= OVERFLOW
                break
            m = (m + 1) & 3
            if n == 63:
                break
            n += 1
    elif n == 64:
        # After a copied sprite 63 the counter has wrapped, after one passed over it stands.
        n = np.int64(0) if at == 255 else np.int64(63)
    ppu.oam_addr = at
    ppu.eval_byte = np.int64(oam[at])
    ppu.eval_n = n
    ppu.eval_m = m
    ppu.eval_found = found
    ppu.eval_room = 4 * found
    ppu.eval_copying = 0
    ppu.eval_full = full
    ppu.eval_done = 1
    ppu.eval_zero = zero
    ppu.eval_first = 0
    ppu.eval_start = 0
    ppu.bus_oam2[0] = bus_first
    ppu.bus_late = line + 1
    ppu.eval_dot = 256
    commit_sprites(ppu)


@outline
def run_line(nes, mem):
    """Run dots 0-340 of the present visible line; the PPU stands before dot 0."""
    ppu = nes.ppu
    before = ppu.dots - ppu.dot
    watch = nes.cart.a12_watch
    mask = ppu.mask
    rows = nes.scratch.rows

    if watch:
        a12_edge(nes, mem, (ppu.ctrl & 0x10) << 8, before)
    rows[0] = (ppu.bg >> 32) & 0xFFFFFFFF
    rows[1] = _row(ppu.fetch_lo, ppu.fetch_hi, ppu.fetch_at)
    _fetch_tiles(nes, mem, FETCHED, 2, before + 1)
    ppu.v = next_row(ppu.v)

    bg_from = np.int64(256)
    if mask & SHOW_BG:
        bg_from = np.int64(0) if mask & 0x02 else np.int64(8)
    spr_from = np.int64(256)
    if mask & SHOW_SPRITES:
        spr_from = np.int64(0) if mask & 0x04 else np.int64(8)
    if is_stored(ppu):
        _make_colours(nes)
        _draw_background(nes, bg_from)
    if ppu.spr_count:
        _draw_sprites(nes, bg_from, spr_from)

    if ppu.scanline == LAST_LINE:
        ppu.bus_late = 0
        evaluate(nes, np.int64(256))
    else:
        _evaluate_line(nes)
    if ppu.spr_count:
        _draw_last_pixel(nes, bg_from, spr_from)
    ppu.spr_nt_addr = 0x2000 | (ppu.v & 0x0FFF)
    ppu.v = (ppu.v & ~HORIZONTAL) | (ppu.t & HORIZONTAL)
    ppu.oam_addr = 0
    for slot in range(8):
        if slot <= ppu.spr_count:
            fetch_sprite(nes, mem, slot)
        else:
            # Empty slots are all alike.
            ppu.spr_lo[slot] = ppu.spr_lo[slot - 1]
            ppu.spr_hi[slot] = ppu.spr_hi[slot - 1]
        if watch:
            a12_edge(nes, mem, 0x2000, before + 257 + 8 * slot)
            a12_edge(nes, mem, ppu.spr_addr, before + 261 + 8 * slot)

    _fetch_tiles(nes, mem, 2, 34, before + 321)
    ppu.bg = rows[34] << 32
    rearm_sprites(ppu)
    if watch:
        a12_edge(nes, mem, 0x2000, before + 337)
    addr = 0x2000 | (ppu.v & 0x0FFF)
    ppu.fetch_nt = np.int64(mem[nes.cart.ppu_page[addr >> 10] + addr])
    ppu.data_bus = ppu.fetch_nt
    ppu.octal_latch = addr & 0xFF
    ppu.dot = 340
    ppu.dots = before + 340
