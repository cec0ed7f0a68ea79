"""Video metric: block SSIM on luma, thresholds and frame scores.

A picture is 240x256 palette indices, ``(emphasis << 6) | colour``. Both pictures
go through one fixed table, so only what the console computed can differ.

* luma      Y = 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601), float32, 0..255
* block     8x8 pixels, not overlapping: 32 x 30 = 960 of them, on tile borders
* SSIM      (2 mr mc + C1)/(mr^2 + mc^2 + C1) * (2 cov + C2)/(vr + vc + C2), clamped to 0..1,
            C1 = (0.01*255)^2, C2 = (0.03*255)^2 (Wang, Bovik, Sheikh, Simoncelli 2004)
* defect    1 - SSIM, 0 when under 0.15 (invisible); d = mean over the blocks, 0..1
* blank     candidate one flat colour while the reference is not: d = 1
* tau       how much the reference itself changes from frame to frame (``threshold``)
* score     1 / (1 + (d/tau)^4)

Luma is float32; sums and scores are float64 in a fixed order, so that every machine gives the same bits
(float32 sums would lose up to 1e-3 of d in bright flat blocks, whose variance is a difference of squares).
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 256, 240
PIXELS = WIDTH * HEIGHT
COLOURS = 512

TAU_MIN, TAU_MAX = 0.005, 0.35
TAU_QUANTILE = 0.90
ENDSTATE_TAU = 1e-4
"""Threshold of the last picture of a self-checking ROM: as good as exact."""
FLAT = 0.999
"""A picture is flat when this part of its pixels has the colour of the first."""
NOISE_PIXELS = 8
"""A frame diverges when more pixels than this differ (diagnostics only)."""

_F = np.float32


@cache
def _kernels() -> ModuleType:
    from grader.metrics import kernels

    return kernels


class Palette:
    """Tables indexed by the 9-bit pixel value, made from the ``.pal`` file's bytes."""

    def __init__(self, pal: bytes) -> None:
        if len(pal) != COLOURS * 3:
            raise ValueError(f"a palette is {COLOURS * 3} bytes, not {len(pal)}")
        self.rgb: NDArray[np.uint8] = np.frombuffer(pal, np.uint8).reshape(COLOURS, 3)
        red, green, blue = (self.rgb[:, i].astype(np.float32) for i in range(3))
        self.luma: NDArray[np.float32] = _F(0.299) * red + _F(0.587) * green + _F(0.114) * blue
        # Indices that show the same colour (all the blacks) share one identity.
        packed = (self.rgb.astype(np.int64) * (65536, 256, 1)).sum(axis=1)
        self.identity: NDArray[np.int32] = packed.astype(np.int32)

    def picture(self, frame: NDArray[np.uint16]) -> NDArray[np.uint8]:
        """RGB, uint8[240, 256, 3]."""
        return self.rgb[np.asarray(frame).reshape(HEIGHT, WIDTH) & (COLOURS - 1)]


def same(a: NDArray[np.uint16], b: NDArray[np.uint16]) -> bool:
    """Are two pictures (61 440 contiguous uint16) the same bytes?

    Eight at a time, 5 microseconds; 2 where one of them is all of a ``bytes`` object, as those of recordings are.
    """
    if type(b.base) is bytes:
        a, b = b, a
    data = a.base
    if type(data) is bytes and len(data) == a.nbytes == b.nbytes:
        return data.startswith(b)  # the one comparison of bytes with any buffer that does not copy it
    return bool((a.reshape(-1).view(np.uint64) == b.reshape(-1).view(np.uint64)).all())


def compare(palette: Palette, ref: NDArray[np.uint16], cand: NDArray[np.uint16]) -> tuple[float, int, float]:
    """``(d, differing pixels, mean absolute luma error)`` of one frame, blank gate included.

    Pictures are C-contiguous uint16, 61 440 values; bits above the ninth are ignored.
    """
    if same(ref, cand):  # the usual case for a good candidate
        return 0.0, 0, 0.0
    ref, cand = ref.reshape(-1), cand.reshape(-1)
    d, differing, error, flat_r, flat_c = _kernels().compare(palette.luma, palette.identity, ref, cand)
    if differing == 0:  # other indices, the same colours: every block is compared with itself
        d = 0.0
    if flat_c / PIXELS >= FLAT and not flat_r / PIXELS >= FLAT:
        d = 1.0
    return float(d), differing, float(error)


def change(palette: Palette, before: NDArray[np.uint16], now: NDArray[np.uint16]) -> float | None:
    """d of two consecutive reference frames (no blank gate); None when no pixel's colour changed."""
    if same(before, now):
        return None
    before, now = before.reshape(-1), now.reshape(-1)
    d, differing, _, _, _ = _kernels().compare(palette.luma, palette.identity, before, now)
    return float(d) if differing else None


def differ(palette: Palette, before: NDArray[np.uint16], now: NDArray[np.uint16]) -> bool:
    """Does any pixel's colour differ?"""
    return not same(before, now) and bool(_kernels().differ(palette.identity, before.reshape(-1), now.reshape(-1)))


def threshold(changes: NDArray[np.float32] | list[float]) -> float:
    """tau of a testcase from the d of every consecutive reference pair that moved.

    The element at ``int(0.90 * count)`` of the sorted values (the last at most), kept within
    [0.005, 0.35]; 0.005 when the reference never moves. float32, like the cache stores it.
    """
    ordered = np.sort(np.asarray(changes, np.float32))
    if not ordered.size:
        return float(_F(TAU_MIN))
    at = min(int(TAU_QUANTILE * ordered.size), ordered.size - 1)
    return float(min(max(ordered[at], _F(TAU_MIN)), _F(TAU_MAX)))


def scores(defects: NDArray[np.float32] | list[float], tau: float) -> NDArray[np.float64]:
    """Frame scores ``1 / (1 + (d/tau)^4)``; d and tau are taken as float32, as they are stored."""
    ratio = np.asarray(defects, np.float32).astype(np.float64) / max(float(_F(tau)), float(np.finfo(np.float32).tiny))
    square = ratio * ratio
    return 1.0 / (1.0 + square * square)


def frame_mean(defects: NDArray[np.float32] | list[float], tau: float) -> float:
    """Mean frame score over the whole run; 1 for an empty run."""
    values = scores(defects, tau)
    return _ordered_mean(values) if values.size else 1.0


def endstate(defects: NDArray[np.float32] | list[float]) -> float:
    """Score of the last frame alone; 1 for an empty run."""
    return float(scores(defects[-1:], ENDSTATE_TAU)[0]) if len(defects) else 1.0


def collapsed(defects: NDArray[np.float32] | list[float], starts_run: list[bool] | None, tau: float) -> float:
    """Run-collapsed score (diagnostic): runs of unchanged reference frames averaged first, then the runs.

    ``starts_run`` may be None when there is no defect: the runs then do not matter.
    """
    values = scores(defects, tau)
    if starts_run is None and np.any(np.asarray(defects)):
        raise ValueError("defects, but no runs")
    if not values.size or starts_run is None:
        return 1.0
    edges = [i for i, new in enumerate(starts_run) if new or i == 0] + [values.size]
    means = [_ordered_mean(values[a:b]) for a, b in pairwise(edges)]
    return _ordered_mean(np.array(means))


def _ordered_mean(values: NDArray[np.float64]) -> float:
    # Left to right (not NumPy's pairwise sum), so that other implementations can match the last bit.
    return float(sum(values.tolist()) / len(values))
