"""The metrics' inner loops, compiled by Numba; ``video`` and ``audio`` say what they compute.

Imported when something differs: a run that is identical never waits for the compiler (0.3 s).
"""

from __future__ import annotations

import numpy as np

from grader.metrics.kept import kept_njit

FLOOR = 0.15
C1 = (0.01 * 255.0) ** 2
C2 = (0.03 * 255.0) ** 2


@kept_njit
def compare(luma, identity, ref, cand):
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
            light = (2.0 * mean_r * mean_c + C1) / (mean_r * mean_r + mean_c * mean_c + C1)
            shape = (2.0 * cov + C2) / (var_r + var_c + C2)
            defect = 1.0 - min(max(light * shape, 0.0), 1.0)
            if defect >= FLOOR:
                total += defect
    mae = 0.0
    for block in range(32):
        mae += error[block]
    return np.float32(total / 960.0), differing, np.float32(mae / 61440.0), flat_r, flat_c


@kept_njit
def differ(identity, before, now):
    for i in range(61440):
        if before[i] != now[i] and identity[np.int64(before[i]) & 511] != identity[np.int64(now[i]) & 511]:
            return True
    return False


@kept_njit
def bands(spectrum, start, stop, weight, out):
    """Log band energies of complex spectra [n, 513] into out[n, 40]."""
    for n in range(spectrum.shape[0]):
        for band in range(weight.shape[0]):
            energy = 0.0
            for k in range(start[band], stop[band]):
                z = spectrum[n, k]
                energy += weight[band, k] * (z.real * z.real + z.imag * z.imag)
            out[n, band] = np.log(energy + 1e-10)


@kept_njit
def distances(a, b, out):
    for n in range(out.shape[0]):
        sum_a = 0.0
        sum_b = 0.0
        for k in range(a.shape[1]):
            sum_a += a[n, k]
            sum_b += b[n, k]
        shift = sum_a / 40.0 - sum_b / 40.0
        total = 0.0
        for k in range(a.shape[1]):
            total += abs((a[n, k] - b[n, k]) - shift)
        out[n] = total
