"""A console from the bytes of a ROM file, in compiled code.

``ines.py`` and ``core/power.py`` do this in Python, with words about what is
wrong; here a file is taken or refused, by the same rules (``header.py``).
tests/export_wasm/test_cartridges.py compares the record, byte for byte, on all
test ROMs and on mutated headers.
https://www.nesdev.org/wiki/INES and .../NES_2.0
"""

import numpy as np

from .. import header, ines
from ..core.jit import inline, inner
from ..core.mappers.banking import CHR_RAM_OFF, CPU_WINDOW, NO_PAGE, PRG_RAM_OFF, RAM_OFF
from ..core.mappers.boards import BOARDS
from ..core.mappers.dispatch import mapper_reset
from ..core.power import RECORD, TRAINER_AT, make_console
from ..header import CHR_RAM_MAX, FITS, HEADER_SIZE, INES, KIB, MAX_FILE, NES2, TRAINER_SIZE

# Columns of ROWS, one row a board.
MAPPER, SUBMAPPER, CHIP, REVISION, CONFLICT, PRG_MAX, CHR_MAX, RAM_MIN, RAM_MAX, FOUR = range(10)
ROWS = np.array(
    [
        (row.mapper, row.submapper, row.chip, row.revision, row.bus_conflict, row.prg_max, row.chr_max,
         row.prg_ram_min, row.prg_ram_max, row.four_screen)
        for row in BOARDS.values()
    ],
    np.int64,
)


def _power_on_bytes():
    """Where a record at power-on is not zero, cartridge aside, and what is there."""
    _, nes = make_console(ines.load_rom(b"NES\x1a\x01\x01" + bytes(10 + 24 * KIB)))
    nes["cart"] = 0
    record = np.frombuffer(nes.tobytes(), np.uint8)
    places = np.flatnonzero(record)
    return places, record[places]


PLACES, VALUES = _power_on_bytes()


_generation = inner(header.generation)
_mapper_number = inner(header.mapper_number)
_is_home_console = inner(header.is_home_console)
_area_size = inner(header.area_size)
_ram_size = inline(header.ram_size)
_ines_prg_ram = inner(header.ines_prg_ram)
_board_prg_ram = inner(header.board_prg_ram)
_prg_ram_fault = inner(header.prg_ram_fault)
_mapped_prg_ram = inner(header.mapped_prg_ram)
_chr_ram_size = inner(header.chr_ram_size)
_rom_fault = inner(header.rom_fault)
_layout = inner(header.layout)


@inner
def _row_of(mapper, submapper):
    for i in range(ROWS.shape[0]):
        if ROWS[i, MAPPER] == mapper and ROWS[i, SUBMAPPER] == submapper:
            return i
    return -1


@inner
def insert(nes, mem, image, length):
    """Put in the ROM file ``image[:length]`` and power on, up to the reset sequence. 0 and no change: refused."""
    if length < HEADER_SIZE or image[0] != 0x4E or image[1] != 0x45 or image[2] != 0x53 or image[3] != 0x1A:
        return 0
    size4, size5 = np.int64(image[4]), np.int64(image[5])
    flags, kind = np.int64(image[6]), np.int64(image[7])
    trainer = TRAINER_SIZE if flags & 4 else 0
    start = HEADER_SIZE + trainer

    byte8, byte9, byte10, byte11 = np.int64(image[8]), np.int64(image[9]), np.int64(image[10]), np.int64(image[11])
    tail = np.int64(image[12] | image[13] | image[14] | image[15])

    prg_size, chr_size = size4 * 16 * KIB, size5 * 8 * KIB
    form = _generation(kind, byte9, tail, start + prg_size + chr_size, length)
    if not _is_home_console(form, kind, np.int64(image[13])):
        return 0
    mapper, submapper = _mapper_number(form, flags, kind, byte8), 0
    if form == NES2:
        submapper = byte8 >> 4
        prg_size = _area_size(size4, byte9 & 15, 16 * KIB)
        chr_size = _area_size(size5, byte9 >> 4, 8 * KIB)
    if prg_size == 0 or prg_size > MAX_FILE or chr_size > MAX_FILE or start + prg_size + chr_size > length:
        return 0
    row = _row_of(mapper, submapper)
    if row < 0 or _rom_fault(prg_size, 8 * KIB, ROWS[row, PRG_MAX]) != FITS:
        return 0
    if _rom_fault(chr_size, KIB, ROWS[row, CHR_MAX]) != FITS:
        return 0

    said = 0
    if form == NES2:
        prg_ram = _ram_size(byte10 & 15) + _ram_size(byte10 >> 4)
        said = _ram_size(byte11 & 15) + _ram_size(byte11 >> 4)
    else:
        units = byte8 if form == INES else 0
        prg_ram = _ines_prg_ram(units, mapper, flags & 2, chr_size, ROWS[row, RAM_MAX])
    prg_ram = _board_prg_ram(prg_ram, mapper, ROWS[row, RAM_MIN], ROWS[row, RAM_MAX])
    if _prg_ram_fault(prg_ram, ROWS[row, RAM_MAX]) != FITS:
        return 0
    prg_ram = _mapped_prg_ram(prg_ram, ROWS[row, RAM_MIN])
    chr_ram = _chr_ram_size(said, chr_size)
    if chr_ram > CHR_RAM_MAX or (trainer and prg_ram < 8 * KIB):
        return 0

    for i in range(RECORD):
        mem[i] = 0
    for i in range(PLACES.shape[0]):
        mem[PLACES[i]] = VALUES[i]
    for i in range(prg_size + chr_size):
        mem[RECORD + i] = image[start + i]
    for i in range(trainer):
        mem[PRG_RAM_OFF + TRAINER_AT + i] = image[HEADER_SIZE + i]
    cart = nes.cart
    cart.board = ROWS[row, CHIP]
    cart.submapper = submapper
    cart.revision = ROWS[row, REVISION]
    cart.bus_conflict = ROWS[row, CONFLICT]
    cart.mirroring = _layout(flags, ROWS[row, FOUR])
    cart.prg_off = RECORD
    cart.prg_size = prg_size
    cart.chr_is_ram = 0 if chr_size else 1
    cart.chr_off = RECORD + prg_size if chr_size else CHR_RAM_OFF
    cart.chr_size = chr_size + chr_ram
    cart.prg_ram_off = PRG_RAM_OFF
    cart.prg_ram_size = prg_ram
    for window in range(32):
        page = RAM_OFF - window * CPU_WINDOW if window < 4 else NO_PAGE
        cart.cpu_page[window] = page
        cart.cpu_wpage[window] = page
    mapper_reset(nes, mem, 1)
    return 1
