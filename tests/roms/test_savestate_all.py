"""Save, load, go on = go straight on, byte for byte: every ROM there is, at a frame's end and amid a frame."""

import hashlib
import os
import subprocess
import sys

import pytest
from places import ROOT, SHARED, rom_or_skip

from pynes_ref import Console, bundled
from pynes_ref.movie import Movie, load
from pynes_ref.roms import known

CORPUS = SHARED / "corpus"

# A frame costs 1.5 ms; 190 ROMs have to stay well below a minute.
AFTER = 10
GAMES = {
    "falling": "e22b947542c2d7e595bf84725b333be7af8189c5965b9c53e356a249c7d79943",
    "minekart-madness": "45d18d8b3662e6c08043759e550e658bcd23e48394a00f24de5e5fbe57e4900a",
}


def spread(name, low, high):
    """A number that is the same for a ROM in every run."""
    return low + int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") % (high - low)


class Player:
    """A console and the replay it follows, by calls of ``run_frame``."""

    def __init__(self, console, movie, at=0):
        self.console, self.movie, self.at = console, movie, at

    def frames(self, count):
        for _ in range(count):
            self.console.run_frame(self.movie.keys_at(self.at))
            self.at += 1

    def steps(self, count):
        for _ in range(count):
            self.console.step_instruction()

    def loaded(self):
        """A new console that has loaded this one's state, at the same place of the replay."""
        console = Console(self.console.cartridge)
        console.load_state(self.console.save_state())
        return Player(console, self.movie, self.at)


def state(player):
    return hashlib.sha256(player.console.snapshot()).hexdigest(), player.console.save_state()


def check(rom, movie, before, steps):
    straight = Player(Console(rom), movie)
    straight.frames(before)
    at_a_frames_end = straight.loaded()
    straight.frames(AFTER)
    straight.steps(steps)
    amid_a_frame = straight.loaded()
    straight.frames(AFTER)

    at_a_frames_end.frames(AFTER)
    at_a_frames_end.steps(steps)
    at_a_frames_end.frames(AFTER)
    amid_a_frame.frames(AFTER)
    assert state(at_a_frames_end) == state(straight)
    assert state(amid_a_frame) == state(straight)
    assert (straight.console.frame == amid_a_frame.console.frame).all()


@pytest.mark.parametrize("row", known(), ids=lambda row: row.name)
def test_third_party_rom(row):
    # Nothing is drained: the sound that piles up is part of the state.
    check(rom_or_skip(row.sha256, row.path), Movie(), spread(row.name, 4, 44), spread(row.path, 1, 4000))


@pytest.mark.parametrize("path", sorted(bundled.folder("test_roms").glob("*.nes")), ids=lambda path: path.stem)
def test_own_rom(path):
    replay = bundled.folder("replays") / f"{path.stem}-gameplay.txt"
    movie = load(replay) if replay.exists() else Movie()
    check(path, movie, spread(path.stem, 300, 500) if replay.exists() else 20, spread(path.name, 1, 4000))


@pytest.mark.parametrize("name", GAMES)
def test_game_with_its_replay(name):
    rom = rom_or_skip(GAMES[name], f"{name}.nes")
    replay = CORPUS / "replays" / f"{name}-gameplay.txt"
    if not replay.exists():
        pytest.skip(f"{replay.name} is not here")
    check(rom, load(replay), 700, 2500)


# What a new process makes of a ROM: the state in the middle and at the end, and all pictures and sound.
CHILD = """
import hashlib, sys
from pynes_ref import Console
from pynes_ref.movie import load
rom, replay, frames = sys.argv[1], sys.argv[2], int(sys.argv[3])
movie = load(replay)
console = Console(rom)
digest = hashlib.sha256()
for n in range(frames):
    digest.update(console.run_frame(movie.keys_at(n)))
    digest.update(console.drain_audio())
    if n == frames // 2:
        for _ in range(777):
            console.step_instruction()
        digest.update(console.save_state())
print(digest.hexdigest(), hashlib.sha256(console.save_state()).hexdigest())
"""


@pytest.mark.parametrize("name", ["pinewood", "kittiwake", "undertow"])
def test_two_processes_give_identical_bytes(name):
    arguments = [bundled.rom(f"{name}.nes"), bundled.folder("replays") / f"{name}-gameplay.txt", "240"]
    results = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", CHILD, *map(str, arguments)],
            env=environment, capture_output=True, text=True, timeout=240,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        results.append(done.stdout)
    assert results[0] == results[1]
    assert len(results[0].split()) == 2


def test_a_state_goes_from_one_process_to_another(tmp_path):
    """Saved here amid a frame, loaded and run on by a process of its own."""
    straight = Player(Console(bundled.rom("undertow.nes")), load(bundled.folder("replays") / "undertow-gameplay.txt"))
    straight.frames(300)
    straight.steps(1234)
    file = tmp_path / "state"
    file.write_bytes(straight.console.save_state())
    code = (
        "import sys, hashlib; from pynes_ref import Console; c = Console(sys.argv[1])\n"
        "c.load_state(open(sys.argv[2], 'rb')); c.run_frames(30, 0x81)\n"
        "print(hashlib.sha256(c.save_state()).hexdigest())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(bundled.rom("undertow.nes")), str(file)],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    straight.console.run_frames(30, 0x81)
    assert done.stdout.strip() == hashlib.sha256(straight.console.save_state()).hexdigest()
