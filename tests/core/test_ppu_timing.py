"""The PPU by itself: frames, VBL and NMI, warming up, and that cutting a run changes nothing.

The page named with a test is of https://www.nesdev.org/wiki/; what is not
named is calculated in the test.
"""

import numpy as np
import pytest
from ppu_bench import DMA, LINE, READ, VBL, WRITE, Bench, catch_up, next_events, reset

from pynes_ref.core.state import NEVER, STATE_BYTES


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
    reset(bench.nes)
    assert (bench.ppu["ctrl"], bench.ppu["mask"]) == (0, 0)
    bench.play((3 * (40_000 + 29_657) + 1, WRITE, 1, 0x18))
    assert bench.ppu["mask"] == 0
    bench.play((3 * (40_000 + 29_658) + 1, WRITE, 1, 0x18))
    assert bench.ppu["mask"] == 0x18


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
        event = next_events(bench.nes)[k % 2]
        assert event > bench.dots
        bench.run(event - 1 - bench.dots)
        assert bench.ppu[field] == before
        bench.run(1)
        if bench.ppu[field] == before:
            bench.run(1)
        assert bench.ppu[field] != before
    bench.write(0x2000, 0x00)
    assert next_events(bench.nes)[0] == NEVER


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
    catch_up(bench.nes)
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
