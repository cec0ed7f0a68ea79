"""Replays of a corpus: the parser of ``pynes_ref.movie`` plus what grading needs (hash of the file, checks)."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pynes_ref.movie import BUTTONS, Movie, MovieError, load, parse, parse_bytes, parse_json, parse_text

__all__ = [
    "BUTTONS",
    "NO_REPLAY_SHA256",
    "Movie",
    "MovieError",
    "load",
    "load_hashed",
    "parse",
    "parse_bytes",
    "parse_json",
    "parse_text",
    "past_the_end",
]

NO_REPLAY_SHA256 = hashlib.sha256(b"").hexdigest()
"""Hash that stands for "no replay": that of nothing."""


def load_hashed(path: Path) -> tuple[Movie, str]:
    """A replay and the SHA-256 of its file. MovieError names the file and the line at fault."""
    movie = load(path)
    return movie, hashlib.sha256(path.read_bytes()).hexdigest()


def past_the_end(movie: Movie, frames: int) -> tuple[str, bool] | None:
    """Events that a run of ``frames`` frames never reaches: what to say, and whether that is a fault.

    The last event alone may lie past the end: replays in use have it (a button let go after the cut). More than
    that means that the testcase is shorter than what was recorded for it.
    """
    late = [frame for frame, _ in movie.events if frame >= frames]
    if not late:
        return None
    events = "1 event" if len(late) == 1 else f"{len(late)} events"
    return f"{events} past the end (frame {late[0]}; the testcase has {frames} frames)", len(late) > 1
