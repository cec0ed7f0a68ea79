"""Input replays ("movies"): which buttons are held in which frame.

Text form, one change of the held buttons a line::

    # comment
    120 08      frame (decimal), buttons (hexadecimal)
    126 00

JSON form: ``{"events": [[120, 8], [126, 0]]}``. Buttons are controller 1 in the
order the standard controller shifts them out: bit 0 A, 1 B, 2 Select, 3 Start,
4 Up, 5 Down, 6 Left, 7 Right (https://www.nesdev.org/wiki/Standard_controller).
What is held stays held until the next event; before the first, nothing is.

A malformed file is refused with the line at fault: a replay that silently loses
a line plays a different game.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

BUTTONS = ("A", "B", "Select", "Start", "Up", "Down", "Left", "Right")
"""Button names, in bit order."""

MAX_FRAME = 2**32 - 1
MAX_BYTES = 16 * 1024 * 1024


class MovieError(ValueError):
    """A replay that cannot be read: one line saying which file, which line and why."""


@dataclass(frozen=True)
class Movie:
    """The events of a replay, ordered by frame: ``((frame, buttons), ...)``."""

    events: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "_frames", tuple(frame for frame, _ in self.events))

    def keys_at(self, frame: int) -> int:
        """Buttons held during ``frame``: those of the last event at or before it."""
        i = bisect_right(self._frames, frame)  # type: ignore[attr-defined]
        return self.events[i - 1][1] if i else 0

    def keys(self, frames: int) -> bytes:
        """Buttons of frames 0 to ``frames - 1``, one byte each."""
        out = bytearray(frames)
        ends = [*self._frames[1:], frames]  # type: ignore[attr-defined]
        for (start, held), end in zip(self.events, ends):
            if start < frames and held:
                stop = min(end, frames)
                out[start:stop] = bytes([held]) * (stop - start)
        return bytes(out)

    @property
    def last_frame(self) -> int:
        """Frame of the last event (0 when there is none)."""
        return self.events[-1][0] if self.events else 0

    @classmethod
    def from_keys(cls, keys: Iterable[int]) -> Movie:
        """The shortest movie whose frame n holds the n-th value of ``keys``."""
        events, held = [], 0
        for frame, now in enumerate(keys):
            if now != held:
                events.append((frame, int(now)))
                held = now
        return cls(tuple(events))

    def to_text(self, comment: str = "") -> str:
        """The text form; ``comment`` may have several lines."""
        head = [f"# {line}".rstrip() for line in comment.splitlines()]
        return "\n".join([*head, *(f"{frame} {held:02x}" for frame, held in self.events)]) + "\n"


def _checked(frame: object, held: object, where: str) -> tuple[int, int]:
    if type(frame) is not int or not 0 <= frame <= MAX_FRAME:
        raise MovieError(f"{where}: the frame must be a whole number from 0 to {MAX_FRAME}, not {frame!r}")
    if type(held) is not int or not 0 <= held <= 0xFF:
        raise MovieError(f"{where}: the buttons must be from 00 to ff, not {held!r}")
    return frame, held


def _in_order(events: list[tuple[int, int]]) -> Movie:
    # Stable: of two events of one frame the later in the file wins.
    return Movie(tuple(sorted(events, key=lambda event: event[0])))


def parse_text(text: str, name: str = "replay") -> Movie:
    """A movie from its text form; ``name`` is used in errors."""
    events = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split("#", 1)[0].split()
        if not fields:
            continue
        where = f"{name}, line {number}"
        if len(fields) != 2:
            raise MovieError(f"{where}: expected '<frame> <buttons in hex>', found {line.strip()[:60]!r}")
        if not (fields[0].isascii() and fields[0].isdigit()):
            raise MovieError(f"{where}: the frame must be a whole number, not {fields[0][:40]!r}")
        digits = fields[1].lower().removeprefix("0x")
        if not digits or len(digits) > 8 or any(c not in "0123456789abcdef" for c in digits):
            raise MovieError(f"{where}: the buttons must be hexadecimal, not {fields[1][:40]!r}")
        if len(fields[0]) > 10:
            raise MovieError(f"{where}: the frame must be a whole number from 0 to {MAX_FRAME}")
        events.append(_checked(int(fields[0]), int(digits, 16), where))
    return _in_order(events)


def parse_json(text: str, name: str = "replay") -> Movie:
    """A movie from its JSON form; ``name`` is used in errors."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise MovieError(f"{name}, line {error.lineno}: not JSON ({error.msg})") from None
    except RecursionError:
        raise MovieError(f"{name}: not a replay (nested too deeply)") from None
    if not isinstance(data, dict) or not isinstance(data.get("events"), list):
        raise MovieError(f'{name}: a JSON replay is {{"events": [[frame, buttons], ...]}}')
    events = []
    for number, event in enumerate(data["events"]):
        where = f"{name}, event {number}"
        if not isinstance(event, list) or len(event) != 2:
            raise MovieError(f"{where}: expected [frame, buttons], found {str(event)[:60]}")
        events.append(_checked(event[0], event[1], where))
    return _in_order(events)


def parse(text: str, name: str = "replay") -> Movie:
    """A movie from either form: JSON when the first character is a brace."""
    return parse_json(text, name) if text.lstrip()[:1] == "{" else parse_text(text, name)


def parse_bytes(data: bytes, name: str = "replay") -> Movie:
    """A movie from a file's bytes (UTF-8)."""
    try:
        return parse(data.decode("utf-8-sig"), name)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise MovieError(f"{name}, line {line}: not text (byte {error.object[error.start]:#04x})") from None


def load(path: str | PathLike[str]) -> Movie:
    """A movie from a file; every fault is a MovieError with the file's name."""
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise MovieError(f"{path}: {size} bytes is too large for a replay (limit {MAX_BYTES})")
        with path.open("rb") as file:  # the size of a pipe or device is not known before
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise MovieError(f"{path}: too large for a replay (limit {MAX_BYTES} bytes)")
    except OSError as error:
        raise MovieError(f"{path}: {error.strerror or error}") from None
    return parse_bytes(data, str(path))
