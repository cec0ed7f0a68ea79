"""Finding ROMs by SHA-256, wherever they lie.

Third-party ROMs are not part of the project. They are looked for in our own
``test_roms`` folder, in the folder that ``pynes-ref roms fetch`` fills and in
the folders named by ``PYNES_ROMS`` (separated like ``PATH``).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from . import bundled

ENVIRONMENT = "PYNES_ROMS"
MAX_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class KnownRom:
    """One row of ``test_roms/index.toml``."""

    path: str
    suite: str
    sha256: str
    size: int
    mapper: int
    repository: str
    commit: str
    source: str
    licence: str
    archive: str = ""
    """Address of an archive that holds ``source``, for a ROM that is not published as a file."""

    @property
    def name(self) -> str:
        """``suite/file`` without the ending: how tests and tables call it."""
        return self.path.removesuffix(".nes")


@cache
def known() -> tuple[KnownRom, ...]:
    """All third-party ROMs the project knows, in the order of ``test_roms/index.toml``."""
    data = tomllib.loads((bundled.folder("test_roms") / "index.toml").read_text(encoding="utf-8"))
    return tuple(KnownRom(**row) for row in data["rom"])


def data_root() -> Path:
    """The user's folder for what we keep (test ROMs, save slots ...). Not made here."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "pynes_ref"


def download_folder() -> Path:
    """Where ``pynes-ref roms fetch`` puts what it downloads."""
    return data_root() / "roms"


def search_places() -> list[Path]:
    """Every folder that is searched, first one first, whether it exists or not."""
    places = [download_folder(), *map(Path, filter(None, os.environ.get(ENVIRONMENT, "").split(os.pathsep)))]
    with contextlib.suppress(FileNotFoundError):
        places.insert(0, bundled.folder("test_roms"))
    return places


def search_folders() -> list[Path]:
    """Those of ``search_places`` that exist."""
    return [p for p in search_places() if p.is_dir()]


@cache
def _hashes(folder: Path) -> dict[str, Path]:
    found = {}
    for path in sorted(folder.rglob("*.nes")):
        try:
            if path.stat().st_size <= MAX_BYTES:
                found.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
        except OSError:
            continue
    return found


def find(sha256: str) -> Path | None:
    """The file with this SHA-256 in one of the search folders, or None."""
    for folder in search_folders():
        path = _hashes(folder).get(sha256)
        if path:
            return path
    return None
