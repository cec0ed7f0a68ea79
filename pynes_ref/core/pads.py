"""The two standard controllers behind $4016 and $4017.

https://www.nesdev.org/wiki/Standard_controller - ``bus`` reads and writes it.
OUT0 changes only when the 2A03 goes from a put to a get cycle, so a write of
$4016 reaches the pads one or two cycles later (AccuracyCoin, "Controller
Strobing").
"""

import numpy as np

from .jit import inner, outline
from .state import NEVER


@inner
def pad_sync(nes, n):
    """Let a pending write of $4016 reach the pads if it arrives by cycle ``n``."""
    pads = nes.pads
    if n >= pads.write_pending:
        pads.write_pending = NEVER
        pads.strobe = pads.write_value & 1
        if pads.strobe:
            pads.shift[0] = pads.buttons[0]
            pads.shift[1] = pads.buttons[1]


@outline
def pad_write(nes, n, value):
    """CPU writes ``value`` to $4016 in cycle ``n``."""
    pads = nes.pads
    pad_sync(nes, n)
    pads.write_value = value
    pads.write_pending = n + 1 + (n & 1)


@outline
def pad_read(nes, port):
    """Return D0 of a port and clock its shift register (ones follow the eighth bit).

    A port is clocked when its read line is let go. Reads in consecutive cycles
    hold it down, so that a CPU halted on $4016 by DMA takes one bit and not one
    a cycle; the CPU's own read, after the byte DMA fetched elsewhere, takes the
    next (blargg's dma_4016_read: "08 08 07 08 08"). The first Famicoms clock a port
    in every such cycle (``every_read``; AccuracyCoin accepts either).
    """
    pads = nes.pads
    n = np.int64(nes.cpu.clk)
    pad_sync(nes, n)
    held = pads.read_at[port] == n - 1 and pads.every_read == 0
    pads.read_at[port] = n
    if pads.strobe:
        return np.int64(pads.buttons[port]) & 1
    if held:
        return np.int64(pads.bit[port])
    bits = np.int64(pads.shift[port])
    pads.bit[port] = bits & 1
    pads.shift[port] = (bits >> 1) | 0x80
    return bits & 1


@inner
def pad_peek(nes, port):
    """What ``pad_read`` would return for a first read now, without clocking the port."""
    pads = nes.pads
    if pads.strobe:
        return np.int64(pads.buttons[port]) & 1
    return np.int64(pads.shift[port]) & 1


@outline
def set_buttons(nes, port, buttons):
    """Press ``buttons`` (bit 0 = A ... bit 7 = Right) on a port."""
    pads = nes.pads
    pad_sync(nes, np.int64(nes.cpu.clk))
    pads.buttons[port] = buttons
    if pads.strobe:
        pads.shift[port] = buttons
