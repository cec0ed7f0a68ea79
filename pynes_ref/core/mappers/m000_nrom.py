"""NROM, mapper 0: no registers, everything wired to one place.

Wiki: https://www.nesdev.org/wiki/NROM
"""

from ..jit import inner
from .banking import set_chr, set_nametables, set_prg_32, set_prg_ram


@inner
def nrom_power(nes):
    set_prg_32(nes, 0)
    set_prg_ram(nes, 0, 1, 1)
    set_chr(nes, 0, 0, 8)
    set_nametables(nes, nes.cart.mirroring)
