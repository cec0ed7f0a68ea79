"""The player: a console in a window, with sound, keyboard and gamepads (pygame-ce).

What the player can do to the console is in ``session.py``, which keys do it in
``player_keys.py``. This module runs frames at 60.0988 Hz by the clock; sound
follows the picture (``player_sound.py``). A frame that comes late is run but
not drawn; after a longer stop time is not caught up.
"""

from __future__ import annotations

import os
import sys
import time

from .player_keys import HOLD, KEYS_1, KEYS_2, Rocker, command_of
from .session import PlayerError, Session

__all__ = ["Player", "PlayerError", "play"]

FRAME_RATE = 60.0988
PERIOD = 1 / FRAME_RATE
NOTICE_SECONDS = 3.0
REPEAT_AFTER, REPEAT_EVERY = 25, 3
"""Ticks until frame advance repeats, and between repeats, while its key is held."""

HEADLESS_HINT = "without a window: pynes-ref run ROM --frames N with --png, --wav, --video, --npz or --hashes FILE"


def play(
    console,
    rom_path=None,
    *,
    scale: int = 3,
    square: bool = False,
    fullscreen: bool = False,
    mute: bool = False,
    record=None,
    folder=None,
) -> None:
    """Play until the window is closed.

    console: a ``Console``, at power-on or with a state loaded.
    rom_path: where its ROM came from: names the window, and battery RAM is kept beside it.
    scale: height of a pixel; reduced if the desktop is smaller. square: 1:1 instead of 8:7 pixels.
    record: file to record input to from power-on; must not exist.
    folder: base of the folders for save slots, screenshots and recordings (slots.data_folder()).

    Raises PlayerError (one line) when there is no display or no pygame-ce, when the battery file or the
    recording cannot be used, and at the end when they could not be written.
    """
    pygame = open_pygame()
    session = None
    failed = []
    try:
        session = Session(console, rom_path, folder, record)
        Player(pygame, session, scale=scale, square=square, fullscreen=fullscreen, mute=mute).run()
    except pygame.error as error:
        raise PlayerError(f"the window failed ({error}); {HEADLESS_HINT}") from None
    finally:
        if session:
            failed = session.close()
        pygame.quit()
    if failed:
        raise PlayerError("; ".join(failed))


def open_pygame():
    """pygame with its display started. Raises PlayerError when there is none."""
    chosen = os.environ.get("SDL_VIDEODRIVER")
    if sys.platform not in ("win32", "darwin", "cygwin"):
        # SDL would choose its offscreen driver and play to nobody.
        if not (chosen or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
            raise PlayerError(f"no display here (neither DISPLAY nor WAYLAND_DISPLAY is set); {HEADLESS_HINT}")
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
    except ImportError:
        raise PlayerError(
            f'the window needs pygame-ce: pip install "pynes-ref[play]"; {HEADLESS_HINT}'
        ) from None
    try:
        pygame.display.init()
    except pygame.error as error:
        raise PlayerError(f"no display here ({error}); {HEADLESS_HINT}") from None
    if not chosen and pygame.display.get_driver() in ("offscreen", "dummy"):
        pygame.quit()
        raise PlayerError(f"no display here (the one in DISPLAY or WAYLAND_DISPLAY does not answer); {HEADLESS_HINT}")
    return pygame


class Player:
    """A session in a window. ``tick`` does one sixtieth of a second, ``run`` all of them."""

    def __init__(self, pygame, session: Session, scale=3, square=False, fullscreen=False, mute=False, sound=True):
        from .player_pads import Pads
        from .player_screen import Screen

        self._pygame = pygame
        self.session = session
        self.screen = Screen(pygame, f"{session.title} - pynes-ref", scale, square, fullscreen)
        self.pads = Pads(pygame)
        self._keyboard = {**{k: (0, int(b)) for k, b in KEYS_1.items()}, **{k: (1, int(b)) for k, b in KEYS_2.items()}}
        self._held: set[str] = set()
        self._tapped: set[str] = set()  # pressed since the last frame, perhaps let go already
        self._rockers = Rocker(), Rocker()
        self.paused = self.fast = self.muted = self.help = False
        self.rewinding = False
        self._going = True
        self._steps = 0
        self._repeat = ("", 0)
        self._rewound = 0
        self._escape_until = 0.0
        self._notice = ("", 0.0)
        self.muted = mute
        self._queue = self._feed = None
        self.notify("F1 = help")
        if sound:
            self._open_sound()

    def _open_sound(self):
        from .player_sound import Feed, SdlQueue

        try:
            self._queue = SdlQueue(self._pygame)
            self._feed = Feed(self._queue)
        except OSError as error:
            self.notify(f"No sound: {error}")

    def notify(self, message: str) -> None:
        """Show a line at the bottom for a while."""
        if message:
            self._notice = (message, time.monotonic() + NOTICE_SECONDS)

    @property
    def notice(self) -> str:
        """The line at the bottom, or nothing."""
        return self._notice[0] if time.monotonic() < self._notice[1] else ""

    # The loop ------------------------------------------------------------

    def run(self) -> None:
        """Play until the player quits."""
        due = time.perf_counter()
        late = 0
        try:
            while self.tick(draw=late == 0 or late > 3):
                due += PERIOD
                wait = due - time.perf_counter()
                late = late % 4 + 1 if wait < -PERIOD else 0
                if wait > 0:
                    time.sleep(wait)
                elif wait < -0.1:
                    due = time.perf_counter()
        finally:
            if self._queue:
                self._queue.close()

    def tick(self, draw: bool = True) -> bool:
        """Handle what has happened, run what is due, draw; False when the player has quit."""
        for event in self._pygame.event.get():
            self._handle(event)
        self._run_due()
        if draw:
            self.screen.draw(self.session.console.frame, self._status(), self.notice, self.help)
        return self._going

    def _run_due(self):
        pads1, pads2, actions = self.pads.read()
        actions |= {HOLD[key] for key in self._held if key in HOLD}
        buttons = self._buttons(pads1, pads2)
        self._repeat_step()
        steps, self._steps = self._steps, 0
        self.rewinding = "back" in actions or steps < 0
        if self.rewinding:
            self._go_back(-steps if steps else 1 + min(3, self._rewound // 120))
            self._rewound += 1
            return
        self._rewound = 0
        if self.paused:
            self._quiet()
            for _ in range(steps):
                self._frame(*buttons)
        elif self.fast or "fast" in actions:
            self._quiet()
            end = time.perf_counter() + 0.75 * PERIOD
            while True:
                self._frame(*buttons)
                if time.perf_counter() > end:
                    break
        else:
            sound = self._frame(*buttons)
            if self._feed and not self.muted:
                self._feed.add(sound)

    def _frame(self, buttons, buttons2):
        sound, message = self.session.run_frame(buttons, buttons2)
        self._tapped.clear()
        self.notify(message)
        return sound

    def _go_back(self, steps):
        self._quiet()
        for _ in range(steps):
            if not self.session.go_back():
                self.notify("The rewind memory ends here")
                return

    def _quiet(self):
        if self._feed:
            self._feed.stop()

    def _buttons(self, pads1, pads2):
        held = [pads1, pads2]
        for key in self._held | self._tapped:
            if key in self._keyboard:
                port, bit = self._keyboard[key]
                held[port] |= bit
        return tuple(rocker(buttons) for rocker, buttons in zip(self._rockers, held))

    def _repeat_step(self):
        key, ticks = self._repeat
        if key not in self._held:
            self._repeat = ("", 0)
            return
        self._repeat = (key, ticks + 1)
        if ticks >= REPEAT_AFTER and ticks % REPEAT_EVERY == 0:
            self._steps = 1 if key == "." else -1

    def _status(self):
        session = self.session
        words = []
        if session.recorder:
            words.append(f"REC {session.recorder.frames}")
        if self.rewinding:
            words.append(f"rewind, {session.rewind.frames / FRAME_RATE:.0f} s left")
        elif self.paused:
            words.append("paused")
        elif self.fast or any(HOLD.get(key) == "fast" for key in self._held):
            words.append("fast")
        if session.console.jammed:
            words.append("the game has crashed (JAM)")
        return "   ".join(words)

    # Events --------------------------------------------------------------

    def _handle(self, event):
        pygame = self._pygame
        if event.type == pygame.QUIT:
            self._going = False
        elif event.type == pygame.KEYDOWN:
            self._key_down(event)
        elif event.type == pygame.KEYUP:
            self._held.discard(pygame.key.name(event.key))
        elif event.type == pygame.WINDOWFOCUSLOST:
            self._held.clear()  # their KEYUPs go to another window
            self._tapped.clear()
        elif event.type == pygame.JOYDEVICEADDED:
            self.notify(self.pads.added(event.device_index))
        elif event.type == pygame.JOYDEVICEREMOVED:
            self.notify(self.pads.removed(event.instance_id))

    def _key_down(self, event):
        pygame = self._pygame
        mod = getattr(event, "mod", 0)
        if mod & (pygame.KMOD_ALT | pygame.KMOD_GUI):  # the desktop's
            return
        name = pygame.key.name(event.key)
        ctrl = bool(mod & pygame.KMOD_CTRL)
        # Right Shift is Select, so only the left one makes another command of a key.
        command = command_of(name, ctrl, bool(mod & pygame.KMOD_LSHIFT))
        if command:
            self._command(command)
            if command in ("advance", "step_back"):
                self._held.add(name)
                self._repeat = (name, 0)
        elif not ctrl:
            self._held.add(name)
            self._tapped.add(name)

    def _command(self, command):
        session, screen = self.session, self.screen
        if command.startswith("slot_"):
            self.notify(session.choose_slot(int(command[-1])))
            return
        simple = {
            "save_slot": session.save_slot,
            "load_slot": session.load_slot,
            "reset": session.reset,
            "power_cycle": session.power_cycle,
            "record": session.toggle_recording,
            "screenshot": session.screenshot,
            "aspect": screen.toggle_square,
            "fullscreen": screen.toggle_fullscreen,
            "larger": lambda: screen.resize(1),
            "smaller": lambda: screen.resize(-1),
        }
        if command in simple:
            self.notify(simple[command]())
        else:
            getattr(self, f"_do_{command}")()

    def _do_pause(self):
        self.paused = not self.paused

    def _do_advance(self):
        self.paused, self._steps = True, 1

    def _do_step_back(self):
        self.paused, self._steps = True, -1

    def _do_toggle_fast(self):
        self.fast = not self.fast

    def _do_mute(self):
        self.muted = not self.muted
        if self.muted:
            self._quiet()
        self.notify("Sound off" if self.muted else "Sound on")

    def _do_help(self):
        self.help = not self.help

    def _do_quit(self):
        self._going = False

    def _do_escape(self):
        now = time.monotonic()
        if self.help:
            self.help = False
        elif self.screen.fullscreen:
            self.screen.toggle_fullscreen()
        elif now < self._escape_until:
            self._going = False
        else:
            self._escape_until = now + NOTICE_SECONDS
            self.notify("Esc again quits")
