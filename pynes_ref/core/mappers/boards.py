"""The boards that exist here, one row each.

A row says what a (mapper, submapper) pair of the ROM header means: which chip
code runs (``chip``, the number ``dispatch`` branches on), its revision, bus
conflicts and the limits of the board. Adding a mapper: a chip number, one
``mNNN_name.py`` with its functions, its branch in ``dispatch.py``, its rows here.

Wiki: https://www.nesdev.org/wiki/NES_2.0_submappers
"""

from dataclasses import dataclass

KIB = 1024

# Chips, the values of nes.cart.board.
NROM, MMC1, UXROM, CNROM, MMC3, AXROM = range(6)

# Revisions, the values of nes.cart.revision; their meaning is the chip's own.
PLAIN = 0
MMC1B, MMC1A, MMC1_FIXED_PRG = 0, 1, 2
MMC3_SHARP, MMC3_NEC, MMC3_MC_ACC, MMC6 = 0, 1, 2, 3


@dataclass(frozen=True, slots=True)
class Board:
    """What the header's mapper and submapper stand for. Sizes in bytes."""

    mapper: int
    submapper: int
    name: str
    chip: int
    revision: int = PLAIN
    bus_conflict: bool = False
    prg_max: int = 0
    chr_max: int = 0
    prg_ram_min: int = 0        # present whatever the header says
    prg_ram_max: int = 8 * KIB
    mapper_mirroring: bool = False  # the header's mirroring bit is only the power-on value
    four_screen: bool = True    # the board can carry its own nametable RAM
    note: str = ""


def _nrom(sub):
    # The recorded reference has 8 KiB of PRG RAM on every NROM board; homebrew and test ROMs count on it.
    return Board(0, sub, "NROM", NROM, prg_max=32 * KIB, chr_max=32 * KIB, prg_ram_min=8 * KIB)


def _mmc1(mapper, sub, name, revision=MMC1B, note=""):
    return Board(mapper, sub, name, MMC1, revision, prg_max=512 * KIB, chr_max=128 * KIB, prg_ram_min=8 * KIB,
                 prg_ram_max=32 * KIB, mapper_mirroring=True, four_screen=False, note=note)


def _uxrom(sub, conflict=False):
    return Board(2, sub, "UxROM", UXROM, bus_conflict=conflict, prg_max=4096 * KIB, chr_max=32 * KIB)


def _cnrom(sub, conflict=False):
    return Board(3, sub, "CNROM", CNROM, bus_conflict=conflict, prg_max=32 * KIB, chr_max=2048 * KIB)


def _mmc3(sub, name, revision=MMC3_SHARP, prg_ram_min=8 * KIB, prg_ram_max=32 * KIB, note=""):
    return Board(4, sub, name, MMC3, revision, prg_max=512 * KIB, chr_max=256 * KIB, prg_ram_min=prg_ram_min,
                 prg_ram_max=prg_ram_max, mapper_mirroring=True, note=note)


def _axrom(sub, conflict=False):
    return Board(7, sub, "AxROM", AXROM, bus_conflict=conflict, prg_max=512 * KIB, chr_max=32 * KIB,
                 mapper_mirroring=True, four_screen=False)


_DEPRECATED = "the submapper is deprecated: the memory sizes say the same"

_ROWS = (
    _nrom(0),
    _mmc1(1, 0, "SxROM"),
    _mmc1(1, 1, "SUROM", note=_DEPRECATED),
    _mmc1(1, 2, "SOROM", note=_DEPRECATED),
    _mmc1(1, 3, "SxROM (MMC1A)", MMC1A, note="submapper 3 is deprecated in favour of mapper 155"),
    _mmc1(1, 4, "SXROM", note=_DEPRECATED),
    _mmc1(1, 5, "SEROM/SHROM", MMC1_FIXED_PRG),
    _mmc1(155, 0, "SxROM (MMC1A)", MMC1A),
    # Submapper 0 says "unknown": commercial UxROM and AxROM games work either way and homebrew
    # expects no conflict; every CNROM board has conflicts.
    _uxrom(0), _uxrom(1), _uxrom(2, conflict=True),
    _cnrom(0, conflict=True), _cnrom(1), _cnrom(2, conflict=True),
    _mmc3(0, "TxROM (MMC3, Sharp)"),
    # The wiki knows no measurement of the MMC6's counter; the only test of one (blargg's 6-MMC6) shows
    # the same behaviour as NEC's MMC3.
    _mmc3(1, "HKROM (MMC6)", MMC6, prg_ram_min=KIB, prg_ram_max=KIB),
    _mmc3(2, "TxROM (MMC3C)", note="submapper 2 is deprecated: the same as submapper 0"),
    _mmc3(3, "TxROM (MC-ACC)", MMC3_MC_ACC),
    _mmc3(4, "TxROM (MMC3, NEC)", MMC3_NEC),
    _axrom(0), _axrom(1), _axrom(2, conflict=True),
)

BOARDS = {(row.mapper, row.submapper): row for row in _ROWS}

MAPPERS = tuple(sorted({row.mapper for row in _ROWS}))
MAPPER_NAMES = {0: "NROM", 1: "MMC1", 2: "UxROM", 3: "CNROM", 4: "MMC3/MMC6", 7: "AxROM", 155: "MMC1A"}
