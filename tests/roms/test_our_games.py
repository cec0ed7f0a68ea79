"""Our games do what test_roms/README.md says of them: every channel sounds, and the game goes on after it is lost."""
import numpy as np
import pytest
from places import ROOT

from pynes_ref import Button, Console, movie

CHANNELS = ("pulse1", "pulse2", "triangle", "noise", "dmc")
GAMES = {"pinewood": 2180, "kittiwake": 2100, "undertow": 2300}


def sound(game, silent=()):
    nes = Console(ROOT / f"test_roms/{game}.nes")
    nes.mute(silent)
    tracks = []
    for keys in movie.load(ROOT / f"replays/{game}-gameplay.txt").keys(GAMES[game]):
        nes.run_frames(1, keys, render=False)
        tracks.append(nes.drain_audio())
    return np.concatenate(tracks).astype(np.int32)


@pytest.mark.parametrize("game", GAMES)
def test_all_five_channels_are_heard(game):
    """Without a channel the sound changes by more than a fiftieth of its standard deviation."""
    whole = sound(game)
    for channel in CHANNELS:
        lost = whole - sound(game, (channel,))
        assert lost.std() > whole.std() / 50, channel


def words(nes):
    """The first nametable as text; the games' letters are ASCII, white ones with bit 7 set."""
    return bytes(tile & 0x7F for tile in nes.vram[:960])


def test_pinewood_begins_anew_after_a_lost_game():
    nes = Console(ROOT / "test_roms/pinewood.nes")
    nes.run_frames(170)
    nes.run_frames(5, Button.START)
    nes.run_frames(60)
    assert b"FOX*" in words(nes)
    assert b"WAY HOME" not in words(nes)
    for frame in range(3000):  # right into the first hedgehogs, until no fox is left
        nes.run_frames(1, Button.RIGHT if frame % 7 else 0)
        if b"WAY HOME" in words(nes):
            break
    else:
        pytest.fail("no title after 50 seconds of running into hedgehogs")
    nes.run_frames(120)
    before = nes.frame.copy()
    nes.run_frames(30)
    assert not np.array_equal(before, nes.frame), "the title stands still"
    nes.run_frames(5, Button.START)
    nes.run_frames(60)
    assert b"SCORE" in words(nes)
    assert b"WAY HOME" not in words(nes)
