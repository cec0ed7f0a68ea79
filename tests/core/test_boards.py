"""Boards with discrete logic, and power-on of all: what the CPU and PPU see after register writes.

What is expected is said at https://www.nesdev.org/wiki/NROM, /UxROM, /CNROM, /AxROM and /NES_2.0_submappers.
"""

import pytest
from board_bench import FOUR, OPEN_BUS, A, B, Board, H, V, reset

from pynes_ref.core.mappers.boards import BOARDS
from pynes_ref.ines import KIB


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
    reset(board.nes, board.mem, 1)
    assert bytes(board.mem) == before
    board.nes["cart"]["reg"][5] = 3
    before = bytes(board.mem)
    reset(board.nes, board.mem, 0)
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
