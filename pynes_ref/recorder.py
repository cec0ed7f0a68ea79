"""Recording a player's input as a replay (movie.py has the format).

A replay starts at power-on with empty battery RAM and holds controller 1 only,
so that is what a recording is: one byte of buttons for every ``run_frame``
since power-on, call 0 included. Going back in time shortens it.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from .files import atomic_write
from .movie import Movie, MovieError, load

SAVE_EVERY = 600
"""Frames between two writes of the file while recording: a crash loses 10 s."""


class Recorder:
    """The input since power-on and the file it goes to."""

    def __init__(self, path: str | PathLike, title: str, sha256: str):
        """Begin a recording; the file is made at once. Raises FileExistsError, OSError."""
        self.path = Path(path)
        self.title = " ".join(title.split())
        self.sha256 = sha256
        self.keys = bytearray()
        with self.path.open("x"):  # refuses to overwrite a recording
            pass
        self.save()

    @property
    def frames(self) -> int:
        """How many frames the recording holds."""
        return len(self.keys)

    def add(self, buttons: int) -> None:
        """One more frame was run with these buttons held. Raises OSError when the file cannot be written."""
        self.keys.append(buttons)
        if len(self.keys) % SAVE_EVERY == 0:
            self.save()

    def go_back(self, frames: int) -> None:
        """Forget the last ``frames`` frames: the console has gone back to before them."""
        del self.keys[max(0, len(self.keys) - frames) :]

    def take_over(self, keys: bytes) -> None:
        """Become the recording that led to a save state made while recording."""
        self.keys[:] = keys

    def text(self) -> str:
        """The replay's text; after the last recorded frame everything is let go."""
        return replay_text(self.keys, self.title, self.sha256)

    def save(self) -> None:
        """Write the file. Raises OSError, the old file then still being there."""
        atomic_write(self.path, self.text().encode())


def replay_text(keys: bytes, title: str, sha256: str, note: str = "") -> str:
    """Replay text of ``keys``, one byte a frame from frame 0 on."""
    head = f"{title}\nrom {sha256}\nframes {len(keys)}"
    return Movie.from_keys([*keys, 0]).to_text(f"{head}\n{note}" if note else head)


def read_keys(path: Path, note: str) -> bytes | None:
    """The keys of a replay written by ``replay_text`` with this note; None if it is not one or is damaged."""
    try:
        lines = path.read_text("utf-8").splitlines()
        frames = next(int(line.split()[2]) for line in lines if line.startswith("# frames "))
        return load(path).keys(frames) if f"# {note}" in lines and frames < 2**28 else None
    except (OSError, MovieError, StopIteration, ValueError, IndexError):
        return None
