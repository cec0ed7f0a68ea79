"""Small ROMs for tests, made of a few bytes of 6502 code."""

from pathlib import Path

OWN = Path(__file__).parent.parent / "test_roms"
ORIGIN = 0xC000

# LDA #1, STA $4016, LSR A, STA $4016; LDX #8: LDA $4016, LSR A, ROL $10, DEX, BNE; the same for $4017 and $11;
# then INC $12 and from the start.
READ_PADS = bytes.fromhex("a901 8d1640 4a 8d1640 a208 ad1640 4a 2610 ca d0f7 a208 ad1740 4a 2611 ca d0f7 e612 4c00c0")
FOREVER = bytes.fromhex("4c00c0")
JAM = bytes.fromhex("a942 8510 02")


def rom(code=FOREVER, mapper=0, submapper=0, prg=1, chr_=1, flags=0, prg_ram=7, nes2=True):
    """A ROM with ``code`` at $C000 in its last 16 KiB bank, where all vectors point. ``prg``, ``chr_``: banks."""
    header = bytearray(16)
    header[:6] = b"NES\x1a" + bytes([prg, chr_])
    header[6] = (mapper & 15) << 4 | flags
    header[7] = mapper & 0xF0
    if nes2:
        header[7] |= 8
        header[8] = submapper << 4
        header[10] = prg_ram << 4 if flags & 2 else prg_ram
        header[11] = 0 if chr_ else 7
    banks = bytearray()
    for bank in range(prg):
        banks += bytes([bank]) * 0x4000
    banks[-0x4000 : len(code) - 0x4000] = code
    banks[-6:] = ORIGIN.to_bytes(2, "little") * 3
    pattern = bytes((i * 7 + i // 256) & 0xFF for i in range(0x2000))
    return bytes(header) + bytes(banks) + pattern * chr_


def own(name):
    """The bytes of one of our own ROMs."""
    return (OWN / f"{name}.nes").read_bytes()
