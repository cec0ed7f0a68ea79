"""The PPU by itself: v and t, the ports, the palette, open bus.

The page named with a test is of https://www.nesdev.org/wiki/; what is not
named is calculated in the test.
"""

import numpy as np
import pytest
from ppu_bench import VBL, next_row, next_tile, peek

from pynes_ref.core import ppu_regs


@pytest.mark.parametrize(
    ("v", "tile", "row"),
    [
        (0x0000, 0x0001, 0x1000),
        (0x001F, 0x0400, 0x101F),  # into the next nametable
        (0x041F, 0x0000, 0x141F),
        (0x7000, 0x7001, 0x0020),
        (0x73A0, 0x73A1, 0x0800),  # row 29: into the nametable below
        (0x7BA0, 0x7BA1, 0x0000),
        (0x73E0, 0x73E1, 0x0000),  # row 31: no
        (0x73C0, 0x73C1, 0x03E0),
    ],
)
def test_steps_of_v(v, tile, row):
    """PPU_scrolling, "Wrapping around"."""
    assert next_tile(v) == tile
    assert next_row(v) == row


def test_v_through_a_line(bench):
    """PPU_scrolling: two tiles ahead at dot 0, next row at 256, horizontal bits of t at 257."""
    bench.to(245, 0)
    bench.write(0x2000, 0x02)
    bench.write(0x2005, 0x15, 0x29)  # coarse X 2, fine X 5, coarse Y 5, fine Y 1
    bench.write(0x2001, 0x08)
    t = 1 << 12 | 2 << 10 | 5 << 5 | 2
    assert (bench.ppu["t"], bench.ppu["x"]) == (t, 5)
    bench.to(261, 304)
    assert bench.ppu["v"] == t
    bench.to(0, 0)
    assert bench.ppu["v"] == t + 2
    bench.to(0, 8)
    assert bench.ppu["v"] == t + 3
    bench.to(0, 255)
    assert bench.ppu["v"] == t + 2 + 31 - 32 + 0x0400
    bench.to(0, 256)
    assert bench.ppu["v"] == t + 2 + 0x0400 + 0x1000
    bench.to(0, 257)
    assert bench.ppu["v"] == t + 0x1000
    bench.to(0, 336)
    assert bench.ppu["v"] == t + 0x1000 + 2


def test_t_from_registers(bench):
    """PPU_scrolling, "Register controls"."""
    bench.to(245, 0)
    bench.write(0x2000, 0x03)
    assert bench.ppu["t"] == 0x0C00
    bench.write(0x2005, 0x7D, 0x5E)
    assert (bench.ppu["t"], bench.ppu["x"], bench.ppu["w"]) == (0x6D6F, 5, 0)
    bench.write(0x2006, 0x3D)
    assert bench.ppu["t"] == 0x3D6F
    bench.read(0x2002)
    assert bench.ppu["w"] == 0
    bench.write(0x2006, 0x7D, 0xF0)
    assert bench.ppu["t"] == bench.ppu["v"] == 0x3DF0


def test_data_port(bench):
    """PPU_registers, "PPUDATA": the buffer is one read behind, the palette is not; +1 or +32."""
    bench.to(245, 0)
    bench.write(0x2006, 0x23, 0x45)
    bench.write(0x2007, 0x11, 0x22)
    bench.write(0x2006, 0x2B, 0x45)  # vertical mirroring: the same cell
    bench.read(0x2007)
    bench.run(12)
    first = bench.read(0x2007)
    bench.run(12)
    assert [first, bench.read(0x2007)] == [0x11, 0x22]
    bench.write(0x2000, 0x04)
    bench.write(0x2006, 0x20, 0x00)
    bench.write(0x2007, 1, 2)
    assert bench.nes["vram"][0x20] == 2
    assert bench.ppu["v"] == 0x2040
    # A palette read fills the buffer from the nametable under it.
    bench.write(0x2000, 0x00)
    bench.write(0x2006, 0x2F, 0x05)
    bench.write(0x2007, 0x99)
    bench.write(0x2006, 0x3F, 0x05)
    bench.read(0x2007)
    assert bench.ppu["data_buffer"] == 0x99


def test_palette_mirrors_and_greyscale(bench):
    """PPU_palettes: $3F10/14/18/1C are $3F00/04/08/0C; six bits; bit 0 of PPUMASK hides the low four."""
    bench.to(245, 0)
    bench.write(0x2006, 0x3F, 0x10)
    bench.write(0x2007, 0xFF, 0x26)
    bench.write(0x2006, 0x3F, 0xE0)
    bench.write(0x2006, 0x3F, 0x00)
    assert bench.read(0x2007) & 0x3F == 0x3F
    bench.write(0x2006, 0x3F, 0x11)
    assert bench.read(0x2007) & 0x3F == 0x26
    bench.write(0x2001, 0x01)
    bench.write(0x2006, 0x3F, 0x31)
    assert bench.read(0x2007) & 0x3F == 0x20


def test_open_bus_fades_by_groups(bench):
    """Open_bus_behavior, ppu_open_bus: $2002 refreshes bits 5-7 only, a palette read bits 0-5 only."""
    bench.to(245, 1)
    bench.write(0x2002, 0xFF)
    assert bench.read(0x2000) == 0xFF
    half = 3 * (ppu_regs.FADE // 2)
    bench.run(half)
    assert bench.read(0x2005) == 0xFF
    status = bench.read(0x2002)
    assert status & 0x1F == 0x1F
    bench.run(half)
    assert bench.read(0x2006) == status & 0xE0
    bench.write(0x2002, 0xFF)
    bench.to(245, 1)
    bench.write(0x2006, 0x3F, 0x00)
    bench.write(0x2002, 0xC0)
    bench.run(half)
    assert bench.read(0x2007) == 0xC0
    bench.run(half)
    assert bench.read(0x2000) == 0


def test_oam_port(bench):
    """PPU_OAM: writes step OAMADDR, reads do not; attribute bits 2-4 do not exist."""
    bench.to(245, 0)
    bench.write(0x2003, 0xFE)
    bench.write(0x2004, 0xFF, 0x12, 0x34)
    assert bench.ppu["oam_addr"] == 1
    assert list(bench.ppu["oam"][[0xFE, 0xFF, 0x00]]) == [0xFF, 0x12, 0x34]
    bench.write(0x2003, 0xFE)
    assert [bench.read(0x2004), bench.read(0x2004)] == [0xE3, 0xE3]


def test_backdrop_is_where_v_points(bench):
    """PPU_palettes, "The background palette hack": rendering off and v in $3F00-$3FFF."""
    bench.ppu["palette"][:] = np.arange(32)
    bench.to(245, 0)
    bench.write(0x2006, 0x3F, 0x17)
    bench.to(1, 0)
    assert (bench.pixels(0) == 0x17).all()
    bench.write(0x2006, 0x21, 0x17)
    bench.to(2, 0)
    assert (bench.pixels(1) == 0).all()


def test_peek_has_no_effect(bench):
    bench.write(0x2000, 0x80)
    bench.to(241, 5)
    before = bench.mem.copy()
    assert peek(bench.nes, bench.mem, 2) & VBL
    for reg in range(8):
        peek(bench.nes, bench.mem, reg)
    assert (bench.mem == before).all()
