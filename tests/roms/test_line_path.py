"""Whole lines in one step leave the same record as the same lines dot by dot, in every frame of every ROM.

The dot path is the definition (``ppu.whole_lines`` = 0 keeps to it).
"""

import numpy as np
import pytest
from places import ROOT, SHARED, rom_or_skip

from pynes_ref import movie
from pynes_ref.core.state import NES, STATE_BYTES
from pynes_ref.roms import known

GAMES = [
    (ROOT / "test_roms" / "pinewood.nes", ROOT / "replays" / "pinewood-gameplay.txt"),
    (ROOT / "test_roms" / "kittiwake.nes", ROOT / "replays" / "kittiwake-gameplay.txt"),
    (ROOT / "test_roms" / "undertow.nes", ROOT / "replays" / "undertow-gameplay.txt"),
    (SHARED / "corpus/roms/homebrew/falling.nes", SHARED / "corpus/replays/falling-gameplay.txt"),
    (SHARED / "corpus/roms/homebrew/minekart-madness.nes", SHARED / "corpus/replays/minekart-madness-gameplay.txt"),
]
FLAG = NES.fields["ppu"][1] + NES["ppu"].fields["whole_lines"][1]


def assert_same(path, frames, held):
    from pynes_ref import Console

    whole, dots = Console(path), Console(path)
    dots._nes["ppu"]["whole_lines"] = 0
    compared = np.ones(STATE_BYTES, bool)
    compared[FLAG : FLAG + 8] = False
    for frame in range(frames):
        whole.run_frame(held(frame))
        dots.run_frame(held(frame))
        same = (whole.snapshot() == dots.snapshot()) | ~compared
        assert same.all(), f"frame {frame}, state byte {np.argmin(same)}"


@pytest.mark.parametrize("row", known(), ids=lambda row: row.name)
def test_every_rom(row):
    # Start is held for a moment now and then: menus go on, AccuracyCoin runs its tests.
    assert_same(rom_or_skip(row.sha256, row.path), 150, lambda frame: 8 if frame % 60 < 4 else 0)


@pytest.mark.parametrize(("game", "replay"), GAMES, ids=lambda path: path.stem)
def test_games_with_their_replays(game, replay):
    if not game.exists():
        pytest.skip(f"{game.name} is not here")
    assert_same(game, 1500, movie.load(replay).keys_at)
