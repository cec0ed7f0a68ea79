"""UxROM, mapper 2: a switchable 16 KiB bank at $8000, the last one fixed at $C000.

Wiki: https://www.nesdev.org/wiki/UxROM
"""

from ..jit import inner
from .banking import set_chr, set_nametables, set_prg_16, set_prg_ram


@inner
def uxrom_power(nes):
    set_prg_16(nes, 0, 0)
    set_prg_16(nes, 1, nes.cart.prg_size // 0x4000 - 1)
    set_prg_ram(nes, 0, 1, 1)
    set_chr(nes, 0, 0, 8)
    set_nametables(nes, nes.cart.mirroring)


@inner
def uxrom_write(nes, value):
    set_prg_16(nes, 0, value)
