"""Fixture: a PPU by itself."""

import pytest
from ppu_bench import Bench


@pytest.fixture
def bench():
    return Bench()
