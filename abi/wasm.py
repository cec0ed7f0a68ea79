"""WebAssembly emulators, run by wasmtime as if every one of them were hostile.

* Every call has a fuel budget: an endless loop is a trap after a fixed amount of work, the same on every machine.
* NaNs are canonical, threads and relaxed SIMD are off: a module answers the same on every machine.
* Its memory, tables and stack are limited.
* Its imports do nothing. Any call of one traps, but ``emscripten_notify_memory_growth`` is a no-op and WASI's
  random, clock and environment functions (which libc start-up code calls) write zeros.
* A pointer or a count it hands out is checked against its memory before a byte is read or written.

The module's memory is its own; nothing outside it can be reached.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import wasmtime
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

MAX_MODULE_BYTES = 64 * 1024 * 1024
"""Larger files are refused unread."""
HUNG_AFTER = 8
"""Calls of emu_run_frame in a row that ran out of fuel: after that many the instance is given up as hanging."""

_U32 = 0xFFFF_FFFF


@dataclass(frozen=True)
class WasmLimits:
    """Budgets. Fuel is about one unit a WebAssembly instruction; 0.5 G takes 0.2 to 0.5 s."""

    fuel_per_frame: int = 500_000_000
    fuel_load_rom: int = 60_000_000_000
    memory_bytes: int = 512 * 1024 * 1024


def _config() -> wasmtime.Config:
    config = wasmtime.Config()
    config.consume_fuel = True
    config.cranelift_nan_canonicalization = True
    config.wasm_threads = False
    config.wasm_relaxed_simd = False
    config.wasm_memory64 = False
    return config


@lru_cache(maxsize=4)
def _compile(data: bytes) -> tuple[wasmtime.Engine, wasmtime.Module]:
    if data[:4] != b"\0asm":
        raise EmulatorError("not a WebAssembly module (it does not begin with \\0asm)")
    engine = wasmtime.Engine(_config())
    try:
        return engine, wasmtime.Module(engine, data)
    except wasmtime.WasmtimeError as error:
        raise EmulatorError(f"not a valid WebAssembly module ({_reason(error)})") from None


def _reason(error: BaseException) -> str:
    """The last cause of a wasmtime error, on one line."""
    if isinstance(error, wasmtime.Trap):
        code = error.trap_code
        if code is not None:
            return code.name.lower().replace("_", " ")
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    if "Caused by:" in lines:
        cause = lines[-1]
        return cause[3:] if cause[:1].isdigit() and cause[1:3] == ": " else cause
    return lines[0][:300]


def _is_out_of_fuel(error: BaseException) -> bool:
    return "fuel" in _reason(error)


class Wasm:
    """A module as a Candidate. ``notes`` collects what was odd without being fatal, each once."""

    def __init__(self, data: bytes, limits: WasmLimits | None = None) -> None:
        self.limits = limits or WasmLimits()
        self.notes: list[str] = []
        self._hung = 0
        engine, module = _compile(bytes(data))
        self._store = wasmtime.Store(engine)
        self._store.set_limits(
            memory_size=self.limits.memory_bytes, table_elements=1_000_000, instances=1, tables=16, memories=1
        )
        linker = wasmtime.Linker(engine)
        self._define_imports(linker, module)
        self._fuel(self.limits.fuel_per_frame)
        try:
            instance = linker.instantiate(self._store, module)
        except (wasmtime.Trap, wasmtime.WasmtimeError) as error:
            raise EmulatorError(f"the module does not start ({_reason(error)})") from None
        except CandidateError as error:
            raise EmulatorError(f"the module does not start ({error})") from None
        exports = instance.exports(self._store)
        memory = exports.get("memory")
        if not isinstance(memory, wasmtime.Memory):
            raise EmulatorError("the module exports no memory named 'memory'")
        self._memory = memory
        self._functions = self._resolve(exports)
        self._frame_at = 0
        self._rom_at = 0
        self._samples = 0
        initialize = exports.get("_initialize")
        if isinstance(initialize, wasmtime.Func) and _signature(initialize, self._store) == ((), ""):
            self._functions["_initialize"] = initialize
            self._call("_initialize", self.limits.fuel_per_frame)

    # ---- set-up -----------------------------------------------------------------------------------------------------

    def _define_imports(self, linker: wasmtime.Linker, module: wasmtime.Module) -> None:
        seen = set()
        for item in module.imports:
            name = f"{item.module}.{item.name}"
            if not isinstance(item.type, wasmtime.FuncType):
                kind = type(item.type).__name__.removesuffix("Type").lower()
                raise EmulatorError(f"the module imports a {kind} ({name}); it must bring its own")
            if name in seen:
                continue
            seen.add(name)
            linker.define_func(item.module, item.name or "", item.type, self._import(item, name), access_caller=True)

    def _import(self, item: wasmtime.ImportType, name: str) -> Callable[..., Any]:
        wanted = tuple(str(t) for t in item.type.params), "".join(str(t) for t in item.type.results)
        if item.name == "emscripten_notify_memory_growth" and wanted == (("i32",), ""):
            return lambda caller, index: None
        if item.module == "wasi_snapshot_preview1" and item.name in _WASI:
            signature, handler = _WASI[item.name]
            if wanted == (signature, "i32"):
                return handler

        files = (item.name or "").startswith(("fd_", "path_"))
        why = ": there is nothing to print to and nothing to read" if files else ""

        def forbidden(caller: wasmtime.Caller, *_: Any) -> None:
            raise CandidateError(f"it called the import {name}, which is forbidden{why}")

        return forbidden

    def _resolve(self, exports: Any) -> dict[str, wasmtime.Func]:
        found, faults = {}, []
        for name, wanted in {**REQUIRED, **OPTIONAL}.items():
            item = exports.get(name)
            if item is None:
                if name in REQUIRED:
                    faults.append(f"{name} is missing")
                continue
            if not isinstance(item, wasmtime.Func):
                faults.append(f"{name} is not a function")
                continue
            actual = _signature(item, self._store)
            if actual != wanted:
                if name in OPTIONAL:
                    self._note(f"{name} has the wrong type and is ignored")
                    continue
                faults.append(f"{name} is {_show(*actual)} and should be {_show(*wanted)}")
                continue
            found[name] = item
        if faults:
            raise EmulatorError("the module's exports do not fit the ABI: " + "; ".join(faults))
        return found

    # ---- calls ------------------------------------------------------------------------------------------------------

    def _fuel(self, amount: int) -> None:
        self._store.set_fuel(amount)

    def _note(self, text: str) -> None:
        if text not in self.notes and len(self.notes) < 50:
            self.notes.append(text)

    def _call(self, name: str, fuel: int, *args: int) -> int:
        self._fuel(fuel)
        try:
            return self._functions[name](self._store, *args) or 0
        except (wasmtime.Trap, wasmtime.WasmtimeError) as error:
            if _is_out_of_fuel(error):
                raise _OutOfFuel(f"{name} did not return within {fuel:,} units of fuel") from None
            raise CandidateError(f"{name} trapped: {_reason(error)}") from None
        except CandidateError as error:
            raise CandidateError(f"{name} trapped: {error}") from None

    def _bytes(self, start: int, size: int) -> Any | None:
        """``size`` bytes of the module's memory as a writable buffer; None when they are not all inside."""
        if size < 0 or start + size > self._memory.data_len(self._store):
            return None
        if not size:
            return bytearray()
        base = ctypes.addressof(self._memory.data_ptr(self._store).contents)
        return (ctypes.c_ubyte * size).from_address(base + start)

    def ask_pointer(self, name: str) -> int:
        """What a pointer function answers now (the adapter itself asks once after load)."""
        return self._call(name, self.limits.fuel_per_frame) & _U32

    def memory_size(self) -> int:
        """Bytes of linear memory at present."""
        return self._memory.data_len(self._store)

    # ---- the ABI ----------------------------------------------------------------------------------------------------

    def emu_init(self) -> int:
        done = self._call("emu_init", self.limits.fuel_load_rom)
        if done:
            self._rom_at = self.ask_pointer("emu_rom_buffer")
            self._locate_frame()
        return done

    def _locate_frame(self) -> None:
        self._frame_at = self.ask_pointer("emu_framebuffer")
        if self._bytes(self._frame_at, 2 * PIXELS) is None:
            size = self.memory_size()
            raise CandidateError(
                f"emu_framebuffer answers {self._frame_at:#x}: a frame from there leaves the memory of {size:#x} bytes"
            )

    def emu_rom_buffer(self) -> NDArray[np.uint8]:
        room = self.memory_size() - self._rom_at
        view = self._bytes(self._rom_at, max(min(room, ROM_BUFFER_BYTES), 0))
        if view is None:
            raise CandidateError(f"emu_rom_buffer answers {self._rom_at:#x}, outside the memory")
        return np.frombuffer(view, np.uint8)

    def emu_load_rom(self, length: int) -> int:
        done = self._call("emu_load_rom", self.limits.fuel_load_rom, length)
        if done:
            self._locate_frame()
        return done

    def emu_reset(self) -> int:
        done = self._call("emu_reset", self.limits.fuel_load_rom)
        if done:
            self._locate_frame()
        return done

    def emu_set_keys(self, keys: int) -> None:
        self._call("emu_set_keys", self.limits.fuel_per_frame, keys)

    def emu_run_frame(self) -> None:
        try:
            self._call("emu_run_frame", self.limits.fuel_per_frame)
        except _OutOfFuel as error:
            self._hung += 1
            if self._hung >= HUNG_AFTER:
                raise CandidateError(f"{error}, {HUNG_AFTER} times in a row: given up", dead=True) from None
            raise
        self._hung = 0

    def emu_framebuffer(self) -> NDArray[np.uint16]:
        view = self._bytes(self._frame_at, 2 * PIXELS)
        if view is None:  # memory never shrinks: cannot happen after _locate_frame
            raise CandidateError("the framebuffer is outside the memory")
        return np.frombuffer(view, "<u2")

    def emu_audio_samples(self) -> int:
        count = self._call("emu_audio_samples", self.limits.fuel_per_frame)
        if count < 0 or count > MAX_SAMPLES:
            self._note(f"emu_audio_samples answered {count}; taken as no sound")
            count = 0
        self._samples = count
        return count

    def emu_audio_buffer(self) -> NDArray[np.int16]:
        start = self.ask_pointer("emu_audio_buffer")
        view = self._bytes(start, 2 * self._samples)
        if view is None:
            self._note(f"emu_audio_buffer answered {start:#x}: {self._samples} samples end outside the memory; dropped")
            return np.zeros(0, np.int16)
        return np.frombuffer(view, "<i2")

    def emu_audio_rate(self) -> int:
        return self._call("emu_audio_rate", self.limits.fuel_per_frame)

    def emu_boot_frames(self) -> int:
        if "emu_boot_frames" not in self._functions:
            return 0
        frames = self._call("emu_boot_frames", self.limits.fuel_per_frame)
        if frames > MAX_BOOT_FRAMES:
            raise CandidateError(f"emu_boot_frames answers {frames}; at most {MAX_BOOT_FRAMES} are run")
        return max(frames, 0)


class _OutOfFuel(CandidateError):
    pass


def _signature(function: wasmtime.Func, store: wasmtime.Store) -> tuple[tuple[str, ...], str]:
    kind = function.type(store)
    return tuple(str(t) for t in kind.params), " ".join(str(t) for t in kind.results)


def _show(params: tuple[str, ...], result: str) -> str:
    return f"({', '.join(params)}) -> {result or 'nothing'}"


# ---- WASI: the answers of a machine without clock, randomness or environment -----------------------------------------

_OK, _INVALID = 0, 28


def _zero(caller: wasmtime.Caller, start: int, size: int) -> int:
    memory = caller.get("memory")
    start, size = start & _U32, size & _U32
    if not isinstance(memory, wasmtime.Memory) or start + size > memory.data_len(caller):
        return _INVALID
    if size:
        ctypes.memset(ctypes.addressof(memory.data_ptr(caller).contents) + start, 0, size)
    return _OK


def _environ_sizes(caller: wasmtime.Caller, count: int, size: int) -> int:
    return _zero(caller, count, 4) or _zero(caller, size, 4)


_WASI: dict[str, tuple[tuple[str, ...], Callable[..., int]]] = {
    "random_get": (("i32", "i32"), _zero),
    "clock_time_get": (("i32", "i64", "i32"), lambda caller, clock, precision, out: _zero(caller, out, 8)),
    "clock_res_get": (("i32", "i32"), lambda caller, clock, out: _zero(caller, out, 8)),
    "environ_sizes_get": (("i32", "i32"), _environ_sizes),
    "environ_get": (("i32", "i32"), lambda caller, environ, buffer: _OK),
}
