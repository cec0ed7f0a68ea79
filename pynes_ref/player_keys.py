"""What the keys and buttons of the player do: one table for the window, the help and the README.

Opposite directions of one pad are never held together: a real pad's rocker
prevents it and some games go wrong on it. The direction pressed last counts.
"""

from __future__ import annotations

from .buttons import Button

KEYS_1 = {
    "up": Button.UP, "down": Button.DOWN, "left": Button.LEFT, "right": Button.RIGHT,
    "x": Button.A, "z": Button.B, "return": Button.START, "right shift": Button.SELECT,
}  # fmt: skip
"""Keyboard of controller 1, by pygame's key names."""

KEYS_2 = {
    "i": Button.UP, "k": Button.DOWN, "j": Button.LEFT, "l": Button.RIGHT,
    "g": Button.A, "f": Button.B, "y": Button.START, "t": Button.SELECT,
}  # fmt: skip
"""Keyboard of controller 2."""

HOLD = {"tab": "fast", "backspace": "back"}
"""Keys that act while they are held."""

COMMANDS = {
    "p": "pause",
    ".": "advance",
    ",": "step_back",
    "shift+tab": "toggle_fast",
    "f5": "save_slot",
    "f7": "load_slot",
    "ctrl+r": "reset",
    "ctrl+shift+r": "power_cycle",
    "f9": "record",
    "f12": "screenshot",
    "f8": "aspect",
    "f11": "fullscreen",
    "=": "larger",
    "-": "smaller",
    "m": "mute",
    "f1": "help",
    "ctrl+q": "quit",
    "escape": "escape",
    **{str(n): f"slot_{n}" for n in range(10)},
}
"""Keys that act once, with their modifiers."""

ALIASES = {"break": "p", "pause": "p", "+": "=", "[+]": "=", "[-]": "-"}

PAD_BUTTONS = {
    "a": Button.A, "b": Button.A, "x": Button.B, "y": Button.B, "back": Button.SELECT, "start": Button.START,
    "up": Button.UP, "down": Button.DOWN, "left": Button.LEFT, "right": Button.RIGHT,
}  # fmt: skip
"""Game controller, by SDL's button names (an Xbox pad's letters): the lower and right
buttons are A, the left and upper ones B."""

PAD_HOLD = {"rightshoulder": "fast", "leftshoulder": "back"}

HELP = (
    ("Controller 1", "arrows, X = A, Z = B, Enter = Start, right Shift = Select"),
    ("Controller 2", "I J K L, G = A, F = B, Y = Start, T = Select"),
    ("Gamepad", "D-pad or stick; lower, right = A; left, upper = B; shoulders = rewind, fast"),
    ("P", "pause", "Backspace", "rewind (hold)"),
    (".", "advance one frame", ",", "back one frame"),
    ("Tab", "fast forward (hold)", "Shift+Tab", "fast forward on, off"),
    ("0 ... 9", "choose a save slot", "F5, F7", "save to it, load it"),
    ("Ctrl+R", "reset", "Ctrl+Shift+R", "power off and on"),
    ("F9", "record input", "F12", "screenshot"),
    ("F8", "pixels 8:7 or square", "+, -", "larger, smaller"),
    ("F11", "full screen", "M", "sound off, on"),
    ("F1", "this help", "Ctrl+Q", "quit"),
)
"""Rows of the help: key, what it does, and perhaps another key and what it does."""

_VERTICAL = Button.UP | Button.DOWN
_HORIZONTAL = Button.LEFT | Button.RIGHT


class Rocker:
    """Keeps opposite directions apart: of two held together, the one pressed last counts."""

    def __init__(self):
        self._held = self._out = 0

    def __call__(self, held: int) -> int:
        """The buttons a pad really passes on when ``held`` are pressed."""
        out = held
        for axis in (_VERTICAL, _HORIZONTAL):
            if held & axis == axis:
                newer = held & axis & ~self._held
                keep = newer if newer and newer != axis else self._out & axis
                out = out & ~axis | keep
        self._held, self._out = held, out
        return int(out)


def command_of(name: str, ctrl: bool, shift: bool) -> str | None:
    """The command of a key with these modifiers, or None."""
    name = ALIASES.get(name, name)
    if ctrl:
        return COMMANDS.get(f"ctrl+shift+{name}" if shift else f"ctrl+{name}")
    return (COMMANDS.get(f"shift+{name}") if shift else None) or COMMANDS.get(name)
