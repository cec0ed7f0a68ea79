"""The registers of the 2C02 as the CPU sees them, $2000-$2007.

Every access comes when the PPU stands at dot 3n + 1 of CPU cycle n (``clock``).
What the CPU last put on or got from the PPU's data bus stays there and fades
within a second, bit by bit (``ppu_open_bus``): bits 0-4, 5 and 6-7 separately,
because not every read drives all of them.

https://www.nesdev.org/wiki/PPU_registers, /Open_bus_behavior, /PPU_scrolling.
Called by ``bus`` and ``dma``.
"""

import numpy as np

from .jit import inline, inner, outline
from .ppu_eval import oam_bus_value, sprites_catch_up
from .ppu_vram import (
    PRE_RENDER,
    RENDERING,
    VBL,
    drive_a12,
    is_rendering,
    palette_cell,
    step_v,
    vram_read,
    vram_write,
)

SPRITE_FLAGS = 0x60
FADE = 1_000_000  # CPU cycles, some 0.6 s
BITS = np.array([0x1F, 0x20, 0xC0], np.int64)
ALL_BITS, STATUS_BITS, PALETTE_BITS = 7, 6, 3  # sets of the three groups
LOAD_DELAY = 4  # dots from a write of $2001 to loading of the background shifters
COPY_DELAY = 4  # dots from the second write of $2006 to v, where a tile is being fetched
READ_DELAY = 5  # dots from a read of $2007 while rendering to the load of its buffer


@inline
def _cycle(ppu):
    return (ppu.dots - 1) // 3


@inline
def _fade_open_bus(ppu, cycle):
    for i in range(3):
        if cycle >= ppu.open_bus_until[i]:
            ppu.open_bus &= ~BITS[i]


@inline
def _drive_open_bus(ppu, value, groups):
    _drive_in_cycle(ppu, value, groups, _cycle(ppu))


@inline
def _drive_in_cycle(ppu, value, groups, cycle):
    until = cycle + FADE
    for i in range(3):
        if (groups >> i) & 1:
            ppu.open_bus = (ppu.open_bus & ~BITS[i]) | (value & BITS[i])
            ppu.open_bus_until[i] = until


@inner
def _take_status(ppu, cycle):
    """The byte a read of $2002 gets, and what such a read does in any case."""
    value = (ppu.status & 0xE0) | (ppu.open_bus & 0x1F)
    ppu.w = 0
    _drive_in_cycle(ppu, value, STATUS_BITS, cycle)
    return value


@inner
def _read_status(nes):
    ppu = nes.ppu
    value = _take_status(ppu, _cycle(ppu))
    ppu.status &= ~VBL
    ppu.nmi_line = 0
    if ppu.scanline == 241 and ppu.dot == 0:
        ppu.vbl_suppressed = 1
    # VBL is latched when the read begins; the sprite flags are seen when it ends, after
    # they have been cleared (AccuracyCoin, "$2002 flag timing").
    if ppu.scanline == PRE_RENDER and ppu.dot == 0:
        value &= ~SPRITE_FLAGS
    return value


@inner
def _read_oam(nes):
    ppu = nes.ppu
    value = np.int64(ppu.oam[ppu.oam_addr])
    if ppu.oam_addr & 3 == 2:
        value &= 0xE3  # bits 2-4 of the attributes do not exist
    if ppu.mask & RENDERING:
        if ppu.scanline < 240:
            value = oam_bus_value(nes)
        elif ppu.scanline == PRE_RENDER and (1 <= ppu.dot <= 64 or 257 <= ppu.dot <= 320):
            value = np.int64(0xFF)
    return value


@inner
def _read_data(nes, mem):
    ppu = nes.ppu
    addr = ppu.v & 0x3FFF
    tick = ppu.dots + 1
    if addr >= 0x3F00:
        value = np.int64(ppu.palette[palette_cell(addr)]) & (0x30 if ppu.mask & 0x01 else 0x3F)
        value |= ppu.open_bus & 0xC0
        # Palette RAM answers at once; the buffer takes the nametable byte under it.
        ppu.data_buffer = vram_read(nes, mem, addr & 0x2FFF)
        _drive_open_bus(ppu, value, PALETTE_BITS)
        step_v(ppu)
    else:
        # The buffer is loaded too late for a read in the very next CPU cycle, which
        # gets the old byte once more (blargg's double_2007_read).
        value = ppu.data_buffer if ppu.dots - ppu.data_at > 3 else ppu.data_before
        _drive_open_bus(ppu, value, ALL_BITS)
        if is_rendering(ppu):
            sprites_catch_up(nes)
            ppu.read_delay = READ_DELAY
            ppu.read_step = 1
            ppu.unsettled = 1
        else:
            ppu.data_before = ppu.data_buffer
            ppu.data_at = ppu.dots
            ppu.data_buffer = vram_read(nes, mem, addr)
            step_v(ppu)
    drive_a12(nes, mem, ppu.v, tick)
    return value


@inner
def ppu_start(nes):
    """Before running: Python may have changed OAM or registers since."""
    nes.scratch.status_quiet = 0


@inner
def ppu_stop(nes):
    """After running: how late evaluation is must not tell what has looked at it."""
    sprites_catch_up(nes)


@outline
def ppu_poll_status(nes, cycle):
    """A CPU read of $2002 in a cycle before ``scratch.status_quiet``, for which the PPU need not be run."""
    ppu = nes.ppu
    _fade_open_bus(ppu, cycle)
    return _take_status(ppu, cycle)


@outline
def ppu_ctrl_stands(nes, cycle, value):
    """A CPU write of $2000 in ``cycle`` with what it holds: it is done, and the PPU need not be run; else 0."""
    ppu = nes.ppu
    if value != ppu.ctrl or ((ppu.t >> 10) ^ value) & 3 or not ppu.whole_lines:
        return 0
    _drive_in_cycle(ppu, value, ALL_BITS, cycle)
    return 1


@outline
def ppu_read(nes, mem, reg):
    """A CPU read of $2000 + ``reg``."""
    ppu = nes.ppu
    _fade_open_bus(ppu, _cycle(ppu))
    if reg == 2:
        sprites_catch_up(nes)
        return _read_status(nes)
    nes.scratch.status_quiet = 0
    if reg == 7:
        return _read_data(nes, mem)
    if reg == 4:
        sprites_catch_up(nes)
        value = _read_oam(nes)
        _drive_open_bus(ppu, value, ALL_BITS)
        return value
    return ppu.open_bus


@inner
def _write_ctrl(ppu, value):
    ppu.t = (ppu.t & ~0x0C00) | ((value & 3) << 10)
    if value & 0x80 == 0:
        ppu.nmi_line = 0
    elif ppu.ctrl & 0x80 == 0 and ppu.status & VBL:
        ppu.nmi_line = 1
    ppu.ctrl = value


@inner
def _write_mask(ppu, value):
    was = ppu.mask & RENDERING
    now = value & RENDERING
    ppu.mask_before = ppu.mask
    ppu.mask_dots = ppu.dots
    ppu.mask = value
    if was and not now and ppu.corrupt_pending == 0 and (ppu.scanline < 241 or ppu.scanline == PRE_RENDER):
        ppu.corrupt_armed = 1
    if (was != 0) != (now != 0):
        ppu.unsettled = 1
    if ppu.unsettled:
        ppu.load_delay = LOAD_DELAY


@inner
def _write_oam(nes, value):
    ppu = nes.ppu
    if is_rendering(ppu):
        # No write, but OAMADDR goes on to the next sprite.
        ppu.oam_addr = (ppu.oam_addr + 4) & 0xFC
    else:
        ppu.oam[ppu.oam_addr] = value
        ppu.oam_addr = (ppu.oam_addr + 1) & 0xFF


@inner
def _write_scroll(ppu, value):
    if ppu.w == 0:
        ppu.t = (ppu.t & ~0x001F) | (value >> 3)
        ppu.x = value & 7
    else:
        ppu.t = (ppu.t & ~0x73E0) | ((value & 0xF8) << 2) | ((value & 7) << 12)
    ppu.w ^= 1


@inner
def _write_addr(nes, mem, value):
    ppu = nes.ppu
    if ppu.w == 0:
        ppu.t = (ppu.t & 0x00FF) | ((value & 0x3F) << 8)
        ppu.w = 1
        return
    ppu.w = 0
    ppu.t = (ppu.t & 0x7F00) | value
    if is_rendering(ppu) and (1 <= ppu.dot <= 256 or 321 <= ppu.dot <= 336):
        sprites_catch_up(nes)
        ppu.copy_delay = COPY_DELAY
        ppu.unsettled = 1
    else:
        ppu.v = ppu.t
        drive_a12(nes, mem, ppu.v, ppu.dots + 1)


@inner
def _write_data(nes, mem, value):
    ppu = nes.ppu
    addr = ppu.v & 0x3FFF
    if addr >= 0x3F00:
        ppu.palette[palette_cell(addr)] = value & 0x3F
    else:
        vram_write(nes, mem, addr, value)
    step_v(ppu)
    drive_a12(nes, mem, ppu.v, ppu.dots + 1)


@outline
def ppu_write(nes, mem, reg, value):
    """A CPU write of $2000 + ``reg``."""
    ppu = nes.ppu
    nes.scratch.status_quiet = 0
    _drive_open_bus(ppu, value, ALL_BITS)
    if reg == 7:
        _write_data(nes, mem, value)
    elif reg == 4:
        sprites_catch_up(nes)
        _write_oam(nes, value)
    elif reg == 3:
        sprites_catch_up(nes)
        ppu.oam_addr = value
    elif reg != 2 and _cycle(ppu) >= ppu.writable_at:
        if reg == 0:
            sprites_catch_up(nes)
            _write_ctrl(ppu, value)
        elif reg == 1:
            sprites_catch_up(nes)
            _write_mask(ppu, value)
        elif reg == 5:
            _write_scroll(ppu, value)
        else:
            _write_addr(nes, mem, value)


@outline
def ppu_dma_write(nes, value):
    """A byte of OAM DMA, which reaches OAM even while rendering."""
    ppu = nes.ppu
    nes.scratch.status_quiet = 0
    sprites_catch_up(nes)
    ppu.oam[ppu.oam_addr] = value
    ppu.oam_addr = (ppu.oam_addr + 1) & 0xFF


@outline
def ppu_peek(nes, mem, reg):
    """What a read of $2000 + ``reg`` would return, without doing anything.

    Sprite evaluation is not caught up for it: while a line is being evaluated
    the overflow flag and the OAM data bus are those of the last register access.
    """
    ppu = nes.ppu
    cycle = _cycle(ppu)
    bus = ppu.open_bus
    for i in range(3):
        if cycle >= ppu.open_bus_until[i]:
            bus &= ~BITS[i]
    if reg == 2:
        return (ppu.status & 0xE0) | (bus & 0x1F)
    if reg == 4:
        return _read_oam(nes)
    if reg == 7:
        addr = ppu.v & 0x3FFF
        if addr < 0x3F00:
            return ppu.data_buffer
        value = np.int64(ppu.palette[palette_cell(addr)]) & (0x30 if ppu.mask & 0x01 else 0x3F)
        return value | (bus & 0xC0)
    return bus
