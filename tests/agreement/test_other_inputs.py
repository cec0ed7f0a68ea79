"""Runs that nobody has recorded: random buttons on every kind of board, twice, and in other ways of running.

There is no reference to agree with here, only the rule that a run depends on the ROM and the buttons alone.
"""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from pynes_ref import Console
from pynes_ref.bundled import folder

ROMS = sorted(path.name for path in folder("test_roms").glob("*.nes"))
FRAMES = 240


def buttons(name):
    """Random presses of 1 to 20 frames; opposite directions too, as a replay may hold them."""
    random = np.random.default_rng(zlib.crc32(name.encode()))
    lengths = random.integers(1, 21, FRAMES)
    return np.repeat(random.integers(0, 256, FRAMES, dtype=np.uint8), lengths)[:FRAMES]


def checksums(console, keys):
    """(picture, sound) of every frame."""
    sums = []
    for held in keys:
        picture = zlib.crc32(console.run_frame(int(held)).tobytes())
        sums.append((picture, zlib.crc32(console.drain_audio().tobytes())))
    return sums


@pytest.mark.parametrize("name", ROMS)
def test_a_run_depends_on_rom_and_buttons_alone(name):
    rom = (folder("test_roms") / name).read_bytes()
    keys = buttons(name)
    expected = checksums(Console(rom), keys)
    assert len(set(expected)) > 1

    console = Console(rom)
    checksums(console, keys[::-1])
    console.power_cycle()
    console.battery_ram[:] = 0
    console.drain_audio()
    assert checksums(console, keys) == expected, "another run after a power cycle"

    console = Console(rom)
    half = FRAMES // 2
    checksums(console, keys[:half])
    other = Console(rom)
    other.load_state(console.save_state())
    assert checksums(console.clone(), keys[half:]) == expected[half:], "a clone"
    assert checksums(other, keys[half:]) == expected[half:], "a saved state"


@pytest.mark.parametrize("name", ROMS)
def test_stepping_runs_the_same_machine(name):
    """Instruction by instruction, as ``grader explain`` does, against whole frames."""
    rom = (folder("test_roms") / name).read_bytes()
    keys = buttons(name)[:40]
    frames, steps = Console(rom), Console(rom)
    for call, held in enumerate(keys):
        frames.run_frame(int(held))
        if call < len(keys) - 3:
            steps.run_frame(int(held))
            continue
        steps.run_frames(0, int(held))  # only holds the buttons
        while steps.cycles < frames.cycles:
            steps.step_instruction()
        assert steps.cycles == frames.cycles, call
        assert np.array_equal(steps.frame, frames.frame), call
        assert np.array_equal(steps.ram, frames.ram), call
        assert np.array_equal(steps.drain_audio()[-700:], frames.drain_audio()[-700:]), call
