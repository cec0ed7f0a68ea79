"""The lockstep run: a candidate plays a testcase beside the reference's recording, frame by frame.

For every frame: the same buttons, one frame, then picture and sound compared. A frame on which the candidate
traps keeps its previous picture and is scored like any other.

Besides the numbers of the metric this keeps a few pictures for the report: the first diverging frame with its
neighbours, and a bounded, evenly thinned sample of all diverging frames.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from abi.candidate import MAX_BOOT_FRAMES, PIXEL_MASK, PIXELS, Candidate, CandidateError, boot, drain, load, start
from abi.recorded import Recording
from grader.metrics import video as video_metric
from grader.pictures import palette

KEPT = 24
"""Pairs of diverging frames kept for the report: this many to twice as many."""
FIRST_KEPT = 4
"""Frames kept from the first diverging one on, and one before it."""

TIMED = 60
"""Diverging frames looked at for being early or late: later ones have often gone another way because of it."""

Pair = tuple[NDArray[np.uint16], NDArray[np.uint16]]
VideoSink = Callable[[NDArray[np.uint16], NDArray[np.uint16]], None]


@dataclass
class Comparison:
    """What a lockstep run measured; arrays have one entry a frame."""

    defects: NDArray[np.float32]
    differing: NDArray[np.int64]
    luma_errors: NDArray[np.float32]
    starts_run: list[bool] | None
    """Does the reference's picture change here? (The first frame always begins a run.) None: no picture differs."""
    samples: NDArray[np.uint32]
    audio: NDArray[np.int16]
    last: Pair
    kept: dict[int, Pair] = field(default_factory=dict)
    traps: int = 0
    notes: list[str] = field(default_factory=list)
    early: int = 0
    """How many of the first ``TIMED`` diverging frames show the reference's next picture."""
    late: int = 0
    """How many of them show the picture before."""


class _Keeper:
    """The pictures worth showing, few enough to hold: thinned by halves as they come."""

    def __init__(self) -> None:
        self.first: dict[int, Pair] = {}
        self.sampled: dict[int, Pair] = {}
        self.begun: int | None = None
        self._stride = 1
        self._count = 0
        self._before: tuple[int, NDArray[np.uint16]] | None = None

    def same(self, frame: int, picture: NDArray[np.uint16]) -> None:
        self._before = (frame, picture)

    def diverged(self, frame: int, ref: NDArray[np.uint16], cand: NDArray[np.uint16]) -> None:
        if self.begun is None:
            self.begun = frame
            if self._before is not None:
                at, picture = self._before
                self.first[at] = (picture.copy(), picture.copy())
        if frame < self.begun + FIRST_KEPT:
            self.first[frame] = (ref.copy(), cand.copy())
        if self._count % self._stride == 0:
            self.sampled[frame] = (ref.copy(), cand.copy())
            if len(self.sampled) > 2 * KEPT:
                self.sampled = dict(list(self.sampled.items())[::2])
                self._stride *= 2
        self._count += 1

    def pairs(self) -> dict[int, Pair]:
        return dict(sorted({**self.first, **self.sampled}.items()))


def prepare(candidate: Candidate, rom: bytes, extra_boot_frames: int = 0) -> None:
    """Set up, load and burn the boot frames. CandidateError when the candidate cannot do this ROM."""
    start(candidate)
    load(candidate, rom)
    own = candidate.emu_boot_frames()
    if not 0 <= own <= MAX_BOOT_FRAMES:
        raise CandidateError(f"emu_boot_frames answers {own}; at most {MAX_BOOT_FRAMES} are run")
    boot(candidate, own + extra_boot_frames)


def lockstep(
    recording: Recording,
    candidate: Candidate,
    keys: bytes,
    *,
    progress: Callable[[int], None] | None = None,
    video: VideoSink | None = None,
) -> Comparison:
    """Play ``keys`` (one byte a frame) against a recording. The candidate is loaded and has burnt its boot frames."""
    count = len(keys)
    run = _Run(candidate)
    tables = palette()
    keeper = _Keeper()
    defects = np.zeros(count, np.float32)
    luma_errors = np.zeros(count, np.float32)
    differing = np.zeros(count, np.int64)
    starts_run: list[bool] | None = None
    before: NDArray[np.uint16] | None = None
    ref = np.zeros(PIXELS, np.uint16)
    frame = -1
    diverging = early = late = 0
    ahead: NDArray[np.uint16] | None = None  # the candidate's picture of the frame before, if that is timed
    # The pictures first, so that the recording is read to its very end, where its sound and thresholds stand.
    for frame, (ref, held) in enumerate(zip(recording.frames(), keys)):
        cand = run.frame(held, ref)
        pixels = 0
        if cand is not ref:  # a picture that is the same is the same object
            defects[frame], pixels, luma_errors[frame] = video_metric.compare(tables, ref, cand)
            differing[frame] = pixels
            if starts_run is None and defects[frame]:
                starts_run = _starts_run(recording, frame)
        if starts_run is not None:
            starts_run.append(before is None or video_metric.differ(tables, before, ref))
        if ahead is not None:
            early += video_metric.same(ahead, ref)
            ahead = None
        if pixels > video_metric.NOISE_PIXELS:
            keeper.diverged(frame, ref, cand)
            diverging += 1
            if diverging <= TIMED:
                late += before is not None and video_metric.same(cand, before)
                ahead = cand
        elif keeper.begun is None:
            keeper.same(frame, ref)
        before = ref
        if video is not None:
            video(ref, cand)
        if progress is not None and frame % 32 == 31:
            progress(frame + 1)
    if frame + 1 != count:
        raise ValueError(f"{recording.path} has {frame + 1} frames, not {count}")
    return Comparison(
        defects,
        differing,
        luma_errors,
        starts_run,
        np.array(run.counts, np.uint32),
        np.concatenate(run.sound) if run.sound else np.zeros(0, np.int16),
        (ref.copy(), run.picture.copy()),
        keeper.pairs(),
        run.traps,
        run.notes + list(getattr(candidate, "notes", [])),
        early,
        late,
    )


def _starts_run(recording: Recording, count: int) -> list[bool]:
    """Where the first ``count`` pictures change: read again, because as long as nothing differs nobody asks."""
    tables = palette()
    result = []
    before: NDArray[np.uint16] | None = None
    for _, now in zip(range(count), recording.frames(), strict=False):
        result.append(before is None or video_metric.differ(tables, before, now))
        before = now
    return result


_NO_SAMPLES = np.zeros(0, np.int16)


class _Run:
    """The candidate's side: calls that never raise, and the last good picture."""

    def __init__(self, candidate: Candidate) -> None:
        self.candidate = candidate
        self.picture: NDArray[np.uint16] = np.zeros(PIXELS, np.uint16)
        self.counts: list[int] = []
        self.sound: list[NDArray[np.int16]] = []
        self.traps = 0
        self.notes: list[str] = []
        self._dead = False

    def frame(self, keys: int, expected: NDArray[np.uint16]) -> NDArray[np.uint16]:
        """Run one frame; its picture (the previous one after a trap): 61 440 values that nobody writes to again.

        ``expected`` saves a copy: a picture that is the same is represented by it.
        """
        samples = _NO_SAMPLES
        if self._dead:
            self.traps += 1
        else:
            try:
                self.candidate.emu_set_keys(keys)
            except CandidateError as error:
                self._note(error)
            if not self._dead:
                try:
                    self._run(expected)
                except CandidateError as error:
                    self._note(error)
            if not self._dead:
                try:
                    samples = drain(self.candidate)
                except CandidateError as error:
                    self._note(error)
        self.counts.append(samples.size)
        self.sound.append(samples)
        return self.picture

    def _run(self, expected: NDArray[np.uint16]) -> None:
        try:
            self.candidate.emu_run_frame()
            picture = self.candidate.emu_framebuffer().reshape(-1)
        except CandidateError:
            self.traps += 1
            raise
        if picture.size != PIXELS:
            raise CandidateError(f"the framebuffer has {picture.size} pixels, not {PIXELS}")
        picture = np.ascontiguousarray(picture, np.uint16)
        # Never the view itself: it may be overwritten by the very call that then traps.
        self.picture = expected if video_metric.same(expected, picture) else picture & PIXEL_MASK

    def _note(self, error: CandidateError) -> None:
        self._dead = self._dead or error.dead
        where = f"frame {len(self.counts)}: {error}"
        if len(self.notes) < 5 and not any(note.endswith(str(error)) for note in self.notes):
            self.notes.append(where)
