"""The 2A03's two DMA units: OAM DMA ($4014) and the DMC's, and how they share the bus.

https://www.nesdev.org/wiki/DMA - ``events.py`` calls ``dma_run`` when the CPU
wants to read while a DMA is pending; writes cannot be halted.

The CPU's cycles alternate between put (odd) and get (even). DMA reads on get
cycles, OAM DMA writes on put cycles; in every other cycle the halted CPU
repeats the read it holds, side effects and all. The first cycle of a DMC DMA,
and that of an OAM DMA if it is a get, only halt; the halt ends with a get
cycle. When both want a get cycle the DMC has it, and OAM DMA has to align again.

The registers at $4000-$401F are selected by the 6502's own address bus but
decoded from the low five bits of the address that DMA puts out. So while the
CPU is halted on a read there, DMA reads registers along with memory, and while
it is not, DMA cannot read them.
https://www.nesdev.org/wiki/DMA#Register_conflicts (AccuracyCoin: DMC DMA Bus
Conflicts, APU Register Activation, Internal Data Bus)
"""

from .apu import apu_read_status, apu_run
from .bus import bus_read
from .clock import cycle_begin, cycle_end, settle
from .dmc import dmc_deliver
from .jit import inline, inner, outline
from .mappers.dispatch import QUIET, mapper_irq_quiet
from .pads import pad_read
from .ppu import ppu_run
from .ppu_regs import ppu_dma_write


@inline
def _dmc_wanted(nes, n):
    """Whether the DMC's DMA takes part in cycle ``n``.

    A load held off by writes waits for the next get cycle to halt, as in the
    recordings; by the wiki it halts in the first cycle that reads. Either way
    it fetches in the same cycle, but the CPU gets one read more done before.
    """
    apu = nes.apu
    if apu.dmc_request == 0 or (apu.dmc_enabled == 0 and apu.dmc_stopping == 0):
        return False
    return apu.dmc_load == 0 or nes.dma.dmc_active != 0 or n & 1 == 0


@inline
def dma_pending(nes, n):
    """Whether a read in cycle ``n`` would be halted (with the APU at the end of cycle n - 1)."""
    dma = nes.dma
    return dma.oam_pending != 0 or dma.oam_active != 0 or _dmc_wanted(nes, n)


@inline
def _registers_active(halted):
    return (halted & 0xFFE0) == 0x4000


@inline
def _driven(nes, addr):
    """Whether memory or a chip outside the 2A03 answers a read of ``addr``."""
    return addr < 0x4000 or addr >= 0x8000 or nes.cart.cpu_page[addr >> 11] >= 0


@inner
def _status_conflict(nes, mem, addr, oam):
    """DMA reads ``addr`` and $4015: the status stays on the internal bus, the external one follows ``addr``.

    OAM DMA gets the status. So does the DMC's by the wiki; in the recordings,
    and no test ROM tells, it gets the byte from outside.
    """
    value = 0
    nes.dma.in_dmc = 1
    if (addr & 0xFFE0) != 0x4000:
        value = bus_read(nes, mem, addr)
    nes.dma.in_dmc = 0
    status = (apu_read_status(nes, mem) & 0xDF) | (nes.cpu.int_bus & 0x20)
    return status if oam else value


@inner
def _pad_conflict(nes, port):
    """A controller answers a DMA read along with what is on the bus."""
    cpu = nes.cpu
    value = (cpu.open_bus & 0xE0) | pad_read(nes, port)
    cpu.open_bus = value
    cpu.int_bus = value
    return value


@inner
def _dma_read(nes, mem, addr, halted, oam):
    """DMA reads ``addr`` while the CPU is halted reading ``halted``.

    ``oam``: it is OAM DMA, for which a byte driven from outside wins over a
    controller.
    """
    reg = addr & 0x1F
    if _registers_active(halted):
        if reg == 0x15:
            return _status_conflict(nes, mem, addr, oam)
        inside = (addr & 0xFFE0) == 0x4000
        value = nes.cpu.open_bus
        if not inside:
            value = bus_read(nes, mem, addr)
        if reg == 0x16 or reg == 0x17:
            if oam and not inside and _driven(nes, addr):
                pad_read(nes, reg & 1)
            else:
                value = _pad_conflict(nes, reg & 1)
        return value
    if _registers_active(addr):
        value = nes.cpu.open_bus
        nes.cpu.int_bus = value
        return value
    return bus_read(nes, mem, addr)


@inner
def _dma_cycle(nes, mem, n, halted):
    """The bus access of DMA cycle ``n``."""
    dma = nes.dma
    get = (n & 1) == 0
    if dma.oam_pending:
        dma.oam_pending = 0
        dma.oam_active = 1
        dma.oam_halt = 1 if get else 0
        dma.oam_aligned = 0
        dma.oam_index = 0
    if not _dmc_wanted(nes, n):
        dma.dmc_active = 0
    elif dma.dmc_active == 0:
        dma.dmc_active = 1
        dma.dmc_halt = 1
    oam = dma.oam_active != 0 and dma.oam_halt == 0
    if get:
        if dma.dmc_active and dma.dmc_halt == 0:
            dma.dmc_active = 0
            dma.oam_aligned = 0
            value = _dma_read(nes, mem, nes.apu.dmc_addr, halted, False)
            dmc_deliver(nes, n, value)
        elif oam:
            dma.oam_byte = _dma_read(nes, mem, (dma.oam_page << 8) | dma.oam_index, halted, True)
            dma.oam_aligned = 1
        else:
            bus_read(nes, mem, halted)
        dma.dmc_halt = 0
        dma.oam_halt = 0
    elif oam and dma.oam_aligned:
        # The write of $2004; that the PPU's own open bus and the OAM glitch of
        # a write while rendering stay out of it is as in the recordings.
        ppu_run(nes, mem, 3 * n + 1)
        ppu_dma_write(nes, dma.oam_byte)
        nes.cpu.open_bus = dma.oam_byte
        nes.cpu.int_bus = dma.oam_byte
        dma.oam_index += 1
        if dma.oam_index == 256:
            dma.oam_active = 0
            dma.oam_aligned = 0
    else:
        bus_read(nes, mem, halted)


@inline
def _on_ppu(addr):
    return 0x2000 <= addr < 0x4000


@outline
def dma_run(nes, mem, n, addr):
    """The CPU wants to read ``addr`` in cycle ``n``: run the DMA cycles, return the cycle of its own read."""
    # The PPU need not follow every cycle unless its registers are on the bus.
    follow = _on_ppu(addr) or _on_ppu(nes.dma.oam_page << 8)
    if nes.dma.oam_pending and nes.cart.a12_watch and nes.ppu.ctrl & 0x20 and mapper_irq_quiet(nes) < QUIET:
        nes.cpu.ppu_due = n  # what it writes to OAM can change when tall sprites raise A12
    while dma_pending(nes, n):
        if follow:
            cycle_begin(nes, mem, n)
            _dma_cycle(nes, mem, n, addr)
            cycle_end(nes, mem, n)
        else:
            nes.cpu.clk = n
            apu_run(nes, mem, n)
            _dma_cycle(nes, mem, n, addr)
            settle(nes, mem, n)
        n += 1
    return n
