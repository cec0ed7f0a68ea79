"""One emulator with one ROM in it, kept running: what sessions and runs are made of.

It speaks the ABI only, so that any reference will do. A machine is used by one thread at a time; ``lock`` sees to
that, and to ``close`` waiting for a frame that is still being run.
"""

from __future__ import annotations

import io
import threading
import time
import wave
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from abi.candidate import HEIGHT, PIXEL_MASK, PIXELS, WIDTH, CandidateError, EmulatorError, boot, drain, load, start
from abi.loader import Emulator
from grader.oracle.client import Fault
from pynes_ref.palette import rgb_table

FRAME_BYTES = 2 * PIXELS
RGBA_BYTES = 4 * PIXELS
AUDIO_BACKLOG = 64 * 1024 * 1024
"""Bytes of sound kept for who does not ask for it; older samples are dropped."""


class Refused(Fault):
    """The emulator will not have this ROM."""


class Stopped(Fault):
    """The emulator is gone."""


class Machine:
    """Powered on. ``frame`` counts the frames run, ``picture`` is the last one (uint16[61440]), ``sound`` undrained."""

    def __init__(self, emulator: Emulator, rom: bytes, backlog: int = AUDIO_BACKLOG) -> None:
        self.lock = threading.Lock()
        self.frame = 0
        self.keys = 0
        self.picture: NDArray[np.uint16] = np.zeros(PIXELS, np.uint16)
        self.sound: list[NDArray[np.int16]] = []
        self.dropped = 0
        self._samples = 0
        self._backlog = backlog // 2
        self.candidate = emulator.open()
        try:
            start(self.candidate)
            load(self.candidate, rom)
            boot(self.candidate, self.candidate.emu_boot_frames())
        except CandidateError:
            self.close()
            raise Refused("this is not a ROM that the reference can run") from None
        except BaseException:
            self.close()
            raise

    def step(self, keys: int) -> NDArray[np.int16]:
        """One frame with these keys; its samples. A call that traps leaves the picture before it."""
        self.keys = keys
        try:
            self.candidate.emu_set_keys(keys)
            self.candidate.emu_run_frame()
            np.bitwise_and(self.candidate.emu_framebuffer().reshape(-1), PIXEL_MASK, out=self.picture)
            samples = drain(self.candidate)
        except CandidateError as error:
            if error.dead:
                raise Stopped("the reference has stopped") from None
            samples = np.zeros(0, np.int16)
        self.frame += 1
        return samples

    def advance(self, count: int, keys_of: Callable[[int], int] | None = None, seconds: float = 1e9) -> int:
        """Run up to ``count`` frames, but no longer than about ``seconds``, and keep the sound; how many were run."""
        end = time.monotonic() + seconds
        done = 0
        with self.lock:
            while done < count:
                self.keep(self.step(keys_of(self.frame) if keys_of else self.keys))
                done += 1
                if time.monotonic() >= end:
                    break
        return done

    def keep(self, samples: NDArray[np.int16]) -> None:
        """Add to the backlog."""
        self.sound.append(samples)
        self._samples += samples.size
        while self._samples > self._backlog and len(self.sound) > 1:
            gone = self.sound.pop(0).size
            self._samples -= gone
            self.dropped += gone

    @property
    def pending(self) -> int:
        """Samples in the backlog."""
        return self._samples

    def take_sound(self) -> bytes:
        """The backlog, i16 little-endian, and forget it."""
        sound, self.sound, self._samples = self.sound, [], 0
        return samples_bytes(sound)

    def close(self) -> None:
        """Let the emulator go."""
        with self.lock:
            close = getattr(self.candidate, "close", None)
            if close is not None:
                close()


def open_machine(emulator: Emulator, rom: bytes, backlog: int = AUDIO_BACKLOG) -> Machine:
    """A machine; Fault when the emulator cannot be opened at all."""
    try:
        return Machine(emulator, rom, backlog)
    except EmulatorError as error:
        raise Fault(str(error)) from None


# ---- formats ---------------------------------------------------------------------------------------------------------


def samples_bytes(sound: list[NDArray[np.int16]]) -> bytes:
    """Samples as i16 little-endian."""
    return np.concatenate(sound).astype("<i2", copy=False).tobytes() if sound else b""


def idx(picture: NDArray[np.uint16]) -> bytes:
    """A picture as emu_framebuffer has it: 122 880 bytes."""
    return picture.astype("<u2", copy=False).tobytes()


def rgba(picture: NDArray[np.uint16]) -> bytes:
    """A picture as R G B 255: 245 760 bytes."""
    out = np.full((PIXELS, 4), 255, np.uint8)
    out[:, :3] = rgb_table()[picture]
    return out.tobytes()


def ppm(picture: NDArray[np.uint16]) -> bytes:
    """A picture as binary PPM."""
    return f"P6\n{WIDTH} {HEIGHT}\n255\n".encode() + rgb_table()[picture].tobytes()


def png(picture: NDArray[np.uint16]) -> bytes:
    """A picture as RGB PNG."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(rgb_table()[picture].reshape(HEIGHT, WIDTH, 3)).save(out, "PNG", compress_level=1)
    return out.getvalue()


def wav(sound: list[NDArray[np.int16]], rate: int) -> bytes:
    """Mono 16-bit WAV."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples_bytes(sound))
    return out.getvalue()
