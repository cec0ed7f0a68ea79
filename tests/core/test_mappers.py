"""Boards: what the CPU and PPU see after register writes, and when the MMC3 interrupts."""

import numpy as np
import pytest

from pynes_ref.core.jit import entry as jit
from pynes_ref.core.mappers import dispatch
from pynes_ref.core.mappers.boards import BOARDS
from pynes_ref.core.power import make_console
from pynes_ref.ines import KIB, load_rom

OPEN_BUS = -1


@jit
def _write(nes, mem, addr, value, n):
    page = nes.cart.cpu_wpage[addr >> 11] + addr
    if page >= 0:
        mem[page] = value
    else:
        dispatch.mapper_write(nes, mem, addr, value, n)


@jit
def _read(nes, mem, addr):
    page = nes.cart.cpu_page[addr >> 11] + addr
    if page >= 0:
        return np.int64(mem[page])
    return np.int64(dispatch.mapper_read(nes, mem, addr, 0))


@jit
def _edge(nes, mem, dots, rise):
    if rise:
        dispatch.mapper_a12(nes, mem, dots)
    else:
        dispatch.mapper_a12_low(nes, dots)
    return nes.cart.irq_line


@jit
def _quiet(nes):
    return dispatch.mapper_irq_quiet(nes)


@jit
def _reset(nes, mem, hard):
    dispatch.mapper_reset(nes, mem, hard)


class Board:
    """A cartridge whose PRG bytes 0 and 1 of each 8 KiB say the bank number, CHR byte 0 of each 1 KiB too."""

    def __init__(self, mapper, prg_kib, chr_kib=0, submapper=0, prg_ram=0, chr_ram=7, flags6=0, fill=0xFF):
        prg = np.full(prg_kib * KIB, fill, np.uint8)
        for bank in range(prg_kib // 8):
            prg[bank * 8192] = bank
        chr_rom = np.zeros(chr_kib * KIB, np.uint8)
        chr_rom[::1024] = np.arange(chr_kib, dtype=np.int64) & 255
        header = bytearray(b"NES\x1a" + bytes(12))
        header[4], header[5] = prg_kib // 16, chr_kib // 8
        header[6] = (mapper & 15) << 4 | flags6
        header[7] = mapper & 0xF0 | 8
        header[8] = submapper << 4
        header[10], header[11] = prg_ram, 0 if chr_kib else chr_ram
        self.cart = load_rom(bytes(header) + prg.tobytes() + chr_rom.tobytes())
        self.mem, self.nes = make_console(self.cart)
        self.n = 100
        self.dots = 1000

    def write(self, addr, value, cycles=4):
        self.n += cycles
        _write(self.nes, self.mem, addr, value, self.n)

    def read(self, addr):
        return int(_read(self.nes, self.mem, addr))

    def prg(self):
        """The 8 KiB banks at $8000, $A000, $C000, $E000."""
        return [self.read(0x8000 + i * 0x2000) for i in range(4)]

    def chr(self):
        """The 1 KiB banks in the pattern tables, as offsets from the first."""
        slot = self.nes["cart"]
        return [int(slot["ppu_page"][i] + i * 1024 - slot["chr_off"]) // 1024 for i in range(8)]

    def nametables(self):
        slot = self.nes["cart"]
        base = int(self.nes.dtype.fields["vram"][1])
        pages = [int(slot["ppu_page"][8 + i] + (8 + i) * 1024 - base) // 1024 for i in range(8)]
        assert pages[:4] == pages[4:]
        return pages[:4]

    def rise(self, low=100):
        """Clock the counter: A12 falls, stays low for ``low`` dots, rises. The IRQ line."""
        _edge(self.nes, self.mem, self.dots, 0)
        self.dots += low
        irq = int(_edge(self.nes, self.mem, self.dots, 1))
        self.dots += 10
        return irq

    def mmc1(self, addr, value):
        for i in range(5):
            self.write(addr, value >> i & 1)


# Layouts seen at $2000, $2400, $2800, $2C00.
H, V, A, B, FOUR = [0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 2, 3]


@pytest.mark.parametrize("key", BOARDS, ids=str)
@pytest.mark.parametrize("big", [0, 1])
@pytest.mark.parametrize("flags6", [0, 1, 8])
def test_power_on_is_the_same_in_python_and_compiled(key, big, flags6):
    row = BOARDS[key]
    prg = row.prg_max // KIB if big else 16
    chr_kib = min(row.chr_max // KIB, 256) if big else 0
    board = Board(key[0], min(prg, 512), chr_kib, key[1], flags6=flags6)
    before = bytes(board.mem)
    board.nes["cart"]["cpu_page"][12:] = 77
    board.nes["cart"]["ppu_page"][:] = 77
    board.nes["cart"]["ppu_wok"][:] = 77
    board.nes["cart"]["reg"][:] = 77
    board.nes["cart"]["irq_line"] = 1
    _reset(board.nes, board.mem, 1)
    assert bytes(board.mem) == before
    board.nes["cart"]["reg"][5] = 3
    before = bytes(board.mem)
    _reset(board.nes, board.mem, 0)
    assert bytes(board.mem) == before


def test_nrom():
    board = Board(0, 16)
    assert board.prg() == [0, 1, 0, 1]
    assert Board(0, 32).prg() == [0, 1, 2, 3]
    assert [Board(0, 16, flags6=f).nametables() for f in (0, 1, 8)] == [H, V, FOUR]
    board.write(0x0800, 5)
    assert [board.read(a) for a in (0, 0x800, 0x1000, 0x1800)] == [5] * 4
    board.write(0x6123, 9)
    assert board.read(0x6123) == 9
    assert board.read(0x5000) == OPEN_BUS
    board.write(0x8000, 7)
    assert board.read(0x8000) == 0
    assert list(board.nes["cart"]["ppu_wok"]) == [1] * 16
    assert list(Board(0, 16, 8).nes["cart"]["ppu_wok"]) == [0] * 8 + [1] * 8


def test_small_prg_ram_repeats():
    board = Board(0, 16, prg_ram=5)
    board.write(0x6001, 3)
    assert [board.read(a) for a in (0x6001, 0x6801, 0x7001, 0x7801)] == [3] * 4


def test_uxrom():
    board = Board(2, 128)
    assert board.prg() == [0, 1, 14, 15]
    board.write(0x8000, 3)
    assert board.prg() == [6, 7, 14, 15]
    board.write(0xFFFF, 0x19)
    assert board.prg() == [2, 3, 14, 15]
    assert board.read(0x6000) == OPEN_BUS
    board.write(0x6000, 1)
    assert board.read(0x6000) == OPEN_BUS


@pytest.mark.parametrize(("mapper", "submapper", "conflict"), [
    (2, 0, False), (2, 1, False), (2, 2, True), (3, 0, True), (3, 1, False), (3, 2, True),
    (7, 0, False), (7, 1, False), (7, 2, True),
])
def test_bus_conflicts(mapper, submapper, conflict):
    board = Board(mapper, 32 if mapper == 3 else 128, 32 if mapper == 3 else 0, submapper, fill=0xFE)
    board.write(0x8001, 3)
    first = board.chr()[0] // 8 if mapper == 3 else board.prg()[0] // (4 if mapper == 7 else 2)
    assert first == (2 if conflict else 3)


def test_cnrom():
    board = Board(3, 32, 32)
    board.write(0xFFFF, 6)
    assert board.chr() == list(range(16, 24))
    assert board.prg() == [0, 1, 2, 3]


def test_axrom():
    board = Board(7, 256)
    assert (board.prg(), board.nametables()) == ([0, 1, 2, 3], A)
    board.write(0x8001, 0x13)
    assert (board.prg(), board.nametables()) == ([12, 13, 14, 15], B)
    board.write(0x8001, 0x09)
    assert (board.prg(), board.nametables()) == ([4, 5, 6, 7], A)


def test_mmc1_prg_modes():
    board = Board(1, 256)
    assert board.prg() == [0, 1, 30, 31]
    board.mmc1(0xE000, 5)
    assert board.prg() == [10, 11, 30, 31]
    board.mmc1(0x8000, 0x08)
    assert board.prg() == [0, 1, 10, 11]
    board.mmc1(0x8000, 0x04)
    assert board.prg() == [8, 9, 10, 11]
    board.write(0xC000, 0x80)
    assert board.prg() == [10, 11, 30, 31]


def test_mmc1_mirroring_and_chr():
    board = Board(1, 128, 128)
    layouts = []
    for i in range(4):
        board.mmc1(0x8000, 0x1C | i)
        layouts.append(board.nametables())
    assert layouts == [A, B, V, H]
    board.mmc1(0xA000, 3)
    board.mmc1(0xC000, 30)
    assert board.chr() == [12, 13, 14, 15, 120, 121, 122, 123]
    board.mmc1(0x8000, 0x0C)
    assert board.chr() == list(range(8, 16))


def test_mmc1_serial_port():
    board = Board(1, 256)
    for _i in range(4):
        board.write(0x8000, 1)
    board.write(0x8000, 0xFF)
    board.mmc1(0xE000, 2)
    assert board.prg()[:2] == [4, 5]
    # Only the last write's address counts.
    for _i in range(4):
        board.write(0x8000, 1)
    board.write(0xFFFF, 0)
    assert board.prg()[:2] == [30, 31]


def test_mmc1_ignores_the_write_of_the_next_cycle():
    board = Board(1, 256)
    for i in range(5):
        board.write(0xE000, 0b00011 >> i & 1)
        board.write(0xE000, 1, cycles=1)
    assert board.prg()[:2] == [6, 7]
    # Bit 7 is heard even then, and a reset makes the next cycle's data write unheard too.
    board.write(0xE000, 1)
    board.write(0xE000, 0x80, cycles=1)
    board.mmc1(0xE000, 1)
    assert board.prg()[:2] == [2, 3]
    board.write(0xE000, 0xFF)
    board.write(0xE000, 0x00, cycles=1)
    board.mmc1(0xE000, 4)
    assert board.prg()[:2] == [8, 9]


def test_mmc1_prg_ram_enables():
    board = Board(1, 128, 32)
    board.write(0x6000, 5)
    board.mmc1(0xE000, 0x10)
    assert board.read(0x6000) == OPEN_BUS
    board.write(0x6000, 6)
    board.mmc1(0xE000, 0)
    assert board.read(0x6000) == 5
    board.mmc1(0xA000, 0x10)
    assert board.read(0x6000) == 5
    snrom = Board(1, 128)
    snrom.write(0x6000, 5)
    snrom.mmc1(0xA000, 0x10)
    assert snrom.read(0x6000) == OPEN_BUS
    snrom.mmc1(0xA000, 0x00)
    assert snrom.read(0x6000) == 5
    for key in ((155, 0), (1, 3)):
        mmc1a = Board(key[0], 256, submapper=key[1])
        mmc1a.mmc1(0xE000, 0x12)
        mmc1a.write(0x6000, 7)
        assert mmc1a.read(0x6000) == 7
        assert mmc1a.prg() == [4, 5, 14, 15]
        mmc1a.mmc1(0xE000, 0x1A)
        assert mmc1a.prg() == [20, 21, 30, 31]


def test_surom_outer_bank():
    board = Board(1, 512)
    assert board.prg() == [0, 1, 30, 31]
    board.mmc1(0xA000, 0x10)
    assert board.prg() == [32, 33, 62, 63]
    assert board.read(0x6000) == 0
    board.mmc1(0xE000, 3)
    assert board.prg() == [38, 39, 62, 63]


@pytest.mark.parametrize(("prg", "chr_kib", "prg_ram", "values"), [
    (512, 0, 0x90, [0x00, 0x04, 0x08, 0x0C]),   # SXROM: bits 3-2
    (128, 0, 0x77, [0x00, 0x08]),               # SOROM: bit 3
    (128, 64, 0x77, [0x00, 0x10]),              # SZROM: bit 4
])
def test_mmc1_prg_ram_banks(prg, chr_kib, prg_ram, values):
    board = Board(1, prg, chr_kib, prg_ram=prg_ram, flags6=2)
    for bank, value in enumerate(values):
        board.mmc1(0xA000, value)
        board.write(0x6000, 40 + bank)
    ram = board.nes["prg_ram"]
    assert [int(ram[i * 8192]) for i in range(len(values))] == [40 + i for i in range(len(values))]


def test_serom_has_no_prg_banks():
    board = Board(1, 32, 32, submapper=5)
    board.mmc1(0xE000, 1)
    assert board.prg() == [0, 1, 2, 3]


def test_mmc3_banks():
    board = Board(4, 256, 256)
    assert board.prg() == [0, 0, 30, 31]
    for reg, value in enumerate((2, 5, 6, 7, 8, 9, 3, 4)):
        board.write(0x8000, reg)
        board.write(0x8001, value)
    assert board.prg() == [3, 4, 30, 31]
    assert board.chr() == [2, 3, 4, 5, 6, 7, 8, 9]
    board.write(0x9FFE, 0xC0)
    assert board.prg() == [30, 4, 3, 31]
    assert board.chr() == [6, 7, 8, 9, 2, 3, 4, 5]
    board.write(0x8000, 7)
    board.write(0x8001, 0xC5)
    assert board.prg() == [3, 5, 30, 31]
    board.write(0xA000, 1)
    assert board.nametables() == H
    board.write(0xA000, 0)
    assert board.nametables() == V
    four = Board(4, 128, 64, flags6=8)
    four.write(0xA000, 1)
    assert four.nametables() == FOUR


def test_mmc3_chr_ram_has_banks():
    board = Board(4, 128, chr_ram=9)
    board.write(0x8000, 2)
    board.write(0x8001, 0x25)
    assert board.chr()[4] == 5
    board.write(0x8001, 0x1F)
    assert board.chr()[4] == 31
    assert list(board.nes["cart"]["ppu_wok"]) == [1] * 16


def test_mmc3_prg_ram_protect():
    board = Board(4, 128, 64)
    board.write(0x6000, 1)
    board.write(0xA001, 0xC0)
    board.write(0x6000, 2)
    assert board.read(0x6000) == 1
    board.write(0xA001, 0x00)
    board.write(0x6000, 3)
    assert board.read(0x6000) == OPEN_BUS
    board.write(0xA001, 0x80)
    assert board.read(0x6000) == 1


def test_mmc6_ram():
    board = Board(4, 128, 64, submapper=1, prg_ram=0x40, flags6=2)
    board.write(0xA001, 0xF0)
    board.write(0x7000, 1)
    assert board.read(0x7000) == OPEN_BUS       # not enabled in $8000: $A001 is deaf
    board.write(0x8000, 0x20)
    board.write(0xA001, 0xF0)
    board.write(0x7000, 1)
    board.write(0x7FFF, 2)
    assert [board.read(a) for a in (0x7000, 0x7400, 0x73FF, 0x6000)] == [1, 1, 2, OPEN_BUS]
    board.write(0xA001, 0xA0)                   # read only
    board.write(0x7000, 3)
    assert board.read(0x7000) == 1
    board.write(0xA001, 0x20)                   # lower half only: the other reads 0
    assert [board.read(0x7000), board.read(0x73FF)] == [1, 0]
    board.write(0xA001, 0x10)                   # write without read: neither
    board.write(0x7000, 9)
    assert board.read(0x7000) == OPEN_BUS
    board.write(0xA001, 0xF0)
    assert board.read(0x7000) == 1
    board.write(0x8000, 0x00)
    assert board.read(0x7000) == OPEN_BUS


def irq_board(submapper=0, latch=0):
    board = Board(4, 128, 64, submapper)
    board.write(0xC000, latch)
    board.write(0xC001, 0)
    board.write(0xE001, 0)
    return board


@pytest.mark.parametrize("submapper", [0, 1, 4])
@pytest.mark.parametrize("latch", [1, 2, 7, 255])
def test_mmc3_counter_interrupts_every_latch_plus_one_clocks(submapper, latch):
    board = irq_board(submapper, latch)
    for _ in range(2):
        for i in range(latch):
            assert _quiet(board.nes) == latch - i
            assert board.rise() == 0
        assert _quiet(board.nes) == 0
        assert board.rise() == 1
        assert _quiet(board.nes) > 1 << 30
        board.write(0xE000, 0)
        board.write(0xE001, 0)
        assert board.nes["cart"]["irq_line"] == 0


def test_mmc3_disabled_counter_runs_on():
    board = irq_board(latch=2)
    board.write(0xE000, 0)
    board.rise()
    board.rise()
    board.write(0xE001, 0)
    assert board.rise() == 1


def test_sharp_interrupts_every_clock_with_latch_0():
    board = irq_board(0, 0)
    for _ in range(3):
        assert _quiet(board.nes) == 0
        assert board.rise() == 1
        board.write(0xE000, 0)
        board.write(0xE001, 0)


@pytest.mark.parametrize("submapper", [1, 4])
def test_nec_interrupts_once_with_latch_0(submapper):
    board = irq_board(submapper, 0)
    assert board.rise() == 1
    board.write(0xE000, 0)
    board.write(0xE001, 0)
    assert _quiet(board.nes) > 1 << 30
    assert board.rise() == 0
    board.write(0xC001, 0)
    assert _quiet(board.nes) == 0
    assert board.rise() == 1


def test_mmc3_c001_clears_at_once_and_reloads_later():
    board = irq_board(0, 5)
    board.rise()
    board.write(0xC000, 1)
    board.write(0xC001, 0)
    assert board.rise() == 0
    assert board.rise() == 1


def test_a12_filter():
    # M2 falls after dots 2, 5, 8 ... of a multiple of 3: three of them lie in 9 dots and may lie in 7.
    for low, clocks in ((4, 0), (6, 0), (7, 1), (9, 1), (12, 1)):
        board = irq_board(0, 0)
        board.dots = 1001  # dot 2 of cycle 333
        assert board.rise(low) == clocks, low
    for start in range(3):
        board = irq_board(0, 0)
        board.dots = 999 + start
        assert board.rise(6) == 0
        board = irq_board(0, 0)
        board.dots = 999 + start
        assert board.rise(9) == 1


def test_mc_acc_clocks_on_every_eighth_fall():
    board = irq_board(3, 1)
    lines = []
    for _ in range(17):
        lines.append(int(_edge(board.nes, board.mem, board.dots, 0)))
        board.dots += 4
        _edge(board.nes, board.mem, board.dots, 1)
        board.dots += 4
    assert lines == [0] * 8 + [1] * 9
