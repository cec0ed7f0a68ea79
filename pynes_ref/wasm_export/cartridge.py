"""A console from the bytes of a ROM file, in compiled code.

``ines.py`` and ``core/power.py`` do this in Python, with words about what is
wrong; here a file is taken or refused. tests/test_export_wasm.py compares the
record, byte for byte, on all test ROMs and on mutated headers.
https://www.nesdev.org/wiki/INES and .../NES_2.0
"""

import numpy as np

from .. import ines
from ..core.jit import inline, inner
from ..core.mappers.banking import CHR_RAM_OFF, CPU_WINDOW, NO_PAGE, PRG_RAM_OFF, RAM_OFF
from ..core.mappers.boards import BOARDS
from ..core.mappers.dispatch import mapper_reset
from ..core.power import RECORD, TRAINER_AT, make_console

KIB = 1024
HEADER_SIZE, TRAINER_SIZE = ines.HEADER_SIZE, ines.TRAINER_SIZE
MAX_FILE = ines.MAX_FILE
MAX_EXPONENT = MAX_FILE.bit_length()
PRG_RAM_MAX, CHR_RAM_MAX = ines.PRG_RAM_MAX, ines.CHR_RAM_MAX
MMC1_MAPPERS = (1, 155)

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


@inner
def _area_size(low, high, unit):
    """A ROM area's size from its NES 2.0 byte and nibble; more than MAX_FILE for too much."""
    if high < 15:
        return (high << 8 | low) * unit
    exponent = low >> 2
    if exponent > MAX_EXPONENT:
        return MAX_FILE + 1
    return ((low & 3) * 2 + 1) << exponent


@inline
def _ram_size(shift):
    return 64 << shift if shift else 0


@inner
def _row_of(mapper, submapper):
    for i in range(ROWS.shape[0]):
        if ROWS[i, MAPPER] == mapper and ROWS[i, SUBMAPPER] == submapper:
            return i
    return -1


@inner
def _prg_ram(row, prg_ram):
    """What the board has of the RAM its header says, or -1."""
    if prg_ram < ROWS[row, RAM_MIN] and (prg_ram == 0 or ROWS[row, MAPPER] != 0):
        prg_ram = ROWS[row, RAM_MIN]
    if ROWS[row, RAM_MAX] == KIB and prg_ram > KIB:
        prg_ram = KIB
    if prg_ram > PRG_RAM_MAX or prg_ram > ROWS[row, RAM_MAX] or prg_ram & (prg_ram - 1):
        return -1
    if 0 < prg_ram < 2 * KIB and ROWS[row, RAM_MIN] != KIB:
        return 2 * KIB
    return prg_ram


@inner
def insert(nes, mem, image, length):
    """Put in the ROM file ``image[:length]`` and power on, up to the reset sequence. 0 and no change: refused."""
    if length < HEADER_SIZE or image[0] != 0x4E or image[1] != 0x45 or image[2] != 0x53 or image[3] != 0x1A:
        return 0
    size4, size5 = np.int64(image[4]), np.int64(image[5])
    flags, kind = np.int64(image[6]), np.int64(image[7])
    trainer = TRAINER_SIZE if flags & 4 else 0
    start = HEADER_SIZE + trainer

    # Which generation of header; see ines.py.
    nes2 = kind & 0x0C == 8
    garbage = False
    if nes2 and image[9] != 0 and start + size4 * 16 * KIB + size5 * 8 * KIB == length:
        nes2, garbage = False, True
    if not nes2 and (kind & 0x0C or image[12] or image[13] or image[14] or image[15]):
        garbage = True

    mapper, submapper = flags >> 4, 0
    prg_size, chr_size = size4 * 16 * KIB, size5 * 8 * KIB
    if not garbage:
        mapper |= kind & 0xF0
        machine = kind & 3
        extended = np.int64(image[13]) & 15
        if machine and not (nes2 and machine == 3 and (extended == 0 or extended == 4)):
            return 0
    if nes2:
        mapper |= (np.int64(image[8]) & 15) << 8
        submapper = np.int64(image[8]) >> 4
        prg_size = _area_size(size4, np.int64(image[9]) & 15, 16 * KIB)
        chr_size = _area_size(size5, np.int64(image[9]) >> 4, 8 * KIB)
    if prg_size == 0 or prg_size > MAX_FILE or chr_size > MAX_FILE or start + prg_size + chr_size > length:
        return 0
    row = _row_of(mapper, submapper)
    if row < 0 or prg_size % (8 * KIB) or prg_size > ROWS[row, PRG_MAX]:
        return 0
    if chr_size % KIB or chr_size > ROWS[row, CHR_MAX]:
        return 0

    chr_ram = 0 if chr_size else 8 * KIB
    if nes2:
        prg_ram = _ram_size(np.int64(image[10]) & 15) + _ram_size(np.int64(image[10]) >> 4)
        said = _ram_size(np.int64(image[11]) & 15) + _ram_size(np.int64(image[11]) >> 4)
        if chr_size == 0 and said:
            chr_ram = said
            if chr_ram > CHR_RAM_MAX:
                return 0
            chr_ram += -chr_ram % (8 * KIB)
    else:
        units = 0 if garbage else np.int64(image[8])
        prg_ram = units * 8 * KIB if units else 8 * KIB
        if (mapper == MMC1_MAPPERS[0] or mapper == MMC1_MAPPERS[1]) and not units and flags & 2 and chr_size == 0:
            prg_ram = 32 * KIB
        if prg_ram > ROWS[row, RAM_MAX]:
            prg_ram = ROWS[row, RAM_MAX]
    prg_ram = _prg_ram(row, prg_ram)
    if prg_ram < 0 or (trainer and prg_ram < 8 * KIB):
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
    cart.mirroring = 4 if flags & 8 and ROWS[row, FOUR] else flags & 1
    cart.prg_off = RECORD
    cart.prg_size = prg_size
    cart.chr_is_ram = 0 if chr_size else 1
    cart.chr_off = RECORD + prg_size if chr_size else CHR_RAM_OFF
    cart.chr_size = chr_size if chr_size else chr_ram
    cart.prg_ram_off = PRG_RAM_OFF
    cart.prg_ram_size = prg_ram
    for window in range(32):
        page = RAM_OFF - window * CPU_WINDOW if window < 4 else NO_PAGE
        cart.cpu_page[window] = page
        cart.cpu_wpage[window] = page
    mapper_reset(nes, mem, 1)
    return 1
