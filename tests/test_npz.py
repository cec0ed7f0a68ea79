"""Writing pictures and sound as an npz: what numpy reads from it, how much memory it takes, what a failure leaves."""

import io
import os
import threading
import tracemalloc

import numpy as np
import pytest
from commands import PINEWOOD, REPLAY, files, straight

from pynes_ref import Console
from pynes_ref.headless import Outputs, run
from pynes_ref.movie import load
from pynes_ref.npz import NpzWriter

PICTURE = 240 * 256 * 2  # bytes


def pictures(count):
    return np.random.default_rng(1).integers(0, 512, (count, 240, 256)).astype(np.uint16)


def expected(frames, audio, samples):
    """The same by numpy's own writer, which wants all frames at once."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, frames=frames, audio=audio, samples_per_frame=samples)
    buffer.seek(0)
    return np.load(buffer)


def assert_equal(found, wanted):
    assert list(found) == list(wanted)
    for name in wanted:
        assert found[name].dtype == wanted[name].dtype
        assert np.array_equal(found[name], wanted[name])  # shapes too


@pytest.mark.parametrize("count", [0, 1, 5])
def test_it_is_what_numpy_writes(tmp_path, count):
    frames = pictures(count)
    audio, samples = np.arange(-count, 700 * count, dtype=np.int16), [701] * count
    writer = NpzWriter(tmp_path / "a.npz", count)
    for frame in frames:
        writer.add(frame)
    assert not (tmp_path / "a.npz").exists()
    writer.close(audio, samples)
    writer.abandon()  # too late
    with np.load(tmp_path / "a.npz") as found:
        assert_equal(found, expected(frames, audio, np.array(samples, np.uint32)))
    assert files(tmp_path) == ["a.npz"]


def test_an_abandoned_one_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.npz"
    path.write_bytes(b"old")
    writer = NpzWriter(path, 2)
    writer.add(pictures(1)[0])
    assert len(files(tmp_path)) == 2
    writer.abandon()
    assert path.read_bytes() == b"old"
    assert files(tmp_path) == ["a.npz"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_into_a_pipe(tmp_path):
    """Nothing can be changed in what has gone down a pipe, such as the sizes before a member of the archive."""
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    frames = pictures(3)
    writer = NpzWriter(pipe, 3)
    for frame in frames:
        writer.add(frame)
    writer.close(np.zeros(9, np.int16), [3, 3, 3])
    reader.join(60)
    with np.load(io.BytesIO(got[0])) as found:
        assert_equal(found, expected(frames, np.zeros(9, np.int16), np.array([3, 3, 3], np.uint32)))


def test_a_long_run_keeps_no_pictures(tmp_path):
    """600 pictures have 74 MB. Their sound has 0.9, twice that while it is joined; zlib has buffers of some MB."""
    console, movie = Console(PINEWOOD), load(REPLAY)
    run(console, 2, movie, Outputs(npz=tmp_path / "short.npz"))  # imports, and what is compiled at first use
    tracemalloc.start()
    try:
        run(console, 600, movie, Outputs(npz=tmp_path / "long.npz"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 600 * PICTURE / 10
    with np.load(tmp_path / "long.npz") as found:
        assert found["frames"].shape == (600, 240, 256)


def test_the_frames_are_those_from_the_start_on(tmp_path):
    _, shown, _, _ = straight(9, 6)
    run(Console(PINEWOOD), 9, load(REPLAY), Outputs(npz=tmp_path / "a.npz"), start=6)
    with np.load(tmp_path / "a.npz") as found:
        assert np.array_equal(found["frames"], np.stack(shown))
