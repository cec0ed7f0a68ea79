"""The corpus that ships with the project: its manifest and weights (``corpus/``), ROMs and replays of our own.

Those stand in ``test_roms/`` and ``replays/`` at the top of a checkout, and inside ``pynes_ref`` when installed.
"""

from __future__ import annotations

from pathlib import Path

from abi.candidate import EmulatorError
from pynes_ref import bundled

NAME = "builtin"
"""What the command line calls it."""
_FOLDER = Path(__file__).parent / "corpus"


class NoBuiltinCorpus(EmulatorError):
    """This installation has no corpus of its own."""


def folder() -> Path:
    """The built-in corpus's folder, for ``manifest.load_corpus``."""
    sources()
    return _FOLDER


def is_it(path: Path) -> bool:
    """Is this the built-in corpus's folder?"""
    return path.resolve() == _FOLDER.resolve()


def sources() -> tuple[Path, Path]:
    """The folders of its ROMs and of its replays."""
    try:
        return bundled.folder("test_roms"), bundled.folder("replays")
    except FileNotFoundError as error:
        raise NoBuiltinCorpus(f"{error}, or name a corpus folder") from None
