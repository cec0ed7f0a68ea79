"""``--emit-video``: reference, candidate and difference as MP4, beside the testcase's other files (needs PyAV).

H.264 (4:4:4, high quality) with AAC sound; one thread, so that the bytes do not depend on the number of cores.
"""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.metrics.video import HEIGHT, WIDTH
from grader.pictures import difference, palette

RATE = Fraction(39_375_000, 655_171)  # 60.0988 Hz
SCALE = 2


class Film:
    """Three films of one testcase, made frame by frame in a temporary folder."""

    def __init__(self, case_id: str, audio_rate: int) -> None:
        self._id = case_id
        self._rate = audio_rate
        self._problem = ""
        self._reels: dict[str, _Reel] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="grader-film-")
        try:
            for side in ("ref", "cand", "diff"):
                self._reels[side] = _Reel(Path(self._folder.name) / f"{case_id}.{side}.mp4", audio_rate, side != "diff")
        except ImportError:
            self._problem = "no films: --emit-video needs PyAV (pip install av)"
        except Exception as error:  # whatever an encoder library throws must not cost the score
            self._problem = f"no films: {error}"

    def frame(self, ref: NDArray[np.uint16], cand: NDArray[np.uint16]) -> None:
        """Add one frame to each film; after a first failure nothing more is tried."""
        if self._problem:
            return
        try:
            self._reels["ref"].picture(palette().picture(ref))
            self._reels["cand"].picture(palette().picture(cand))
            self._reels["diff"].picture(difference(ref, cand))
        except Exception as error:
            self._problem = f"no films: {error}"

    def finish(self, ref: NDArray[np.int16], cand: NDArray[np.int16]) -> tuple[dict[str, bytes], str]:
        """The films by file name, and what went wrong (then there are none)."""
        films: dict[str, bytes] = {}
        try:
            for side, reel in self._reels.items():
                reel.finish({"ref": ref, "cand": cand}.get(side))
                films[reel.path.name] = reel.path.read_bytes()
        except Exception as error:
            self._problem = self._problem or f"no films: {error}"
        self._folder.cleanup()
        return ({}, self._problem) if self._problem else (films, "")


class _Reel:
    def __init__(self, path: Path, audio_rate: int, sound: bool) -> None:
        import av

        self.path = path
        self._av = av
        self._rate = audio_rate
        self._file: Any = av.open(str(path), "w", options={"fflags": "+bitexact"})
        self._video: Any = self._file.add_stream("libx264", rate=RATE, options={"crf": "16", "preset": "veryfast"})
        self._video.width, self._video.height = WIDTH * SCALE, HEIGHT * SCALE
        self._video.pix_fmt = "yuv444p"
        self._video.thread_count = 1
        self._audio: Any = self._file.add_stream("aac", rate=audio_rate, layout="mono") if sound else None

    def picture(self, rgb: NDArray[np.uint8]) -> None:
        large = np.repeat(np.repeat(rgb, SCALE, axis=0), SCALE, axis=1)
        frame = self._av.VideoFrame.from_ndarray(np.ascontiguousarray(large), format="rgb24")
        self._file.mux(self._video.encode(frame))

    def finish(self, samples: NDArray[np.int16] | None) -> None:
        self._file.mux(self._video.encode())
        if self._audio is not None:
            if samples is not None and samples.size:
                for at in range(0, samples.size, 1024):
                    part = np.ascontiguousarray(samples[at : at + 1024], np.int16).reshape(1, -1)
                    frame = self._av.AudioFrame.from_ndarray(part, format="s16", layout="mono")
                    frame.sample_rate = self._rate
                    frame.pts = at
                    self._file.mux(self._audio.encode(frame))
            self._file.mux(self._audio.encode())
        self._file.close()
