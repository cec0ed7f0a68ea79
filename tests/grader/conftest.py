"""Paths and fixtures for these tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1]))  # toy_emulator

SHARED = Path(os.environ.get("PYNES_SHARED", HERE.parents[3] / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the recorded reference and its corpus; without it the test is skipped (an error on CI)."""
    if not (SHARED / "recordings").is_dir():
        if os.environ.get("CI"):
            pytest.fail(f"{SHARED} has no recordings; set PYNES_SHARED")
        pytest.skip(f"no recordings in {SHARED} (set PYNES_SHARED)")
    return SHARED
