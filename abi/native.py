"""Native emulators (.so, .dylib, .dll) through ctypes, in a child process.

A shared library is arbitrary code: it can do anything the user can, so opening one needs the user's word
(``--trust-native``). The child process is no sandbox; it only keeps a crash or a hang from taking the caller
along: a library that dies or does not answer in time costs its testcase and no more.

The child copies pictures and sound into shared memory; one short message a call goes through a pipe.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abi.candidate import (
    MAX_BOOT_FRAMES,
    MAX_SAMPLES,
    OPTIONAL,
    PIXELS,
    REQUIRED,
    ROM_BUFFER_BYTES,
    CandidateError,
    EmulatorError,
)

FRAME_SECONDS = 20.0
"""Longest wait for one call."""
LOAD_SECONDS = 120.0
"""Longest wait for emu_init, emu_load_rom and emu_reset."""

_ROM_AT = 0
_FRAME_AT = ROM_BUFFER_BYTES
_AUDIO_AT = _FRAME_AT + 2 * PIXELS
_SHARED_BYTES = _AUDIO_AT + 2 * MAX_SAMPLES
_SLOW = {"emu_init", "emu_load_rom", "emu_reset"}
_POINTERS = {"emu_rom_buffer", "emu_framebuffer", "emu_audio_buffer"}


def _bind(path: str) -> dict[str, Any]:
    """The library's functions with their C types; a ValueError names what is missing."""
    library = ctypes.CDLL(path)
    functions, missing = {}, []
    for name, (params, result) in {**REQUIRED, **OPTIONAL}.items():
        function = getattr(library, name, None)
        if function is None:
            if name in REQUIRED:
                missing.append(name)
            continue
        function.argtypes = [ctypes.c_int32 if name == "emu_load_rom" else ctypes.c_uint32 for _ in params]
        function.restype = ctypes.c_void_p if name in _POINTERS else (ctypes.c_int32 if result else None)
        functions[name] = function
    if missing:
        raise ValueError("the library does not export " + ", ".join(missing))
    return functions


def _serve(path: str, shared_name: str, pipe: Connection) -> None:
    """The child: answers calls until the pipe closes. Its own stdout goes to stderr, where it can do no harm."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError, ValueError):
        os.dup2(2, 1)
    shared = SharedMemory(shared_name)
    memory = np.frombuffer(shared.buf, np.uint8)
    base = memory.ctypes.data
    try:
        functions = _bind(path)
    except (OSError, ValueError) as error:
        pipe.send(("error", str(error)))
        return
    pipe.send(("ok", "emu_boot_frames" in functions))
    while True:
        try:
            name, argument = pipe.recv()
        except (EOFError, OSError):
            break
        pipe.send(_answer(functions, name, argument, base))
    os._exit(0)  # not through the library's exit handlers


def _answer(functions: dict[str, Any], name: str, argument: int | None, base: int) -> int:
    if name == "emu_load_rom":
        target = functions["emu_rom_buffer"]()
        if not target:
            return 0
        ctypes.memmove(target, base + _ROM_AT, argument)
    if name == "emu_framebuffer":
        source = functions[name]()
        if source:
            ctypes.memmove(base + _FRAME_AT, source, 2 * PIXELS)
        return 1 if source else 0
    if name == "emu_audio_buffer":
        source = functions[name]()
        if source:
            ctypes.memmove(base + _AUDIO_AT, source, 2 * argument)
        return 1 if source else 0
    function = functions[name]
    return (function() if argument is None else function(argument)) or 0


class Native:
    """A shared library as a Candidate. ``close`` (or dropping it) ends the child process."""

    def __init__(self, path: str, frame_seconds: float = FRAME_SECONDS, load_seconds: float = LOAD_SECONDS) -> None:
        self.notes: list[str] = []
        self._seconds = frame_seconds, load_seconds
        self._samples = 0
        self._dead = ""
        self._shared = SharedMemory(create=True, size=_SHARED_BYTES)
        self._memory: NDArray[np.uint8] | None = np.frombuffer(self._shared.buf, np.uint8)
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._child = context.Process(
            target=_serve, args=(os.path.abspath(path), self._shared.name, theirs), daemon=False
        )
        self._child.start()
        theirs.close()
        try:
            kind, value = self._wait("opening", load_seconds)
        except CandidateError as error:
            self.close()
            raise EmulatorError(str(error)) from None
        if kind == "error":
            self.close()
            raise EmulatorError(value)
        self._has_boot = bool(value)

    def _wait(self, name: str, seconds: float) -> Any:
        try:
            if not self._pipe.poll(seconds):
                self._kill()
                raise self._died(f"{name} did not return within {seconds:g} s")
            return self._pipe.recv()
        except (EOFError, OSError):
            self._child.join(5)
            code = self._child.exitcode
            raise self._died(f"the library crashed in {name} ({_exit_reason(code)})") from None

    def _died(self, why: str) -> CandidateError:
        self._dead = why
        return CandidateError(why, dead=True)

    def _kill(self) -> None:
        if self._child.is_alive():
            self._child.kill()
            self._child.join(5)

    def _call(self, name: str, argument: int | None = None) -> int:
        if self._dead:
            raise CandidateError(self._dead, dead=True)
        try:
            self._pipe.send((name, argument))
        except OSError:
            self._child.join(5)
            raise self._died(f"the library crashed before {name} ({_exit_reason(self._child.exitcode)})") from None
        return self._wait(name, self._seconds[name in _SLOW])

    def _view(self, start: int, size: int, dtype: str) -> NDArray[Any]:
        assert self._memory is not None
        return self._memory[start : start + size].view(dtype)

    def emu_init(self) -> int:
        return self._call("emu_init")

    def emu_rom_buffer(self) -> NDArray[np.uint8]:
        return self._view(_ROM_AT, ROM_BUFFER_BYTES, "u1")

    def emu_load_rom(self, length: int) -> int:
        return self._call("emu_load_rom", length)

    def emu_reset(self) -> int:
        return self._call("emu_reset")

    def emu_set_keys(self, keys: int) -> None:
        self._call("emu_set_keys", keys)

    def emu_run_frame(self) -> None:
        self._call("emu_run_frame")

    def emu_framebuffer(self) -> NDArray[np.uint16]:
        if not self._call("emu_framebuffer"):
            raise CandidateError("emu_framebuffer answered a null pointer")
        return self._view(_FRAME_AT, 2 * PIXELS, "<u2")

    def emu_audio_samples(self) -> int:
        count = self._call("emu_audio_samples")
        if not 0 <= count <= MAX_SAMPLES:
            note = f"emu_audio_samples answered {count}; taken as no sound"
            if note not in self.notes and len(self.notes) < 50:
                self.notes.append(note)
            count = 0
        self._samples = count
        return count

    def emu_audio_buffer(self) -> NDArray[np.int16]:
        if not self._samples or not self._call("emu_audio_buffer", self._samples):
            return np.zeros(0, np.int16)
        return self._view(_AUDIO_AT, 2 * self._samples, "<i2")

    def emu_audio_rate(self) -> int:
        return self._call("emu_audio_rate")

    def emu_boot_frames(self) -> int:
        frames = self._call("emu_boot_frames") if self._has_boot else 0
        if frames > MAX_BOOT_FRAMES:
            raise CandidateError(f"emu_boot_frames answers {frames}; at most {MAX_BOOT_FRAMES} are run")
        return max(frames, 0)

    def close(self) -> None:
        """End the child process and free the shared memory."""
        self._dead = self._dead or "closed"
        self._pipe.close()
        if self._child.is_alive():
            self._child.join(0.2)
            self._kill()
        self._memory = None
        with contextlib.suppress(BufferError):  # a caller still holds a view: freed with it
            self._shared.close()
        with contextlib.suppress(FileNotFoundError):
            self._shared.unlink()

    def __del__(self) -> None:
        if getattr(self, "_memory", None) is not None:
            with contextlib.suppress(Exception):
                self.close()


def _exit_reason(code: int | None) -> str:
    if code is None:
        return "no exit code"
    if code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"
