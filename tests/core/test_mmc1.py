"""MMC1: the serial port, banks, mirroring, PRG RAM and the boards that wire it otherwise.

What is expected is said at https://www.nesdev.org/wiki/MMC1 and /NES_2.0_submappers.
"""

import pytest
from board_bench import OPEN_BUS, A, B, Board, H, V


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
