"""Faulty emulators for ``grader explain``, and what it says about them."""

from __future__ import annotations

import functools

from abi.inprocess import PynesRef
from abi.loader import Emulator, resolve
from abi.recorded import Header
from grader import explain, refcache
from grader.explain_run import Side
from pynes_ref import Console
from pynes_ref.bundled import folder

ROMS = folder("test_roms")
REPLAYS = folder("replays")
REFERENCE = resolve("pynes_ref")


@functools.cache
def job(name="pinewood", frames=420):
    replay = REPLAYS / f"{name}-gameplay.txt"
    return explain.job_of_rom(ROMS / f"{name}.nes", replay if replay.is_file() else None, frames)


class Faulty(PynesRef):
    """Our console with a fault put on its picture (``frame``, ``call``) or its sound (``wave``)."""

    def __init__(self, draw=None, wave=None, before=None):
        super().__init__()
        self._draw, self._wave, self._before = draw, wave, before
        self._calls = 0

    def emu_run_frame(self):
        if self._before:
            self._before(self.console, self._calls)
        super().emu_run_frame()
        self._calls += 1

    def emu_framebuffer(self):
        frame = super().emu_framebuffer()
        return self._draw(frame.reshape(240, 256).copy(), self._calls - 1).reshape(-1) if self._draw else frame

    def emu_audio_samples(self):
        count = super().emu_audio_samples()
        if self._wave and count:
            self._audio = self._wave(self._audio)
        return len(self._audio)


def faulty(**faults):
    return Emulator("faulty", "python", "", opener=lambda: Faulty(**faults))


def explained(candidate, which=None, reference=REFERENCE, **options):
    which = which or job()
    return explain.explain(which, resolve(candidate) if isinstance(candidate, str) else candidate, reference, **options)


def kinds(result):
    return [guess.kind for guess in result.guesses]


@functools.cache
def pictures():
    nes = Console(job().rom)
    return [nes.run_frame(held).copy() for held in job().keys]


def recorded(emulator, which, path):
    """``emulator`` playing ``which``, as a recording."""
    side = Side(resolve(emulator), which)
    header = Header("0" * 64, which.rom_sha256, which.replay_sha256, len(which.keys), 44_100)
    refcache.write(path, header, (side.frame(held) for held in which.keys))
    return resolve(str(path))
