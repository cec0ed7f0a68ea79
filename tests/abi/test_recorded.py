"""Recordings: read back what was written, and every kind of damage as one clear error."""

from __future__ import annotations

import os
import shutil
import struct

import numpy as np
import pytest
import toy_emulator as toy
import zstandard

from abi.candidate import Candidate, CandidateError, EmulatorError, drain, load, start
from abi.loader import resolve
from abi.recorded import NO_REPLAY, Header, Recorded, Recording, RecordingError, find, read_header
from grader import refcache

SHA = "ab" * 32
FRAMES = 40


def toy_frames(count=FRAMES):
    emulator = toy.ToyEmulator()
    start(emulator)
    load(emulator, toy.ROM)
    for number in range(count):
        emulator.emu_set_keys(number % 3)
        emulator.emu_run_frame()
        yield emulator.emu_framebuffer().copy(), drain(emulator)


@pytest.fixture
def path(tmp_path):
    import hashlib

    rom = hashlib.sha256(toy.ROM).hexdigest()
    file = tmp_path / "toy.refcache"
    refcache.write(file, Header(SHA, rom, NO_REPLAY, FRAMES, 44_100), toy_frames())
    return file


def test_it_reads_what_was_written(path):
    recording = Recording(path)
    frames = list(toy_frames())
    assert recording.header[0] == SHA
    assert recording.frame_count == FRAMES
    assert recording.samples.tolist() == [sound.size for _, sound in frames]
    assert recording.samples[:3].tolist() == [0, 716, 734]
    assert np.array_equal(recording.audio, np.concatenate([sound for _, sound in frames]))
    for got, (picture, _) in zip(recording.frames(), frames, strict=True):
        assert np.array_equal(got, picture)
    assert list(path.parent.iterdir()) == [path]  # no temporary file left


def test_the_layout_on_disk(path):
    """Byte offsets as the format says, read with nothing but struct."""
    data = zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes())
    assert data[:12] == b"NESREFC\0" + struct.pack("<I", 1)
    assert struct.unpack_from("<Q", data, 12)[0] == 64
    assert data[20:84] == SHA.encode()
    at = 12 + 3 * 72
    assert struct.unpack_from("<IIQ", data, at) == (FRAMES, 44_100, FRAMES * 61_440)
    at += 16 + 2 * FRAMES * 61_440
    assert struct.unpack_from("<Q3I", data, at) == (FRAMES, 0, 716, 734)
    at += 8 + 4 * FRAMES
    count = struct.unpack_from("<Q", data, at)[0]
    assert len(data) == at + 8 + 2 * count + 8


def test_as_an_emulator(path):
    player = Recorded([Recording(path)])
    assert isinstance(player, Candidate)
    start(player)
    with pytest.raises(CandidateError, match="refuses this ROM"):
        load(player, toy.OTHER_ROM)
    for _ in range(2):  # loading again begins again
        load(player, toy.ROM)
        assert not player.emu_framebuffer().any()
        for picture, sound in toy_frames():
            player.emu_set_keys(0)
            player.emu_run_frame()
            assert np.array_equal(player.emu_framebuffer(), picture)
            assert np.array_equal(drain(player), sound)
            assert drain(player).size == 0
    with pytest.raises(CandidateError, match="ends after 40 frames"):
        player.emu_run_frame()
    assert player.emu_reset() == 1
    player.emu_run_frame()
    player.emu_run_frame()
    assert player.emu_audio_samples() == 716


def test_undrained_sound_is_not_lost(path):
    player = Recorded([Recording(path)])
    start(player)
    load(player, toy.ROM)
    for _ in range(3):
        player.emu_run_frame()
    assert player.emu_audio_samples() == 716 + 734


def rebuilt(path, change):
    """The file with its unpacked bytes changed."""
    data = bytearray(zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes()))
    data = change(data)
    path.write_bytes(zstandard.ZstdCompressor().compress(bytes(data)))
    return path


def patched(at, new):
    def change(data):
        data[at : at + len(new)] = new
        return data

    return change


HEAD = 12 + 3 * 72
TAIL = HEAD + 16 + 2 * FRAMES * 61_440


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (patched(0, b"X"), "not a recording"),
        (patched(8, b"\2"), "version 2; only version 1"),
        (patched(12, b"\xff\xff\xff\xff"), "hash of the reference should be short"),
        (patched(20, b"Z"), "not 64 hexadecimal digits"),
        (patched(HEAD, b"\xff\xff\xff\xff"), "damaged: 4294967295 frames"),
        (patched(HEAD, b"\x29"), "the pictures should have"),
        (patched(HEAD + 4, b"\0\0\0\0"), "audio rate of 0"),
        (patched(HEAD + 16, b"\0\2"), "pixels above 511"),
        (patched(TAIL, b"\x07"), "the sample counts should have 40 items, not 7"),
        (patched(TAIL + 8, b"\xff\xff\xff\xff"), "samples in one frame"),
        (patched(TAIL + 8, b"\1"), "the sound should have"),
        (lambda data: data + b"more", "bytes after the end"),
        (lambda data: data[:-1], "truncated: it ends inside the thresholds"),
        (lambda data: data[: HEAD + 1000], "truncated: it ends inside the pictures"),
        (lambda data: data[:5], "truncated"),
        (lambda data: data[:-8] + struct.pack("<ff", float("nan"), 30.0), "impossible thresholds"),
        (lambda data: data[:-8] + struct.pack("<ff", 0.1, -1.0), "impossible thresholds"),
    ],
)
def test_damage(path, change, message):
    with pytest.raises(RecordingError, match=message) as error:
        Recording(rebuilt(path, change))
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


def test_damaged_compression(path):
    whole = path.read_bytes()
    for cut in (0, 3, 20, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(RecordingError):
            Recording(path)
    for at in range(0, len(whole), max(len(whole) // 40, 1)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        with pytest.raises(RecordingError):  # our files carry a checksum: no flipped byte goes unseen
            Recording(path)


def test_missing_and_foreign_files(tmp_path):
    for name, data in (("text", b"hello"), ("empty", b"")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(RecordingError):
            Recording(tmp_path / name)
    with pytest.raises(RecordingError, match="No such file"):
        Recording(tmp_path / "nothing")
    with pytest.raises(RecordingError):
        Recording(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipes_are_no_recordings(path, tmp_path):
    """Nobody writes to them: whoever opened one would wait for ever."""
    folder = tmp_path / "pipes"
    folder.mkdir()
    pipe = folder / "toy.refcache"
    os.mkfifo(pipe)
    for act in (
        lambda: read_header(pipe),
        lambda: Recording(pipe),
        lambda: find(folder, "toy", SHA, SHA),
        lambda: resolve(str(pipe)),
        lambda: resolve(str(folder)).open(),
    ):
        with pytest.raises(EmulatorError, match=r"toy\.refcache: not a regular file$"):
            act()
    assert find(folder, "other", SHA, SHA) is None
    header = read_header(path)
    shutil.copy(path, folder / "other.refcache")
    assert find(folder, "toy", header.rom_sha256, header.replay_sha256) == folder / "other.refcache"
    for name in ("toy.wasm", "toy.so"):
        os.mkfifo(folder / name)
        with pytest.raises(EmulatorError, match="not a regular file"):
            resolve(str(folder / name), trust_native=True)
    os.mkfifo(path.with_name(f"{path.name}.seal"))
    assert Recording(path).header == header


def test_find(path):
    header = read_header(path)
    folder = path.parent
    (folder / "damaged.refcache").write_bytes(b"x")
    assert find(folder, "toy", "?", "?") == path  # by name
    assert find(folder, "other", header.rom_sha256, header.replay_sha256) == path  # by hashes
    assert find(folder, "other", header.rom_sha256, SHA) is None
