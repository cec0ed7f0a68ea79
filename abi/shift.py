"""Is a picture another one, moved? Asked by the conformance check, by hints and by ``grader explain``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abi.candidate import HEIGHT, WIDTH

OFFSETS = 16
"""Pixels of a shift."""


def shift_in_space(
    ref: NDArray[np.uint16], cand: NDArray[np.uint16], top: int = 0
) -> tuple[int, int] | None:
    """(dy, dx): from scanline ``top`` on, the candidate's pixel (y, x) is the reference's (y - dy, x - dx)."""
    best, best_score = None, 0.0
    before = float((ref[top:] == cand[top:]).mean())
    for dy in range(-OFFSETS, OFFSETS + 1):
        for dx in range(-OFFSETS, OFFSETS + 1):
            if dy == dx == 0 or (top and abs(dy) > 8):
                continue
            rows = slice(top + max(dy, 0), HEIGHT + min(dy, 0))
            source = slice(rows.start - dy, rows.stop - dy)
            columns = slice(max(dx, 0), WIDTH + min(dx, 0))
            from_columns = slice(columns.start - dx, columns.stop - dx)
            a, b = ref[source, from_columns], cand[rows, columns]
            if a.size < 2048:
                continue
            score = float((a == b).mean()) - 1e-4 * (abs(dx) + abs(dy))
            if score > best_score:
                best, best_score = (dy, dx), score
    # It must explain nearly everything that differs.
    if best is None or 1 - best_score > 0.1 * (1 - before) + 0.004:
        return None
    return best


def spoken(shift: tuple[int, int]) -> str:
    """``1 line low and 3 pixels to the right``."""
    dy, dx = shift
    down = f"{abs(dy)} line{'s' * (abs(dy) > 1)} {'low' if dy > 0 else 'high'}"
    right = f"{abs(dx)} pixel{'s' * (abs(dx) > 1)} to the {'right' if dx > 0 else 'left'}"
    return " and ".join(part for part, by in ((down, dy), (right, dx)) if by)
