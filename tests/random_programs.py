"""Random 6502 programs that do to the PPU and to MMC3 what no game does; for comparing two ways of running them.

A program is a loop of fragments, with an NMI and an IRQ handler of some more. Nothing of it is sensible: registers are
written in the middle of lines, OAM DMA runs while a picture is drawn, interrupts are on or off as it happens.
"""

import random

import numpy as np

CODE = 0xE000
NROM, MMC1, MMC3, AXROM = 0, 1, 4, 7
# More programs watch A12 than not; submappers 1, 3 and 4 are MMC6, MC-ACC and NEC's chip.
BOARDS = [(NROM, 0), (NROM, 0), (MMC3, 0), (MMC3, 0), (MMC3, 1), (MMC3, 3), (MMC3, 4), (MMC1, 0), (AXROM, 0)]
CTRL = [0x00, 0x08, 0x10, 0x20, 0x28, 0x30, 0x80, 0x88, 0x90, 0xA0]
MASK = [0x1E, 0x1E, 0x18, 0x1A, 0x1C, 0x00, 0x00, 0x08, 0x10, 0x1F, 0xFE]


def _word(addr):
    return bytes([addr & 0xFF, addr >> 8])


def store(addr, value):
    """LDA #value, STA addr."""
    return bytes([0xA9, value, 0x8D]) + _word(addr)


def load(addr, zero_page):
    """LDA addr, STA zero_page."""
    return b"\xad" + _word(addr) + bytes([0x85, zero_page])


def delay(count):
    """Some five cycles ``count`` times."""
    return bytes([0xA2, count, 0xCA, 0xD0, 0xFD])


def poll(rng):
    """Read $2002 up to 255 times, counting or until a flag is seen."""
    count = rng.choice([1, 3, 20, 60, 200, 255])
    if rng.random() < 0.4:  # LDX #n; loop: LDA $2002, EOR $12, ASL, ADC #1, STA $12, DEX, BNE
        return bytes([0xA2, count]) + bytes.fromhex("ad0220 4512 0a 6901 8512 ca d0f3")
    branch = rng.choice([0x30, 0x70])  # BMI: VBL; BVS: sprite 0. LDX #n; loop: BIT $2002, branch out, DEX, BNE
    return bytes([0xA2, count, 0x2C, 0x02, 0x20, branch, 3, 0xCA, 0xD0, 0xF8, 0x86, 0x13])


def _registers(rng):
    byte = rng.randrange(256)
    return rng.choice(
        [
            lambda: store(0x2001, rng.choice(MASK)),
            lambda: b"".join(store(0x2000, rng.choice(CTRL)) + b"\xea" * n for n in range(rng.randrange(1, 4))),
            lambda: store(0x2000, rng.choice(CTRL)) + b"\x8d\x00\x20" * rng.randrange(1, 6),
            lambda: store(0x2003, rng.choice([0, 0, 4, 1, 0x80, byte])),
            lambda: store(0x2004, byte),
            lambda: store(0x2005, byte) + store(0x2005, rng.randrange(256)),
            lambda: store(0x2006, rng.randrange(64)) + store(0x2006, byte),
            lambda: store(0x2006, 0x3F) + store(0x2006, rng.randrange(32)) + store(0x2007, byte & 0x3F),
            lambda: store(0x2007, byte),
            lambda: load(0x2007, 0x21),
            lambda: load(0x2004, 0x22),
            lambda: load(0x2002, 0x23),
        ]
    )()


def _cartridge(rng, mapper):
    if mapper == MMC3:
        count = rng.choice([0, 0, 1, 2, 3, 5, 10, 30, 60])
        bank = rng.randrange(256)
        return rng.choice(
            [store(0xC000, count), store(0xC001, 0), store(0xE000, 0), store(0xE001, 0), store(0xE001, 0),
             store(0x8000, rng.choice([0, 1, 2, 3, 0x82])) + store(0x8001, bank), store(0xA000, bank & 1)]
        )  # fmt: skip
    if mapper == AXROM:
        return store(0x8000, rng.choice([0, 0x10]))
    if mapper == MMC1:
        addr = rng.choice([0x8000, 0xA000])
        return bytes([0xA9, rng.randrange(32) | 0x0C]) + (b"\x8d" + _word(addr) + b"\x4a") * 5
    return b"\xea"


def _fragment(rng, mapper, mood):
    kind = rng.choices(range(7), weights=mood)[0]
    if kind == 0:
        return poll(rng)
    if kind == 1:
        return _registers(rng)
    if kind == 2:
        return delay(rng.choice([1, 2, 3, 5, 22, 23, 45, rng.randrange(1, 256)])) + b"\xea" * rng.randrange(3)
    if kind == 3:  # OAM DMA, after a change to the page
        page = rng.choice([2, 3])
        return store(page << 8 | rng.randrange(256), rng.randrange(256)) + store(0x4014, page)
    if kind == 4:
        return _cartridge(rng, mapper)
    if kind == 5:
        return store(*rng.choice([(0x4010, 0x0F), (0x4013, 1), (0x4015, 0x1F), (0x4015, 0), (0x4017, 0)]))
    return rng.choice([b"\x58", b"\x58", b"\x78"])  # CLI, SEI


MOODS = [
    # poll, registers, delay, DMA, cartridge, DMC, I flag
    [10, 10, 6, 2, 3, 1, 1],
    [8, 4, 10, 1, 1, 0, 1],
    [1, 6, 8, 1, 14, 1, 3],
    [1, 14, 12, 1, 6, 1, 1],
    [3, 8, 6, 6, 4, 1, 2],
]


def _sprites(rng):
    """256 bytes of OAM, a few rows of sprites close to each other."""
    oam = np.full((64, 4), 0xFF, np.uint8)
    rows = rng.integers(0, 240, rng.integers(1, 6))
    for n in rng.choice(64, rng.choice([0, 4, 8, 20, 64]), replace=False):
        oam[n, 0] = (rng.choice(rows) + rng.integers(-3, 4)) & 0xFF
        oam[n, 1:] = rng.integers(256), rng.integers(256), rng.integers(256)
    return oam.reshape(-1)


def program(seed):
    """``(rom, set_up)``: an iNES image, and what to call with a console before it runs."""
    rng = random.Random(seed)
    mapper, submapper = rng.choice(BOARDS)
    mood = rng.choice(MOODS)
    code = b"\x78\xd8\xa2\xff\x9a" + store(0x4017, 0x40)
    if mapper == MMC3:
        code += store(0xC000, 3) + store(0xC001, 0) + store(0xE001, 0)
    code += store(0x2000, rng.choice(CTRL)) + store(0x2001, rng.choice(MASK)) + rng.choice([b"\x58", b"\x78"])
    loop = CODE + len(code)
    code += b"".join(_fragment(rng, mapper, mood) for _ in range(rng.choice([4, 10, 40, 120])))
    code += b"\x4c" + _word(loop)
    saved, restored = bytes.fromhex("48 8a 48 98 48"), bytes.fromhex("68 a8 68 aa 68 40")
    nmi = CODE + len(code)
    code += saved + b"".join(_fragment(rng, mapper, mood) for _ in range(rng.choice([0, 0, 1, 4]))) + restored
    irq = CODE + len(code)
    acknowledged = store(0xE000, 0) + store(0xE001, 0) if mapper == MMC3 else b""
    handler = b"".join(_fragment(rng, mapper, mood) for _ in range(rng.choice([0, 1, 3])))
    code += saved + acknowledged + load(0x4015, 0x24) + handler + restored
    bank = bytearray(0x2000)
    bank[: len(code)] = code
    bank[-6:] = _word(nmi) + _word(CODE) + _word(irq)
    numbers = np.random.default_rng(seed)
    banks = {NROM: 2, AXROM: 8}.get(mapper, 4)
    prg = bytearray(banks * 0x4000)
    for end in range(0x8000, len(prg) + 1, 0x8000):
        prg[end - 0x2000 : end] = bank
    mirroring = rng.randrange(2)
    header = bytes([*b"NES\x1a", banks, 0, mapper << 4 | mirroring, 8, submapper << 4, 0, 0, 7, 0, 0, 0, 0])
    tiles = numbers.integers(0, 256, 0x2000, np.uint8) & numbers.integers(0, 256, 0x2000, np.uint8)
    vram, colours = numbers.integers(0, 256, 4096, np.uint8), numbers.integers(0, 64, 32, np.uint8)
    pages = [_sprites(numbers) for _ in range(3)]

    def set_up(console):
        console.vram[:] = vram
        console.palette_ram[:] = colours
        console.oam[:] = pages[0]
        console.ram[0x200:0x300] = pages[1]
        console.ram[0x300:0x400] = pages[2]
        console._nes["chr_ram"][:0x2000] = tiles
        console._nes["ppu"]["writable_at"] = 0

    return header + bytes(prg), set_up
