"""A batch is so many consoles: same pictures, same states, whatever the number of threads."""

import numpy as np
import pytest
from places import ROOT

from pynes_ref import Console
from pynes_ref.batch import ConsoleBatch

GAME = ROOT / "test_roms" / "pinewood.nes"


def held(i, frame):
    """A different input for each console."""
    return (frame * (i + 3) // 7 * 37) & 0xFF if frame > 10 else 0


@pytest.mark.parametrize("threads", [1, 3])
def test_each_console_is_what_it_would_be_alone(threads):
    batch = ConsoleBatch(GAME, 5, threads=threads)
    alone = [Console(GAME) for _ in range(5)]
    for frame in range(40):
        keys = [held(i, frame) for i in range(5)]
        frames = batch.run_frame(np.array(keys, np.uint8))
        for i, console in enumerate(alone):
            console.run_frames(1, keys[i], sound=False)
            assert np.array_equal(frames[i], console.frame)
    for i, console in enumerate(alone):
        assert np.array_equal(batch.snapshot(i), console.snapshot())
        assert np.array_equal(batch.ram[i], console.ram)
    batch.close()


def test_views_are_live_and_not_copies():
    batch = ConsoleBatch(GAME, 3)
    frames = batch.run_frames(5)
    assert frames.shape == (3, 240, 256)
    assert frames.dtype == np.uint16
    assert np.shares_memory(frames, batch.frames)
    batch.ram[1, 0x42] = 0x99
    assert batch.console(1).ram[0x42] == 0x99
    assert batch.console(0).ram[0x42] == batch.ram[0, 0x42]


def test_rendering_off_changes_only_the_pictures():
    seen, unseen = ConsoleBatch(GAME, 2), ConsoleBatch(GAME, 2)
    seen.run_frames(30)
    unseen.run_frames(30, render=False)
    for batch in (seen, unseen):
        batch.run_frame()
    a, b = seen.console(0), unseen.console(0)
    assert np.array_equal(a.snapshot(), b.snapshot())


def test_restore_reaches_the_consoles_asked_for():
    batch = ConsoleBatch(GAME, 3)
    batch.run_frames(4)
    early = batch.snapshot(0)
    batch.run_frames(4)
    batch.restore(early, [1])
    assert np.array_equal(batch.snapshot(1), early)
    assert not np.array_equal(batch.snapshot(2), early)


@pytest.mark.parametrize("buttons", [[0, 1], [-1, 0, 0], [0, 256, 0]])
def test_wrong_buttons_are_refused(buttons):
    with pytest.raises(ValueError, match=r"buttons|shape|broadcast"):
        ConsoleBatch(GAME, 3).run_frame(buttons)


def test_an_empty_batch_is_refused():
    with pytest.raises(ValueError, match="0 consoles"):
        ConsoleBatch(GAME, 0)
