"""Fixtures for all tests."""

import pytest
from places import SHARED, missing, rom_or_skip


@pytest.fixture(scope="session")
def known_roms():
    """The rows of test_roms/index.toml by path."""
    from pynes_ref.roms import known

    return {row.path: row for row in known()}


@pytest.fixture
def rom(known_roms):
    """``rom("suite/name.nes")`` gives the path of a third-party ROM, or skips."""
    return lambda path: rom_or_skip(known_roms[path].sha256, path)


@pytest.fixture(scope="session")
def shared():
    """The folder with the corpus and the recordings of the reference; without them the test is skipped."""
    if not (SHARED / "recordings").is_dir():
        missing(f"no recordings in {SHARED} (name their folder's parent in PYNES_SHARED)")
    return SHARED
