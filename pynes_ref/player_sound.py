"""Sound of the player: every frame's samples into a queue that SDL empties.

The picture is paced by the clock and the sound card by its own crystal, so the
queue would slowly run full or dry. Each frame's samples are therefore stretched
or squeezed by up to half a percent (inaudible: a twelfth of a semitone), so
that the queue stays near ``TARGET``. Frames that come in late find enough in
the queue; when it does run dry, sound starts again softly behind a fresh
reserve instead of crackling from one frame to the next.

SDL's own queue is used, through ctypes: its audio thread then never waits for
Python, as a callback in Python would.
"""

from __future__ import annotations

import ctypes
import os
import sys

import numpy as np

RATE = 44_100
CHUNK = 1024
"""Samples that the device takes at a time. With 512 a busy machine's sound server ran dry."""

TARGET = 1800
"""Samples that should be waiting when a frame comes in: 41 ms."""

MAX_BEND = 0.005
_PROPORTIONAL, _INTEGRAL = 0.01, 1e-5
"""Bend per relative lack of samples, and its growth a frame: critically damped, settled in about 10 s."""

FADE = 128
_TAPS = 16
_PHASES = 1024


def _kernel():
    """Windowed-sinc interpolation: row p gives the value p / _PHASES after the middle tap."""
    x = np.arange(_TAPS)[None, :] - (_TAPS // 2 - 1) - np.arange(_PHASES)[:, None] / _PHASES
    rows = np.sinc(0.94 * x) * np.cos(np.pi * x / (_TAPS + 1)) ** 2
    return (rows / rows.sum(axis=1, keepdims=True)).astype(np.float32)


class Resampler:
    """Changes the length of a stream of samples by a ratio that may differ from block to block."""

    def __init__(self):
        self._table = _kernel()
        self.clear()

    def clear(self) -> None:
        """Forget the stream so far."""
        self._past = np.zeros(_TAPS - 1, dtype=np.float32)
        self._at = 0.0

    def __call__(self, samples: np.ndarray, ratio: float) -> np.ndarray:
        """``ratio`` times as many samples, ``int16[m]``; 8 samples late."""
        stream = np.concatenate([self._past, samples.astype(np.float32)])
        room = len(stream) - _TAPS + 1  # positions with all taps inside
        places = self._at + np.arange(int((room - self._at) * ratio) + 2) / ratio
        places = places[places < room]
        first = places.astype(np.int64)
        phase = ((places - first) * _PHASES).astype(np.int64)
        windows = np.lib.stride_tricks.sliding_window_view(stream, _TAPS)[first]
        out = np.einsum("ij,ij->i", windows, self._table[phase])
        self._at = (places[-1] + 1 / ratio if len(places) else self._at) - room
        self._past = stream[room:]
        return np.clip(np.rint(out), -32768, 32767).astype(np.int16)


class Feed:
    """Keeps a queue of samples filled: ``queue.level()`` samples wait in it, ``queue.put(int16[n])`` adds some."""

    def __init__(self, queue):
        self._queue = queue
        self._resample = Resampler()
        self._level = float(TARGET)
        self._drift = 0.0  # what the bend has settled at: the difference of the two clocks
        self._last = 0
        self._playing = False
        self._draining = False

    def add(self, samples: np.ndarray) -> None:
        """The sound of one frame."""
        if not len(samples):
            return
        waiting = self._queue.level()
        if self._draining and waiting > TARGET:
            return
        self._draining = False
        fresh = not self._playing or waiting == 0
        if fresh:
            self._level = float(TARGET)
            self._resample.clear()
        else:
            self._level += (waiting - self._level) / 32
        if waiting > 4 * TARGET or self._level > 2 * TARGET:
            # The device was slow to start, or stood still: leave out what it missed.
            self.stop()
            self._draining = True
            return
        out = self._resample(samples, 1 + self._bend())
        if fresh:
            out[:FADE] = out[:FADE] * np.linspace(0, 1, len(out[:FADE]))
            self._queue.put(np.zeros(max(0, TARGET - waiting), dtype=np.int16))
        self._queue.put(out)
        self._last = int(out[-1]) if len(out) else self._last
        self._playing = True

    def _bend(self):
        lack = (TARGET - self._level) / TARGET
        self._drift = _clip(self._drift + _INTEGRAL * lack)
        return _clip(self._drift + _PROPORTIONAL * lack)

    def stop(self) -> None:
        """No more sound for now: fade out."""
        if self._playing:
            self._queue.put((self._last * np.linspace(1, 0, FADE)).astype(np.int16))
            self._playing = False


def _clip(bend):
    return min(MAX_BEND, max(-MAX_BEND, bend))


class _Spec(ctypes.Structure):
    _fields_ = [
        ("freq", ctypes.c_int), ("format", ctypes.c_uint16), ("channels", ctypes.c_uint8),
        ("silence", ctypes.c_uint8), ("samples", ctypes.c_uint16), ("padding", ctypes.c_uint16),
        ("size", ctypes.c_uint32), ("callback", ctypes.c_void_p), ("userdata", ctypes.c_void_p),
    ]  # fmt: skip


class SdlQueue:
    """An SDL audio device fed by SDL_QueueAudio. Raises OSError when there is none."""

    _INIT_AUDIO = 0x10
    _S16 = 0x8010 if sys.byteorder == "little" else 0x9010

    def __init__(self, pygame):
        self._sdl = sdl = _library(pygame)
        sdl.SDL_GetError.restype = ctypes.c_char_p
        sdl.SDL_OpenAudioDevice.argtypes = [
            ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(_Spec), ctypes.c_void_p, ctypes.c_int
        ]  # fmt: skip
        sdl.SDL_OpenAudioDevice.restype = ctypes.c_uint32
        sdl.SDL_QueueAudio.argtypes = [ctypes.c_uint32, ctypes.c_char_p, ctypes.c_uint32]
        sdl.SDL_GetQueuedAudioSize.argtypes = [ctypes.c_uint32]
        sdl.SDL_GetQueuedAudioSize.restype = ctypes.c_uint32
        sdl.SDL_PauseAudioDevice.argtypes = [ctypes.c_uint32, ctypes.c_int]
        sdl.SDL_CloseAudioDevice.argtypes = [ctypes.c_uint32]
        spec = _Spec(freq=RATE, format=self._S16, channels=1, samples=CHUNK)
        if sdl.SDL_InitSubSystem(self._INIT_AUDIO) != 0:
            raise OSError(self._error())
        # Allowing no changes makes SDL convert to whatever the device wants.
        self._device = sdl.SDL_OpenAudioDevice(None, 0, ctypes.byref(spec), None, 0)
        if not self._device:
            sdl.SDL_QuitSubSystem(self._INIT_AUDIO)
            raise OSError(self._error())
        sdl.SDL_PauseAudioDevice(self._device, 0)

    def _error(self):
        return (self._sdl.SDL_GetError() or b"no audio device").decode("utf-8", "replace")

    def level(self) -> int:
        """Samples waiting for the device."""
        return self._sdl.SDL_GetQueuedAudioSize(self._device) // 2

    def put(self, samples: np.ndarray) -> None:
        """Add ``int16[n]``."""
        data = np.ascontiguousarray(samples, dtype=np.int16).tobytes()
        self._sdl.SDL_QueueAudio(self._device, data, len(data))

    def close(self) -> None:
        """Give the device back."""
        if self._device:
            self._sdl.SDL_CloseAudioDevice(self._device)
            self._sdl.SDL_QuitSubSystem(self._INIT_AUDIO)
            self._device = 0


def _library(pygame):
    """The SDL 2 that pygame itself uses. Raises OSError when it cannot be reached."""
    if pygame.get_sdl_version()[0] != 2:
        raise OSError("this pygame does not use SDL 2")
    if sys.platform == "win32":
        library = ctypes.CDLL(os.path.join(os.path.dirname(pygame.__file__), "SDL2.dll"))
    else:
        library = ctypes.CDLL(pygame.base.__file__)  # symbols of what it links to are found through it
    if not hasattr(library, "SDL_QueueAudio"):
        raise OSError("pygame's SDL is not reachable")
    return library
