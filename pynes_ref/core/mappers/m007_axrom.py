"""AxROM, mapper 7: 32 KiB PRG banks, and one nametable page for the whole screen.

Real boards have three bank bits (256 KiB); bit 3 serves the 512 KiB variants
and is lost in the wrap-around on smaller ROMs.

Wiki: https://www.nesdev.org/wiki/AxROM
"""

from ..jit import inner
from .banking import SINGLE_A, SINGLE_B, set_chr, set_nametables, set_prg_32, set_prg_ram


@inner
def axrom_power(nes):
    set_prg_ram(nes, 0, 1, 1)
    set_chr(nes, 0, 0, 8)
    axrom_write(nes, 0)


@inner
def axrom_write(nes, value):
    set_prg_32(nes, value & 15)
    set_nametables(nes, SINGLE_B if value & 0x10 else SINGLE_A)
