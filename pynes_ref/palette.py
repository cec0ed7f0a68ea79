"""The colours of the 512 pixel values ``(emphasis << 6) | colour``."""

from functools import cache
from pathlib import Path

import numpy as np

FILE = Path(__file__).parent / "data" / "nes_palette.pal"


@cache
def rgb_table() -> np.ndarray:
    """The palette as ``uint8[512, 3]`` (R, G, B), read-only."""
    table = np.frombuffer(FILE.read_bytes(), dtype=np.uint8).reshape(512, 3)
    return table


def to_rgb(frame: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Colours of a frame: ``uint16[...]`` pixel values to ``uint8[..., 3]``."""
    return np.take(rgb_table(), frame, axis=0, out=out, mode="clip")
