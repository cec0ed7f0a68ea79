"""The player with the real console and our own game: what it does is exact to the byte."""

import numpy as np
from driver import key, tap

from pynes_ref import Console, bundled
from pynes_ref.movie import load
from pynes_ref.player_keys import KEYS_1

GAME = bundled.rom("pinewood.nes")


def play(player, seed, ticks):
    """Press and let go of keys as a restless person would."""
    rng = np.random.default_rng(seed)
    names = list(KEYS_1)
    for _ in range(ticks):
        if rng.random() < 0.2:
            key(str(rng.choice(names)), down=bool(rng.random() < 0.6))
        player.tick()


def headless(path, frames):
    """A console that has played a replay without a window."""
    movie, console = load(path), Console(GAME)
    for n in range(frames):
        console.run_frame(movie.keys_at(n))
        console.drain_audio()
    return console


def test_what_is_recorded_replays_identically_headless(window, tmp_path):
    console = Console(GAME)
    player = window(console, record=tmp_path / "a.txt")
    for _ in range(40):
        player.tick()
    tap(player, "return")
    play(player, 1, 150)
    tap(player, "f5")
    play(player, 2, 60)
    key("backspace")
    for _ in range(25):
        player.tick()
    key("backspace", down=False)
    play(player, 3, 40)
    tap(player, "f7")
    play(player, 4, 30)
    tap(player, "p")
    for _ in range(5):
        tap(player, ".")
    frames = player.session.recorder.frames
    assert player.session.close() == []
    assert 200 < frames < 300
    twin = headless(tmp_path / "a.txt", frames)
    assert np.array_equal(twin.snapshot(), console.snapshot())
    assert twin.run_frame().max() > 0
    assert len(load(tmp_path / "a.txt").events) > 20


def test_rewinding_returns_the_exact_bytes(window):
    console = Console(GAME)
    player = window(console)
    for _ in range(20):
        player.tick()
    tap(player, "return")
    states = []
    for n in range(120):
        play(player, n, 1)
        states.append(console.snapshot())
    key("backspace")
    for n in range(100):
        player.tick()
        assert np.array_equal(console.snapshot(), states[-2 - n])


def test_a_slot_brings_back_the_exact_bytes_in_a_new_process(window):
    console = Console(GAME)
    player = window(console)
    play(player, 5, 90)
    key("x", down=False)
    player.paused = True
    tap(player, "7")
    tap(player, "f5")
    saved = console.snapshot()
    player.paused = False
    play(player, 6, 60)
    console = Console(GAME)
    player = window(console)
    player.paused = True
    tap(player, "7")
    tap(player, "f7")
    assert player.notice == "Loaded slot 7"
    assert np.array_equal(console.snapshot(), saved)
    Console(GAME).load_state(player.session.slots.path(7).read_bytes())


def test_a_minute_of_play_can_be_rewound_in_little_memory(window):
    console = Console(GAME)
    player = window(console)
    session = player.session
    for n in range(3700):
        session.run_frame(8 if n % 300 < 5 else 0x80 | (n // 40 & 1))
    assert session.rewind.frames >= 3607
    assert session.rewind.nbytes < 32 * 1024 * 1024
