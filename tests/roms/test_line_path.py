"""Whole lines in one step leave the same record as the same lines dot by dot, in every frame of every ROM.

The dot path is the definition (``ppu.whole_lines`` = 0 keeps to it).
"""

import pytest
from both_ways import difference, pair
from places import ROOT, SHARED, rom_or_skip

from pynes_ref import movie
from pynes_ref.roms import known

GAMES = [
    (ROOT / "test_roms" / "pinewood.nes", ROOT / "replays" / "pinewood-gameplay.txt"),
    (ROOT / "test_roms" / "kittiwake.nes", ROOT / "replays" / "kittiwake-gameplay.txt"),
    (ROOT / "test_roms" / "undertow.nes", ROOT / "replays" / "undertow-gameplay.txt"),
    (SHARED / "corpus/roms/homebrew/falling.nes", SHARED / "corpus/replays/falling-gameplay.txt"),
    (SHARED / "corpus/roms/homebrew/minekart-madness.nes", SHARED / "corpus/replays/minekart-madness-gameplay.txt"),
]


def assert_same(path, frames, held):
    short, definition = pair(path)
    for frame in range(frames):
        short.run_frame(held(frame))
        definition.run_frame(held(frame))
        assert difference(short, definition) == "", f"frame {frame}"


@pytest.mark.parametrize("row", known(), ids=lambda row: row.name)
def test_every_rom(row):
    # Start is held for a moment now and then: menus go on, AccuracyCoin runs its tests.
    assert_same(rom_or_skip(row.sha256, row.path), 150, lambda frame: 8 if frame % 60 < 4 else 0)


@pytest.mark.parametrize(("game", "replay"), GAMES, ids=lambda path: path.stem)
def test_games_with_their_replays(game, replay):
    if not game.exists():
        pytest.skip(f"{game.name} is not here")
    assert_same(game, 1500, movie.load(replay).keys_at)
