"""The cartridge slot: what the bus, the PPU and the clock call, whatever the board.

An if-chain on ``nes.cart.board``. Plain reads never come here (page tables);
only register writes, the odd special read, A12 edges of boards that watch
them, and the reset line do.
"""

import numpy as np

from ..jit import inner, outline
from .boards import AXROM, CNROM, MMC1, MMC3, MMC6, UXROM
from .m000_nrom import nrom_power
from .m001_mmc1 import mmc1_power, mmc1_write
from .m002_uxrom import uxrom_power, uxrom_write
from .m003_cnrom import cnrom_write
from .m004_mmc3 import (
    QUIET,
    mmc3_a12_fall,
    mmc3_a12_rise,
    mmc3_irq_quiet,
    mmc3_power,
    mmc3_write,
    mmc6_read,
    mmc6_write,
)
from .m007_axrom import axrom_power, axrom_write


@outline
def mapper_write(nes, mem, addr, value, n):
    """CPU cycle ``n`` writes ``value`` to ``addr`` in $4020-$FFFF, where no writable page is."""
    cart = nes.cart
    board = cart.board
    if addr < 0x8000:
        if board == MMC3 and cart.revision == MMC6:
            mmc6_write(nes, mem, addr, value)
        return
    if cart.bus_conflict:
        # The ROM drives the bus against the CPU, and a low level wins.
        value &= np.int64(mem[cart.cpu_page[addr >> 11] + addr])
    if board == MMC1:
        mmc1_write(nes, addr, value, n)
    elif board == MMC3:
        mmc3_write(nes, addr, value)
    elif board == UXROM:
        uxrom_write(nes, value)
    elif board == CNROM:
        cnrom_write(nes, value)
    elif board == AXROM:
        axrom_write(nes, value)


@outline
def mapper_read(nes, mem, addr, n):
    """CPU cycle ``n`` reads ``addr`` in $4020-$FFFF, where no page is: the byte, or -1 = open bus."""
    if nes.cart.board == MMC3 and nes.cart.revision == MMC6 and addr >= 0x6000:
        return mmc6_read(nes, mem, addr)
    return -1


@outline
def mapper_a12(nes, mem, dots):
    """PPU A12 rises in dot number ``dots``; only called while ``nes.cart.a12_watch`` is set."""
    if nes.cart.board == MMC3:
        mmc3_a12_rise(nes, dots)


@outline
def mapper_a12_low(nes, dots):
    """PPU A12 falls in dot number ``dots``; only called while ``nes.cart.a12_watch`` is set."""
    if nes.cart.board == MMC3:
        mmc3_a12_fall(nes, dots)


@outline
def mapper_irq_quiet(nes):
    """Filtered A12 rises (at most one in three M2 cycles) that certainly leave irq_line alone."""
    if nes.cart.board == MMC3:
        return mmc3_irq_quiet(nes)
    return QUIET


@inner
def mapper_audio(nes):
    """Output of the cartridge's sound chip, on the mixer's scale; only asked when ``has_audio``."""
    return np.float32(0.0)


@outline
def mapper_reset(nes, mem, hard):
    """Power-on (``hard``) or the Reset button, which no board here is wired to."""
    if not hard:
        return
    cart = nes.cart
    cart.irq_line = 0
    cart.a12_watch = 0
    cart.a12_low_at = 0
    for i in range(32):
        cart.reg[i] = 0
    board = cart.board
    if board == MMC1:
        mmc1_power(nes)
    elif board == MMC3:
        mmc3_power(nes)
    elif board == UXROM:
        uxrom_power(nes)
    elif board == AXROM:
        axrom_power(nes)
    else:
        nrom_power(nes)
