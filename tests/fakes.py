"""A stand-in for the console, so that the player's own logic is tested without compiling the core."""

from types import SimpleNamespace

import numpy as np

SIZE = 4096
RAM = 1024


class FakeConsole:
    """State = a few bytes that depend on all input so far; RAM at the end that a battery keeps."""

    def __init__(self, battery=False, seed=b"fake"):
        size = RAM if battery else 0
        self.cartridge = SimpleNamespace(
            sha256=seed.hex().ljust(64, "0"), battery_range=(0, size), format="NES 2.0", board="FAKE"
        )
        self._state = np.zeros(SIZE, dtype=np.uint8)
        self._nes = {"prg_ram": self._state[SIZE - RAM :]}
        self.battery_ram = self._state[SIZE - RAM : SIZE - RAM + size]
        self.frame = np.zeros((240, 256), dtype=np.uint16)
        self.jammed = False
        self.seen = []
        self._start()

    def _start(self):
        self._state[: SIZE - RAM] = 0
        self._set_cycles(8)

    def _set_cycles(self, value):
        self._state[:8] = np.frombuffer(int(value).to_bytes(8, "little"), dtype=np.uint8)

    @property
    def cycles(self):
        return int.from_bytes(self._state[:8].tobytes(), "little")

    def run_frame(self, buttons=0, buttons2=0):
        self.seen.append((buttons, buttons2))
        at = 8 + self.cycles % 1000
        self._state[at : at + 64] *= 5
        self._state[at : at + 64] += np.uint8((int(self.battery_ram[:1].sum()) + buttons + 3 * buttons2 + 1) & 0xFF)
        self._set_cycles(self.cycles + 29780)
        self.frame[:] = self._state[at]
        return self.frame

    def drain_audio(self):
        return np.zeros(734, dtype=np.int16)

    def rgb(self):
        return np.zeros((240, 256, 3), dtype=np.uint8)

    def snapshot(self):
        return self._state.copy()

    def restore(self, state):
        self._state[:] = state

    def save_state(self):
        return b"FAKE" + self._state.tobytes()

    def load_state(self, data):
        from pynes_ref.savestate import StateError

        if len(data) != SIZE + 4 or data[:4] != b"FAKE":
            raise StateError("damaged")
        self._state[:] = np.frombuffer(data[4:], dtype=np.uint8)

    def reset(self):
        self._state[20] ^= 0xFF

    def power_cycle(self):
        self._start()
