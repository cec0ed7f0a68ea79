"""The entry points: run frames or instructions, reset, look and poke.

Python calls these; everything below is reachable only from compiled code.
https://www.nesdev.org/wiki/PPU_frame_timing
"""

import numpy as np

from .apu import apu_peek_status, apu_reset
from .bus import bus_write
from .clock import cycle_end
from .cpu import run_cpu
from .jit import door, inner
from .mappers.dispatch import mapper_read, mapper_reset
from .pads import pad_peek, set_buttons
from .ppu import ppu_reset
from .ppu_regs import ppu_peek
from .state import NEVER

FRAMES, STEP, RESET, START, PEEK, POKE = range(6)
RESET_CYCLES = 8


@inner
def _peek(nes, mem, addr):
    ix = nes.cart.cpu_page[addr >> 11] + addr
    if ix >= 0:
        return np.int64(mem[ix])
    if addr < 0x4000:
        return ppu_peek(nes, mem, addr & 7)
    if addr == 0x4015:
        return apu_peek_status(nes) | (nes.cpu.int_bus & 0x20)
    if addr == 0x4016 or addr == 0x4017:
        return (nes.cpu.open_bus & 0xE0) | pad_peek(nes, addr & 1)
    if addr < 0x4020:
        return nes.cpu.open_bus
    value = mapper_read(nes, mem, addr, nes.cpu.clk)
    return nes.cpu.open_bus if value < 0 else value


@inner
def _poke(nes, mem, addr, value):
    ix = nes.cart.cpu_wpage[addr >> 11] + addr
    if ix >= 0:
        mem[ix] = value
    else:
        bus_write(nes, mem, addr, value)


@door
def advance(nes, mem, what, count, a, b):
    """The one door to the compiled console.

    ``what``: FRAMES runs ``count`` frames with buttons ``a`` and ``b`` held;
    STEP runs ``count`` instructions (an interrupt sequence counts as one);
    START runs the reset sequence of a console just built, RESET that of the
    Reset button; PEEK returns the byte at address ``a``, POKE writes ``b`` to
    it. Returns the number of frames or instructions run, or the byte.
    """
    cpu = nes.cpu
    if what == FRAMES:
        set_buttons(nes, 0, a)
        set_buttons(nes, 1, b)
        cpu.stop_always = 0
        for _ in range(count):
            # A jammed CPU lets no time pass, so its frames are empty.
            if nes.ppu.frame_done == 0 and cpu.jammed == 0:
                run_cpu(nes, mem)
            nes.ppu.frame_done = 0
        return count
    if what == STEP:
        cpu.stop_always = 1
        done = 0
        while done < count and cpu.jammed == 0:
            run_cpu(nes, mem)
            cycle_end(nes, mem, cpu.clk)
            done += 1
        cpu.stop_always = 0
        return done
    if what == PEEK:
        return _peek(nes, mem, a)
    if what == POKE:
        _poke(nes, mem, a, b)
        return 0
    if what == RESET:
        cpu.s = (cpu.s - 3) & 0xFF
        cpu.p |= 4
        ppu_reset(nes)
        apu_reset(nes, mem)
        mapper_reset(nes, mem, 0)
        nes.dma.oam_pending = 0
    cpu.jammed = 0
    cpu.nmi_at = NEVER
    cpu.irq_at = NEVER
    cpu.irq_from = NEVER
    cpu.irq_last = -1
    cpu.nmi_poll = -1
    cpu.irq_poll = -1
    cpu.early_poll = -1
    cpu.status_read = -1
    cpu.clk += RESET_CYCLES
    cycle_end(nes, mem, cpu.clk)
    page = nes.cart.cpu_page[31]
    lo = np.int64(mem[page + 0xFFFC])
    hi = np.int64(mem[page + 0xFFFD])
    cpu.pc = lo | (hi << 8)
    cpu.open_bus = hi
    cpu.int_bus = hi
    return 0


def peek(nes, mem, addr):
    """The byte a CPU read of ``addr`` would return, without any side effect."""
    return advance(nes, mem, PEEK, 0, addr, 0)


def poke(nes, mem, addr, value):
    """Write ``value`` to ``addr`` as the CPU would, in no time."""
    advance(nes, mem, POKE, 0, addr, value)
