"""Short cuts of grading a testcase, beside the long way."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from grader import grade, pictures

RATE = 44_100


def test_numbers_are_written_once_a_value_as_if_each_were_written():
    random = np.random.default_rng(1).random(500).astype(np.float32)
    values = np.concatenate([random, random, np.float32([0.0, -0.0, 1.0, 1e-30, 3e8, np.nan, 0.1])])
    assert [str(v) for v in grade._short(values)] == [str(float(str(v))) for v in values]


def files(ref, cand):
    black = np.zeros(61_440, np.uint16)
    recording = SimpleNamespace(audio=ref, audio_rate=RATE)
    run = SimpleNamespace(audio=cand, last=(black, black))
    return grade._files(SimpleNamespace(id="one"), recording, run, True)


def test_a_track_that_is_the_same_is_made_once_and_has_the_same_bytes():
    track = np.random.default_rng(2).integers(-9000, 9000, 7350).astype(np.int16)
    found = files(track.astype("<i2"), track.copy())
    assert found["one.ref.wav"] == found["one.cand.wav"] == pictures.wav(track, RATE)
    assert found["one.ref.wav"] is found["one.cand.wav"]


def test_tracks_that_differ_in_one_sample_or_in_length_are_both_made():
    track = np.random.default_rng(3).integers(-9000, 9000, 7350).astype(np.int16)
    other = track.copy()
    other[-1] += 1
    for cand in (other, track[:-1], track[:0]):
        found = files(track, cand)
        assert found["one.ref.wav"] == pictures.wav(track, RATE)
        assert found["one.cand.wav"] == pictures.wav(cand, RATE)
