"""What a person does to a console while playing it, without any window.

A session is a console with its rewind memory, save slots, recording and
battery file. ``player.py`` maps keys to its methods; each returns the line
that tells the player what happened, failures included, because a game must
not end over a full disk.

What changes the past of a recording:

- Going back shortens it, and frame advance lengthens it like play.
- A slot saved while recording carries its input; loading it takes the
  recording back to there. Other slots are refused while recording.
- Reset and power cycle are refused: a replay cannot hold them.
- Controller 2 is disconnected: a replay holds controller 1 only.
- It starts at power-on with empty battery RAM, as a replay does, so the
  battery file is neither read nor written until the next power cycle. The
  same holds after such a slot is loaded outside a recording.
"""

from __future__ import annotations

import time
from os import PathLike
from pathlib import Path

import numpy as np

from . import battery
from .recorder import Recorder
from .rewind import Rewind
from .savestate import StateError
from .slots import Slots, data_folder, game_folder

POWER_ON_CYCLES = 8
BATTERY_EVERY = 600
"""Frames between two looks at the battery RAM; it is written when it has changed."""


class PlayerError(ValueError):
    """The player cannot start or end as asked: one line saying why and what to do."""


class Session:
    """One console being played.

    rom_path: where the ROM came from; the battery file lies beside it. None = no battery file.
    folder: base folder for slots, screenshots and recordings; default ``slots.data_folder()``.
    record: file for a recording from power-on. Raises PlayerError when that is not possible.
    """

    def __init__(
        self,
        console,
        rom_path: str | PathLike | None = None,
        folder: str | PathLike | None = None,
        record: str | PathLike | None = None,
        rewind: Rewind | None = None,
    ):
        self.console = console
        self.title = Path(rom_path).stem if rom_path is not None else "game"
        sha256 = console.cartridge.sha256
        self.folder = game_folder(Path(folder) if folder is not None else data_folder(), self.title, sha256)
        self.slots = Slots(self.folder, self.title, sha256)
        self.slot = 0
        self.rewind = rewind if rewind is not None else Rewind()
        self.recorder: Recorder | None = None
        self._battery_file = battery.battery_path(rom_path) if rom_path is not None else None
        self._battery_in = True
        self._battery_saved = console.battery_ram.copy()
        self._frames = 0
        if record is not None:
            self._record_from_power_on(record)
        elif console.cycles == POWER_ON_CYCLES:  # a state loaded before has its own RAM
            self._read_battery()
        self.rewind.push(console.snapshot())

    # Time ----------------------------------------------------------------

    def run_frame(self, buttons: int = 0, buttons2: int = 0) -> tuple[np.ndarray, str]:
        """Run a frame; its sound, ``int16[n]``, and a message (mostly empty)."""
        console, message = self.console, ""
        if self.recorder:
            buttons2 = 0
        console.run_frame(buttons, buttons2)
        sound = console.drain_audio()
        self.rewind.push(console.snapshot())
        if self.recorder:
            try:
                self.recorder.add(buttons)
            except OSError as error:
                message = _failed("Recording not written", error)
        self._frames += 1
        if self._frames % BATTERY_EVERY == 0:
            message = self.save_battery() or message
        return sound, message

    def go_back(self) -> bool:
        """Undo the last frame (or what else was done last); False at the end of the memory."""
        found = self.rewind.pop()
        if found is None:
            return False
        state, frames = found
        self.console.restore(state)
        if self.recorder:
            self.recorder.go_back(frames)
        return True

    def reset(self) -> str:
        """Press the Reset button."""
        if self.recorder:
            return "Recording: a replay cannot hold Reset; end the recording first"
        self.console.reset()
        self.rewind.push(self.console.snapshot(), 0)
        return "Reset"

    def power_cycle(self) -> str:
        """Switch off and on, with the battery in."""
        if self.recorder:
            return "Recording: a replay cannot hold a power cycle; end the recording first"
        message = self.save_battery()
        if self._battery_in:
            self.console.power_cycle()
        else:
            self._blank_power_on()
            self._battery_in = True
            self.rewind.clear()  # what is there holds RAM that is not the battery's
            try:
                self._read_battery()
            except PlayerError as error:
                self._battery_in = False
                message = str(error)
        self.rewind.push(self.console.snapshot(), 0)
        return message or "Power off and on"

    # Slots ---------------------------------------------------------------

    def choose_slot(self, slot: int) -> str:
        """Make ``slot`` the one to save to and load from."""
        self.slots.path(slot)
        self.slot = slot
        return f"Slot {slot}: {self.slots.describe(slot)}"

    def save_slot(self) -> str:
        """Save to the chosen slot."""
        keys = bytes(self.recorder.keys) if self.recorder else None
        try:
            self.slots.save(self.slot, self.console.save_state(), keys)
        except OSError as error:
            return _failed(f"Slot {self.slot} not saved", error)
        return f"Saved to slot {self.slot}"

    def load_slot(self) -> str:
        """Load the chosen slot; nothing changes when that fails."""
        try:
            state, keys = self.slots.load(self.slot)
            if self.recorder and keys is None:
                return f"Recording: slot {self.slot} was not saved in one; end the recording first"
            message = self.save_battery()
            self.console.load_state(state)
        except FileNotFoundError:
            return f"Slot {self.slot} is empty"
        except (OSError, StateError) as error:
            return _failed(f"Slot {self.slot} not loaded", error)
        if self.recorder:
            self.recorder.take_over(keys)
            self.rewind.clear()
        elif keys is not None and self._battery_in:
            self._battery_in = False
            self.rewind.clear()
            message = message or f"Loaded slot {self.slot}, from a recording: battery file off until a power cycle"
        self.console.drain_audio()
        self.rewind.push(self.console.snapshot(), 0)
        return message or f"Loaded slot {self.slot}"

    # Recording and pictures ----------------------------------------------

    def toggle_recording(self) -> str:
        """Begin a recording from power-on in a new file, or end the present one."""
        if self.recorder:
            return self._end_recording()
        message = self.save_battery()
        if message:
            return f"{message}; not recording"
        path = self._new_file(".txt")
        before = self.console.snapshot()
        self._blank_power_on()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._record_from_power_on(path)
        except (OSError, PlayerError) as error:
            self.console.restore(before)
            return _failed("Not recording", error)
        self.rewind.clear()
        self.rewind.push(self.console.snapshot())
        return f"Recording from power-on to {path}"

    def screenshot(self) -> str:
        """Write the picture as a PNG of 256 x 240."""
        from .files import atomic_write
        from .headless import png_bytes

        path = self._new_file(".png")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(path, png_bytes(self.console.rgb()))
        except OSError as error:
            return _failed("Screenshot not written", error)
        return f"Screenshot {path}"

    def _end_recording(self):
        recorder, self.recorder = self.recorder, None
        try:
            recorder.save()
        except OSError as error:
            return _failed("Recording not written", error)
        return f"Recorded {recorder.frames} frames to {recorder.path}"

    def _record_from_power_on(self, path):
        if self.console.cycles != POWER_ON_CYCLES:
            raise PlayerError("a recording starts at power-on; do not load a state before it")
        try:
            self.recorder = Recorder(path, self.title, self.console.cartridge.sha256)
        except FileExistsError:
            raise PlayerError(f"{path} exists; name another file, or move that one away") from None
        except OSError as error:
            raise PlayerError(f"cannot write {path}: {error.strerror or error}") from None
        self._battery_in = False

    def _blank_power_on(self):
        self.console.battery_ram[:] = 0
        self.console.power_cycle()

    def _new_file(self, suffix):
        stem = time.strftime("%Y%m%d-%H%M%S")
        path = self.folder / f"{stem}{suffix}"
        number = 2
        while path.exists():
            path = self.folder / f"{stem}-{number}{suffix}"
            number += 1
        return path

    # Battery and the end --------------------------------------------------

    def save_battery(self) -> str:
        """Write the battery file if the battery is in and its RAM has changed; a message only on failure."""
        ram = self.console.battery_ram
        if not self._battery_in or self._battery_file is None or np.array_equal(ram, self._battery_saved):
            return ""
        try:
            battery.save_battery(self.console.cartridge, self.console._nes, self._battery_file)
        except battery.BatteryError as error:
            return f"Battery RAM not saved: {error}"
        self._battery_saved = ram.copy()
        return ""

    def close(self) -> list[str]:
        """End the session, writing what is unwritten; the failures, one line each."""
        failed = [self.save_battery()]
        if self.recorder:
            message = self._end_recording()
            failed.append("" if message.startswith("Recorded") else message)
        return [line for line in failed if line]

    def _read_battery(self):
        if self._battery_file is None:
            return
        try:
            battery.load_battery(self.console.cartridge, self.console._nes, self._battery_file)
        except battery.BatteryError as error:
            raise PlayerError(str(error)) from None
        self._battery_saved = self.console.battery_ram.copy()


def _failed(what, error):
    return f"{what}: {getattr(error, 'strerror', None) or error}"
