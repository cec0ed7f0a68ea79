"""Writing frames and their sound as an npz, one frame at a time: a picture has 120 KiB, and runs are long.

An npz is a zip archive of .npy files: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from . import files

FRAME = (240, 256)


class _Abandoned(Exception):
    """Tells ``files.replacing`` that its block has failed."""


class NpzWriter:
    """``frames`` uint16[n, 240, 256], ``audio`` int16, ``samples_per_frame`` uint32[n], compressed.

    The file appears under its name only when ``close`` has finished. Every method raises ``OSError`` when the file
    cannot be written; then call ``abandon``.
    """

    def __init__(self, path: Path, frames: int):
        """``frames``: how often ``add`` will be called; the array's header comes first and says so."""
        self._path = path
        self._open = ExitStack()
        try:
            with files.naming(path):
                file = self._open.enter_context(files.replacing(path))
                self._archive = self._open.enter_context(zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED))
                self._frames = self._open.enter_context(self._array("frames", "<u2", (frames, *FRAME)))
        except BaseException:
            self.abandon()
            raise

    def _array(self, name, descr, shape):
        """A member of the archive, past the header of an array; its elements can be written now."""
        member = self._archive.open(f"{name}.npy", "w", force_zip64=True)
        npy.write_array_header_1_0(member, {"descr": descr, "fortran_order": False, "shape": shape})
        return member

    def add(self, frame: np.ndarray) -> None:
        """Append a frame, ``uint16[240, 256]``; nothing of it is kept."""
        with files.naming(self._path):
            self._frames.write(np.ascontiguousarray(frame, "<u2"))

    def close(self, audio: np.ndarray, samples: Sequence[int]) -> None:
        """Add the sound, ``int16[n]``, and how many samples belong to each frame; give the file its name."""
        with files.naming(self._path):
            self._frames.close()
            for name, array in (("audio", np.asarray(audio, "<i2")), ("samples_per_frame", np.array(samples, "<u4"))):
                with self._array(name, array.dtype.str, array.shape) as member:
                    member.write(array)
            self._open.close()

    def abandon(self) -> None:
        """Leave nothing behind, unless it is finished."""
        with suppress(OSError, _Abandoned), self._open:
            raise _Abandoned
