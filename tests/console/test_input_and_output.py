"""``Console``: buttons in, picture and sound out."""

import numpy as np
import pytest
from consoles import outputs, pads_seen
from small_rom import READ_PADS, rom

from pynes_ref import Button, Console
from pynes_ref.palette import rgb_table


def test_every_combination_of_buttons_arrives_at_the_program():
    console = Console(rom(READ_PADS))
    console.run_frames(2)
    for value in range(256):  # opposite directions, too
        console.run_frame(value, value ^ 0x5A)
        assert pads_seen(console) == [value, value ^ 0x5A]


def test_the_order_of_the_buttons():
    assert [button.name for button in Button] == ["A", "B", "SELECT", "START", "UP", "DOWN", "LEFT", "RIGHT"]
    assert [int(button) for button in Button] == [1 << bit for bit in range(8)]
    assert Button.A | Button.RIGHT == 0x81


@pytest.mark.parametrize("value", [-1, 256, 1 << 40])
def test_buttons_that_are_no_byte(value):
    console = Console(rom())
    before = console.snapshot()
    for call in (console.run_frame, lambda *keys: console.run_frames(1, *keys)):
        with pytest.raises(ValueError, match="byte"):
            call(value)
        with pytest.raises(ValueError, match="byte"):
            call(0, value)
    assert np.array_equal(console.snapshot(), before)


@pytest.mark.parametrize("value", [1.5, "A", None, b"\1"])
def test_buttons_that_are_no_number(value):
    with pytest.raises(TypeError):
        Console(rom()).run_frame(value)


def test_rgb_is_the_frame_in_colour(game):
    picture = game.rgb()
    assert (picture.shape, picture.dtype) == ((240, 256, 3), np.uint8)
    assert np.array_equal(picture, rgb_table()[game.frame])
    assert game.rgb() is not picture
    out = np.zeros((240, 256, 3), np.uint8)
    assert game.rgb(out) is out
    assert np.array_equal(out, picture)
    with pytest.raises((ValueError, TypeError)):
        game.rgb(np.zeros((10, 10, 3), np.uint8))


def test_audio_is_handed_out_once(game):
    twin = game.clone()
    twin.drain_audio()
    twin.run_frame()
    samples = twin.drain_audio()
    assert (samples.dtype, samples.ndim) == (np.int16, 1)
    kept = samples.copy()
    assert len(twin.drain_audio()) == 0
    twin.run_frames(3)
    assert np.array_equal(samples, kept)  # a copy, not a view


def test_audio_of_several_frames_is_joined(game):
    one, other = game.clone(), game.clone()
    one.drain_audio(), other.drain_audio()
    joined = np.concatenate([(one.run_frame(), one.drain_audio())[1] for _ in range(4)])
    other.run_frames(4)
    assert np.array_equal(other.drain_audio(), joined)


def test_undrained_audio_keeps_the_newest(game):
    one, other = game.clone(), game.clone()
    one.drain_audio(), other.drain_audio()
    everything = np.concatenate([(one.run_frame(), one.drain_audio())[1] for _ in range(30)])
    for n in range(30):
        other.run_frame()
        if n == 10:
            twin = other.clone()
            assert 2 * 734 <= len(twin.drain_audio()) <= 4096
    rest = other.drain_audio()
    assert 3000 < len(rest) <= 4096
    assert np.array_equal(rest, everything[-len(rest) :])
    # Draining or not is no part of what happens next.
    assert outputs(one, 2) == outputs(other, 2)
