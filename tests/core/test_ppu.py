"""The PPU by itself: timing, v, sprites, palette, registers, and that cutting a run changes nothing.

The page named with a test is of https://www.nesdev.org/wiki/; what is not
named is calculated in the test.
"""

import numpy as np
import pytest

from pynes_ref.core import ppu, ppu_regs, ppu_sprites, ppu_vram
from pynes_ref.core.jit import entry as jit
from pynes_ref.core.state import NES, NEVER, STATE_BYTES, offset_of

VBL, SPRITE_0, OVERFLOW = 0x80, 0x40, 0x20
LINE, FRAME = 341, 262 * 341
READ, WRITE, DMA = range(3)


@jit
def _play(nes, mem, ops, stops, seen):
    """Run to the dot ops[k, 0] of each access, and to each of the dots ``stops`` on the way."""
    stop = 0
    for k in range(ops.shape[0]):
        while stop < len(stops) and stops[stop] <= ops[k, 0]:
            ppu.ppu_run(nes, mem, stops[stop])
            stop += 1
        ppu.ppu_run(nes, mem, ops[k, 0])
        if ops[k, 1] == READ:
            seen[k] = ppu_regs.ppu_read(nes, mem, ops[k, 2])
        elif ops[k, 1] == WRITE:
            ppu_regs.ppu_write(nes, mem, ops[k, 2], ops[k, 3])
        elif ops[k, 1] == DMA:
            ppu_regs.ppu_dma_write(nes, ops[k, 3])


@jit
def _catch_up(nes):
    ppu_sprites.sprites_catch_up(nes)


@jit
def _next_events(nes):
    return ppu.ppu_next_nmi_dot(nes), ppu.ppu_next_frame_dot(nes)


@jit
def _peek(nes, mem, reg):
    return ppu_regs.ppu_peek(nes, mem, reg)


@jit
def _reset(nes):
    ppu.ppu_reset(nes)


@jit
def _next_tile(v):
    return ppu_vram.next_tile(v)


@jit
def _next_row(v):
    return ppu_vram.next_row(v)


NO_STOPS = np.zeros(0, np.int64)


class Bench:
    """A PPU with 8 KiB of CHR RAM and vertical mirroring; warm, so that registers can be written at once.

    CHR tile 1 is solid colour 1, tile 2 solid colour 3, tile 0 transparent.
    """

    def __init__(self, warm=True):
        self.mem = np.zeros(NES.itemsize, np.uint8)
        self.nes = self.mem.view(NES)[0]
        self.ppu = self.nes["ppu"]
        cart = self.nes["cart"]
        for page in range(16):
            cart["ppu_page"][page] = (
                offset_of("chr_ram") if page < 8 else offset_of("vram") + ((page & 1) - page) * 1024
            )
            cart["ppu_wok"][page] = 1
        self.nes["chr_ram"][16:24] = 0xFF
        self.nes["chr_ram"][32:48] = 0xFF
        ppu.power_on_ppu(self.ppu)
        if warm:
            self.ppu["writable_at"] = 0
        self.ppu["oam"][:] = 0xFF
        self.run(1)

    def play(self, *ops, stops=NO_STOPS):
        ops = np.array(ops, np.int64).reshape(-1, 4)
        seen = np.full(len(ops), -1)
        _play(self.nes, self.mem, ops, stops, seen)
        return seen

    @property
    def dots(self):
        return int(self.ppu["dots"])

    def run(self, dots):
        self.play((self.dots + dots, -1, 0, 0))

    def to(self, scanline, dot):
        """Run to this dot: not at all if it was the last one."""
        here = int(self.ppu["scanline"]) * LINE + int(self.ppu["dot"])
        there = scanline * LINE + dot
        if there < here:
            self.run(FRAME - here - 1)
            while self.ppu["scanline"] != 0 or self.ppu["dot"] != 0:
                self.run(1)
            here = 0
        self.run(there - here)
        assert (self.ppu["scanline"], self.ppu["dot"]) == (scanline, dot)

    def write(self, addr, *values):
        for value in values:
            self.play((self.dots, WRITE, addr & 7, value))

    def read(self, addr):
        return int(self.play((self.dots, READ, addr & 7, 0))[0])

    def sprite(self, number, y, tile, attr, x):
        self.ppu["oam"][4 * number : 4 * number + 4] = y, tile, attr, x

    def status(self):
        _catch_up(self.nes)
        return int(self.ppu["status"])

    def pixels(self, line):
        return self.ppu["frame"][line * 256 : line * 256 + 256]


@pytest.fixture
def bench():
    return Bench()


def test_power_on_position():
    """REFERENCE.md: the first dot enters scanline 0 and ends a frame; the reset's 26 dots end at dot 25."""
    b = Bench()
    assert (b.ppu["scanline"], b.ppu["dot"], b.ppu["frame_done"]) == (0, 0, 1)
    b.run(25)
    assert (b.ppu["scanline"], b.ppu["dot"]) == (0, 25)


@pytest.mark.parametrize(("mask", "lengths"), [(0x00, [89342, 89342]), (0x08, [89341, 89342]), (0x10, [89341, 89342])])
def test_odd_frames_are_a_dot_short_when_rendering(bench, mask, lengths):
    """PPU_frame_timing. The frame that begins with the first dot counts as odd."""
    bench.write(0x2001, mask)
    for length in lengths * 2:
        bench.ppu["frame_done"] = 0
        bench.run(length - 1)
        assert bench.ppu["frame_done"] == 0
        bench.run(1)
        assert bench.ppu["frame_done"] == 1
        assert (bench.ppu["scanline"], bench.ppu["dot"]) == (0, 0)


@pytest.mark.parametrize(("late", "short"), [(2, False), (3, True)])
def test_mask_counts_for_the_short_frame_two_dots_late(bench, late, short):
    """The decision falls at the dot after (261, 339) and does not see a write of the two dots before."""
    bench.to(261, 339)
    start = bench.dots
    b = Bench()
    b.play((start + 1 - late, WRITE, 1, 0x08), (start + 1, -1, 0, 0))
    assert b.ppu["dot"] == (0 if short else 340)


def test_vbl_flag_and_nmi(bench):
    """PPU_frame_timing, NMI: set at (241, 1), cleared at (261, 1)."""
    bench.write(0x2000, 0x80)
    bench.to(241, 0)
    assert (bench.status(), bench.ppu["nmi_line"]) == (0, 0)
    bench.run(1)
    assert (bench.status(), bench.ppu["nmi_line"]) == (VBL, 1)
    bench.to(261, 0)
    assert (bench.status(), bench.ppu["nmi_line"]) == (VBL, 1)
    bench.run(1)
    assert (bench.status(), bench.ppu["nmi_line"]) == (0, 0)


@pytest.mark.parametrize(
    ("dot", "first", "second", "nmi"), [(-1, 0, VBL, 1), (0, 0, 0, 0), (1, VBL, 0, 0), (2, VBL, 0, 0)]
)
def test_vbl_race(bench, dot, first, second, nmi):
    """PPU_frame_timing, "VBL flag timing": reading a dot early keeps the flag from being set at all."""
    bench.write(0x2000, 0x80)
    bench.to(*divmod(241 * LINE + dot, LINE))
    assert bench.read(0x2002) & VBL == first
    bench.run(1)
    assert bench.ppu["nmi_line"] == (nmi if dot == 0 else 0)
    bench.run(3)
    assert bench.read(0x2002) & VBL == second
    assert bench.ppu["nmi_line"] == 0


def test_nmi_enable_inside_vblank(bench):
    """NMI: the line is VBL AND PPUCTRL bit 7."""
    bench.to(245, 7)
    bench.write(0x2000, 0x80)
    assert bench.ppu["nmi_line"] == 1
    bench.write(0x2000, 0x00)
    assert bench.ppu["nmi_line"] == 0
    bench.write(0x2000, 0x80)
    bench.read(0x2002)
    assert bench.ppu["nmi_line"] == 0


def test_writes_are_ignored_while_warming_up():
    """PPU_power_up_state, REFERENCE.md: accepted from CPU cycle 29 658 on; 3n + 1 dots have run at cycle n."""
    b = Bench(warm=False)
    early, late = 3 * 29_657 + 1, 3 * 29_658 + 1
    b.play((early, WRITE, 0, 3), (early, WRITE, 1, 0x18), (early, WRITE, 5, 0xFF), (early, WRITE, 6, 0x21))
    assert (b.ppu["t"], b.ppu["w"], b.ppu["mask"]) == (0, 0, 0)
    b.play((early, WRITE, 3, 7))
    assert b.ppu["oam_addr"] == 7
    b.play((late, WRITE, 0, 3))
    assert b.ppu["t"] == 0x0C00


def test_reset_masks_writes_again(bench):
    """PPU_power_up_state. The PPU stands at the end of cycle n, 3n + 2 dots."""
    bench.play((3 * 40_000 + 2, -1, 0, 0))
    bench.write(0x2000, 0x80)
    bench.write(0x2001, 0x18)
    _reset(bench.nes)
    assert (bench.ppu["ctrl"], bench.ppu["mask"]) == (0, 0)
    bench.play((3 * (40_000 + 29_657) + 1, WRITE, 1, 0x18))
    assert bench.ppu["mask"] == 0
    bench.play((3 * (40_000 + 29_658) + 1, WRITE, 1, 0x18))
    assert bench.ppu["mask"] == 0x18


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
    assert _next_tile(v) == tile
    assert _next_row(v) == row


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


@pytest.mark.parametrize("mask", [0x00, 0x18])
def test_next_events(bench, mask):
    """Against single steps: never too late, and a dot early at most (the next frame may be a short one)."""
    bench.write(0x2000, 0x80)
    bench.write(0x2001, mask)
    rng = np.random.default_rng(3)
    for k in range(16):
        bench.run(int(rng.integers(1, 30_000)))
        field = ["nmi_line", "frame_done"][k % 2]
        bench.ppu["frame_done"] = 0
        before = int(bench.ppu[field])
        event = _next_events(bench.nes)[k % 2]
        assert event > bench.dots
        bench.run(event - 1 - bench.dots)
        assert bench.ppu[field] == before
        bench.run(1)
        if bench.ppu[field] == before:
            bench.run(1)
        assert bench.ppu[field] != before
    bench.write(0x2000, 0x00)
    assert _next_events(bench.nes)[0] == NEVER


def _random_session(seed):
    rng = np.random.default_rng(seed)
    b = Bench()
    b.nes["chr_ram"][:8192] = rng.integers(0, 256, 8192)
    b.nes["vram"][:2048] = rng.integers(0, 256, 2048)
    b.ppu["palette"][:] = rng.integers(0, 64, 32)
    b.ppu["oam"][:] = rng.integers(0, 256, 256)
    b.ppu["oam"][::4] = rng.integers(0, 80, 64) * 3
    ops, dot = [(4, WRITE, 1, 0x1E)], 4
    for _ in range(300):
        dot += 3 * int(rng.integers(1, 40 if rng.random() < 0.8 else 5000))
        reg = int(rng.choice([0, 1, 1, 1, 2, 3, 4, 5, 6, 6, 7]))
        value = int(rng.choice([0x00, 0x1E, 0x18, 0x10])) if reg == 1 else int(rng.integers(256))
        kind = int(rng.choice([READ, WRITE, WRITE, DMA])) if reg == 4 else int(rng.choice([READ, WRITE]))
        ops.append((dot, kind, reg, value))
    ops.append((dot + 5000, -1, 0, 0))
    return b, ops


def _state(bench):
    """The state, with what whole lines put off (ppu_line.py) worked out."""
    _catch_up(bench.nes)
    return bench.mem[:STATE_BYTES]


@pytest.mark.parametrize("seed", range(8))
def test_cutting_a_run_changes_nothing(seed):
    """Any catch-up points give the same reads and the same bytes."""
    b, ops = _random_session(seed)
    whole = b.play(*ops)
    c, _ = _random_session(seed)
    end = ops[-1][0]
    stops = np.unique(np.random.default_rng(seed + 100).integers(2, end, end // 5))
    assert (c.play(*ops, stops=stops) == whole).all()
    assert (_state(b) == _state(c)).all()


@pytest.mark.parametrize("seed", range(4))
def test_not_storing_pixels_changes_nothing_else(seed):
    b, ops = _random_session(seed)
    whole = b.play(*ops)
    c, _ = _random_session(seed)
    c.ppu["render"] = 0
    assert (c.play(*ops) == whole).all()
    # A call ends inside line 0 of the next picture.
    assert not c.ppu["frame"][256:].any()
    assert (c.ppu["frame"][:256] == b.ppu["frame"][:256]).all()
    c.ppu["render"] = 1
    c.ppu["frame"][:] = b.ppu["frame"]
    assert (_state(b) == _state(c)).all()


def test_peek_has_no_effect(bench):
    bench.write(0x2000, 0x80)
    bench.to(241, 5)
    before = bench.mem.copy()
    assert _peek(bench.nes, bench.mem, 2) & VBL
    for reg in range(8):
        _peek(bench.nes, bench.mem, reg)
    assert (bench.mem == before).all()
