"""The comparison itself: a recording that was tampered with is noticed, and the place is told."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from agreement_tools import by_checksums, whole

from abi.recorded import Header, Recording
from grader import refcache
from pynes_ref import Console
from pynes_ref.bundled import rom

CALLS = 30


@pytest.fixture(scope="module")
def run():
    """(frame, sound) of some calls."""
    console = Console(rom())
    return [(console.run_frame().copy(), console.drain_audio()) for _ in range(CALLS)]


def recording(run, path):
    refcache.write(path, Header("0" * 64, "0" * 64, "0" * 64, CALLS, 44_100), ((f.reshape(-1), s) for f, s in run))
    return Recording(path)


def archive(run):
    return {
        "keys": np.zeros(CALLS, np.uint8),
        "frame_crc32": np.array([zlib.crc32(f.tobytes()) for f, _ in run], np.uint32),
        "samples": np.array([s.size for _, s in run], np.uint16),
        "audio_crc32": np.array([zlib.crc32(s.tobytes()) for _, s in run], np.uint32),
        "checkpoint": np.array([9, 29], np.uint16),
        "checkpoint_frames": np.stack([run[9][0], run[29][0]]),
    }


def test_equal_runs(run, tmp_path):
    data = rom().read_bytes()
    found = whole(data, bytes(CALLS), recording(run, tmp_path / "r.refcache"))
    assert not found.faults
    assert found.unequal_samples == found.largest == 0
    assert not by_checksums(data, archive(run)).faults


def test_a_pixel_a_sample_a_call(run, tmp_path):
    changed = [(f.copy(), s.copy()) for f, s in run]
    changed[12][0][34, 56] ^= 1
    changed[14][0][0, 0] ^= 1
    changed[20][1][7] += 1
    changed[21][1][7] += 3
    found = whole(rom().read_bytes(), bytes(CALLS), recording(changed, tmp_path / "r.refcache"))
    assert "frame 12 is the first" in found.faults["frames"]
    assert "x 56 of scanline 34" in found.faults["frames"]
    assert "2 of 30 frames" in found.faults["frames"]
    sample = sum(s.size for _, s in run[:21]) + 7
    assert f"the first is sample {sample} (call 21)" in found.faults["sound"]
    assert (found.unequal_samples, found.largest) == (2, 3)
    changed[25] = (changed[25][0], changed[25][1][:-1])
    found = whole(rom().read_bytes(), bytes(CALLS), recording(changed, tmp_path / "s.refcache"))
    assert "the first is call 25" in found.faults["counts"]


def test_checksums(run):
    recorded = archive(run)
    recorded["frame_crc32"][12:] ^= 1
    recorded["checkpoint_frames"][1, 100, 7] ^= 1
    recorded["samples"][5] += 1
    recorded["audio_crc32"][6] ^= 1
    found = by_checksums(rom().read_bytes(), recorded)
    assert "frame 12 is the first of 18 (of 30)" in found.faults["frames"]
    assert "frame 29, kept whole: 1 pixels, the first at x 7 of scanline 100" in found.faults["frames"]
    assert "call 5 is the first of 1" in found.faults["counts"]
    assert "call 6" in found.faults["sound"]
