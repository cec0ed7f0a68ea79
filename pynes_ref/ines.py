"""ROM files: iNES and NES 2.0 headers, and what of them this console can run.

``load_rom`` gives a ``Cartridge`` or raises ``RomError`` with one line that says
what is wrong and what to do. ``inspect_rom`` also describes cartridges that
cannot be run: their ``unsupported`` says why.

Wiki: https://www.nesdev.org/wiki/INES and .../NES_2.0
"""

import hashlib
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from .core.mappers.boards import BOARDS, MAPPER_NAMES, MAPPERS, Board

KIB = 1024
MAX_FILE = 64 * 1024 * KIB
HEADER_SIZE = 16
TRAINER_SIZE = 512
MAGIC = b"NES\x1a"

PRG_RAM_MAX = 32 * KIB
CHR_RAM_MAX = 32 * KIB

REGIONS = ("NTSC", "PAL", "multi-region", "Dendy")

_OTHER_FORMATS = (
    (b"PK\x03\x04", "a zip archive: unpack it and give the .nes file inside"),
    (b"7z\xbc\xaf", "a 7z archive: unpack it and give the .nes file inside"),
    (b"\x1f\x8b", "a gzip file: unpack it and give the .nes file inside"),
    (b"UNIF", "a UNIF file: convert it to NES 2.0"),
    (b"FDS\x1a", "a Famicom Disk System image: only cartridges are supported"),
    (b"NESM\x1a", "an NSF music file: only cartridges are supported"),
    (b"NSFE", "an NSFe music file: only cartridges are supported"),
)


class RomError(ValueError):
    """A ROM that cannot be used; the message is one line: what is wrong and what to do."""


@dataclass(frozen=True, slots=True)
class Cartridge:
    """A parsed ROM file. Sizes in bytes; ``prg``, ``chr`` and ``trainer`` are views of the file's bytes."""

    mapper: int
    submapper: int
    board: str                  # board or chip name, "" for an unknown mapper
    format: str                 # "iNES", "NES 2.0" or "archaic iNES"
    region: str                 # "NTSC", "PAL", "multi-region" or "Dendy"
    mirroring: str              # "horizontal", "vertical", "four-screen" or "mapper-controlled"
    battery: bool
    prg: memoryview = field(repr=False)
    chr: memoryview = field(repr=False)
    trainer: memoryview = field(repr=False)
    prg_ram_size: int           # all PRG RAM of the board, battery-backed or not
    prg_nvram_size: int         # its battery-backed part, the last bytes of it
    chr_ram_size: int
    header_mirroring: int       # banking.py's layout number: soldered, or the power-on value
    sha256: str                 # of the whole file
    size: int                   # of the whole file
    notes: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    row: Board | None = field(default=None, repr=False)

    @property
    def prg_size(self) -> int:
        """Bytes of PRG ROM."""
        return len(self.prg)

    @property
    def chr_size(self) -> int:
        """Bytes of CHR ROM, 0 on a board with CHR RAM."""
        return len(self.chr)

    @property
    def battery_range(self) -> tuple[int, int]:
        """Offset and length of the battery-backed bytes in PRG RAM; length 0 without a battery."""
        if not self.battery:
            return 0, 0
        return self.prg_ram_size - self.prg_nvram_size, self.prg_nvram_size


def load_rom(source: str | os.PathLike | bytes | bytearray | memoryview, submapper: int | None = None) -> Cartridge:
    """Read a ROM from a path or from its bytes. Raises ``RomError`` when it cannot be run here.

    ``submapper`` takes the place of the header's: it chooses a revision of the
    board, in NES 2.0's numbers, for a file whose header cannot say it.
    """
    cart = inspect_rom(source, submapper)
    if cart.unsupported:
        raise RomError(cart.unsupported[0])
    return cart


def inspect_rom(source: str | os.PathLike | bytes | bytearray | memoryview, submapper: int | None = None) -> Cartridge:
    """Like ``load_rom``, but an unsupported cartridge is returned with its reasons, not refused."""
    if isinstance(source, bytes | bytearray | memoryview):
        data = bytes(source)
    else:
        data = _read_file(source)
    return _parse(data, submapper)


def _read_file(source):
    path = Path(source)
    try:
        info = path.stat()
        if not stat.S_ISREG(info.st_mode):
            raise RomError(f"{path} is not a regular file: give the path of a .nes file")
        if info.st_size > MAX_FILE:
            raise RomError(_oversized(info.st_size))
        with path.open("rb") as file:
            return file.read(MAX_FILE + 1)
    except OSError as error:
        raise RomError(f"cannot read {path}: {error.strerror or error}: check the path and its permissions") from None
    except ValueError as error:
        if isinstance(error, RomError):
            raise
        raise RomError(f"cannot read {str(path)!r}: {error}: check the path") from None


def _oversized(size):
    return f"the file has {_bytes(size)}, more than any cartridge (limit {_bytes(MAX_FILE)}): give a .nes ROM file"


def _bytes(size):
    if size >= 1024 * KIB and size % (1024 * KIB) == 0:
        return f"{size // (1024 * KIB)} MiB"
    if size >= KIB and size % KIB == 0:
        return f"{size // KIB} KiB"
    return f"{size} bytes"


def _check_signature(data):
    if not data:
        raise RomError("the file is empty: get a fresh copy of the ROM")
    if len(data) > MAX_FILE:
        raise RomError(_oversized(len(data)))
    if data[:4] != MAGIC:
        for magic, what in _OTHER_FORMATS:
            if data.startswith(magic):
                raise RomError(f"not an iNES file but {what}")
        if not MAGIC.startswith(data[:4]):
            raise RomError("not an iNES file: it does not begin with 'NES' and $1A: give a .nes ROM file")
    if len(data) < HEADER_SIZE:
        short = HEADER_SIZE - len(data)
        raise RomError(f"truncated: {short} bytes short of a {HEADER_SIZE}-byte header: get a fresh copy of the ROM")


def _area_size(low, high, unit, what):
    """Size of a ROM area from its NES 2.0 byte and nibble."""
    if high < 15:
        return (high << 8 | low) * unit
    exponent, multiplier = low >> 2, (low & 3) * 2 + 1
    size = multiplier << exponent
    if size > MAX_FILE:
        raise RomError(
            f"the NES 2.0 header asks for 2^{exponent} x {multiplier} bytes of {what} ROM (limit {_bytes(MAX_FILE)}): "
            "the header is damaged, get a fresh copy of the ROM"
        )
    return size


def _ram_size(shift):
    return 64 << shift if shift else 0


def _plain_size(data):
    """File size by the fields that every header generation has."""
    return HEADER_SIZE + (TRAINER_SIZE if data[6] & 4 else 0) + data[4] * 16 * KIB + data[5] * 8 * KIB


def _format_of(data):
    """(format, garbage): which generation of header it is, and whether bytes 7-15 are someone's signature."""
    kind = data[7] & 0x0C
    if kind == 8:
        # Text in an old header can look like NES 2.0; then only the old sizes fit the file.
        if data[9] and _plain_size(data) == len(data):
            return "archaic iNES", True
        return "NES 2.0", False
    if kind == 0 and not any(data[12:16]):
        return "iNES", False
    return "archaic iNES", True


def _parse(data, chosen):
    _check_signature(data)
    if chosen is not None and not 0 <= chosen <= 15:
        raise RomError(f"submapper {chosen}: NES 2.0 has 0 to 15")
    form, garbage = _format_of(data)
    notes, unsupported = [], []
    nes2 = form == "NES 2.0"
    if garbage:
        notes.append("bytes 7-15 of the header hold text, not fields: they are ignored")

    mapper = data[6] >> 4
    submapper = 0
    region = 0
    if not garbage:
        mapper |= data[7] & 0xF0
        _console_type(data, nes2, notes, unsupported)
    if nes2:
        mapper |= (data[8] & 15) << 8
        submapper = data[8] >> 4
        region = data[12] & 3
        prg_size = _area_size(data[4], data[9] & 15, 16 * KIB, "PRG")
        chr_size = _area_size(data[5], data[9] >> 4, 8 * KIB, "CHR")
    else:
        region = 0 if garbage else data[9] & 1
        prg_size = data[4] * 16 * KIB
        chr_size = data[5] * 8 * KIB
    if region in (1, 3):
        notes.append(f"made for {REGIONS[region]}: it runs with NTSC timing, so speed and raster effects may be off")

    start = HEADER_SIZE + (TRAINER_SIZE if data[6] & 4 else 0)
    end = start + prg_size + chr_size
    if prg_size == 0:
        raise RomError("the header says 0 bytes of PRG ROM, and no program is no game: get a fresh copy of the ROM")
    if end > MAX_FILE:
        raise RomError(
            f"the header asks for {_bytes(prg_size)} of PRG and {_bytes(chr_size)} of CHR ROM "
            f"(limit {_bytes(MAX_FILE)} in all): the header is damaged, get a fresh copy of the ROM"
        )
    if end > len(data):
        raise RomError(
            f"truncated: {end - len(data)} bytes short of the {end} that its header asks for "
            f"({_bytes(prg_size)} PRG, {_bytes(chr_size)} CHR): get a fresh copy of the ROM"
        )
    if end < len(data):
        notes.append(f"{len(data) - end} bytes after the ROM data are ignored")

    if chosen is not None:
        submapper = chosen
    row = BOARDS.get((mapper, submapper))
    prg_ram, nvram, chr_ram = _ram(data, nes2, garbage, row, chr_size, notes, unsupported)
    battery = bool(data[6] & 2) and prg_ram > 0
    if data[6] & 2 and not battery:
        notes.append("the header has the battery bit but no PRG RAM: nothing is saved")
    if data[6] & 4 and prg_ram < 8 * KIB:
        unsupported.append(
            f"a trainer needs PRG RAM at $7000 and the board has {_bytes(prg_ram)}: "
            "use a ROM without the 512-byte trainer"
        )
    _check_board(row, mapper, submapper, chosen is not None, prg_size, chr_size, notes, unsupported)

    header_mirroring, mirroring = _mirroring(data[6], row, notes)
    view = memoryview(data)
    return Cartridge(
        mapper=mapper,
        submapper=submapper,
        board=row.name if row else MAPPER_NAMES.get(mapper, ""),
        format=form,
        region=REGIONS[region],
        mirroring=mirroring,
        battery=battery,
        prg=view[start:start + prg_size],
        chr=view[start + prg_size:end],
        trainer=view[HEADER_SIZE:start],
        prg_ram_size=prg_ram,
        prg_nvram_size=nvram if battery else 0,
        chr_ram_size=chr_ram,
        header_mirroring=header_mirroring,
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        notes=tuple(notes),
        unsupported=tuple(unsupported),
        row=row,
    )


def _console_type(data, nes2, notes, unsupported):
    console = data[7] & 3
    if not nes2 and console == 3:
        console = 1
    if console == 3 and data[13] & 15 in (0, 4):
        if data[13] & 15 == 4:
            notes.append("the EPSM sound module is not emulated")
        return
    if console:
        name = ("", "the Vs. System", "the PlayChoice-10", f"extended console type {data[13] & 15}")[console]
        unsupported.append(f"made for {name}: only NES and Famicom cartridges run here, try the game's home version")


def _mirroring(flags, row, notes):
    """(banking.py's layout number, name)."""
    layout = 1 if flags & 1 else 0
    if flags & 8:
        if row and not row.four_screen:
            notes.append(f"{row.name} has no four-screen memory: that header bit is ignored")
        else:
            return 4, "four-screen"
    if row and row.mapper_mirroring:
        return layout, "mapper-controlled"
    return layout, ("horizontal", "vertical")[layout]


def _ram(data, nes2, garbage, row, chr_size, notes, unsupported):
    """(PRG RAM, battery-backed part, CHR RAM) of the board, in bytes."""
    has_battery = bool(data[6] & 2)
    if nes2:
        volatile, nvram = _ram_size(data[10] & 15), _ram_size(data[10] >> 4)
        prg_ram = volatile + nvram
        chr_ram = _ram_size(data[11] & 15) + _ram_size(data[11] >> 4)
        if chr_size == 0 and chr_ram == 0:
            chr_ram = 8 * KIB
            notes.append("the header has neither CHR ROM nor CHR RAM: 8 KiB of CHR RAM assumed")
        if data[11] >> 4:
            notes.append("battery-backed CHR RAM is not saved")
    else:
        units = 0 if garbage else data[8]
        prg_ram = units * 8 * KIB or 8 * KIB
        if row and row.mapper in (1, 155) and not units and has_battery and chr_size == 0:
            # SOROM, SUROM and SXROM cannot be told from SNROM by an iNES header; 32 KiB serve all their games.
            prg_ram = 32 * KIB
        if row:
            prg_ram = min(prg_ram, row.prg_ram_max)
        nvram = prg_ram
        chr_ram = 0 if chr_size else 8 * KIB
    if row and prg_ram < row.prg_ram_min and (prg_ram == 0 or row.mapper != 0):
        prg_ram = row.prg_ram_min
    if row and row.prg_ram_max == KIB and prg_ram > KIB:
        prg_ram = KIB
        notes.append(f"{row.name} has 1 KiB of RAM inside, whatever the header says")
    if has_battery and nvram == 0:
        nvram = prg_ram
    if prg_ram > PRG_RAM_MAX:
        unsupported.append(f"{_bytes(prg_ram)} of PRG RAM: no supported board has more than {_bytes(PRG_RAM_MAX)}")
    elif row and prg_ram > row.prg_ram_max:
        unsupported.append(f"{_bytes(prg_ram)} of PRG RAM: {row.name} carries at most {_bytes(row.prg_ram_max)}")
    elif prg_ram & (prg_ram - 1):
        unsupported.append(f"{_bytes(prg_ram)} of PRG RAM in chips of different sizes: no supported board is built so")
    elif row and 0 < prg_ram < 2 * KIB and row.prg_ram_min != KIB:
        notes.append(f"{_bytes(prg_ram)} of PRG RAM are treated as 2 KiB")
        prg_ram = 2 * KIB
    if has_battery and 0 < nvram < prg_ram and nvram * 2 != prg_ram:
        nvram = prg_ram
    if chr_size and chr_ram:
        notes.append("CHR RAM beside CHR ROM: no supported board can reach it, it is ignored")
        chr_ram = 0
    if chr_ram > CHR_RAM_MAX:
        unsupported.append(f"{_bytes(chr_ram)} of CHR RAM: the limit here is {_bytes(CHR_RAM_MAX)}")
    elif chr_ram % (8 * KIB):
        chr_ram += -chr_ram % (8 * KIB)
        notes.append("CHR RAM is rounded up to a multiple of 8 KiB")
    return prg_ram, min(nvram, prg_ram), chr_ram


def _check_board(row, mapper, submapper, chosen, prg_size, chr_size, notes, unsupported):
    supported = ", ".join(f"{number} ({MAPPER_NAMES[number]})" for number in MAPPERS)
    if row is None:
        if mapper in MAPPERS:
            subs = ", ".join(str(sub) for number, sub in BOARDS if number == mapper)
            advice = "choose one of these" if chosen else "use another dump of the game"
            unsupported.insert(0, f"submapper {submapper} of mapper {mapper} ({MAPPER_NAMES[mapper]}) is not supported "
                                  f"(supported: {subs}): {advice}")
        else:
            unsupported.insert(0, f"mapper {mapper} is not supported (supported: {supported}): try another ROM")
        return
    if row.note:
        notes.append(row.note)
    if prg_size % (8 * KIB):
        unsupported.append(f"{_bytes(prg_size)} of PRG ROM is no multiple of 8 KiB: pad the ROM")
    elif prg_size > row.prg_max:
        unsupported.append(f"{_bytes(prg_size)} of PRG ROM: {row.name} reaches at most {_bytes(row.prg_max)}")
    if chr_size % KIB:
        unsupported.append(f"{_bytes(chr_size)} of CHR ROM is no multiple of 1 KiB: pad the ROM")
    elif chr_size > row.chr_max:
        unsupported.append(f"{_bytes(chr_size)} of CHR ROM: {row.name} reaches at most {_bytes(row.chr_max)}")
