"""The player's ten save slots, and where a user's files are kept.

A slot is a plain save state (savestate.py), so ``--load-state`` reads it too.
Beside one made while recording lies the replay that leads to it, tied to it by
its SHA-256; loading such a slot takes the recording back to that point.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from pathlib import Path

from .files import atomic_write
from .recorder import read_keys, replay_text
from .roms import data_root

COUNT = 10


def data_folder() -> Path:
    """Where save slots, screenshots and recordings go; ``PYNES_DATA`` names another place. Not made here."""
    named = os.environ.get("PYNES_DATA")
    if named:
        return Path(named)
    root = data_root()
    older = root.with_name("pynes-ref")  # whoever has saves there keeps them
    return older if older.is_dir() else root


def game_folder(base: Path, title: str, sha256: str) -> Path:
    """Folder of one game's files: the ROM's name for people, its hash so that names cannot clash."""
    name = re.sub(r"[^\w.-]+", "_", title).strip("._")[:60] or "game"
    return base / f"{name}-{sha256[:12]}"


class Slots:
    """Ten numbered save states in a folder, which is made when first written to."""

    def __init__(self, folder: Path, title: str, sha256: str):
        self.folder = folder
        self._title = title
        self._sha256 = sha256

    def path(self, slot: int) -> Path:
        """File of a slot's state."""
        if not 0 <= slot < COUNT:
            raise ValueError(f"there are slots 0 to {COUNT - 1}, not {slot}")
        return self.folder / f"slot{slot}.state"

    def save(self, slot: int, state: bytes, keys: bytes | None) -> None:
        """Write a state and, if given, the recorded keys that lead to it. Raises OSError."""
        path = self.path(slot)
        self.folder.mkdir(parents=True, exist_ok=True)
        atomic_write(path, state)
        if keys is None:
            path.with_suffix(".txt").unlink(missing_ok=True)
        else:
            text = replay_text(keys, self._title, self._sha256, _note(state))
            atomic_write(path.with_suffix(".txt"), text.encode())

    def load(self, slot: int) -> tuple[bytes, bytes | None]:
        """A slot's state and recorded keys, if it has any. Raises OSError."""
        path = self.path(slot)
        state = path.read_bytes()
        return state, read_keys(path.with_suffix(".txt"), _note(state))

    def describe(self, slot: int) -> str:
        """When a slot was written, or ``empty``."""
        try:
            return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.path(slot).stat().st_mtime))
        except OSError:
            return "empty"


def _note(state):
    return f"state {hashlib.sha256(state).hexdigest()}"
