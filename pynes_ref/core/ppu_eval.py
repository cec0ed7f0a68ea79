"""Sprite evaluation of the 2C02, the OAM data bus and the corruption of OAM.

Evaluation fills secondary OAM for the next line: dots 1-64 clear it, on dots
65-256 an odd dot reads primary OAM and the even dot after it decides. Nothing
of it is drawn before dot 257, so it is worked out late: ``sprites_catch_up``
runs it from ``eval_dot`` to the present dot when dot 256 comes or when a
register access could see or change it. While rendering is being switched on or
off (``ppu.unsettled``) it goes dot by dot instead.

Two machines read the same OAM. One drives what is drawn: in-range search,
sprite 0, the overflow flag and OAMADDR. The other only follows the byte on the
OAM data bus, which $2004 reads while rendering.

https://www.nesdev.org/wiki/PPU_sprite_evaluation, /PPU_OAM.
Called by ``ppu`` (dots) and ``ppu_regs`` (registers).
"""

import numpy as np

from .jit import inline, inner, outline
from .ppu_sprites import HALTED, OVERFLOW, UNUSED_X, sprite_height
from .ppu_vram import PRE_RENDER, RENDERING


@inner
def _search(nes, first, last):
    """Dots ``first``-``last`` (65-256) of the machine that decides what is drawn."""
    ppu = nes.ppu
    # Sprites of scanline 0 would be found on the pre-render line, which finds none.
    line = np.int64(-1) if ppu.scanline == PRE_RENDER else ppu.scanline
    height = sprite_height(ppu)
    n = ppu.eval_n
    m = ppu.eval_m
    found = ppu.eval_found
    room = ppu.eval_room
    copying = ppu.eval_copying
    full = ppu.eval_full
    done = ppu.eval_done
    byte = ppu.eval_byte
    for dot in range(first, last + 1):
        if done:
            break
        if dot & 1:
            # The address counter of evaluation is OAMADDR itself.
            ppu.oam_addr = (4 * n + m) & 0xFF
            byte = np.int64(ppu.oam[ppu.oam_addr])
            continue
        hit = 0 <= line - byte < height
        if full:
            # Hardware bug: after eight sprites the search steps through the bytes of
            # the sprites, too.
            if hit:
                ppu.status |= OVERFLOW
                done = 1
            else:
                m = (m + 1) & 3
                if n == 63:
                    done = 1
                else:
                    n += 1
        elif copying:
            if room < 32:
                ppu.oam2[room] = byte
            room += 1
            m += 1
            if m == 4:
                m = 0
                n = (n + 1) & 63
            # A copy ends where secondary OAM is full by fours, so one that began in the
            # middle of a sprite (OAMADDR) goes on into the next sprite.
            if room & 3 == 0:
                copying = 0
                m = 0
                if found == 8:
                    full = 1
                if n == 0:
                    done = 1
        else:
            if hit and found < 8:
                if room < 32:
                    ppu.oam2[room] = byte
                room += 1
                found += 1
                # "Sprite 0" is the sprite the search began with, whatever its number.
                if ppu.eval_first:
                    ppu.eval_zero = 1
                copying = 1
                m += 1
                if m == 4:
                    copying = 0
                    m = 0
                    if n == 63:
                        done = 1
                    else:
                        n += 1
            elif hit:
                ppu.status |= OVERFLOW
                done = 1
            elif n == 63:
                done = 1
            else:
                n += 1
            ppu.eval_first = 0
    ppu.eval_n = n
    ppu.eval_m = m
    ppu.eval_found = found
    ppu.eval_room = room
    ppu.eval_copying = copying
    ppu.eval_full = full
    ppu.eval_done = done
    ppu.eval_byte = byte


@inner
def _follow_bus(nes, first, last):
    """Dots ``first``-``last`` (65-256) of the machine that follows the OAM data bus."""
    ppu = nes.ppu
    line = ppu.scanline
    height = sprite_height(ppu)
    sprite = ppu.bus_n
    byte = ppu.bus_m
    room = ppu.bus_room
    done = ppu.bus_done
    inside = ppu.bus_inside
    after = ppu.bus_after
    value = ppu.oam_bus
    for dot in range(first, last + 1):
        if dot & 1:
            if dot == 65:
                sprite = (ppu.eval_start >> 2) & 63
                byte = ppu.eval_start & 3
                room = 0
                done = 0
                inside = 0
                after = 0
            value = np.int64(ppu.oam[4 * sprite + byte])
            if byte == 2:
                value &= 0xE3
            continue
        hit = 0 <= line - value < height
        if done:
            # Writes to a full secondary OAM become reads; and after the end of OAM, too,
            # however many were found ($2004 Stress, section 6).
            sprite = (sprite + 1) & 63
            value = np.int64(ppu.bus_oam2[room & 31])
            continue
        if hit:
            inside = 1
        if room < 32:
            ppu.bus_oam2[room] = value
            if inside:
                byte += 1
                room += 1
                if byte == 4:
                    byte = 0
                    sprite = (sprite + 1) & 63
                    if sprite == 0:
                        done = 1
                if room & 3 == 0:
                    inside = 0
                    if byte != 0 and not hit:
                        byte = 0
            else:
                byte = 0
                sprite = (sprite + 1) & 63
                if sprite == 0:
                    done = 1
        else:
            value = np.int64(ppu.bus_oam2[room & 31])
            if inside:
                byte += 1
                if byte == 4:
                    byte = 0
                    sprite = (sprite + 1) & 63
                # The overflowing sprite is still read to its end.
                if after == 0:
                    after = 3
                else:
                    after -= 1
                    if after == 0:
                        done = 1
                        byte = 0
            else:
                sprite = (sprite + 1) & 63
                byte = (byte + 1) & 3
                if sprite == 0:
                    done = 1
    ppu.bus_n = sprite
    ppu.bus_m = byte
    ppu.bus_room = room
    ppu.bus_done = done
    ppu.bus_inside = inside
    ppu.bus_after = after
    ppu.oam_bus = value


@inline
def _start_line(ppu):
    ppu.eval_n = (ppu.oam_addr >> 2) & 63
    ppu.eval_m = ppu.oam_addr & 3
    ppu.eval_found = 0
    ppu.eval_room = 0
    ppu.eval_copying = 0
    ppu.eval_full = 0
    ppu.eval_done = 0
    ppu.eval_byte = 0xFF
    ppu.eval_zero = 0
    ppu.eval_first = 1


@inline
def commit_sprites(ppu):
    """Dot 256: what was found is what the next line shows; the other shifters are emptied."""
    ppu.spr_count = ppu.eval_found
    ppu.spr_zero = ppu.eval_zero
    for i in range(ppu.spr_count, 8):
        ppu.spr_pixels[i] = 0
        ppu.spr_counter[i] = (ppu.spr_counter[i] & HALTED) | UNUSED_X


@outline
def evaluate(nes, last):
    """Run evaluation up to dot ``last`` of the present line.

    The data bus has nothing to show on the pre-render line, nor on the dot on which
    rendering goes off (evaluation notices that a dot later).
    """
    ppu = nes.ppu
    dot = ppu.eval_dot + 1
    ppu.eval_dot = last
    bus = ppu.scanline < 240 and (ppu.mask & RENDERING) != 0
    if dot == 0:
        _start_line(ppu)
        dot = 1
    if dot <= 64 and dot <= last:
        end = min(last, 64)
        for i in range((dot - 1) >> 1, end >> 1):
            ppu.oam2[i] = 0xFF
        if bus:
            ppu.oam_bus = 0xFF
            for i in range((dot - 1) >> 1, ((end - 1) >> 1) + 1):
                ppu.bus_oam2[i] = 0xFF
        dot = 65
    if dot <= 256 and dot <= last:
        end = min(last, 256)
        if dot == 65:
            ppu.eval_start = ppu.oam_addr if ppu.eval_done else 4 * ppu.eval_n + ppu.eval_m
        _search(nes, dot, end)
        if bus:
            _follow_bus(nes, dot, end)
        if end == 256:
            commit_sprites(ppu)
        dot = 257
    if bus and dot <= 321 <= last:
        ppu.oam_bus = np.int64(ppu.bus_oam2[0])


@outline
def follow_bus_late(nes):
    """Work out what the OAM data bus did on the last whole line (``ppu_line``), which left that open."""
    ppu = nes.ppu
    line = ppu.scanline
    ppu.scanline = ppu.bus_late - 1
    ppu.bus_late = 0
    for i in range(32):
        ppu.bus_oam2[i] = 0xFF
    _follow_bus(nes, 65, 256)
    ppu.oam_bus = np.int64(ppu.bus_oam2[0])
    ppu.scanline = line


@inner
def sprites_catch_up(nes):
    """Bring evaluation to the present dot, before anything that can see or change it."""
    ppu = nes.ppu
    if ppu.bus_late:
        follow_bus_late(nes)
    if (
        ppu.unsettled == 0
        and ppu.eval_dot < ppu.dot
        and ppu.mask & RENDERING
        and (ppu.scanline < 240 or ppu.scanline == PRE_RENDER)
    ):
        evaluate(nes, ppu.dot)


@inner
def oam_bus_value(nes):
    """What $2004 reads on a visible line while rendering (evaluation has been caught up)."""
    ppu = nes.ppu
    if 257 <= ppu.dot <= 320:
        # Y, tile, attributes, X, and X again for the rest of the eight dots.
        step = (ppu.dot - 257) & 7
        return np.int64(ppu.bus_oam2[((ppu.dot - 257) >> 3) * 4 + min(step, 3)])
    return ppu.oam_bus


@outline
def corrupt_oam(nes):
    """Rendering is back: the row that was being refreshed when it stopped becomes a copy of row 0."""
    ppu = nes.ppu
    row = ppu.corrupt_row
    for i in range(8):
        ppu.oam[8 * row + i] = ppu.oam[i]
    ppu.oam2[row] = ppu.oam2[0]
    ppu.corrupt_pending = 0
