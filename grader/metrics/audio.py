"""Audio metric: distance of log-mel spectra, one analysis frame each 1/60 s.

* frame     1024 samples, hop rate/60 (735 at 44 100 Hz), the last partial frame dropped,
            symmetric Hann window 0.5 - 0.5 cos(2 pi i/1023)
* spectrum  |FFT|^2, then 40 triangular mel filters from 80 Hz to min(8000, rate/2); mel = 2595 log10(1 + f/700);
            edges as fractional bins (hz * 1024/rate); triangles not normalised; natural log of (energy + 1e-10)
* distance  L1 after subtracting each vector's own mean: shape, not loudness
* silent    RMS of the frame under 100;  null: under 2
* tau       0.90 quantile (linear) of the reference's own frame-to-frame distances, at least 25
* score     both silent: left out; exactly one null: 0; else 1 / (1 + (d/tau)^4)

All float64, every sum in a fixed order.
"""

from __future__ import annotations

from functools import cache, lru_cache
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

WINDOW = 1024
BANDS = 40
LOW_HZ, HIGH_HZ = 80.0, 8000.0
SILENT_RMS, NULL_RMS = 100.0, 2.0
EPSILON = 1e-10
TAU_QUANTILE = 0.90
TAU_MIN = 25.0
_BATCH = 512  # analysis frames at a time: 4 MB


class Spectrogram(NamedTuple):
    """Log-mel vectors float64[n, 40] and the two loudness flags bool[n] of every analysis frame."""

    logmel: NDArray[np.float64]
    silent: NDArray[np.bool_]
    null: NDArray[np.bool_]


class Score(NamedTuple):
    """Mean over the counted frames, and every frame's score (NaN where both were silent).

    ``ref`` and ``cand`` are the spectrograms where they had to be made: not when both tracks are the same.
    """

    mean: float
    frames: NDArray[np.float64]
    ref: Spectrogram | None = None
    cand: Spectrogram | None = None


class _Analysis(NamedTuple):
    window: NDArray[np.float64]
    start: NDArray[np.int64]  # first spectral bin of each filter
    stop: NDArray[np.int64]
    weight: NDArray[np.float64]  # [40, 513]


def hop(rate: int) -> int:
    """Samples from one analysis frame to the next."""
    return max(rate // 60, 1)


@lru_cache(maxsize=8)
def _analysis(rate: int) -> _Analysis:
    window = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(WINDOW) / (WINDOW - 1.0))
    low, high = (2595.0 * np.log10(1.0 + hz / 700.0) for hz in (LOW_HZ, min(rate / 2.0, HIGH_HZ)))
    mel = low + (high - low) * np.arange(BANDS + 2) / (BANDS + 1.0)
    edges = 700.0 * (10.0 ** (mel / 2595.0) - 1.0) * WINDOW / rate
    bins = np.arange(WINDOW // 2 + 1, dtype=np.float64)
    left, centre, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    up = (bins - left) / np.maximum(centre - left, 1e-9)
    down = (right - bins) / np.maximum(right - centre, 1e-9)
    weight = np.where((bins <= left) | (bins >= right), 0.0, np.where(bins <= centre, up, down))
    inside = weight > 0.0
    start = np.where(inside.any(axis=1), inside.argmax(axis=1), 0)
    stop = np.where(inside.any(axis=1), inside.shape[1] - inside[:, ::-1].argmax(axis=1), 0)
    return _Analysis(window, start.astype(np.int64), stop.astype(np.int64), weight)


@cache
def _kernels() -> ModuleType:
    from grader.metrics import kernels

    return kernels


def _rms_between(
    samples: NDArray[np.int16], start: NDArray[np.int64], stop: NDArray[np.int64]
) -> NDArray[np.float64]:
    """RMS of stretches of samples, in order; 0 for an empty one. The sums are whole numbers under 2^53: exact."""
    level = np.zeros(len(start), np.float64)
    for at in range(0, len(start), _BATCH):
        begin, end = start[at : at + _BATCH], stop[at : at + _BATCH]
        first, last = int(begin[0]), int(end[-1])
        energy = np.zeros(last - first + 1, np.float64)  # and one zero more, for a stretch to end before
        energy[:-1] = samples[first:last]
        energy *= energy
        sums = np.add.reduceat(energy, np.stack([begin, end], axis=1).reshape(-1) - first)[::2]
        level[at : at + _BATCH] = np.where(end > begin, sums, 0.0)
    return np.sqrt(level / np.maximum(stop - start, 1))


def _loudness(samples: NDArray[np.int16], rate: int) -> NDArray[np.float64]:
    count = 1 + (samples.size - WINDOW) // hop(rate) if samples.size >= WINDOW else 0
    at = np.arange(count) * hop(rate)
    return _rms_between(samples, at, at + WINDOW)


def is_silent(samples: NDArray[np.int16], rate: int) -> bool:
    """Is every analysis frame silent (or is there none)? Then there is nothing to score."""
    return bool((_loudness(np.ascontiguousarray(samples, np.int16), rate) < SILENT_RMS).all())


def spectrogram(samples: NDArray[np.int16], rate: int) -> Spectrogram:
    """Log-mel spectrogram of mono int16 samples; no frames when there are fewer than 1024 samples."""
    from scipy.fft import rfft  # 0.25 s to import: not for runs that are identical

    samples = np.ascontiguousarray(samples, np.int16)
    level = _loudness(samples, rate)
    logmel = np.empty((level.size, BANDS), np.float64)
    if level.size:
        window, start, stop, weight = _analysis(rate)
        frames = np.lib.stride_tricks.sliding_window_view(samples, WINDOW)[:: hop(rate)]
        for at in range(0, level.size, _BATCH):
            spectrum = rfft(frames[at : at + _BATCH] * window, axis=1)
            _kernels().bands(spectrum, start, stop, weight, logmel[at : at + _BATCH])
    return Spectrogram(logmel, level < SILENT_RMS, level < NULL_RMS)


def distances(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """L1 distance of paired log-mel vectors after subtracting each one's mean."""
    out = np.empty(len(a), np.float64)
    _kernels().distances(a, b, out)
    return out


def threshold(reference: Spectrogram) -> float:
    """tau of a testcase from the reference alone; 0 when it has no pair that is not silent."""
    if len(reference.logmel) < 2:
        return 0.0
    audible = ~(reference.silent[1:] & reference.silent[:-1])
    changes = distances(reference.logmel[:-1], reference.logmel[1:])[audible]
    return max(_quantile(changes, TAU_QUANTILE), TAU_MIN) if changes.size else 0.0


def _quantile(values: NDArray[np.float64], q: float) -> float:
    ordered = np.sort(values)
    at = q * (ordered.size - 1)
    low, high = int(np.floor(at)), int(np.ceil(at))
    if low == high:
        return float(ordered[low])
    part = at - low
    return float(ordered[low] * (1.0 - part) + ordered[high] * part)


def score(ref: NDArray[np.int16], cand: NDArray[np.int16], rate: int, tau: float) -> Score | None:
    """Score of a candidate's whole track; None when the reference is silent throughout.

    Analysis frames the candidate did not produce count as silent and null.
    """
    ref = np.ascontiguousarray(ref, np.int16)
    cand = np.ascontiguousarray(cand, np.int16)
    level = _loudness(ref, rate)
    silent, null = level < SILENT_RMS, level < NULL_RMS
    if silent.all():  # true for no frames at all, too
        return None
    if np.array_equal(ref, cand):
        return _mean(np.where(silent, np.nan, 1.0))
    ours, theirs = spectrogram(ref, rate), spectrogram(cand, rate)
    have = min(len(ours.logmel), len(theirs.logmel))
    cand_silent, cand_null = np.ones_like(silent), np.ones_like(null)
    cand_silent[:have], cand_null[:have] = theirs.silent[:have], theirs.null[:have]
    away = np.empty(len(ours.logmel), np.float64)
    away[:have] = distances(ours.logmel[:have], theirs.logmel[:have])
    flat = np.full((len(away) - have, BANDS), np.log(EPSILON))
    away[have:] = distances(ours.logmel[have:], flat)
    frames = sigmoid(away, tau)
    frames[null != cand_null] = 0.0
    frames[silent & cand_silent] = np.nan
    result = _mean(frames)
    return result and result._replace(ref=ours, cand=theirs)


def sigmoid(away: NDArray[np.float64], tau: float) -> NDArray[np.float64]:
    """``1 / (1 + (d/tau)^4)``; with tau 0, 1 for no distance and 0 for any."""
    if tau <= 0.0:
        return np.where(away <= 0.0, 1.0, 0.0)
    ratio = away / tau
    square = ratio * ratio
    return 1.0 / (1.0 + square * square)


def _mean(frames: NDArray[np.float64]) -> Score | None:
    counted = frames[~np.isnan(frames)].tolist()
    return Score(sum(counted) / len(counted), frames) if counted else None


def rms(samples: NDArray[np.int16]) -> float:
    """Root mean square; 0 for no samples."""
    wide = samples.astype(np.int64)
    return float(np.sqrt(np.dot(wide, wide) / wide.size)) if wide.size else 0.0


def rms_ratios(ref: NDArray[np.int16], ref_counts, cand: NDArray[np.int16], cand_counts) -> list[float | None]:
    """Candidate's loudness over the reference's in every emulated frame; None where the reference's RMS is at most 100.

    ``*_counts`` are the samples of each frame.
    """
    return _ratios(_per_frame_rms(ref, ref_counts), _per_frame_rms(cand, cand_counts))


def _per_frame_rms(samples: NDArray[np.int16], counts) -> NDArray[np.float64]:
    counts = np.asarray(counts, np.int64)
    if counts.sum() != samples.size:
        raise ValueError(f"{samples.size} samples, but counts of {counts.sum()}")
    ends = np.cumsum(counts)
    return _rms_between(np.ascontiguousarray(samples, np.int16), ends - counts, ends)


def _ratios(ref: NDArray[np.float64], cand: NDArray[np.float64]) -> list[float | None]:
    loud = ref > SILENT_RMS
    ratio = np.divide(cand, ref, out=np.zeros_like(ref), where=loud).astype(np.float32)
    return [float(r) if on else None for r, on in zip(ratio, loud, strict=True)]
