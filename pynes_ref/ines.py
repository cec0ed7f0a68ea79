"""ROM files: iNES and NES 2.0 headers, and what of them this console can run.

``load_rom`` gives a ``Cartridge`` or raises ``RomError`` with one line that says
what is wrong and what to do. ``inspect_rom`` also describes cartridges that
cannot be run: their ``unsupported`` says why. The numbers are worked out in ``header.py``.

Wiki: https://www.nesdev.org/wiki/INES and .../NES_2.0
"""

import hashlib
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from . import header
from .core.mappers.boards import BOARDS, MAPPER_NAMES, MAPPERS, Board
from .header import CHR_RAM_MAX, HEADER_SIZE, KIB, MAX_FILE, PRG_RAM_MAX, TRAINER_SIZE

MAGIC = b"NES\x1a"
FORMATS = {header.INES: "iNES", header.NES2: "NES 2.0", header.ARCHAIC: "archaic iNES"}
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
    size = header.area_size(low, high, unit)
    if size > MAX_FILE:
        raise RomError(
            f"the NES 2.0 header asks for 2^{low >> 2} x {(low & 3) * 2 + 1} bytes of {what} ROM "
            f"(limit {_bytes(MAX_FILE)}): the header is damaged, get a fresh copy of the ROM"
        )
    return size


def _parse(data, chosen):
    _check_signature(data)
    if chosen is not None and not 0 <= chosen <= 15:
        raise RomError(f"submapper {chosen}: NES 2.0 has 0 to 15")
    start = HEADER_SIZE + (TRAINER_SIZE if data[6] & 4 else 0)
    prg_size, chr_size = data[4] * 16 * KIB, data[5] * 8 * KIB
    form = header.generation(data[7], data[9], any(data[12:16]), start + prg_size + chr_size, len(data))
    notes, unsupported = [], []
    if form == header.ARCHAIC:
        notes.append("bytes 7-15 of the header hold text, not fields: they are ignored")

    mapper = header.mapper_number(form, data[6], data[7], data[8])
    submapper = 0
    region = data[9] & 1 if form == header.INES else 0
    _console_type(form, data, notes, unsupported)
    if form == header.NES2:
        submapper = data[8] >> 4
        region = data[12] & 3
        prg_size = _area_size(data[4], data[9] & 15, 16 * KIB, "PRG")
        chr_size = _area_size(data[5], data[9] >> 4, 8 * KIB, "CHR")
    if region in (1, 3):
        notes.append(f"made for {REGIONS[region]}: it runs with NTSC timing, so speed and raster effects may be off")

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
    prg_ram, nvram, chr_ram = _ram(form, data, row, chr_size, notes, unsupported)
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
        board=row.name if row else _mapper_name(mapper),
        format=FORMATS[form],
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


def _console_type(form, data, notes, unsupported):
    console, extended = data[7] & 3, data[13] & 15
    if header.is_home_console(form, data[7], data[13]):
        if form == header.NES2 and (console, extended) == (3, 4):
            notes.append("the EPSM sound module is not emulated")
        return
    if form == header.INES and console == 3:
        console = 1
    name = ("", "the Vs. System", "the PlayChoice-10", f"extended console type {extended}")[console]
    unsupported.append(f"made for {name}: only NES and Famicom cartridges run here, try the game's home version")


def _mirroring(flags, row, notes):
    """(banking.py's layout number, name)."""
    layout = header.layout(flags, row is None or row.four_screen)
    if layout == 4:
        return layout, "four-screen"
    if flags & 8:
        notes.append(f"{row.name} has no four-screen memory: that header bit is ignored")
    if row and row.mapper_mirroring:
        return layout, "mapper-controlled"
    return layout, ("horizontal", "vertical")[layout]


def _ram(form, data, row, chr_size, notes, unsupported):
    """(PRG RAM, battery-backed part, CHR RAM) of the board, in bytes."""
    has_battery = bool(data[6] & 2)
    said = 0
    if form == header.NES2:
        volatile, nvram = header.ram_size(data[10] & 15), header.ram_size(data[10] >> 4)
        prg_ram = volatile + nvram
        said = header.ram_size(data[11] & 15) + header.ram_size(data[11] >> 4)
        if chr_size == 0 and said == 0:
            notes.append("the header has neither CHR ROM nor CHR RAM: 8 KiB of CHR RAM assumed")
        if data[11] >> 4:
            notes.append("battery-backed CHR RAM is not saved")
    else:
        units = data[8] if form == header.INES else 0
        mapper, most = (row.mapper, row.prg_ram_max) if row else (-1, MAX_FILE)
        prg_ram = nvram = header.ines_prg_ram(units, mapper, has_battery, chr_size, most)
    if row:
        on_board = header.board_prg_ram(prg_ram, row.mapper, row.prg_ram_min, row.prg_ram_max)
        if on_board < prg_ram:
            notes.append(f"{row.name} has 1 KiB of RAM inside, whatever the header says")
        prg_ram = on_board
    if has_battery and nvram == 0:
        nvram = prg_ram
    fault = header.prg_ram_fault(prg_ram, row.prg_ram_max if row else PRG_RAM_MAX)
    if fault == header.TOO_LARGE_FOR_ALL:
        unsupported.append(f"{_bytes(prg_ram)} of PRG RAM: no supported board has more than {_bytes(PRG_RAM_MAX)}")
    elif fault == header.TOO_LARGE:
        unsupported.append(f"{_bytes(prg_ram)} of PRG RAM: {row.name} carries at most {_bytes(row.prg_ram_max)}")
    elif fault == header.ODD_SIZE:
        unsupported.append(f"{_bytes(prg_ram)} of PRG RAM in chips of different sizes: no supported board is built so")
    elif row and header.mapped_prg_ram(prg_ram, row.prg_ram_min) != prg_ram:
        notes.append(f"{_bytes(prg_ram)} of PRG RAM are treated as 2 KiB")
        prg_ram = header.mapped_prg_ram(prg_ram, row.prg_ram_min)
    if has_battery and 0 < nvram < prg_ram and nvram * 2 != prg_ram:
        nvram = prg_ram
    chr_ram = header.chr_ram_size(said, chr_size)
    if chr_size and said:
        notes.append("CHR RAM beside CHR ROM: no supported board can reach it, it is ignored")
    elif chr_ram > CHR_RAM_MAX:
        unsupported.append(f"{_bytes(said)} of CHR RAM: the limit here is {_bytes(CHR_RAM_MAX)}")
        chr_ram = said
    elif said and chr_ram != said:
        notes.append("CHR RAM is rounded up to a multiple of 8 KiB")
    return prg_ram, min(nvram, prg_ram), chr_ram


def _mapper_name(mapper):
    """What people call a mapper: its own name, else that of its first board; "" for one that is not here."""
    boards = (row.name for row in BOARDS.values() if row.mapper == mapper)
    return MAPPER_NAMES.get(mapper) or next(boards, "")


def _check_board(row, mapper, submapper, chosen, prg_size, chr_size, notes, unsupported):
    supported = ", ".join(f"{number} ({_mapper_name(number)})" for number in MAPPERS)
    if row is None:
        if mapper in MAPPERS:
            subs = ", ".join(str(sub) for number, sub in BOARDS if number == mapper)
            advice = "choose one of these" if chosen else "use another dump of the game"
            unsupported.insert(0, f"submapper {submapper} of mapper {mapper} ({_mapper_name(mapper)}) is not supported "
                                  f"(supported: {subs}): {advice}")
        else:
            unsupported.insert(0, f"mapper {mapper} is not supported (supported: {supported}): try another ROM")
        return
    if row.note:
        notes.append(row.note)
    fault = header.rom_fault(prg_size, 8 * KIB, row.prg_max)
    if fault == header.ODD_SIZE:
        unsupported.append(f"{_bytes(prg_size)} of PRG ROM is no multiple of 8 KiB: pad the ROM")
    elif fault == header.TOO_LARGE:
        unsupported.append(f"{_bytes(prg_size)} of PRG ROM: {row.name} reaches at most {_bytes(row.prg_max)}")
    fault = header.rom_fault(chr_size, KIB, row.chr_max)
    if fault == header.ODD_SIZE:
        unsupported.append(f"{_bytes(chr_size)} of CHR ROM is no multiple of 1 KiB: pad the ROM")
    elif fault == header.TOO_LARGE:
        unsupported.append(f"{_bytes(chr_size)} of CHR ROM: {row.name} reaches at most {_bytes(row.chr_max)}")
