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

from itertools import pairwise

import numpy as np
from numba import njit
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
_FLOOR = 0.15
_C1 = (0.01 * 255.0) ** 2
_C2 = (0.03 * 255.0) ** 2


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


@njit(cache=True, error_model="numpy", nogil=True)
def _compare(luma, identity, ref, cand):
    """(d, differing pixels, mean absolute luma error, flat pixels of ref, of cand) of two flat uint16 pictures.

    The 32 blocks of a strip are summed side by side (lane b = block b), pixel by pixel in raster order
    inside each block: the additions of one block keep their order and the machine still has 32 at once.
    """
    luma_r = np.empty((8, 32), np.float64)  # one raster line, [x within block, block]
    luma_c = np.empty((8, 32), np.float64)
    sums = np.empty((5, 32), np.float64)
    error = np.zeros(32, np.float64)
    total = 0.0
    differing = 0
    flat_r = 0
    flat_c = 0
    first_r = identity[np.int64(ref[0]) & 511]
    first_c = identity[np.int64(cand[0]) & 511]
    for strip in range(30):
        sums[:] = 0.0
        for y in range(8):
            line = (strip * 8 + y) * 256
            for block in range(32):
                for x in range(8):
                    r = np.int64(ref[line + block * 8 + x]) & 511
                    c = np.int64(cand[line + block * 8 + x]) & 511
                    luma_r[x, block] = luma[r]
                    luma_c[x, block] = luma[c]
                    id_r = identity[r]
                    id_c = identity[c]
                    differing += id_r != id_c
                    flat_r += id_r == first_r
                    flat_c += id_c == first_c
            for x in range(8):
                for block in range(32):
                    r = luma_r[x, block]
                    c = luma_c[x, block]
                    sums[0, block] += r
                    sums[1, block] += c
                    sums[2, block] += r * r
                    sums[3, block] += c * c
                    sums[4, block] += r * c
                    error[block] += abs(r - c)
        for block in range(32):
            mean_r = sums[0, block] / 64.0
            mean_c = sums[1, block] / 64.0
            var_r = max(sums[2, block] / 64.0 - mean_r * mean_r, 0.0)
            var_c = max(sums[3, block] / 64.0 - mean_c * mean_c, 0.0)
            cov = sums[4, block] / 64.0 - mean_r * mean_c
            light = (2.0 * mean_r * mean_c + _C1) / (mean_r * mean_r + mean_c * mean_c + _C1)
            shape = (2.0 * cov + _C2) / (var_r + var_c + _C2)
            defect = 1.0 - min(max(light * shape, 0.0), 1.0)
            if defect >= _FLOOR:
                total += defect
    mae = 0.0
    for block in range(32):
        mae += error[block]
    return np.float32(total / 960.0), differing, np.float32(mae / 61440.0), flat_r, flat_c


@njit(cache=True, error_model="numpy", nogil=True)
def _same_words(a, b):
    """Are two arrays of uint64 equal? Blocks without a branch inside, so that they become wide instructions."""
    for block in range(0, a.shape[0], 64):
        different = np.uint64(0)
        for i in range(block, block + 64):
            different |= a[i] ^ b[i]
        if different != 0:
            return False
    return True


@njit(cache=True, error_model="numpy", nogil=True)
def _differ(identity, before, now):
    for i in range(61440):
        if before[i] != now[i] and identity[np.int64(before[i]) & 511] != identity[np.int64(now[i]) & 511]:
            return True
    return False


def same(a: NDArray[np.uint16], b: NDArray[np.uint16]) -> bool:
    """Are two pictures (61 440 contiguous uint16) the same bytes? A few microseconds."""
    return bool(_same_words(a.reshape(-1).view(np.uint64), b.reshape(-1).view(np.uint64)))


def compare(palette: Palette, ref: NDArray[np.uint16], cand: NDArray[np.uint16]) -> tuple[float, int, float]:
    """``(d, differing pixels, mean absolute luma error)`` of one frame, blank gate included.

    Pictures are C-contiguous uint16, 61 440 values; bits above the ninth are ignored.
    """
    ref, cand = ref.reshape(-1), cand.reshape(-1)
    if same(ref, cand):  # the usual case for a good candidate
        return 0.0, 0, 0.0
    d, differing, error, flat_r, flat_c = _compare(palette.luma, palette.identity, ref, cand)
    if differing == 0:  # other indices, the same colours: every block is compared with itself
        d = 0.0
    if flat_c / PIXELS >= FLAT and not flat_r / PIXELS >= FLAT:
        d = 1.0
    return float(d), differing, float(error)


def change(palette: Palette, before: NDArray[np.uint16], now: NDArray[np.uint16]) -> float | None:
    """d of two consecutive reference frames (no blank gate); None when no pixel's colour changed."""
    before, now = before.reshape(-1), now.reshape(-1)
    if same(before, now):
        return None
    d, differing, _, _, _ = _compare(palette.luma, palette.identity, before, now)
    return float(d) if differing else None


def differ(palette: Palette, before: NDArray[np.uint16], now: NDArray[np.uint16]) -> bool:
    """Does any pixel's colour differ?"""
    before, now = before.reshape(-1), now.reshape(-1)
    return not same(before, now) and bool(_differ(palette.identity, before, now))


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


def collapsed(defects: NDArray[np.float32] | list[float], starts_run: list[bool], tau: float) -> float:
    """Run-collapsed score (diagnostic): runs of unchanged reference frames averaged first, then the runs."""
    values = scores(defects, tau)
    if not values.size:
        return 1.0
    edges = [i for i, new in enumerate(starts_run) if new or i == 0] + [values.size]
    means = [_ordered_mean(values[a:b]) for a, b in pairwise(edges)]
    return _ordered_mean(np.array(means))


def _ordered_mean(values: NDArray[np.float64]) -> float:
    # Left to right (not NumPy's pairwise sum), so that other implementations can match the last bit.
    return float(sum(values.tolist()) / len(values))
