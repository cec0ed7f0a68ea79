"""Live consoles for the server: sessions, and runs from power-on.

Everything here is called from the event loop, so the registry needs no lock; only frames are run in worker threads.
The compiled console releases the GIL there, so that as many machines advance as there are cores. A long run is cut
into slices that queue up anew: with more runs than cores all of them advance, none stalls the others.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from abi.candidate import PIXELS
from abi.loader import Emulator
from grader.oracle.limits import Limits, Usage
from grader.oracle.machine import FRAME_BYTES, Machine, open_machine
from grader.oracle.oneshot import Run, files

SLICE = 0.05
"""Seconds a run keeps a worker before others have their turn."""
CHUNK = 1 << 20
"""Bytes of dumped files after which they are sent."""
Gone = Callable[[], Awaitable[bool]]
T = TypeVar("T")


class NoSession(Exception):
    """Not there, ended, expired, or another caller's: nobody is told which."""


class Busy(Exception):
    """A run-frame call of this session is under way."""


class TooMany(Exception):
    """No more sessions or runs now."""


class Closing(Exception):
    """The server is being stopped."""


class TooSlow(Exception):
    """The request's time is over; ``done`` frames were run."""

    def __init__(self, done: int) -> None:
        super().__init__(done)
        self.done = done


@dataclass
class Session:
    """A machine and whose it is. ``picture`` is that of the last finished call."""

    id: str
    owner: str
    rom: str
    machine: Machine
    last: float
    keys: int = 0
    changes: int = 0
    busy: bool = False
    ended: bool = False
    picture: NDArray[np.uint16] = field(default_factory=lambda: np.zeros(PIXELS, np.uint16))
    frame: int = 0

    def touch(self) -> None:
        """It is in use."""
        self.last = time.monotonic()

    def hold(self, keys: int) -> None:
        """Keys for the next frame and later."""
        self.changes += keys != self.keys
        self.keys = keys

    def state(self) -> dict[str, Any]:
        """What ``info`` says."""
        return {
            "id": self.id, "rom": self.rom, "cur_frame": self.frame, "events": self.changes, "keys": self.keys,
            "pending_audio_samples": self.machine.pending,
        }  # fmt: skip

    def ran(self) -> dict[str, Any]:
        """What ``run-frame`` says."""
        return {
            "ok": True, "cur_frame": self.frame, "framebuffer_bytes": FRAME_BYTES,
            "pending_audio_samples": self.machine.pending,
        }  # fmt: skip


class Sessions:
    """All machines of a server."""

    def __init__(self, emulator: Emulator, limits: Limits, usage: Usage, workers: int | None = None) -> None:
        self.limits, self.usage = limits, usage
        self._emulator = emulator
        workers = workers or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="console")
        self._sessions: dict[str, Session] = {}
        self._starting: dict[str, int] = {}
        self._turns = asyncio.Semaphore(2 * workers)
        self._waiting = 0
        self.closing = False
        """Set when the server is told to stop: what is running ends with its slice."""

    async def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Run something in a worker."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)

    async def _open(self, rom: bytes) -> Machine:
        """A machine; if the caller is gone by the time it is there, it is closed again."""
        task = asyncio.ensure_future(self.call(open_machine, self._emulator, rom, self.limits.audio_bytes))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(lambda done: done.exception() or self._pool.submit(done.result().close))
            raise

    # ---- sessions ----------------------------------------------------------------------------------------------------

    def owned(self, owner: str) -> int:
        """How many sessions a caller has."""
        there = sum(session.owner == owner for session in self._sessions.values())
        return there + self._starting.get(owner, 0)

    async def start(self, owner: str, rom: bytes, name: str) -> Session:
        """Power on. TooMany, or ``machine.Refused``."""
        everybody = len(self._sessions) + sum(self._starting.values())
        if self.owned(owner) >= self.limits.sessions or everybody >= self.limits.all_sessions:
            raise TooMany(f"no more than {self.limits.sessions} sessions at a time; end one")
        self._starting[owner] = self._starting.get(owner, 0) + 1
        try:
            machine = await self._open(rom)
        finally:
            self._starting[owner] -= 1
            if not self._starting[owner]:
                del self._starting[owner]
        session = Session(secrets.token_hex(16), owner, name, machine, time.monotonic())
        self._sessions[session.id] = session
        return session

    def get(self, owner: str, session_id: str) -> Session:
        """A caller's own session, marked as used now."""
        self.reap()
        session = self._sessions.get(session_id)
        if session is None or session.owner != owner:
            raise NoSession
        session.touch()
        return session

    async def run(self, session: Session, count: int, gone: Gone) -> None:
        """Run frames. When the caller hangs up in the middle, the session stays where it got to."""
        if session.busy:
            raise Busy
        self.usage.reserve(session.owner, count)
        session.busy = True
        before = session.machine.frame
        session.machine.keys = session.keys
        end = time.monotonic() + self.limits.timeout
        try:
            done = 0
            while done < count:
                done += await self.call(session.machine.advance, count - done, None, min(SLICE, self.limits.timeout))
                if session.ended:
                    raise NoSession
                if done < count and self.closing:
                    raise Closing
                if done < count and time.monotonic() >= end:
                    raise TooSlow(done)
                if done < count and await gone():
                    break
        finally:
            session.busy = False
            session.frame = session.machine.frame
            session.picture = session.machine.picture.copy()
            session.touch()
            self.usage.add(session.owner, session.frame - before - count)

    async def sound(self, session: Session) -> bytes:
        """Its sound since it was last asked for."""

        def take() -> bytes:
            with session.machine.lock:
                return session.machine.take_sound()

        return await self.call(take)

    def end(self, session: Session) -> None:
        """Forget it; its machine is closed as soon as it stands still."""
        session.ended = True
        if self._sessions.pop(session.id, None) is not None:
            self._pool.submit(session.machine.close)

    def reap(self) -> None:
        """End what has been idle for too long."""
        before = time.monotonic() - self.limits.idle
        for session in [s for s in self._sessions.values() if s.last < before and not s.busy]:
            self.end(session)

    # ---- runs from power-on ------------------------------------------------------------------------------------------

    async def run_files(self, owner: str, rom: bytes, run: Run) -> AsyncIterator[list[tuple[str, bytes]]]:
        """A run's files, some at a time; the first list is empty and says that the ROM has been taken.

        At most two runs a core are under way; others wait their turn. TooMany when too many do.
        """
        if self._waiting >= 256:
            raise TooMany("too many runs are waiting")
        self._waiting += 1
        try:
            await asyncio.wait_for(self._turns.acquire(), self.limits.timeout)
        except TimeoutError:
            raise TooMany("too many runs are waiting") from None
        finally:
            self._waiting -= 1
        try:
            async for part in self._run_files(owner, rom, run):
                yield part
        finally:
            self._turns.release()

    async def _run_files(self, owner: str, rom: bytes, run: Run) -> AsyncIterator[list[tuple[str, bytes]]]:
        end = time.monotonic() + self.limits.timeout
        machine = await self._open(rom)
        try:
            self.usage.reserve(owner, run.frames)
        except BaseException:
            self._pool.submit(machine.close)
            raise
        told = False

        def used(frames: int) -> int:
            nonlocal told
            told = True
            return self.usage.add(owner, frames - run.frames)

        made = files(machine, run, used)
        work: asyncio.Future[tuple[list[tuple[str, bytes]], bool]] | None = None
        try:
            yield []
            ended = False
            while not ended:
                work = asyncio.ensure_future(self.call(_some, made))
                part, ended = await asyncio.shield(work)
                if part:
                    yield part
                if not ended and self.closing:
                    raise Closing
                if not ended and time.monotonic() >= end:
                    raise TooSlow(machine.frame)
        finally:
            if work is not None and not work.done():  # cancelled: the worker finishes its slice first
                work.add_done_callback(lambda _: self._pool.submit(_finish, made, machine, used, lambda: told))
            else:
                self._pool.submit(_finish, made, machine, used, lambda: told)

    def close(self) -> None:
        """End everything."""
        for session in list(self._sessions.values()):
            self.end(session)
        self._pool.shutdown(wait=True)


def _some(made: Any) -> tuple[list[tuple[str, bytes]], bool]:
    """A slice's worth of files, and whether those were the last."""
    end = time.monotonic() + SLICE
    part: list[tuple[str, bytes]] = []
    size = 0
    for file in made:
        if file is not None:
            part.append(file)
            size += len(file[1])
        if size >= CHUNK or time.monotonic() >= end:
            return part, False
    return part, True


def _finish(made: Any, machine: Machine, used: Callable[[int], int], told: Callable[[], bool]) -> None:
    made.close()
    if not told():  # it never began
        used(machine.frame)
    machine.close()
