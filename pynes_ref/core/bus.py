"""The CPU's address space as the 2A03 and the board decode it, without time.

https://www.nesdev.org/wiki/CPU_memory_map - the CPU and the DMA unit call it
when everything stands at the access point of the present cycle
(``nes.cpu.clk``). An address that nothing drives returns what the bus held.
https://www.nesdev.org/wiki/Open_bus_behavior
"""

import numpy as np

from .apu import apu_read_status, apu_write
from .jit import outline
from .mappers.dispatch import mapper_read, mapper_write
from .pads import pad_read, pad_write
from .ppu_regs import ppu_read, ppu_write


@outline
def bus_read(nes, mem, addr):
    """Read ``addr`` with all its side effects; returns the byte the reader gets."""
    cpu = nes.cpu
    ix = nes.cart.cpu_page[addr >> 11] + addr
    if ix >= 0:
        value = np.int64(mem[ix])
    elif addr < 0x4000:
        value = ppu_read(nes, mem, addr & 7)
    elif addr == 0x4015:
        # The status register sits on the internal bus: bit 5 is what that bus
        # held, and the external bus keeps its value.
        return (apu_read_status(nes, mem) & 0xDF) | (cpu.int_bus & 0x20)
    elif addr == 0x4016 or addr == 0x4017:
        value = (cpu.open_bus & 0xE0) | pad_read(nes, addr & 1)
    elif addr < 0x4020:
        value = cpu.open_bus
    else:
        value = mapper_read(nes, mem, addr, cpu.clk)
        if value < 0:
            value = cpu.open_bus
    cpu.open_bus = value
    if nes.dma.in_dmc == 0:
        cpu.int_bus = value
    return value


@outline
def bus_write(nes, mem, addr, value):
    """Write ``value`` to ``addr``."""
    cpu = nes.cpu
    cpu.open_bus = value
    cpu.int_bus = value
    ix = nes.cart.cpu_wpage[addr >> 11] + addr
    if ix >= 0:
        mem[ix] = value
    elif addr < 0x4000:
        ppu_write(nes, mem, addr & 7, value)
    elif addr == 0x4014:
        nes.dma.oam_page = value
        nes.dma.oam_pending = 1
    elif addr == 0x4016:
        pad_write(nes, cpu.clk, value)
    elif addr < 0x4018:
        apu_write(nes, mem, addr, value, cpu.clk)
    elif addr >= 0x4020:
        mapper_write(nes, mem, addr, value, cpu.clk)
