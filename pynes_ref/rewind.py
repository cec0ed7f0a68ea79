"""Going back in time: a bounded memory of the console's recent states.

The newest state is kept whole; of every older one only the zstd-compressed XOR
with its successor. Going back undoes one XOR, forgetting the oldest drops one,
and no key frames are needed. Games change 1 to 4 KB of the record in a frame
(measured on the recordings), so ``MAX_BYTES`` holds several minutes.

A game that changes so much that ``MIN_FRAMES`` do not fit loses smoothness
instead of reach: pairs of old steps are merged into one step of twice the
length, up to ``MAX_STEP`` frames.
"""

from typing import NamedTuple

import numpy as np
import zstandard

MIN_FRAMES = 3607
"""60 s at 60.0988 Hz: reached even when 60 KB of noise change in every frame."""

MAX_FRAMES = 10 * MIN_FRAMES
MAX_BYTES = 64 * 1024 * 1024
"""Limit of the compressed steps. With list and objects, and two whole states, a ring stays under 72 MiB."""

MAX_STEP = 32


class _Step(NamedTuple):
    delta: bytes
    frames: int


class Rewind:
    """The last states of one console, newest first out."""

    def __init__(self, min_frames: int = MIN_FRAMES, max_frames: int = MAX_FRAMES, max_bytes: int = MAX_BYTES):
        self._limits = min_frames, max_frames, max_bytes
        self._pack = zstandard.ZstdCompressor(level=1, write_checksum=False)
        self._unpack = zstandard.ZstdDecompressor()
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._now = None
        self._steps: list[_Step] = []
        self._merge_at = 0
        self.frames = 0
        """How many frames one can go back."""
        self.nbytes = 0
        """Bytes of the compressed steps."""

    def __len__(self) -> int:
        return len(self._steps)

    def push(self, state: np.ndarray, frames: int = 1) -> None:
        """Remember ``state`` (``uint8[n]``, kept, so hand over a copy), ``frames`` frames after the one before."""
        if self._now is not None:
            np.bitwise_xor(self._now, state, out=self._now)
            self._append(_Step(self._pack.compress(self._now), frames))
        self._now = state
        self._shrink()

    def pop(self) -> tuple[np.ndarray, int] | None:
        """Go one step back: the state there (valid until the next call) and how many frames that was.

        None when the memory reaches no further.
        """
        if not self._steps:
            return None
        step = self._steps.pop()
        self.frames -= step.frames
        self.nbytes -= len(step.delta)
        np.bitwise_xor(self._now, self._xor(step), out=self._now)
        return self._now, step.frames

    def _append(self, step):
        self._steps.append(step)
        self.frames += step.frames
        self.nbytes += len(step.delta)

    def _xor(self, step):
        return np.frombuffer(self._unpack.decompress(step.delta), dtype=np.uint8)

    def _shrink(self):
        min_frames, max_frames, max_bytes = self._limits
        while self._steps and (self.nbytes > max_bytes or self.frames > max_frames):
            spare = self.frames - self._steps[0].frames >= min_frames
            if spare or not self._merge():
                self._forget_oldest()

    def _forget_oldest(self):
        step = self._steps.pop(0)
        self.frames -= step.frames
        self.nbytes -= len(step.delta)
        self._merge_at = max(0, self._merge_at - 1)

    def _merge(self):
        """Make one step of the next two neighbours in the older half; False when all are long already."""
        half = len(self._steps) // 2
        for _ in range(half):
            if self._merge_at + 1 >= half:
                self._merge_at = 0
            at = self._merge_at
            old, new = self._steps[at], self._steps[at + 1]
            self._merge_at += 1
            if old.frames + new.frames <= MAX_STEP:
                both = self._pack.compress(self._xor(old) ^ self._xor(new))
                self.nbytes += len(both) - len(old.delta) - len(new.delta)
                self._steps[at : at + 2] = [_Step(both, old.frames + new.frames)]
                return True
        return False
