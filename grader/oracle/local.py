"""The oracle on this machine: the reference runs in this process.

A session outlives the command that started it, so it is kept in a file: the ROM, the keys of every frame, and, for
a reference that has save states, its state. With a state a call costs a start of Python and its frames; without,
the session is replayed from power-on (which also is what a state from another version comes to).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import secrets
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from abi.candidate import ROM_BUFFER_BYTES, EmulatorError
from abi.loader import Emulator, resolve
from grader.oracle import machine as formats
from grader.oracle.client import Fault, read_file
from grader.oracle.limits import Usage
from grader.oracle.machine import Machine, open_machine
from grader.oracle.oneshot import FORMATS, Run, files, read_replay
from pynes_ref.files import atomic_write
from pynes_ref.movie import Movie

ENVIRONMENT = "ORACLE_STATE"
FORGET_AFTER = 7 * 24 * 3600.0
"""Seconds after which a session that nobody touched is removed."""
_ID = re.compile(r"[0-9a-f]{32}")


def state_folder() -> Path:
    """Where sessions and usage are kept: ``ORACLE_STATE``, else the user's state folder."""
    given = os.environ.get(ENVIRONMENT)
    if given:
        return Path(given)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return base / "pynes_ref" / "oracle"


def find_reference(name: str, trust_native: bool = False) -> Emulator:
    """The reference of that name; Fault when there is none. A recording can answer only what it recorded."""
    try:
        emulator = resolve(name, trust_native=trust_native)
    except EmulatorError as error:
        raise Fault(str(error)) from None
    if emulator.recorded:
        raise Fault(f"{name} is a recording; an oracle has to be able to run any ROM")
    return emulator


def read_rom(path: str) -> bytes:
    """A ROM file's bytes."""
    return read_file(path, ROM_BUFFER_BYTES)


def add_reference(top: argparse.ArgumentParser) -> None:
    """The options that only make sense where the reference is."""
    for name, choices in _subparsers(top).items():
        if name == "run":
            _reference_options(choices)
        elif name == "session":
            _reference_options(_subparsers(choices)["start"])


def _subparsers(parent: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    return next(a.choices for a in parent._actions if isinstance(a, argparse._SubParsersAction))


def _reference_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--reference", metavar="EMU", default="pynes_ref", help="another emulator (pynes_ref)")
    command.add_argument("--trust-native", action="store_true", help="run a native library")


class Local:
    """``client.Backend`` in this process."""

    def __init__(self, reference: str = "pynes_ref", trust_native: bool = False) -> None:
        self.reference = reference
        self.trust_native = trust_native
        self.folder = state_folder()
        self._usage = Usage(self.folder / "usage.json")

    def _used(self, frames: int) -> int:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with _locked(self.folder / "usage.lock"):
                usage = Usage(self.folder / "usage.json")
                usage.add("local", frames)
                usage.save()
        except OSError as error:
            raise Fault(f"{self.folder}: {error.strerror or error}") from None
        return usage.frames("local")

    def _open(self, rom: bytes, reference: str, trust_native: bool) -> Machine:
        from pynes_ref.warming import warmed

        with warmed():
            return open_machine(find_reference(reference, trust_native), rom)

    def run(self, rom: str, options: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
        """Files of a run."""
        run = Run(
            options["frames"], read_replay(options["replay"]), options["from"], options["dump"], options["image"],
            options["audio"],
        )  # fmt: skip
        machine = self._open(read_rom(rom), self.reference, self.trust_native)
        try:
            for file in files(machine, run, self._used):
                if file is not None:
                    yield file
        finally:
            machine.close()

    def info(self) -> dict[str, Any]:
        """Formats and frames used."""
        return {**FORMATS, "frames_used": self._usage.frames("local"), "budget": None}

    # ---- sessions ----------------------------------------------------------------------------------------------------

    def start(self, rom: str) -> dict[str, Any]:
        """Power on."""
        image = read_rom(rom)
        machine = self._open(image, self.reference, self.trust_native)
        machine.close()
        session = secrets.token_hex(16)
        meta = {
            "rom": os.path.basename(rom), "reference": self.reference, "trust_native": self.trust_native,
            "frame": 0, "keys": 0, "events": [], "identity": "",
        }  # fmt: skip
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._forget_old()
            self._write(session, meta, {"rom": np.frombuffer(image, np.uint8)})
        except OSError as error:
            raise Fault(f"{self.folder}: {error.strerror or error}") from None
        return {"id": session, "rom": meta["rom"], "info": FORMATS}

    def set_keys(self, session: str, keys: int) -> dict[str, Any]:
        """Keys held from the next frame on."""
        with self._session(session) as (meta, arrays):
            meta["keys"] = keys
            self._write(session, meta, arrays)
            return {"ok": True, "cur_frame": meta["frame"]}

    def run_frame(self, session: str, count: int = 1, keys: int | None = None) -> dict[str, Any]:
        """Run frames."""
        if count < 1:
            raise Fault("run-frame: at least one frame")
        with self._session(session) as (meta, arrays):
            held = meta["keys"] if keys is None else keys
            if held != (meta["events"][-1][1] if meta["events"] else 0):
                meta["events"].append([meta["frame"], held])
            meta["keys"] = held
            machine = self._restore(meta, arrays)
            try:
                machine.keys = held
                machine.advance(count)
                meta["frame"] = machine.frame
                sound = np.concatenate([arrays.get("sound", np.zeros(0, np.int16)), *machine.sound])
                arrays = {"rom": arrays["rom"], "picture": machine.picture, "sound": sound, **_state_of(machine)}
                meta["identity"] = find_reference(meta["reference"], meta["trust_native"]).identity
            finally:
                machine.close()
            self._write(session, meta, arrays)
        self._used(count)
        return {
            "ok": True, "cur_frame": meta["frame"], "framebuffer_bytes": formats.FRAME_BYTES,
            "pending_audio_samples": int(sound.size),
        }  # fmt: skip

    def _restore(self, meta: dict[str, Any], arrays: dict[str, Any]) -> Machine:
        machine = self._open(arrays["rom"].tobytes(), meta["reference"], meta["trust_native"])
        console = getattr(machine.candidate, "console", None)
        if "state" in arrays and console is not None:
            identity = find_reference(meta["reference"], meta["trust_native"]).identity
            if identity == meta["identity"]:
                console.load_state(arrays["state"].tobytes())
                machine.frame = meta["frame"]
                return machine
        movie = Movie(tuple((frame, keys) for frame, keys in meta["events"]))
        machine.advance(meta["frame"], movie.keys_at)
        machine.take_sound()
        return machine

    def raw(self, session: str, what: str) -> bytes:
        """The last picture, or the sound since it was last asked for."""
        with self._session(session) as (meta, arrays):
            if what == "audio":
                sound = arrays.pop("sound", np.zeros(0, np.int16))
                self._write(session, meta, arrays)
                return formats.samples_bytes([sound])
            picture = arrays.get("picture", np.zeros(formats.PIXELS, np.uint16))
            return formats.idx(picture) if what == "framebuffer" else formats.rgba(picture)

    def session_info(self, session: str) -> dict[str, Any]:
        """A session's state."""
        with self._session(session) as (meta, arrays):
            pending = int(arrays["sound"].size) if "sound" in arrays else 0
            return {
                "id": session, "rom": meta["rom"], "cur_frame": meta["frame"], "events": len(meta["events"]),
                "keys": meta["keys"], "pending_audio_samples": pending,
            }  # fmt: skip

    def end(self, session: str) -> dict[str, Any]:
        """Forget a session."""
        with self._session(session):
            self._path(session).unlink()
        with contextlib.suppress(OSError):
            (self.folder / f"{session}.lock").unlink()
        return {"ok": True}

    def _path(self, session: str) -> Path:
        if not _ID.fullmatch(session):
            raise Fault("no such session")
        return self.folder / f"{session}.npz"

    @contextlib.contextmanager
    def _session(self, session: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        path = self._path(session)
        if not path.is_file():
            raise Fault("no such session")
        try:
            with _locked(self.folder / f"{session}.lock"):
                with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
                    arrays = {name: stored[name] for name in stored.files}
                yield json.loads(arrays.pop("meta").tobytes()), arrays
        except OSError as error:
            raise Fault(f"{path}: {error.strerror or error}") from None

    def _write(self, session: str, meta: dict[str, Any], arrays: dict[str, Any]) -> None:
        out = io.BytesIO()
        np.savez(out, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays)
        atomic_write(self._path(session), out.getvalue())

    def _forget_old(self) -> None:
        for path in self.folder.glob("*.npz"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > FORGET_AFTER:
                    path.unlink()
                    path.with_suffix(".lock").unlink()


def _state_of(machine: Machine) -> dict[str, Any]:
    console = getattr(machine.candidate, "console", None)
    return {} if console is None else {"state": np.frombuffer(console.save_state(), np.uint8)}


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Two commands on one session wait for each other (where the system has flock)."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
