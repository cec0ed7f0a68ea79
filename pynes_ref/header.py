"""What the numbers in an iNES or NES 2.0 header come to.

Functions of integers that call nothing: ``ines.py`` calls them and finds the words for what is wrong,
``wasm_export/cartridge.py`` compiles them.

Wiki: https://www.nesdev.org/wiki/INES and .../NES_2.0
"""

KIB = 1024
MAX_FILE = 64 * 1024 * KIB
MAX_EXPONENT = MAX_FILE.bit_length()
HEADER_SIZE = 16
TRAINER_SIZE = 512

PRG_RAM_MAX = 32 * KIB
CHR_RAM_MAX = 32 * KIB

# Generations of headers.
INES, NES2, ARCHAIC = range(3)

# What ``rom_fault`` and ``prg_ram_fault`` find.
FITS, ODD_SIZE, TOO_LARGE, TOO_LARGE_FOR_ALL = range(4)


def generation(kind: int, prg_msb: int, tail: int, plain_size: int, size: int) -> int:
    """Which generation a header is of, by byte 7, byte 9 and whether any of bytes 12 to 15 is set.

    ``plain_size``: of the file by the fields that all generations have; ``size``: what it really has.
    """
    if kind & 0x0C == 8:
        # Text in an old header can look like NES 2.0; then only the old sizes fit the file.
        return ARCHAIC if prg_msb and plain_size == size else NES2
    return ARCHAIC if kind & 0x0C or tail else INES


def mapper_number(form: int, byte6: int, byte7: int, byte8: int) -> int:
    """The mapper, of as many bits as this generation of header has."""
    if form == ARCHAIC:
        return byte6 >> 4
    if form == INES:
        return byte6 >> 4 | byte7 & 0xF0
    return byte6 >> 4 | byte7 & 0xF0 | (byte8 & 15) << 8


def is_home_console(form: int, byte7: int, byte13: int) -> bool:
    """False for the Vs. System, the PlayChoice-10 and the extended types that are no NES or Famicom.

    Extended types 0 and 4 are; 4 has a sound module beside.
    """
    if form == ARCHAIC or byte7 & 3 == 0:
        return True
    return form == NES2 and byte7 & 3 == 3 and (byte13 & 15 == 0 or byte13 & 15 == 4)


def area_size(low: int, high: int, unit: int) -> int:
    """Bytes of a ROM area from its NES 2.0 byte and nibble; some number above MAX_FILE for too much."""
    if high < 15:
        return (high << 8 | low) * unit
    if low >> 2 > MAX_EXPONENT:
        return MAX_FILE + 1
    return ((low & 3) * 2 + 1) << (low >> 2)


def ram_size(shift: int) -> int:
    """Bytes of RAM from a nibble of NES 2.0."""
    return 64 << shift if shift else 0


def ines_prg_ram(units: int, mapper: int, battery: int, chr_size: int, most: int) -> int:
    """Bytes of PRG RAM of a board, which has ``most``, where NES 2.0 does not say it."""
    size = units * 8 * KIB if units else 8 * KIB
    if (mapper == 1 or mapper == 155) and not units and battery and chr_size == 0:
        # SOROM, SUROM and SXROM cannot be told from SNROM by an iNES header; 32 KiB serve all their games.
        size = 32 * KIB
    return size if size < most else most


def board_prg_ram(size: int, mapper: int, least: int, most: int) -> int:
    """Bytes of PRG RAM with what is on the board, or inside its chip, whatever the header says."""
    if size < least and (size == 0 or mapper != 0):
        size = least
    if most == KIB and size > KIB:
        return KIB
    return size


def prg_ram_fault(size: int, most: int) -> int:
    """Can a board that takes ``most`` bytes of PRG RAM have ``size``?"""
    if size > PRG_RAM_MAX:
        return TOO_LARGE_FOR_ALL
    if size > most:
        return TOO_LARGE
    return ODD_SIZE if size & (size - 1) else FITS


def mapped_prg_ram(size: int, least: int) -> int:
    """Bytes of PRG RAM that are mapped: pages of 2 KiB, but for a board that has 1 KiB inside."""
    if 0 < size < 2 * KIB and least != KIB:
        return 2 * KIB
    return size


def chr_ram_size(said: int, chr_size: int) -> int:
    """Bytes of CHR RAM, for what NES 2.0 says (0 = nothing): none beside CHR ROM, or a multiple of 8 KiB."""
    if chr_size:
        return 0
    if said == 0:
        return 8 * KIB
    return said + -said % (8 * KIB)


def rom_fault(size: int, unit: int, most: int) -> int:
    """Can a board that reaches ``most`` bytes of a ROM have ``size``?"""
    if size % unit:
        return ODD_SIZE
    return TOO_LARGE if size > most else FITS


def layout(flags: int, four_screen: int) -> int:
    """``banking.py``'s layout number of the nametables by byte 6, for a board that can carry four of them or not."""
    if flags & 8 and four_screen:
        return 4
    return flags & 1
