"""Writing a video with sound through PyAV (extra ``video``)."""

from __future__ import annotations

import os
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np

from .files import naming

# 39375000 / 655171 Hz: the NTSC dot clock over the mean dots of a frame.
# https://www.nesdev.org/wiki/Cycle_reference_chart
FRAME_RATE = Fraction(39_375_000, 655_171)
SCALE = 2
OPTIONS = {"crf": "12", "preset": "veryfast"}
RATE = 44_100


class VideoWriter:
    """An H.264 + AAC file of NES frames; appears under its name only when ``close`` has finished.

    Every method raises ``OSError`` when the file cannot be written; then call ``abandon``.
    """

    def __init__(self, path: Path):
        try:
            import av
        except ImportError:
            raise OSError('video needs PyAV: pip install "pynes-ref[video]"') from None
        self._av = av
        self._time = 0
        self._path = Path(path)
        target = Path(os.path.realpath(path))  # a symbolic link stays a link
        self._part = target.with_name(f".{target.name}.{os.getpid()}.part{target.suffix}")
        self._target = target
        self._file = None
        try:
            self._file = av.open(str(self._part), "w")
            self._picture = self._file.add_stream("libx264", rate=FRAME_RATE, options=OPTIONS)
            self._picture.width, self._picture.height = 256 * SCALE, 240 * SCALE
            self._picture.pix_fmt = "yuv420p"
            self._sound = self._file.add_stream("aac", rate=RATE, layout="mono")
            self._file.start_encoding()
        except (ValueError, OSError, av.FFmpegError) as error:
            self.abandon()
            raise OSError(f"cannot write {path} as a video ({error}); use a name that ends in .mp4 or .mkv") from None

    def _naming(self):
        return naming(self._path, ValueError, self._av.FFmpegError)

    def add(self, rgb, samples) -> None:
        """Append a frame, ``uint8[240, 256, 3]``, and its sound, ``int16[n]``."""
        big = np.repeat(np.repeat(rgb, SCALE, axis=0), SCALE, axis=1)
        with self._naming():
            self._file.mux(self._picture.encode(self._av.VideoFrame.from_ndarray(big, format="rgb24")))
            if len(samples):
                sound = self._av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
                sound.sample_rate = RATE
                sound.pts = self._time
                self._time += len(samples)
                self._file.mux(self._sound.encode(sound))

    def close(self) -> None:
        """Finish the file and give it its name."""
        with self._naming():
            self._file.mux(self._picture.encode())
            self._file.mux(self._sound.encode())
            self._file.close()
            self._file = None
            os.replace(self._part, self._target)

    def abandon(self) -> None:
        """Leave nothing behind, unless it is finished."""
        if self._file is not None:
            with suppress(ValueError, OSError, self._av.FFmpegError):
                self._file.close()
        self._part.unlink(missing_ok=True)
