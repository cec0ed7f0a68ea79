"""The bounds of ``ppu_next``: nothing comes sooner, and they are close enough to be of use."""

import numpy as np
import pytest
from ppu_bench import FRAME, LINE, OVERFLOW, SPRITE_0, Bench

from pynes_ref.core import ppu as chip
from pynes_ref.core.jit import entry as jit
from pynes_ref.core.mappers.boards import MMC3, MMC3_SHARP
from pynes_ref.core.mappers.m004_mmc3 import COUNTER, ENABLED, LATCH
from pynes_ref.core.ppu_eval import sprites_catch_up
from pynes_ref.core.ppu_next import ppu_next_a12_dot, ppu_next_status_dot

PLENTY = 250
BACKGROUND, SPRITES, TALL = 0x10, 0x08, 0x20


@jit
def clocks_until(nes, mem, bound):
    """Run dot by dot to the one before ``bound``; how often the board's counter has been clocked."""
    reg = nes.cart.reg
    reg[COUNTER] = PLENTY
    while nes.ppu.dots < bound - 1:
        chip.ppu_run(nes, mem, nes.ppu.dots + 1)
    return PLENTY - reg[COUNTER]


@jit
def bound_for(nes, clocks):
    return ppu_next_a12_dot(nes, clocks)


@jit
def looks_until(nes, mem, clocks):
    """How often events.py has to look before the clock after ``clocks`` others has come, a CPU cycle at a time."""
    reg = nes.cart.reg
    reg[COUNTER] = PLENTY
    looks = 0
    while PLENTY - reg[COUNTER] <= clocks:
        due = ppu_next_a12_dot(nes, clocks - (PLENTY - reg[COUNTER])) // 3
        chip.ppu_run(nes, mem, 3 * due + 2)
        looks += 1
    return looks


@jit
def quiet_for(nes):
    return ppu_next_status_dot(nes)


@jit
def change_before(nes, mem, bound):
    """Run dot by dot to the one before ``bound``; the dot count at which a flag of $2002 changed, or 0."""
    ppu = nes.ppu
    before = ppu.status & 0xE0
    while ppu.dots < bound - 1:
        chip.ppu_run(nes, mem, ppu.dots + 1)
        sprites_catch_up(nes)
        if ppu.status & 0xE0 != before:
            return ppu.dots
    return 0


def mmc3(ctrl, mask=0x18):
    bench = Bench()
    cart = bench.nes["cart"]
    cart["board"], cart["revision"], cart["a12_watch"] = MMC3, MMC3_SHARP, 1
    cart["reg"][LATCH], cart["reg"][ENABLED] = PLENTY, 0
    bench.write(0x2000, ctrl)
    bench.write(0x2001, mask)
    return bench


def some_sprites(rng, bench, most):
    oam = bench.ppu["oam"].reshape(64, 4)
    oam[:] = 0xFF
    for n in rng.choice(64, rng.integers(most + 1), replace=False):
        oam[n] = rng.integers(0, 240), rng.integers(256), rng.integers(256), rng.integers(256)


@pytest.mark.parametrize("seed", range(8))
def test_no_more_clocks_come_before_the_bound(seed):
    """Any tables, sprites and positions; by running every dot up to there."""
    rng = np.random.default_rng(seed)
    bench = mmc3(0)
    for _ in range(60):
        some_sprites(rng, bench, int(rng.choice([0, 8, 64])))
        bench.write(0x2000, int(rng.integers(8)) * 8)
        bench.write(0x2001, int(rng.choice([0x18, 0x18, 0x18, 0x08, 0x10, 0x00])))
        bench.run(int(rng.choice([1, 30, LINE * 3, FRAME // 3])) + int(rng.integers(LINE)))
        for _ in range(3):
            if rng.integers(2):  # in the middle of a line the other table may have been low for long
                bench.write(0x2000, int(rng.integers(8)) * 8)
            if rng.integers(4) == 0:
                bench.write(0x2003, int(rng.choice([0, 4, 128])))
            clocks = int(rng.choice([0, 0, 1, 2, 5, 30]))
            bound = bound_for(bench.nes, clocks)
            assert bound > bench.dots
            assert clocks_until(bench.nes, bench.mem, min(bound, bench.dots + 2 * FRAME)) <= clocks


@pytest.mark.parametrize("ctrl", [SPRITES, BACKGROUND, TALL])
@pytest.mark.parametrize("clocks", [0, 8, 100])
def test_few_looks_are_needed(ctrl, clocks):
    """Each look draws a line dot by dot. Two or three for the line of the rise, one where a frame ends."""
    rng = np.random.default_rng(1)
    bench = mmc3(ctrl)
    some_sprites(rng, bench, 64)
    bench.to(10, 0)
    assert looks_until(bench.nes, bench.mem, clocks) <= 6


@pytest.mark.parametrize("seed", range(8))
def test_no_flag_of_2002_changes_before_the_bound(seed):
    """Any sprites, OAMADDR, positions; by running every dot up to there. Tile 1 is solid, so that sprite 0 hits."""
    rng = np.random.default_rng(seed)
    bench = Bench()
    bench.nes["vram"][:960] = rng.integers(2, size=960)
    waits = []
    for _ in range(100):
        some_sprites(rng, bench, int(rng.choice([0, 4, 20, 64])))
        bench.sprite(0, int(rng.integers(250)), 1, 0, int(rng.integers(256)))
        bench.write(0x2000, int(rng.choice([0, TALL])))
        bench.write(0x2001, int(rng.choice([0x1E, 0x1E, 0x18, 0x08, 0x10, 0x00])))
        bench.run(int(rng.choice([1, 30, LINE * 3, FRAME // 3])) + int(rng.integers(LINE)))
        if rng.integers(4) == 0:
            bench.write(0x2003, int(rng.choice([0, 4, 9, 128])))
        for _ in range(3):
            bench.run(int(rng.choice([1, 5, 70, LINE])))
            bench.read(0x2002)
            bound = quiet_for(bench.nes)
            if bound:
                waits.append(bound - bench.dots)
                assert change_before(bench.nes, bench.mem, bound) == 0
    assert np.median(waits) > 3 * LINE


def test_the_status_bound_is_close():
    """Sprite 0 on lines 101 to 108, nine sprites on 151: by the wiki's sprite evaluation the flags come there."""
    bench = Bench()
    bench.nes["vram"][:960] = 1
    bench.sprite(0, 100, 1, 0, 40)
    for n in range(1, 10):
        bench.sprite(n, 150, 0, 0, 0)
    bench.write(0x2001, 0x1E)
    bench.to(10, 3)
    bench.read(0x2002)
    assert (100 + 1) * LINE + 40 - 4 <= quiet_for(bench.nes) - bench.dots + 10 * LINE + 3 <= 101 * LINE + 41
    bench.to(110, 3)
    assert bench.status() & SPRITE_0
    bench.read(0x2002)
    assert 150 * LINE + 60 <= quiet_for(bench.nes) - bench.dots + 110 * LINE + 3 <= 150 * LINE + 256
    bench.to(160, 3)
    assert bench.status() & OVERFLOW
    bench.read(0x2002)
    assert 241 * LINE - 4 <= quiet_for(bench.nes) - bench.dots + 160 * LINE + 3 <= 241 * LINE


def test_oamaddr_makes_another_sprite_the_first():
    """https://www.nesdev.org/wiki/PPU_registers#OAMADDR: evaluation begins with the sprite that OAMADDR points to."""
    bench = Bench()
    bench.nes["vram"][:960] = 1
    bench.sprite(0, 200, 1, 0, 40)
    bench.sprite(1, 50, 1, 0, 40)
    bench.write(0x2001, 0x1E)
    for line, dot in ((49, 335), (50, 20), (50, 100)):
        bench.to(49, 330)
        bench.write(0x2003, 4)
        bench.to(line, dot)
        bench.read(0x2002)
        bound = quiet_for(bench.nes)
        hit = change_before(bench.nes, bench.mem, bench.dots + 3 * LINE)
        assert bench.status() & SPRITE_0
        assert bound <= hit


def test_what_evaluation_has_found_outlives_the_height_of_sprites():
    """Eight found as 8x16; the search for a ninth, two dots a sprite, hits sprite 21 after $2000 has made them 8x8."""
    bench = Bench()
    for n, y in [*((n, 50) for n in (1, 2, 3, 4, 5, 6, 21)), (7, 42), (8, 42)]:
        bench.sprite(n, y, 0, 0, 0)
    bench.write(0x2001, 0x1E)
    bench.write(0x2000, TALL)
    bench.to(52, 138)
    bench.write(0x2000, 0)
    bench.to(52, 142)
    bench.read(0x2002)
    bound = quiet_for(bench.nes)
    seen = change_before(bench.nes, bench.mem, bench.dots + LINE)
    assert bench.status() & OVERFLOW
    assert bound <= seen


@pytest.mark.parametrize("dot", [100, 150, 200])
def test_what_evaluation_has_found_outlives_a_pause_of_rendering(dot):
    """Sprite 0 has been copied when rendering stops; its Y is changed, and two lines later rendering goes on."""
    bench = Bench()
    bench.nes["vram"][:960] = 1
    bench.sprite(0, 48, 1, 0, 40)
    bench.write(0x2001, 0x1E)
    bench.to(48, 100)
    bench.write(0x2001, 0)
    bench.to(49, 10)
    bench.write(0x2003, 0)
    bench.write(0x2004, 200)
    bench.to(50, dot)
    bench.write(0x2001, 0x1E)
    bench.run(12)
    bench.read(0x2002)
    bound = quiet_for(bench.nes)
    seen = change_before(bench.nes, bench.mem, bench.dots + 2 * LINE)
    assert bench.status() & SPRITE_0
    assert bound <= seen
