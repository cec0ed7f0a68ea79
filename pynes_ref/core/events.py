"""What a CPU access does when it is more than a memory access.

``cpu`` calls ``slow_read`` and ``slow_write`` when an address is not plain
memory or when ``next_event`` is due, ``boundary`` when an instruction ends
after ``int_at``. All the CPU passes is the cycle, the address and the byte its
last access left on the bus.
"""

import numpy as np

from .apu import apu_next_event, apu_run
from .bus import bus_read, bus_write
from .clock import cycle_end, sample, settle
from .dma import dma_pending, dma_run
from .jit import inline, inner, outline
from .mappers.dispatch import QUIET, mapper_irq_quiet
from .ppu import ppu_run
from .ppu_next import ppu_hold_status, ppu_next_a12_dot, ppu_next_frame_dot, ppu_next_nmi_dot
from .ppu_regs import ppu_ctrl_stands, ppu_poll_status

# The boundary check starts this many cycles before a frame can end.
FRAME_MARGIN = 3

GO_ON, INTERRUPT, STOP = range(3)


@outline
def arm(nes, clk):
    """Set ``next_event`` and ``int_at`` after anything that may have moved them.

    ``next_event`` is the first cycle before whose access the end of the cycle
    before must have been sampled. ``int_at``: instructions that end in a later
    cycle have something to look at; -1 makes every one look.
    """
    cpu = nes.cpu
    # Dot number d has run by the end of cycle d // 3.
    due = ppu_next_nmi_dot(nes) // 3
    if nes.cart.a12_watch:
        quiet = mapper_irq_quiet(nes)
        if quiet < QUIET:
            due = min(due, ppu_next_a12_dot(nes, quiet) // 3)
    cpu.ppu_due = due
    event = min(due, apu_next_event(nes)) + 1
    if dma_pending(nes, clk + 1):
        event = clk + 1
    frame = ppu_next_frame_dot(nes) // 3 - FRAME_MARGIN
    int_at = cpu.nmi_at
    if cpu.irq_at < int_at:
        int_at = cpu.irq_at
    if clk >= frame or cpu.irq_last >= 0 or cpu.stop_always or nes.ppu.frame_done:
        int_at = -1
    elif frame < event:
        event = frame
    if event <= clk:
        event = clk + 1
    cpu.next_event = event
    cpu.int_at = int_at


@outline
def slow_read(nes, mem, clk, addr, bus):
    """Read ``addr`` in cycle ``clk`` or, after DMA, in a later one (then ``cpu.clk``)."""
    cpu = nes.cpu
    # A read of $4015 left the external bus as it was.
    if cpu.status_read != clk - 1:
        cpu.open_bus = bus
    cpu.int_bus = bus
    if addr & 0xE007 == 0x2002 and 3 * clk + 2 < nes.scratch.status_quiet and clk < cpu.next_event:
        value = ppu_poll_status(nes, clk)
        cpu.open_bus = value
        cpu.int_bus = value
        cpu.clk = clk
        return value
    if clk >= cpu.next_event:
        settle(nes, mem, clk - 1)
        if dma_pending(nes, clk):
            clk = dma_run(nes, mem, clk, addr)
    cpu.clk = clk
    ix = nes.cart.cpu_page[addr >> 11] + addr
    if ix >= 0:
        value = np.int64(mem[ix])
    elif addr < 0x4000:
        ppu_run(nes, mem, 3 * clk + 1)
        value = bus_read(nes, mem, addr)
        ppu_run(nes, mem, 3 * clk + 2)
        sample(nes, clk)
        if addr & 7 == 2:
            ppu_hold_status(nes)
    else:
        if addr == 0x4015:
            apu_run(nes, mem, clk)
        value = bus_read(nes, mem, addr)
        if addr == 0x4015:
            cpu.status_read = clk
            sample(nes, clk)
    arm(nes, clk)
    return value


@outline
def slow_write(nes, mem, clk, addr, value):
    """Write ``value`` to ``addr`` in cycle ``clk``."""
    cpu = nes.cpu
    if addr & 0xE007 == 0x2000 and clk < cpu.next_event and ppu_ctrl_stands(nes, clk, value):
        cpu.open_bus = value
        cpu.int_bus = value
        cpu.clk = clk
        return
    if clk >= cpu.next_event:
        settle(nes, mem, clk - 1)
    cpu.clk = clk
    if nes.cart.cpu_wpage[addr >> 11] + addr >= 0:
        bus_write(nes, mem, addr, value)
    elif 0x4000 <= addr < 0x4020:
        apu_run(nes, mem, clk)
        bus_write(nes, mem, addr, value)
        sample(nes, clk)
    else:
        ppu_run(nes, mem, 3 * clk + 1)
        bus_write(nes, mem, addr, value)
        ppu_run(nes, mem, 3 * clk + 2)
        sample(nes, clk)
    arm(nes, clk)


@inline
def _asserted(cpu, poll):
    """Whether IRQ was asserted at the end of cycle ``poll``."""
    return poll >= cpu.irq_at or cpu.irq_from <= poll <= cpu.irq_last


@inner
def interrupted(nes, nmi_poll, irq_poll, early_poll, masked):
    """1 when an instruction that polled at the end of these cycles is followed by an interrupt.

    A poll is -1 when there was none; a branch polls IRQ a second time, early.
    ``masked`` is the I flag they used.
    """
    cpu = nes.cpu
    if nmi_poll >= cpu.nmi_at:
        return 1
    if masked == 0 and (_asserted(cpu, irq_poll) or _asserted(cpu, early_poll)):
        return 1
    return 0


@outline
def boundary(nes, mem, clk, nmi_poll, irq_poll, early_poll, masked):
    """Decide what follows an instruction that ended in cycle ``clk``: GO_ON, INTERRUPT or STOP."""
    cpu = nes.cpu
    if nes.ppu.frame_done or clk >= ppu_next_frame_dot(nes) // 3 - FRAME_MARGIN:
        cycle_end(nes, mem, clk)
    cpu.clk = clk
    if nes.ppu.frame_done or cpu.stop_always:
        cpu.nmi_poll = nmi_poll
        cpu.irq_poll = irq_poll
        cpu.early_poll = early_poll
        cpu.masked = masked
        return STOP
    verdict = interrupted(nes, nmi_poll, irq_poll, early_poll, masked)
    # Later instructions poll later than an assertion that has ended.
    cpu.irq_last = -1
    arm(nes, clk)
    return verdict
