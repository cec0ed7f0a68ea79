"""Fixture: a console in a game."""

import pytest
from consoles import GAMES, played


@pytest.fixture(scope="module", params=GAMES)
def game(request):
    """In the middle of each game; tests run and change clones of it."""
    return played(request.param)
