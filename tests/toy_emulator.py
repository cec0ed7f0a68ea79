"""A toy emulator, three times: in Python, as WebAssembly text and in C. They agree bit for bit.

It keeps the ABI's conventions (call 0 empty, samples 0, 716, 733, 734) without being a console: a picture of
diagonal stripes that moves with the frame number, the buttons and the ROM's byte 16, and a square wave whose pitch
depends on the buttons. Independent implementations make it an end-to-end test of the adapters.
"""

from __future__ import annotations

import numpy as np
import wasmtime

ROM = b"NES\x1a" + bytes(12) + bytes([3]) + bytes(range(200))
OTHER_ROM = b"NES\x1a" + bytes(12) + bytes([5]) + bytes(100)


class ToyEmulator:
    """The definition."""

    def __init__(self) -> None:
        self.rom = np.zeros(8 << 20, np.uint8)
        self.muted: tuple[str, ...] = ()
        self._power()

    def _power(self) -> None:
        self.calls = 0
        self.keys = 0
        self.phase = 0
        self.frame = np.zeros(61440, np.uint16)
        self.sound = np.zeros(0, np.int16)

    def mute(self, channels) -> None:
        self.muted = tuple(channels)

    def emu_init(self) -> int:
        return 1

    def emu_rom_buffer(self):
        return self.rom

    def emu_load_rom(self, length: int) -> int:
        if bytes(self.rom[:4]) != b"NES\x1a":
            return 0
        self._power()
        return 1

    def emu_reset(self) -> int:
        self._power()
        return 1

    def emu_set_keys(self, keys: int) -> None:
        self.keys = keys

    def emu_run_frame(self) -> None:
        n = self.calls
        self.calls += 1
        if n == 0:
            return
        at = np.arange(61440)
        self.frame = (((at & 255) + (at >> 8) + n * int(self.rom[16]) + self.keys * 7) & 63).astype(np.uint16)
        count = 716 if n == 1 else 733 + (n % 5 != 0)
        phase = self.phase + (2 + self.keys) * np.arange(1, count + 1)
        self.phase = int(phase[-1])
        level = 0 if "noise" in self.muted else 6000
        sound = np.where(phase & 64, level, -level).astype(np.int16)
        self.sound = np.concatenate([self.sound, sound])

    def emu_framebuffer(self):
        return self.frame

    def emu_audio_samples(self) -> int:
        self._out, self.sound = self.sound, np.zeros(0, np.int16)
        return len(self._out)

    def emu_audio_buffer(self):
        return self._out

    def emu_audio_rate(self) -> int:
        return 44_100

    def emu_boot_frames(self) -> int:
        return 0


_FUNCTIONS = {
    "emu_init": "(result i32) i32.const 1",
    "emu_rom_buffer": "(result i32) i32.const 0x100000",
    "emu_load_rom": """(param i32) (result i32)
      (if (i32.ne (i32.load (i32.const 0x100000)) (i32.const 0x1a53454e)) (then (return (i32.const 0))))
      call $power i32.const 1""",
    "emu_reset": "(result i32) call $power i32.const 1",
    "emu_set_keys": "(param i32) (global.set $keys (local.get 0))",
    "emu_run_frame": "call $frame",
    "emu_framebuffer": "(result i32) i32.const 0x1000",
    "emu_audio_buffer": "(result i32) i32.const 0x40000",
    "emu_audio_samples": "(result i32) (global.get $count) (global.set $count (i32.const 0))",
    "emu_audio_rate": "(result i32) i32.const 44100",
}

_BODY = """
  (global $n (mut i32) (i32.const 0)) (global $keys (mut i32) (i32.const 0))
  (global $phase (mut i32) (i32.const 0)) (global $count (mut i32) (i32.const 0))
  (func $power
    (global.set $n (i32.const 0)) (global.set $keys (i32.const 0)) (global.set $phase (i32.const 0))
    (global.set $count (i32.const 0)) (memory.fill (i32.const 0x1000) (i32.const 0) (i32.const 122880)))
  (func $frame (local $i i32) (local $shift i32) (local $m i32)
    (local.set $m (global.get $n))
    (global.set $n (i32.add (local.get $m) (i32.const 1)))
    (if (i32.eqz (local.get $m)) (then (return)))
    (local.set $shift (i32.add (i32.mul (local.get $m) (i32.load8_u (i32.const 0x100010)))
                               (i32.mul (global.get $keys) (i32.const 7))))
    (loop $pixels
      (i32.store16 (i32.add (i32.const 0x1000) (i32.shl (local.get $i) (i32.const 1)))
        (i32.and (i32.const 63) (i32.add (local.get $shift)
          (i32.add (i32.and (local.get $i) (i32.const 255)) (i32.shr_u (local.get $i) (i32.const 8))))))
      (br_if $pixels (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 61440))))
    (local.set $i (i32.add (i32.const 733) (i32.ne (i32.rem_u (local.get $m) (i32.const 5)) (i32.const 0))))
    (if (i32.eq (local.get $m) (i32.const 1)) (then (local.set $i (i32.const 716))))
    (loop $samples
      (global.set $phase (i32.add (global.get $phase) (i32.add (i32.const 2) (global.get $keys))))
      (i32.store16 (i32.add (i32.const 0x40000) (i32.shl (global.get $count) (i32.const 1)))
        (select (i32.const 6000) (i32.const -6000) (i32.and (global.get $phase) (i32.const 64))))
      (global.set $count (i32.add (global.get $count) (i32.const 1)))
      (br_if $samples (local.tee $i (i32.sub (local.get $i) (i32.const 1))))))
"""


def module(head: str = "", body: str = "", skip: tuple[str, ...] = (), memory: str = "176", **functions: str) -> bytes:
    """The toy as a WebAssembly module; ``functions`` replaces or adds exports, ``head`` holds imports."""
    exports = {**_FUNCTIONS, **functions}
    text = "".join(f'(func (export "{name}") {code})' for name, code in exports.items() if name not in skip)
    return bytes(wasmtime.wat2wasm(f'(module {head} (memory (export "memory") {memory}) {_BODY} {body} {text})'))


C_SOURCE = r"""
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#define X __declspec(dllexport)
#else
#define X __attribute__((visibility("default")))
#endif
static uint8_t rom[8 << 20];
static uint16_t frame[61440];
static int16_t sound[4096];
static uint32_t n, keys, phase;
static int count;
static void power(void) { memset(frame, 0, sizeof frame); n = keys = phase = 0; count = 0; }
X int emu_init(void) { return 1; }
X uint8_t *emu_rom_buffer(void) { return rom; }
X int emu_load_rom(int len) { (void)len; if (memcmp(rom, "NES\x1a", 4)) return 0; power(); return 1; }
X int emu_reset(void) { power(); return 1; }
X void emu_set_keys(uint32_t k) { keys = k; }
X void emu_run_frame(void) {
    uint32_t m = n++;
    if (!m) return;
#ifdef CRASH_AT
    if (m == CRASH_AT) abort();
#endif
#ifdef HANG_AT
    while (m == HANG_AT) { volatile int spin = 0; (void)spin; }
#endif
    for (uint32_t i = 0; i < 61440; i++) frame[i] = ((i & 255) + (i >> 8) + m * rom[16] + keys * 7) & 63;
    int samples = m == 1 ? 716 : 733 + (m % 5 != 0);
    for (int i = 0; i < samples && count < 4096; i++) { phase += 2 + keys; sound[count++] = phase & 64 ? 6000 : -6000; }
}
X uint16_t *emu_framebuffer(void) { return frame; }
X int16_t *emu_audio_buffer(void) { return sound; }
X int emu_audio_samples(void) { int c = count; count = 0; return c; }
X int emu_audio_rate(void) { return 44100; }
"""
