"""What a caller of the server may do: limits, rate, budget, and the record of frames used."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Limits:
    """All limits of a server, with NES Eval's values where it has one."""

    rate: float = 200.0
    """Requests a second and token, in the long run."""
    burst: int = 400
    """Requests at once and token."""
    sessions: int = 8
    """Sessions of a token at a time."""
    all_sessions: int = 64
    idle: float = 1800.0
    """Seconds after which a session that nobody asks is ended."""
    timeout: float = 600.0
    """Seconds for a request's frames."""
    upload_seconds: float = 60.0
    """Seconds for a request's body to arrive."""
    frames: int = 100_000
    """Frames a call."""
    json_frames: int = 60
    """Frames dumped into a JSON answer; a tar may have all of them."""
    rom_bytes: int = 8 * 1024 * 1024
    body_bytes: int = 12 * 1024 * 1024
    audio_bytes: int = 64 * 1024 * 1024
    """Sound kept for a session that does not fetch it."""
    budget: int | None = None
    """Frames a token may run in all; None: as many as it likes."""


class OverBudget(Exception):
    """More frames than the budget has left."""

    def __init__(self, left: int) -> None:
        super().__init__(f"the frame budget does not allow this: {left} frames are left")


class Buckets:
    """A token bucket a name."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, float(burst), clock
        self._levels: dict[str, tuple[float, float]] = {}

    def take(self, name: str) -> float:
        """0 when a request may pass; else the seconds to wait for the next."""
        now = self._clock()
        level, before = self._levels.get(name, (self._burst, now))
        level = min(self._burst, level + (now - before) * self._rate)
        if level >= 1.0:
            self._levels[name] = (level - 1.0, now)
            return 0.0
        self._levels[name] = (level, now)
        return (1.0 - level) / self._rate


class Tokens:
    """The accepted tokens. Only their hashes are kept; a caller is known by the first digits of one."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self._digests = [hashlib.sha256(token.encode()).digest() for token in tokens]

    def name_of(self, authorization: str) -> str | None:
        """The caller's name for an Authorization header, None for a wrong or missing token.

        Every token is compared, each in constant time: how long it takes tells nothing.
        """
        scheme, _, given = authorization.partition(" ")
        digest = hashlib.sha256(given.strip().encode("utf-8", "surrogateescape")).digest()
        found = None
        for known in self._digests:
            if hmac.compare_digest(digest, known):
                found = known.hex()[:12]
        return found if scheme.lower() == "bearer" else None


class Usage:
    """Frames run, by caller, kept in a small file (or not at all).

    The file is rewritten in place by one write of a padded block: a process that is killed leaves the old numbers
    or the new, and no temporary file. With a budget, frames are reserved before they are run.
    """

    BLOCK = 4096

    def __init__(self, path: Path | None = None, budget: int | None = None) -> None:
        self.path, self.budget = path, budget
        self._lock = threading.Lock()
        self._frames: dict[str, int] = {}
        self._changed = False
        if path is not None and path.is_file():
            self._frames = _numbers(path)

    def frames(self, name: str) -> int:
        """Frames this caller has used."""
        return self._frames.get(name, 0)

    def add(self, name: str, frames: int) -> int:
        """Record frames; the caller's total."""
        with self._lock:
            self._frames[name] = self._frames.get(name, 0) + frames
            self._changed = True
            return self._frames[name]

    def reserve(self, name: str, frames: int) -> None:
        """Count frames before they are run; OverBudget when there are not so many left."""
        with self._lock:
            used = self._frames.get(name, 0)
            if self.budget is not None and used + frames > self.budget:
                raise OverBudget(max(self.budget - used, 0))
            self._frames[name] = used + frames
            self._changed = True

    def save(self) -> None:
        """Write the numbers, if there is a file and something new. OSError when that fails."""
        with self._lock:
            if self.path is None or not self._changed:
                return
            data = json.dumps({"frames": self._frames}, sort_keys=True).encode()
            size = -(-(len(data) + 1) // self.BLOCK) * self.BLOCK
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600)
            try:
                os.write(handle, data.ljust(size - 1) + b"\n")
            finally:
                os.close(handle)
            self._changed = False


def _numbers(path: Path) -> dict[str, int]:
    try:
        data: Any = json.loads(path.read_bytes())
        return {str(name): int(frames) for name, frames in data["frames"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise OSError(0, "not a usage file", str(path)) from None
