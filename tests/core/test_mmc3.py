"""MMC3 and MMC6: banks, RAM protection, and when the counter interrupts.

What is expected is said at https://www.nesdev.org/wiki/MMC3, /MMC6 and /NES_2.0_submappers.
"""

import pytest
from board_bench import FOUR, OPEN_BUS, Board, H, V, edge, quiet


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
            assert quiet(board.nes) == latch - i
            assert board.rise() == 0
        assert quiet(board.nes) == 0
        assert board.rise() == 1
        assert quiet(board.nes) > 1 << 30
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
        assert quiet(board.nes) == 0
        assert board.rise() == 1
        board.write(0xE000, 0)
        board.write(0xE001, 0)


@pytest.mark.parametrize("submapper", [1, 4])
def test_nec_interrupts_once_with_latch_0(submapper):
    board = irq_board(submapper, 0)
    assert board.rise() == 1
    board.write(0xE000, 0)
    board.write(0xE001, 0)
    assert quiet(board.nes) > 1 << 30
    assert board.rise() == 0
    board.write(0xC001, 0)
    assert quiet(board.nes) == 0
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
        lines.append(int(edge(board.nes, board.mem, board.dots, 0)))
        board.dots += 4
        edge(board.nes, board.mem, board.dots, 1)
        board.dots += 4
    assert lines == [0] * 8 + [1] * 9
