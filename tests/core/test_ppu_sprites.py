"""The PPU by itself: sprites, their flags, OAM while rendering, and a line of pixels.

The page named with a test is of https://www.nesdev.org/wiki/; what is not
named is calculated in the test.
"""

import numpy as np
import pytest
from ppu_bench import OVERFLOW, SPRITE_0, VBL


def test_oam_port_while_rendering(bench):
    """PPU_registers, "OAMDATA": $FF while secondary OAM is cleared; a write only moves OAMADDR."""
    bench.write(0x2001, 0x18)
    bench.sprite(0, 20, 0x55, 0, 0)
    bench.to(19, 30)
    assert bench.read(0x2004) == 0xFF
    bench.to(20, 66)
    assert bench.read(0x2004) == 20
    bench.run(2)
    assert bench.read(0x2004) == 0x55
    bench.write(0x2003, 5)
    bench.write(0x2004, 0x77)
    assert bench.ppu["oam_addr"] == 8
    assert 0x77 not in bench.ppu["oam"]
    bench.to(20, 300)
    assert bench.ppu["oam_addr"] == 0


def _sprite_0_scene(b, x, y=30, mask=0x1E):
    b.nes["vram"][:0x3C0] = 1
    b.sprite(0, y, 1, 0, x)
    b.to(245, 0)
    b.write(0x2001, mask)


@pytest.mark.parametrize("x", [0, 8, 50, 254])
def test_sprite_0_hit(bench, x):
    """PPU_OAM, PPU_rendering: a sprite at Y shows from line Y + 1; pixel x is drawn by dot x + 1."""
    _sprite_0_scene(bench, x)
    bench.to(31, x)
    assert bench.status() & SPRITE_0 == 0
    bench.run(1)
    assert bench.status() & SPRITE_0
    bench.to(261, 0)
    assert bench.ppu["status"] & SPRITE_0
    # The flags are read at the end of the access, a dot later than VBL.
    assert bench.read(0x2002) & (VBL | SPRITE_0) == VBL
    bench.run(1)
    assert bench.ppu["status"] == 0


@pytest.mark.parametrize(("x", "mask"), [(255, 0x1E), (0, 0x18), (0, 0x1A), (0, 0x1C), (50, 0x0E), (50, 0x16)])
def test_no_sprite_0_hit(bench, x, mask):
    """PPU_OAM, "Sprite zero hits": not at 255, not in clipped columns, not with a layer off."""
    _sprite_0_scene(bench, x, y=30, mask=mask)
    bench.ppu["oam"][0] = 30
    bench.nes["chr_ram"][16:24] = 0x80  # only the sprite's first column
    bench.to(240, 0)
    assert bench.status() & SPRITE_0 == 0


def test_ninth_sprite_overflows(bench):
    """PPU_sprite_evaluation: eight dots a sprite in range from dot 65, so the ninth's Y is judged at dot 130."""
    for i in range(9):
        bench.sprite(i, 50, 0, 0, 0)
    bench.to(245, 0)
    bench.write(0x2001, 0x18)
    bench.to(50, 129)
    assert bench.status() & OVERFLOW == 0
    bench.run(1)
    assert bench.status() & OVERFLOW
    assert bench.read(0x2002) & OVERFLOW


def test_eight_sprites_do_not_overflow(bench):
    for i in range(8):
        bench.sprite(i, 50, 0, 0, 0)
    bench.to(245, 0)
    bench.write(0x2001, 0x18)
    bench.to(261, 0)
    assert bench.status() & OVERFLOW == 0


@pytest.mark.parametrize(("tile", "flag"), [(50, OVERFLOW), (60, 0)])
def test_overflow_search_goes_astray(bench, tile, flag):
    """PPU_sprite_evaluation, step 3: past a ninth out of range the tenth's tile number is taken for a Y."""
    for i in range(8):
        bench.sprite(i, 50, 0, 0, 0)
    bench.sprite(8, 100, 0, 0, 0)
    bench.sprite(9, 100, tile, 0, 0)
    bench.to(245, 0)
    bench.write(0x2001, 0x18)
    bench.to(60, 0)
    assert bench.status() & OVERFLOW == flag


def test_a_line_of_pixels(bench):
    """Tiles with palette 2 under sprites: fine X shifts, the lower sprite number wins, bit 5 puts one behind."""
    b = bench
    b.ppu["palette"][:] = np.arange(32)
    b.nes["vram"][0] = 1
    b.nes["vram"][1] = 2
    b.nes["vram"][0x3C0] = 0xAA
    b.sprite(0, 0, 1, 0x01, 100)
    b.sprite(1, 0, 2, 0x02, 104)
    b.sprite(2, 0, 2, 0x23, 4)
    b.to(245, 0)
    b.write(0x2005, 3, 0)
    b.write(0x2001, 0x3E)
    b.to(2, 0)
    expected = np.zeros(256, int)
    expected[0:5] = 9  # tile 0, three columns scrolled out
    expected[5:13] = 11
    expected[104:112] = 0x1B
    expected[100:108] = 0x15
    np.testing.assert_array_equal(b.pixels(1), expected | 0x40)


def test_flipped_sprites_and_16_rows(bench):
    """PPU_OAM, "Byte 1" and "Byte 2": in 8x16 bit 0 of the tile chooses the table; flips turn the whole sprite."""
    b = bench
    b.ppu["palette"][:] = np.arange(32)
    b.nes["chr_ram"][0x1020] = 0x80  # tile 2 of table 1, row 0
    b.nes["chr_ram"][0x1037] = 0x01  # tile 3, row 7
    b.sprite(0, 10, 3, 0x00, 20)
    b.sprite(1, 10, 3, 0xC0, 40)
    b.to(245, 0)
    b.write(0x2000, 0x20)
    b.write(0x2001, 0x1E)
    b.to(40, 0)
    assert list(np.flatnonzero(b.pixels(11))) == [20, 40]
    assert list(np.flatnonzero(b.pixels(26))) == [27, 47]
    assert not b.pixels(27).any()


def test_oam_row_is_corrupted(bench):
    """PPU_registers, "OAM corruption": rendering off at dot d < 64 of a line, row d/2, done when it is on again."""
    bench.ppu["oam"][:] = np.arange(256)
    bench.write(0x2001, 0x18)
    bench.to(100, 20)
    bench.write(0x2001, 0x00)
    bench.to(150, 0)
    assert list(bench.ppu["oam"][80:88]) == list(range(80, 88))
    bench.write(0x2001, 0x18)
    bench.run(2)
    assert list(bench.ppu["oam"][80:88]) == list(range(8))
    assert list(bench.ppu["oam"][88:]) == list(range(88, 256))
