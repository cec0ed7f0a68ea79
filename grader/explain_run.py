"""Two emulators side by side until they part: where, in the picture and in the sound.

Unlike grading this needs no recording: both run now, frame by frame, with the same buttons. "Differs" is bit-exact
here; ``diverges`` is the grader's rule (more than 8 pixels of another colour).
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from abi.candidate import PIXEL_MASK, PIXELS, Candidate, CandidateError, EmulatorError, drain
from abi.loader import Case, Emulator
from abi.recorded import read_header
from grader.lockstep import Pair, prepare
from grader.metrics import video as video_metric
from grader.pictures import palette

BEFORE, AFTER = 4, 32
"""Frames whose pictures are kept before and from the first that differs."""

Picture = NDArray[np.uint16]
Sound = NDArray[np.int16]


@dataclass(frozen=True)
class Job:
    """What both are to play."""

    name: str
    rom: bytes
    keys: bytes
    rom_sha256: str
    replay_sha256: str
    boot_frames: int = 0

    @property
    def case(self) -> Case:
        return Case(self.name, self.rom_sha256, self.replay_sha256)


def recorded_frames(emulator: Emulator, job: Job) -> int | None:
    """How many frames a recording has of this; None for an emulator that can run. EmulatorError if it is of another."""
    if not emulator.recorded:
        return None
    path = emulator.recording_path(job.case)
    header = read_header(path)
    if header.rom_sha256 != job.rom_sha256:
        raise EmulatorError(f"{path} is a recording of another ROM than {job.name}'s")
    if header.replay_sha256 != job.replay_sha256:
        raise EmulatorError(f"{path} was recorded with other input than this: its replay's SHA-256 differs")
    return header.frame_count


class Side:
    """One emulator at work: frames that never raise; after a trap the picture before stays."""

    def __init__(self, emulator: Emulator, job: Job) -> None:
        self.emulator = emulator
        self.candidate: Candidate = emulator.open(job.case)
        try:
            prepare(self.candidate, job.rom, job.boot_frames)
        except CandidateError as error:
            self.close()
            raise EmulatorError(f"{emulator.name}: {error}") from None
        self.rate = self.candidate.emu_audio_rate()
        self.picture: Picture = np.zeros(PIXELS, np.uint16)
        self.notes: list[str] = []
        self._calls = 0
        self._dead = False

    def frame(self, keys: int) -> tuple[Picture, Sound]:
        """Run one frame; its picture and sound, ours to keep."""
        sound = np.zeros(0, np.int16)
        try:
            if not self._dead:
                self.candidate.emu_set_keys(keys)
                self.candidate.emu_run_frame()
                picture = self.candidate.emu_framebuffer().reshape(-1)
                if picture.size != PIXELS:
                    raise CandidateError(f"the framebuffer has {picture.size} pixels, not {PIXELS}")
                self.picture = picture & PIXEL_MASK
                sound = drain(self.candidate)
        except CandidateError as error:
            self._dead = error.dead
            if len(self.notes) < 3:
                self.notes.append(f"frame {self._calls}: {error}")
        self._calls += 1
        return self.picture, sound

    def close(self) -> None:
        close = getattr(self.candidate, "close", None)
        if close is not None:
            close()


@dataclass
class Parting:
    """Where two runs part. Frame numbers are call numbers, from 0; None = never."""

    frames: int = 0
    """Frames compared."""
    first_frame: int | None = None
    first_pixels: int = 0
    first_diverging: int | None = None
    differing_frames: int = 0
    diverging_frames: int = 0
    first_counts: int | None = None
    """The first call with another number of samples."""
    first_sample: int | None = None
    """The first sample that differs, in the whole stream; the call it comes in, by the reference's counts."""
    sample_call: int | None = None
    far_sample: int | None = None
    """The first sample off by more than 1."""
    differing_samples: int = 0
    largest: int = 0
    pairs: dict[int, Pair] = field(default_factory=dict)
    """(reference, candidate) pictures around the first difference."""
    checksums: tuple[NDArray[np.uint32], NDArray[np.uint32]] = (np.zeros(0, np.uint32),) * 2
    counts: tuple[NDArray[np.int64], NDArray[np.int64]] = (np.zeros(0, np.int64),) * 2
    sound: tuple[Sound, Sound] = (np.zeros(0, np.int16),) * 2
    rates: tuple[int, int] = (44_100, 44_100)
    notes: tuple[list[str], list[str]] = ((), ())  # type: ignore[assignment]
    last_pair: Pair | None = None

    @property
    def equal(self) -> bool:
        """Every picture, every sample and every number of samples."""
        return self.first_frame is None and self.first_sample is None and self.first_counts is None

    @property
    def only_rounding(self) -> bool:
        return self.first_sample is not None and self.far_sample is None


def checksum(picture: Picture) -> int:
    return zlib.crc32(np.ascontiguousarray(picture, "<u2").tobytes())


def part(
    job: Job,
    reference: Side,
    candidate: Side,
    begin: int = 0,
    after: int = 120,
    progress: Callable[[int], None] | None = None,
) -> Parting:
    """Run both over ``job.keys``. Differences before frame ``begin`` do not count.

    Stops ``after`` frames past the last of the firsts once picture and sound both differ; else runs to the end.
    """
    found = Parting(rates=(reference.rate, candidate.rate), notes=(reference.notes, candidate.notes))
    tables = palette()
    recent: deque[tuple[int, Pair]] = deque(maxlen=BEFORE)
    sums: tuple[list[int], list[int]] = ([], [])
    counts: tuple[list[int], list[int]] = ([], [])
    sounds: tuple[list[Sound], list[Sound]] = ([], [])
    skipped = _Sound(begin)
    for frame, held in enumerate(job.keys):
        ref, ref_sound = reference.frame(held)
        cand, cand_sound = candidate.frame(held)
        for side, (picture, sound) in enumerate(((ref, ref_sound), (cand, cand_sound))):
            counts[side].append(sound.size)
            sounds[side].append(sound)
            same = side == 1 and np.array_equal(ref, cand)
            sums[side].append(sums[0][-1] if same else checksum(picture))
        skipped.take(frame, ref_sound, cand_sound)
        found.last_pair = (ref, cand)
        if frame < begin or sums[0][-1] == sums[1][-1]:
            if found.first_frame is None:
                recent.append((frame, (ref, cand)))
        else:
            _picture_differs(found, frame, ref, cand, recent, tables)
        if found.first_frame is not None and frame < found.first_frame + AFTER:
            found.pairs[frame] = (ref, cand)
        found.frames = frame + 1
        if progress is not None and frame % 16 == 15:
            progress(found.frames)
        if found.first_diverging is not None and skipped.differed is not None:
            if frame >= max(found.first_diverging, skipped.differed) + after:
                break
    found.checksums = (np.array(sums[0], np.uint32), np.array(sums[1], np.uint32))
    found.counts = (np.array(counts[0], np.int64), np.array(counts[1], np.int64))
    found.sound = tuple(np.concatenate(s) if s else np.zeros(0, np.int16) for s in sounds)  # type: ignore[assignment]
    _hear(found, begin)
    return found


def _picture_differs(found: Parting, frame: int, ref: Picture, cand: Picture, recent, tables) -> None:
    found.differing_frames += 1
    if found.first_frame is None:
        found.first_frame = frame
        found.first_pixels = int((ref != cand).sum())
        found.pairs = dict(recent)
    _, colours, _ = video_metric.compare(tables, ref, cand)
    if colours > video_metric.NOISE_PIXELS:
        found.diverging_frames += 1
        if found.first_diverging is None:
            found.first_diverging = frame


class _Sound:
    """Notices during the run that the streams have parted (by more than rounding)."""

    def __init__(self, begin: int) -> None:
        self.differed: int | None = None
        self._begin = begin
        self._left: tuple[Sound, Sound] = (np.zeros(0, np.int16), np.zeros(0, np.int16))

    def take(self, frame: int, ref: Sound, cand: Sound) -> None:
        if self.differed is not None:
            return
        ref, cand = np.concatenate((self._left[0], ref)), np.concatenate((self._left[1], cand))
        size = min(ref.size, cand.size)
        if frame >= self._begin and (np.abs(ref[:size].astype(np.int32) - cand[:size]) > 1).any():
            self.differed = frame
        self._left = (ref[size:], cand[size:])


def _hear(found: Parting, begin: int) -> None:
    """First differences of the sound, by the concatenated streams."""
    ref, cand = found.sound
    unequal_counts = np.flatnonzero(found.counts[0] != found.counts[1])
    unequal_counts = unequal_counts[unequal_counts >= begin]
    if unequal_counts.size:
        found.first_counts = int(unequal_counts[0])
    size = min(ref.size, cand.size)
    off = np.abs(ref[:size].astype(np.int32) - cand[:size])
    off[: int(found.counts[0][:begin].sum())] = 0
    unequal = np.flatnonzero(off)
    ends = np.cumsum(found.counts[0])
    if unequal.size:
        found.first_sample = int(unequal[0])
        found.differing_samples = int(unequal.size)
        found.largest = int(off.max())
        far = np.flatnonzero(off > 1)
        found.far_sample = int(far[0]) if far.size else None
    elif abs(ref.size - cand.size) > 2:
        found.first_sample = found.far_sample = size
        found.differing_samples = abs(ref.size - cand.size)
        found.largest = int(np.abs((ref if ref.size > cand.size else cand)[size:].astype(np.int32)).max())
    if found.first_sample is not None:
        found.sample_call = int(min(np.searchsorted(ends, found.first_sample, side="right"), found.frames - 1))
