"""MMC3 and MMC6 (Nintendo's TxROM and HKROM), mapper 4.

Banking: $8000 chooses one of eight bank registers and the two swaps, $8001
writes it. The IRQ counter is clocked by PPU A12: a rise counts when A12 was
low before it for three falling edges of M2, so that of the eight sprite
fetches of a line only the first one does.

Where on the line that is, blargg's 4-scanline_timing measures to one dot: the
interrupt of BG at $0000, sprites at $1000 is seen by a CPU cycle that ends
with dot 261 done and not by one that ends with dot 260; with BG at $1000 it is
dot 5 on the first line and 325 after. Those are the dots in which the first
pattern fetch puts its address on the bus, and the line falls at once.

Revisions. Sharp: a clock that leaves the counter at 0 interrupts. NEC, and the
MMC6: only when it was not 0 before, or a write of $C001 asked for the reload.
Acclaim's MC-ACC: no filter, every eighth fall of A12 clocks, a write of $C001
restarts the eight.

Not modelled: $C001 written again before two clocks have passed, which sets
bit 7 of the counter or freezes it on some chips.

Wiki: https://www.nesdev.org/wiki/MMC3 and .../MMC6. ``dispatch`` calls it on
CPU writes, the PPU on edges of A12.
"""

import numpy as np

from ..jit import inner
from .banking import FOUR_SCREEN, HORIZONTAL, NO_PAGE, VERTICAL, set_chr_1, set_nametables, set_prg_8, set_prg_ram
from .boards import MMC3_MC_ACC, MMC3_NEC, MMC3_SHARP, MMC6

# nes.cart.reg: 0-7 are R0-R7.
SELECT, PROTECT, LATCH, COUNTER, RELOAD, ENABLED, PULSES = range(8, 15)

FILTER = 3
QUIET = 1 << 40  # more clocks than will ever come, small enough to be multiplied

# MMC6 $A001: each half of its 1 KiB has a read and a write enable, lower half in bits 5-4.
MMC6_RAM_ON = 0x20


@inner
def mmc3_power(nes):
    """All registers 0, PRG RAM on. The MMC3 has no reset input."""
    cart = nes.cart
    cart.a12_watch = 2 if cart.revision == MMC3_MC_ACC else 1
    if cart.revision != MMC6:
        cart.reg[PROTECT] = 0x80
    set_nametables(nes, cart.mirroring)
    _update_banks(nes)
    _update_ram(nes)


@inner
def mmc3_write(nes, addr, value):
    """A CPU write to $8000-$FFFF."""
    cart = nes.cart
    reg = cart.reg
    where = addr >> 12 & 6 | addr & 1
    if where == 0:
        reg[SELECT] = value
        _update_banks(nes)
        if cart.revision == MMC6 and not value & MMC6_RAM_ON:
            reg[PROTECT] = 0
    elif where == 1:
        reg[reg[SELECT] & 7] = value
        _update_banks(nes)
    elif where == 2:
        if cart.mirroring != FOUR_SCREEN:
            set_nametables(nes, HORIZONTAL if value & 1 else VERTICAL)
    elif where == 3:
        if cart.revision != MMC6 or reg[SELECT] & MMC6_RAM_ON:
            reg[PROTECT] = value
        _update_ram(nes)
    elif where == 4:
        reg[LATCH] = value
    elif where == 5:
        reg[COUNTER] = 0
        reg[RELOAD] = 1
        reg[PULSES] = 0
    elif where == 6:
        reg[ENABLED] = 0
        cart.irq_line = 0
    else:
        reg[ENABLED] = 1


@inner
def _update_banks(nes):
    cart = nes.cart
    reg = cart.reg
    last = cart.prg_size // 8192 - 1
    swap = 2 if reg[SELECT] & 0x40 else 0
    set_prg_8(nes, swap, reg[6] & 0x3F)
    set_prg_8(nes, 1, reg[7] & 0x3F)
    set_prg_8(nes, 2 - swap, last - 1)
    set_prg_8(nes, 3, last)
    invert = 4 if reg[SELECT] & 0x80 else 0
    for i in range(4):
        set_chr_1(nes, i ^ invert, reg[i >> 1] & 0xFE | i & 1)
        set_chr_1(nes, (i + 4) ^ invert, reg[2 + i])


@inner
def _update_ram(nes):
    cart = nes.cart
    protect = cart.reg[PROTECT]
    if cart.revision == MMC6:
        # Halves of 512 bytes are finer than a window: dispatch asks mmc6_read and mmc6_write.
        for window in range(12, 16):
            cart.cpu_page[window] = NO_PAGE
            cart.cpu_wpage[window] = NO_PAGE
    else:
        on = protect >> 7 & 1
        set_prg_ram(nes, 0, on, on & ~(protect >> 6))


@inner
def mmc6_read(nes, mem, addr):
    """Read $7000-$7FFF: the byte, 0 from a half that is off while the other is on, or -1 = open bus."""
    protect = nes.cart.reg[PROTECT]
    if addr < 0x7000 or not protect & 0xA0:
        return -1
    mask = 0x80 if addr & 0x200 else 0x20
    if protect & mask:
        return np.int64(mem[nes.cart.prg_ram_off + (addr & 0x3FF)])
    return 0


@inner
def mmc6_write(nes, mem, addr, value):
    """Write $7000-$7FFF: a half takes it when both its enables are on."""
    mask = 0xC0 if addr & 0x200 else 0x30
    if addr >= 0x7000 and nes.cart.reg[PROTECT] & mask == mask:
        mem[nes.cart.prg_ram_off + (addr & 0x3FF)] = value


@inner
def mmc3_a12_rise(nes, dots):
    """PPU A12 rises in dot number ``dots`` (counted from power-on)."""
    cart = nes.cart
    # M2 falls at the end of cycle N, after dot 3N + 2.
    if cart.revision != MMC3_MC_ACC and dots // 3 - cart.a12_low_at >= FILTER:
        _clock(nes)


@inner
def mmc3_a12_fall(nes, dots):
    """PPU A12 falls in dot number ``dots``."""
    cart = nes.cart
    cart.a12_low_at = dots // 3
    if cart.revision == MMC3_MC_ACC:
        pulses = cart.reg[PULSES]
        cart.reg[PULSES] = (pulses + 1) & 7
        if pulses == 0:
            _clock(nes)


@inner
def _clock(nes):
    cart = nes.cart
    reg = cart.reg
    before = reg[COUNTER]
    reload = reg[RELOAD]
    counter = before - 1
    if before == 0 or reload:
        counter = reg[LATCH]
    reg[COUNTER] = counter
    reg[RELOAD] = 0
    if counter == 0 and reg[ENABLED]:
        always = cart.revision == MMC3_SHARP or cart.revision == MMC3_MC_ACC
        if always or before != 0 or reload:
            cart.irq_line = 1


@inner
def mmc3_irq_quiet(nes):
    """Clocks of the counter that can pass before irq_line rises, unless a register is written."""
    cart = nes.cart
    reg = cart.reg
    if cart.irq_line or not reg[ENABLED]:
        return QUIET
    counter = reg[COUNTER]
    if counter != 0 and not reg[RELOAD]:
        return counter - 1
    latch = reg[LATCH]
    if latch == 0 and not reg[RELOAD] and (cart.revision == MMC3_NEC or cart.revision == MMC6):
        return QUIET
    return latch
