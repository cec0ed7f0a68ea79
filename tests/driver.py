"""Driving the player's window in tests: SDL's dummy drivers and posted events."""

import pytest
from fakes import FakeConsole

from pynes_ref.player import Player, open_pygame
from pynes_ref.session import Session

pygame = pytest.importorskip("pygame")


def windows(monkeypatch, tmp_path):
    """Body of a fixture: ``window(console)`` gives a player in a window of SDL's dummy driver."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")

    def player(console=None, rom="game.nes", sound=False, **options):
        session = Session(console or FakeConsole(), tmp_path / rom, folder=tmp_path / "data", **options)
        return Player(open_pygame(), session, scale=1, sound=sound)

    yield player
    pygame.quit()


def key(name, down=True, mod=0):
    code = pygame.key.key_code(name)
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN if down else pygame.KEYUP, key=code, mod=mod))


def tap(player, name, mod=0):
    key(name, mod=mod)
    player.tick()
    key(name, down=False, mod=mod)
