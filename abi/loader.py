"""Emulators by name.

============================  ============================================================
``pynes_ref``                 this project's console, in process
``pynes_ref:BUG``             the same with an injected bug (``abi.bugs``)
``pynes_ref:hardware-sound``  the same with the sound of a console where the recordings have another
``x.wasm``                    a WebAssembly module
``x.so`` .dylib .dll          a native library, in a child process; needs the user's trust
``folder``                    a folder of ``.refcache`` recordings, found by testcase
``x.refcache``                one recording
============================  ============================================================

``FILE:BUG`` puts a bug into any of the others (``no-tri-noise`` only into ``pynes_ref``).

``resolve`` looks at the name once and gives an ``Emulator``: small, picklable, with an identity. Its
``open`` makes a running instance, as often as needed and in any process.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from abi.candidate import Candidate, EmulatorError

if TYPE_CHECKING:
    from abi.wasm import WasmLimits

PYNES_REF = "pynes_ref"
HARDWARE_SOUND = "hardware-sound"


@dataclass(frozen=True)
class Case:
    """What a recording has to match: a testcase's id, ROM and replay."""

    id: str
    rom_sha256: str
    replay_sha256: str


@dataclass(frozen=True)
class Emulator:
    """A named emulator.

    ``identity`` is a SHA-256 in hex: of the file, or of all core sources for ``pynes_ref``, with the bug's
    or variant's name mixed in when there is one; of nothing for a folder of recordings (each carries its own).
    ``opener``, a picklable function without arguments, makes the instance for kind "python".
    """

    name: str
    kind: str  # "pynes_ref", "wasm", "native", "folder", "recording", "python"
    identity: str
    file_sha256: str = ""
    path: str = ""
    variant: str = ""  # a bug's name or HARDWARE_SOUND
    limits: WasmLimits | None = None
    opener: Callable[[], Candidate] | None = field(default=None, compare=False)

    @property
    def label(self) -> str:
        """Short name for folders."""
        return f"{self._stem}-{self.variant}" if self.variant else self._stem

    @property
    def title(self) -> str:
        """Short name for people: the file's stem or ``pynes_ref``, and the variant as it is written in a name."""
        return f"{self._stem}:{self.variant}" if self.variant else self._stem

    @property
    def _stem(self) -> str:
        return Path(self.path).stem if self.path else self.name.split(":")[0]

    @property
    def bug(self) -> str:
        """The injected bug, or ""."""
        return "" if self.variant == HARDWARE_SOUND else self.variant

    @property
    def recorded(self) -> bool:
        """Is it a recording or a folder of them?"""
        return self.kind in ("folder", "recording")

    def with_limits(self, limits: WasmLimits) -> Emulator:
        """The same emulator with other WebAssembly budgets."""
        return replace(self, limits=limits)

    def recording_path(self, case: Case) -> Path:
        """The file that records ``case``; EmulatorError when there is none."""
        if self.kind == "recording":
            return Path(self.path)
        from abi.recorded import find

        path = find(self.path, case.id, case.rom_sha256, case.replay_sha256)
        if path is None:
            raise EmulatorError(f"{self.path}: no recording of {case.id}")
        return path

    def open(self, case: Case | None = None) -> Candidate:
        """A fresh instance. ``case`` chooses the recording where there are several."""
        candidate = self._open(case)
        if self.bug:
            from abi.bugs import Bugged

            return Bugged(candidate, self.bug)
        return candidate

    def _open(self, case: Case | None) -> Candidate:
        if self.opener is not None:
            return self.opener()
        if self.kind == "pynes_ref":
            from abi.inprocess import PynesRef

            return PynesRef(hardware_sound=self.variant == HARDWARE_SOUND)
        if self.kind == "wasm":
            from abi.wasm import Wasm

            data = _read(Path(self.path))
            if hashlib.sha256(data).hexdigest() != self.file_sha256:
                raise EmulatorError(f"{self.path} changed while it was in use")
            try:
                return Wasm(data, self.limits)
            except EmulatorError as error:
                raise EmulatorError(f"{self.path}: {error}") from None
        if self.kind == "native":
            from abi.native import Native

            try:
                return Native(self.path)
            except EmulatorError as error:
                raise EmulatorError(f"{self.path}: {error}") from None
        from abi.recorded import Recorded, Recording

        if self.kind == "recording" or case is not None:
            return Recorded([Recording(self.recording_path(case) if case else self.path)])
        return Recorded([Recording(path) for path in sorted(Path(self.path).glob("*.refcache"))])


def _read(path: Path) -> bytes:
    from abi.wasm import MAX_MODULE_BYTES

    try:
        _check_regular(path)
        size = path.stat().st_size
        if size > MAX_MODULE_BYTES:
            raise EmulatorError(
                f"{path}: {size / 2**20:.0f} MB is too large for a module (limit {MAX_MODULE_BYTES // 2**20} MB)"
            )
        return path.read_bytes()
    except OSError as error:
        raise EmulatorError(f"{path}: {error.strerror or error}") from None


def _check_regular(path: Path) -> None:
    if os.path.exists(path) and not os.path.isfile(path):  # reading a pipe would wait for its other end
        raise EmulatorError(f"{path}: not a regular file")


def _sha256_file(path: Path) -> str:
    _check_regular(path)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EmulatorError(f"{path}: {error.strerror or error}") from None


def core_sha256() -> str:
    """Identity of ``pynes_ref``: every source file that can change a picture or a sample, by name and content.

    That is ``core/``, the console, the cartridge reader and the adapter, not what only talks to the user.
    """
    from importlib.util import find_spec

    spec = find_spec("pynes_ref")
    if spec is None or not spec.submodule_search_locations:
        raise EmulatorError("the package pynes_ref is not installed")
    root = Path(next(iter(spec.submodule_search_locations)))
    digest = hashlib.sha256()
    sources = [root / "console.py", root / "ines.py", *(root / "core").rglob("*.py")]
    named = [(path.relative_to(root).as_posix(), path) for path in sources]
    named.append(("abi/inprocess.py", Path(__file__).with_name("inprocess.py")))
    for name, path in sorted(named):
        if path.is_file():
            data = path.read_bytes()
            digest.update(f"{name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def _split_variant(name: str) -> tuple[str, str]:
    head, colon, tail = name.rpartition(":")
    if not colon or not head or "/" in tail or "\\" in tail or len(head) == 1:  # C:\emu.dll is no bug
        return name, ""
    if head == PYNES_REF and tail == HARDWARE_SOUND:
        return head, tail
    from abi.bugs import BUGS

    if tail not in BUGS:
        if Path(name).exists():
            return name, ""
        known = [*BUGS, HARDWARE_SOUND] if head == PYNES_REF else BUGS
        raise EmulatorError(f"{name}: there is no bug named {tail!r}; choose from {', '.join(known)}")
    return head, tail


def resolve(name: str, *, trust_native: bool = False, limits: WasmLimits | None = None) -> Emulator:
    """The emulator of that name. EmulatorError (one line) when there is none, or when it is not trusted."""
    if not name:
        raise EmulatorError("an empty name is no emulator: give pynes_ref, a module, a library or recordings")
    plain, variant = _split_variant(name)
    if plain == PYNES_REF:
        return _made(name, "pynes_ref", core_sha256(), "", variant, limits)
    path = Path(plain)
    if path.is_dir():
        if not any(path.glob("*.refcache")):
            raise EmulatorError(f"{plain}: no .refcache recordings in this folder")
        return _made(name, "folder", hashlib.sha256(b"").hexdigest(), plain, variant, limits)
    suffix = path.suffix.lower()
    if suffix == ".refcache":
        return _made(name, "recording", _sha256_file(path), plain, variant, limits)
    if suffix == ".wasm":
        return _made(name, "wasm", hashlib.sha256(_read(path)).hexdigest(), plain, variant, limits)
    if suffix in (".so", ".dylib", ".dll") or ".so." in path.name.lower():
        if not trust_native:
            raise EmulatorError(f"{plain} is native code and can do anything you can: add --trust-native to run it")
        return _made(name, "native", _sha256_file(path), plain, variant, limits)
    if not path.exists():
        raise EmulatorError(
            f"{plain}: no such emulator. Give pynes_ref, a .wasm module, a native library or a folder of recordings"
        )
    raise EmulatorError(f"{plain}: not an emulator this knows (.wasm, .so, .dylib, .dll, a folder of .refcache)")


def _made(name: str, kind: str, sha256: str, path: str, variant: str, limits: WasmLimits | None) -> Emulator:
    identity = hashlib.sha256(f"{sha256}+{variant}".encode()).hexdigest() if variant else sha256
    return Emulator(name, kind, identity, sha256, path, variant, limits)
