"""The project's own ROMs and replays: beside the package in a checkout, inside it when installed."""

from pathlib import Path

_HERE = Path(__file__).parent
GAME = "pinewood.nes"


def folder(name: str) -> Path:
    """The folder ``test_roms`` or ``replays``. Raises FileNotFoundError if this installation has none."""
    for place in (_HERE / name, _HERE.parent / name):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"this installation has no {name}/ folder; reinstall pynes-ref")


def rom(name: str = GAME) -> Path:
    """Path of one of our own ROMs."""
    return folder("test_roms") / name
