"""Where the tests find the repository, ROMs (by SHA-256, in test_roms/, SHARED and PYNES_ROMS) and recordings."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHARED = Path(os.environ.get("PYNES_SHARED", ROOT.parent / "shared"))
"""The folder with the corpus (``corpus``) and the recordings of the reference (``recordings``)."""

if SHARED.is_dir():
    folders = [str(SHARED / "test_roms"), str(SHARED / "corpus")]
    os.environ["PYNES_ROMS"] = os.pathsep.join(filter(None, [os.environ.get("PYNES_ROMS"), *folders]))


def missing(reason):
    """Skip the test; where CI is set, fail it."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def rom_or_skip(sha256, name):
    """Path of the ROM with this hash; without it the test is skipped, or fails where CI is set."""
    from pynes_ref.roms import find

    path = find(sha256)
    if path is None:
        missing(f"{name} is not here (SHA-256 {sha256}): run `pynes-ref roms fetch` or name its folder in PYNES_ROMS")
    return path
