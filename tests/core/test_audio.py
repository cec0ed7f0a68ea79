"""The path from levels to samples, against the formulas of the recorded reference."""

import random
import zlib
from fractions import Fraction

import numpy as np
from apu_player import Player

from pynes_ref.core import audio

# The first samples of every recording whose program is silent: the triangle's level of 15 from cycle 1 on.
START_UP = [6295, 7314, 6653, 6284, 5779, 5320, 4936, 4509, 4174, 3810, 3503, 3196,
            2918, 2655, 2410, 2181, 1966, 1766, 1579, 1404, 1241, 1089, 947, 815]  # fmt: skip
FRAME_1, FRAME_2, FRAME_3 = 29_781, 29_781 + 29_780, 29_781 + 2 * 29_780 + 1


def test_the_kernel_is_the_windowed_sinc_with_rows_of_sum_one():
    phase, tap = np.mgrid[0:256, 0:32]
    x = tap - 15.5 - phase / 256
    at = (tap + 0.5) / 32
    rows = 2 * 0.46 * np.sinc(2 * 0.46 * x) * (
        0.42 - 0.5 * np.cos(2 * np.pi * at) + 0.08 * np.cos(4 * np.pi * at))
    rows /= rows.sum(1, keepdims=True)
    assert audio.KERNEL.dtype == np.float32
    assert np.abs(audio.KERNEL - rows).max() < 1e-6
    # Bit for bit the table of the recorded reference.
    assert zlib.crc32(audio.KERNEL.tobytes()) == 0xC8F94EE9


def test_the_mixer_tables_are_the_wikis_formulas():
    # https://www.nesdev.org/wiki/APU_Mixer#Lookup_Table
    n = np.arange(1, 31)
    assert np.allclose(audio.PULSE_MIX[1:], 95.52 / (8128 / n + 100), rtol=1e-6)
    n = np.arange(1, 203)
    assert np.allclose(audio.TND_MIX[1:], 163.67 / (24329 / n + 100), rtol=1e-6)
    assert audio.PULSE_MIX[0] == audio.TND_MIX[0] == 0


def test_the_filters_have_the_recorded_coefficients():
    found = [audio.HIGH_PASS_1, audio.HIGH_PASS_2, audio.LOW_PASS]
    assert np.allclose(found, [0.98725903, 0.93923515, 0.86394036], rtol=0, atol=5e-9)


def test_the_phase_table_gives_the_repeated_sums_exactly():
    step = 44_100 / 1_789_773
    bounds = audio.PHASE_BOUNDS
    rng = random.Random(0)
    units = [rng.randrange(int(step * 2**52)) for _ in range(4000)]
    units += [max(0, int(b * 2**52) + d) for b in bounds for d in range(-20, 20)]
    for unit in units:
        first = unit * 2.0**-52
        row = int(np.searchsorted(bounds, first, side="right"))
        phase = first
        for k in range(int(audio.PHASE_CYCLES[row])):
            assert phase < 1
            assert first + float(audio.PHASE[row, k]) == phase
            phase += step
        assert phase >= 1
        end = first + float(audio.PHASE[row, audio.PHASE_CYCLES[row]])
        assert end == phase
        # The next sample begins with a multiple of 2**-52 again, which is what the table relies on.
        assert Fraction(end - 1) * 2**52 % 1 == 0


def test_no_rounding_accumulates_over_ten_million_cycles():
    step = 44_100 / 1_789_773
    phase, first, row = 0.0, 0.0, 0
    for _ in range(10_000_000 // 41):
        cycles = int(audio.PHASE_CYCLES[row])
        for _ in range(cycles):
            phase += step
        phase -= 1
        first = first + float(audio.PHASE[row, cycles]) - 1
        assert first == phase
        row = int(np.searchsorted(audio.PHASE_BOUNDS, first, side="right"))


def test_power_on_sounds_as_recorded():
    player = Player(FRAME_3)
    counts = []
    for end in (FRAME_1, FRAME_2, FRAME_3):
        player.play(end)
        counts.append(len(player.samples()))
    assert player.samples()[: len(START_UP)].tolist() == START_UP
    assert np.diff([0, *counts]).tolist() == [716, 734, 734]


def test_samples_nobody_takes_are_given_up_oldest_first():
    player = Player(250_000)
    player.at[101] = (0x4011, 0x40)
    player.play(150_000)
    early = player.samples()
    player.play(250_000)
    late = player.samples()
    assert audio.OUT - audio.DROP_OLDEST <= len(late) <= audio.OUT
    whole = 250_000 * 44_100 // 1_789_773 - audio.DROPPED
    gone = whole - len(late)
    assert gone > 0
    assert np.array_equal(late[: len(early) - gone], early[gone:])
