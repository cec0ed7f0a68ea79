"""MMC1 (Nintendo's SxROM boards), mapper 1, and MMC1A, mapper 155.

One serial port: five writes anywhere in $8000-$FFFF, low bit first, fill a
5-bit register chosen by A14-A13 of the last one. Four registers: control, CHR
bank 0, CHR bank 1, PRG bank. The boards differ in what the upper CHR lines
drive, which follows from the memory sizes:

    bit 4  PRG ROM A18 with 512 KiB PRG; PRG RAM bank with 16 KiB RAM and CHR
           above 8 KiB (SZROM); PRG RAM disable with 8 KiB CHR RAM (SNROM)
    bit 3  PRG RAM A13 with 16 KiB (SOROM), A14 with 32 KiB (SXROM)
    bit 2  PRG RAM A13 with 32 KiB

The CHR lines also follow PPU A12 in 4 KiB mode, so these signals would flicker
while the PPU draws unless both CHR registers agree. Games keep them equal;
here CHR bank 0 always drives them.

Wiki: https://www.nesdev.org/wiki/MMC1. ``dispatch`` calls it on CPU writes.
"""

from ..jit import inner
from .banking import HORIZONTAL, SINGLE_A, SINGLE_B, VERTICAL, set_chr, set_nametables, set_prg_16, set_prg_ram
from .boards import MMC1_FIXED_PRG, MMC1A

# nes.cart.reg
CONTROL, CHR0, CHR1, PRG, SHIFT, LAST_WRITE = range(6)

EMPTY = 0x10  # shift register with its marker bit: the fifth write pushes the marker out
LONG_AGO = -10


@inner
def mmc1_power(nes):
    """Last bank at $C000 and the header's mirroring. The MMC1 has no reset input."""
    cart = nes.cart
    cart.reg[CONTROL] = 0x0C | (3 if cart.mirroring == HORIZONTAL else 2)
    cart.reg[SHIFT] = EMPTY
    cart.reg[LAST_WRITE] = LONG_AGO
    _update(nes)


@inner
def mmc1_write(nes, addr, value, n):
    """A CPU write to $8000-$FFFF in cycle ``n``."""
    reg = nes.cart.reg
    # A write in the cycle after another one does not reach the shift register (the second write of
    # INC and its kin); bit 7 resets it nevertheless (Shinsenden depends on that).
    again = n - reg[LAST_WRITE] == 1
    reg[LAST_WRITE] = n
    if value & 0x80:
        reg[SHIFT] = EMPTY
        reg[CONTROL] |= 0x0C
        _update(nes)
    elif not again:
        full = reg[SHIFT] & 1
        shift = reg[SHIFT] >> 1 | (value & 1) << 4
        if full:
            reg[addr >> 13 & 3] = shift
            reg[SHIFT] = EMPTY
            _update(nes)
        else:
            reg[SHIFT] = shift


@inner
def _update(nes):
    cart = nes.cart
    reg = cart.reg
    control = reg[CONTROL]
    high = reg[CHR0]
    prg = reg[PRG]
    outer = high & 0x10 if cart.prg_size > 0x40000 else 0

    # Fixed banks are 0 and 15 of the 256 KiB half; MMC1A can keep bit 3 of the register in charge.
    first, last = 0, 15
    bank = prg & 15
    if cart.revision == MMC1A and prg & 0x10:
        first = prg & 8
        last = prg & 8 | 7
    if cart.prg_size < 0x40000 and last == 15:
        last = cart.prg_size // 0x4000 - 1
        last = max(last, 0)
    mode = control >> 2 & 3
    if cart.revision == MMC1_FIXED_PRG:
        low, top = 0, 1
    elif mode < 2:
        low, top = bank & ~1, bank | 1
    elif mode == 2:
        low, top = first, bank
    else:
        low, top = bank, last
    set_prg_16(nes, 0, outer | low)
    set_prg_16(nes, 1, outer | top)

    ram_bank = 0
    if cart.prg_ram_size > 0x4000:
        ram_bank = high >> 2 & 3
    elif cart.prg_ram_size > 0x2000:
        ram_bank = high >> 4 & 1 if cart.chr_size > 0x2000 else high >> 3 & 1
    on = 1
    if prg & 0x10 and cart.revision != MMC1A:
        on = 0
    snrom = cart.chr_is_ram and cart.chr_size <= 0x2000 and cart.prg_size <= 0x40000 and cart.prg_ram_size <= 0x2000
    if snrom and high & 0x10:
        on = 0
    set_prg_ram(nes, ram_bank, on, on)

    if control & 0x10:
        set_chr(nes, 0, reg[CHR0], 4)
        set_chr(nes, 4, reg[CHR1], 4)
    else:
        set_chr(nes, 0, reg[CHR0] >> 1, 8)

    arrangement = control & 3
    layout = SINGLE_A
    if arrangement == 1:
        layout = SINGLE_B
    elif arrangement == 2:
        layout = VERTICAL
    elif arrangement == 3:
        layout = HORIZONTAL
    set_nametables(nes, layout)
