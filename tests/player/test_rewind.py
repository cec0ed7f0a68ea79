"""Rewind memory: exact bytes back, bounded memory, at least a minute of reach."""

import numpy as np

from pynes_ref.rewind import MAX_BYTES, MIN_FRAMES, Rewind


def states(count, size=4096, changed=64, seed=1):
    """A run of states of which some bytes change each frame."""
    rng = np.random.default_rng(seed)
    state = rng.integers(0, 256, size, dtype=np.uint8)
    for _ in range(count):
        state = state.copy()
        state[rng.integers(0, size, changed)] = rng.integers(0, 256, changed, dtype=np.uint8)
        yield state


def test_every_state_comes_back_exactly_and_in_order():
    run = list(states(300))
    rewind = Rewind()
    for state in run:
        rewind.push(state.copy())
    assert rewind.frames == 299
    for expected in reversed(run[:-1]):
        state, frames = rewind.pop()
        assert frames == 1
        assert np.array_equal(state, expected)
    assert rewind.pop() is None
    assert rewind.frames == rewind.nbytes == len(rewind) == 0


def test_play_goes_on_from_where_one_went_back_to():
    run = list(states(40))
    rewind = Rewind()
    for state in run[:30]:
        rewind.push(state.copy())
    for _ in range(10):
        rewind.pop()
    rewind.push(run[35].copy())
    assert np.array_equal(rewind.pop()[0], run[19])
    assert np.array_equal(rewind.pop()[0], run[18])


def test_an_empty_memory_gives_nothing():
    rewind = Rewind()
    assert rewind.pop() is None
    rewind.push(np.zeros(16, dtype=np.uint8))
    assert rewind.pop() is None


def test_the_oldest_is_forgotten_beyond_the_most_frames():
    run = list(states(100))
    rewind = Rewind(min_frames=10, max_frames=20)
    for state in run:
        rewind.push(state.copy())
    assert rewind.frames == 20
    for expected in run[-2:-22:-1]:
        assert np.array_equal(rewind.pop()[0], expected)
    assert rewind.pop() is None


def test_out_of_room_old_steps_are_merged_and_the_reach_kept():
    run = list(states(400, changed=2048))
    rewind = Rewind(min_frames=200, max_frames=10_000, max_bytes=300_000)
    for state in run:
        rewind.push(state.copy())
        assert rewind.nbytes <= 300_000
    assert 200 <= rewind.frames < 400
    assert len(rewind) < rewind.frames
    at = len(run) - 1
    while (found := rewind.pop()) is not None:
        state, frames = found
        at -= frames
        assert np.array_equal(state, run[at])
    assert at <= len(run) - 1 - 200


def test_a_state_that_is_all_noise_cannot_break_the_limit():
    rng = np.random.default_rng(3)
    rewind = Rewind(min_frames=1000, max_bytes=100_000)
    for _ in range(500):
        rewind.push(rng.integers(0, 256, 4096, dtype=np.uint8))
        assert rewind.nbytes <= 100_000
    assert rewind.pop() is not None


def test_a_minute_fits_even_with_60_kb_of_noise_in_every_frame():
    rng = np.random.default_rng(4)
    noise = rng.integers(0, 256, 2_000_000, dtype=np.uint8)
    state = np.zeros(210_000, dtype=np.uint8)
    rewind = Rewind()
    for n in range(MIN_FRAMES + 600):
        at = int(rng.integers(0, len(noise) - 60_000))
        state[1000:61_000] = noise[at : at + 60_000]
        rewind.push(state.copy())
        if n % 500 == 0:
            assert rewind.nbytes <= MAX_BYTES
    assert rewind.frames >= MIN_FRAMES
