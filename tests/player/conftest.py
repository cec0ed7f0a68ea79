"""Fixture: the player in a window of SDL's dummy driver."""

import pytest


@pytest.fixture
def window(monkeypatch, tmp_path):
    """``window(console)`` gives a player; skips without pygame."""
    from driver import windows

    yield from windows(monkeypatch, tmp_path)
