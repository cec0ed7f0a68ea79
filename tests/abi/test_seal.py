"""Seals of recordings: what they spare is spared only when every byte is the writer's."""

from __future__ import annotations

import hashlib
import struct

import numpy as np
import pytest
import zstandard

from abi import seal
from abi.recorded import NO_REPLAY, Header, Recording, RecordingError
from grader import refcache

FRAMES = 5


def frames():
    random = np.random.default_rng(1)
    for number in range(FRAMES):
        picture = random.integers(0, 512, 61_440).astype(np.uint16)
        yield picture, random.integers(-9000, 9000, 700 + number).astype(np.int16)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The bytes of a recording and of its seal."""
    path = tmp_path_factory.mktemp("written") / "x.refcache"
    line = refcache.write(path, Header("ab" * 32, "cd" * 32, NO_REPLAY, FRAMES, 44_100), frames())
    return path.read_bytes(), line


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.refcache"


def put(path, data, line):
    path.write_bytes(data)
    seal.path_of(path).write_bytes(line)


def right(data):
    """The seal of any bytes, as ``abi.seal`` describes it."""
    return hashlib.sha256(seal.MARK + data).hexdigest().encode() + b"\n"


def flipped(data, at, mask=0x55):
    return data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :]


def everything(path):
    recording = Recording(path)
    tail = (recording.samples.tobytes(), recording.audio.tobytes(), recording.video_tau, recording.audio_tau)
    return recording.header, [picture.tobytes() for picture in recording.frames()], tail


def test_with_a_seal_the_same_is_read(path, written):
    data, line = written
    assert line == right(data)
    path.write_bytes(data)
    plain = everything(path)
    assert plain[1] == [picture.tobytes() for picture, _ in frames()]
    put(path, data, line)
    assert seal.sealed(path) is not None
    assert everything(path) == plain


def test_what_is_sealed_is_the_frame_without_its_checksum(path, written):
    """RFC 8878: bit 2 of the descriptor announces four bytes of checksum at the frame's end."""
    put(path, *written)
    data = bytes(seal.sealed(path))
    assert zstandard.get_frame_parameters(written[0]).has_checksum
    assert not zstandard.get_frame_parameters(data).has_checksum
    assert data[5:] == written[0][5:-4]


def test_a_seal_spares_the_checksum(path, written):
    """A wrong checksum is not looked at under a right seal, and is damage otherwise."""
    wrong = flipped(written[0], len(written[0]) - 1)
    put(path, wrong, right(wrong))
    assert everything(path)[1] == [picture.tobytes() for picture, _ in frames()]
    for line in (written[1], b"", right(wrong)[:-1], right(wrong) + b"\n", right(wrong).upper()):
        put(path, wrong, line)
        with pytest.raises(RecordingError, match="checksum"):
            Recording(path)


def test_a_flipped_byte_is_found_with_and_without_a_seal(path, written):
    data, line = written
    places = [*range(40), *range(40, len(data) - 10, len(data) // 40), *range(len(data) - 10, len(data))]
    for at in places:
        put(path, flipped(data, at), line)
        with pytest.raises(RecordingError):
            Recording(path)
        seal.path_of(path).unlink()
        with pytest.raises(RecordingError):
            Recording(path)
    for at in range(len(line)):  # the recording is whole, its seal is not
        put(path, data, flipped(line, at, 1))
        assert seal.sealed(path) is None
        assert Recording(path).frame_count == FRAMES


def test_shortened_files_are_found_with_a_seal(path, written):
    data, line = written
    for length in (0, 3, 4, 5, 9, 10, len(data) // 2, len(data) - 4, len(data) - 1):
        put(path, data[:length], line)
        with pytest.raises(RecordingError):
            Recording(path)
        put(path, data[:length], right(data[:length]))  # a seal no writer gives: still no recording
        with pytest.raises(RecordingError):
            Recording(path)


def test_a_seal_by_another_name_is_none(path, written):
    """What ``sha256sum`` would say vouches for nothing: impossible pixels are looked for."""
    raw = bytearray(zstandard.ZstdDecompressor().decompressobj().decompress(written[0]))
    struct.pack_into("<H", raw, 12 + 3 * 72 + 16, 512)  # the first pixel
    data = zstandard.ZstdCompressor(write_checksum=True).compress(bytes(raw))
    for digest in (hashlib.sha256(data), hashlib.sha256(b"another writer" + data)):
        put(path, data, digest.hexdigest().encode() + b"\n")
        with pytest.raises(RecordingError, match="pixels above 511"):
            Recording(path)


def test_unknown_frames_are_read_without_their_seal(path, written):
    data = written[0]
    unpacked = zstandard.ZstdDecompressor().decompressobj().decompress(data)
    bare = zstandard.ZstdCompressor(write_checksum=False).compress(unpacked)
    skippable = struct.pack("<II", 0x184D2A50, 3) + b"abc"
    for other in (bare, skippable + data, flipped(data, 4, 8), b"", data[:4]):
        put(path, other, right(other))
        assert seal.sealed(path) is None
    put(path, bare, right(bare))  # a valid file of another writer
    assert Recording(path).frame_count == FRAMES


def test_two_frames_are_no_recording_with_or_without_a_seal(path, written):
    unpacked = zstandard.ZstdDecompressor().decompressobj().decompress(written[0])
    packer = zstandard.ZstdCompressor(write_checksum=True)
    data = packer.compress(unpacked[:300_000]) + packer.compress(unpacked[300_000:])
    for line in (right(data), b""):
        put(path, data, line)
        with pytest.raises(RecordingError):
            Recording(path)


def test_large_files_are_not_taken_into_memory(path, written, monkeypatch):
    put(path, *written)
    assert seal.sealed(path) is not None
    monkeypatch.setattr(seal, "LARGEST", len(written[0]) - 1)
    assert seal.sealed(path) is None
    assert Recording(path).frame_count == FRAMES


def test_a_recording_that_changes_under_its_reader(path, written):
    """What was sealed when reading began is what is read."""
    put(path, *written)
    pictures = Recording(path, lazily=True).frames()
    first = next(pictures)
    path.write_bytes(b"something else")
    assert [p.tobytes() for p in (first, *pictures)] == [picture.tobytes() for picture, _ in frames()]
