"""CNROM, mapper 3: NROM's PRG and a switchable 8 KiB CHR bank.

The security diodes of some Japanese boards are left out: no game needs them.

Wiki: https://www.nesdev.org/wiki/CNROM
"""

from ..jit import inner
from .banking import set_chr


@inner
def cnrom_write(nes, value):
    set_chr(nes, 0, value, 8)
