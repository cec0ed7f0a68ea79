"""The audio metric against its definition written slowly, and its properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.metrics import audio

RATE = 44_100


def slow_logmel(samples: np.ndarray, rate: int) -> np.ndarray:
    """Log-mel vectors straight from the formulas: a DFT by matrix, filters by if."""
    window = np.array([0.5 - 0.5 * math.cos(2 * math.pi * i / 1023) for i in range(1024)])
    k, i = np.arange(513)[:, None], np.arange(1024)
    dft = np.exp(-2j * np.pi * ((k * i) % 1024) / 1024)

    def mel(hz: float) -> float:
        return 2595 * math.log10(1 + hz / 700)

    low, high = mel(80.0), mel(min(8000.0, rate / 2))
    edges = [(700 * (10 ** ((low + (high - low) * n / 41) / 2595) - 1)) * 1024 / rate for n in range(42)]
    rows = []
    for start in range(0, len(samples) - 1023, rate // 60):
        power = np.abs(dft @ (samples[start : start + 1024] * window)) ** 2
        row = []
        for band in range(40):
            left, centre, right = edges[band : band + 3]
            energy = 0.0
            for b in range(513):
                if left < b <= centre:
                    energy += power[b] * (b - left) / (centre - left)
                elif centre < b < right:
                    energy += power[b] * (right - b) / (right - centre)
            row.append(math.log(energy + 1e-10))
        rows.append(row)
    return np.array(rows).reshape(-1, 40)


def tone(hz: float, seconds: float = 1.0, level: float = 8000, rate: int = RATE) -> np.ndarray:
    return (level * np.sign(np.sin(2 * np.pi * hz * np.arange(int(seconds * rate)) / rate))).astype(np.int16)


def noise(seed: int, seconds: float = 0.5, level: int = 6000) -> np.ndarray:
    return np.random.default_rng(seed).integers(-level, level + 1, int(seconds * RATE)).astype(np.int16)


@pytest.mark.parametrize("rate", [44_100, 48_000, 11_025])
def test_spectrogram_equals_the_slow_definition(rate):
    samples = np.concatenate([tone(440, 0.1, rate=rate), noise(1, 0.05), tone(97, 0.1, 900, rate=rate)])
    found = audio.spectrogram(samples, rate)
    expected = slow_logmel(samples.astype(float), rate)
    assert found.logmel.shape == expected.shape
    assert np.allclose(found.logmel, expected, rtol=0, atol=1e-6)


def test_number_of_analysis_frames():
    """1 + (n - 1024) // 735; the last partial frame is dropped."""
    for size, count in ((0, 0), (1023, 0), (1024, 1), (1758, 1), (1759, 2), (44_100, 59)):
        assert len(audio.spectrogram(np.zeros(size, np.int16), RATE).logmel) == count


def test_silent_and_null_by_hand():
    """Silent: RMS under 100; null: under 2."""
    for level, silent, null in (
        (0, True, True),
        (1, True, True),
        (2, True, False),
        (99, True, False),
        (100, False, False),
    ):
        found = audio.spectrogram(np.full(1024, level, np.int16), RATE)
        assert (found.silent[0], found.null[0]) == (silent, null), level


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_identical_sound_is_perfect(seed):
    track = np.concatenate([noise(seed), np.zeros(5000, np.int16), tone(300, 0.2)])
    result = audio.score(track, track.copy(), RATE, 30.0)
    assert result.mean == 1.0
    counted = result.frames[~np.isnan(result.frames)]
    assert (counted == 1.0).all()
    assert counted.size < result.frames.size  # the silent stretch is left out


def test_the_short_cut_for_identical_sound_gives_what_the_long_way_gives():
    track = np.concatenate([noise(3), np.zeros(5000, np.int16), tone(300, 0.2)])
    longer = np.concatenate([track, np.zeros(10, np.int16)])  # not equal, but the same analysis frames but for the end
    short = audio.score(track, track, RATE, 40.0)
    long = audio.score(track, longer, RATE, 40.0)
    assert np.array_equal(short.frames, long.frames, equal_nan=True)


def test_silent_reference_has_no_score():
    assert audio.score(np.zeros(10_000, np.int16), tone(440), RATE, 25.0) is None
    assert audio.score(np.zeros(0, np.int16), tone(440), RATE, 25.0) is None
    assert audio.is_silent(np.full(5000, 99, np.int16), RATE)
    assert not audio.is_silent(tone(440), RATE)


def test_silent_candidate_scores_0():
    """Exactly one side null: 0. No samples at all count as silent and null, too."""
    track = tone(440)
    for candidate in (np.zeros_like(track), np.zeros(0, np.int16), np.ones_like(track)):
        result = audio.score(track, candidate, RATE, 1000.0)
        assert result.mean == 0.0
    half = audio.score(track, track[: len(track) // 2], RATE, 40.0)
    assert half.mean == pytest.approx(0.5, abs=0.02)


def test_loudness_does_not_count_but_pitch_does():
    """Distances are taken after subtracting each vector's mean: a gain is a constant there."""
    track, quieter = tone(440, level=12_000), tone(440, level=3_000)
    assert audio.score(track, quieter, RATE, 25.0).mean > 0.999
    assert audio.score(track, tone(660), RATE, 25.0).mean < 0.5


def test_distance_by_hand():
    a, b = np.zeros((1, 40)), np.zeros((1, 40))
    b[0, 0] = 40.0  # mean 1: |39| + 39 * |1|
    assert audio.distances(a, b)[0] == pytest.approx(78.0)
    assert audio.distances(a, a + 5.0)[0] == pytest.approx(0.0)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_more_damage_never_scores_higher(seed):
    """Blanking one more 1/60 s of the candidate makes analysis frames null, which score 0; none gets better."""
    rng = np.random.default_rng(seed)
    track = tone(float(rng.uniform(100, 2000)), 0.5)
    candidate = track.copy()
    before = 1.0
    for frame in rng.permutation(20)[:5]:
        start = int(frame) * 735
        candidate[start : start + 1759] = 0
        now = audio.score(track, candidate, RATE, 25.0).frames[frame]
        assert now == 0.0
        mean = audio.score(track, candidate, RATE, 25.0).mean
        assert mean <= before + 0.02  # neighbours half blanked may change either way a little
        before = mean


def test_threshold_by_hand():
    """0.90 quantile, linear between neighbours, at least 25; pairs silent on both sides left out; 0 without any."""
    levels = np.zeros((12, 40))
    levels[:, 0] = np.cumsum([0, *range(1, 12)]) * 40 / 78  # distance of neighbours n-1, n: n
    loud = np.zeros(12, bool)
    found = audio.threshold(audio.Spectrogram(levels * 10, loud, loud))  # 10, 20 ... 110: quantile at 9.0
    assert found == pytest.approx(100.0)
    assert audio.threshold(audio.Spectrogram(levels, loud, loud)) == 25.0
    silent = np.ones(12, bool)
    assert audio.threshold(audio.Spectrogram(levels, silent, silent)) == 0.0
    silent[11] = False  # one audible frame: the pair (10, 11) counts
    assert audio.threshold(audio.Spectrogram(levels * 10, silent, silent)) == pytest.approx(110.0)
    assert audio.threshold(audio.spectrogram(np.zeros(0, np.int16), RATE)) == 0.0


def test_score_with_threshold_0():
    assert audio.sigmoid(np.array([0.0, 1.0]), 0.0).tolist() == [1.0, 0.0]


def test_rms_ratios_by_hand():
    """Per emulated frame; None where the reference's RMS is not above 100."""
    ref = np.concatenate([np.full(700, 1000), np.full(700, 100), np.full(700, 200)]).astype(np.int16)
    cand = np.concatenate([np.full(700, 500), np.full(700, 500), np.full(600, 300)]).astype(np.int16)
    assert audio.rms_ratios(ref, [700, 700, 700], cand, [700, 700, 600]) == [0.5, None, 1.5]
    assert audio.rms_ratios(ref, [700, 700, 700], cand[:0], [0, 0, 0]) == [0.0, None, 0.0]
    assert audio.rms(np.array([3, -4], np.int16)) == pytest.approx(math.sqrt(12.5))
