"""Gamepads of the player, plugged in and out at any time.

The first pad plugged in is controller 1, the second controller 2; further ones
wait until one of the two is unplugged. SDL's game controller database says which
button is which; a pad it does not know is read as a plain joystick (first
stick or hat; buttons 1 and 2 = B and A, the 7th and 8th = Select and Start).
"""

from __future__ import annotations

from .buttons import Button
from .player_keys import PAD_BUTTONS, PAD_HOLD

DEAD_ZONE = 0.5

_BIT = {"dpad_up": "up", "dpad_down": "down", "dpad_left": "left", "dpad_right": "right"}
_JOYSTICK = ((0, Button.B), (1, Button.A), (6, Button.SELECT), (7, Button.START))


class Pads:
    """The gamepads that are plugged in."""

    def __init__(self, pygame):
        self._pygame = pygame
        self._readers = {}  # instance id: (name, function returning (buttons, held actions))
        self._ports: list[int | None] = [None, None]
        pygame.joystick.init()
        try:
            from pygame._sdl2 import controller

            controller.init()
            self._controller = controller
        except (ImportError, pygame.error):
            self._controller = None

    def added(self, index: int) -> str:
        """SDL has found the device ``index`` (JOYDEVICEADDED); a message."""
        pygame = self._pygame
        try:
            if self._controller and self._controller.is_controller(index):
                device = self._controller.Controller(index)
                stick = device.as_joystick()
                read = self._controller_reader(device)
            else:
                stick = pygame.joystick.Joystick(index)
                read = _joystick_reader(stick)
        except pygame.error as error:
            return f"Gamepad not usable: {error}"
        key = stick.get_instance_id()
        self._readers[key] = (stick.get_name(), read)
        self._assign()
        return self._message(key)

    def removed(self, key: int) -> str:
        """The device with the instance id ``key`` is gone (JOYDEVICEREMOVED); a message."""
        if key not in self._readers:
            return ""
        name = self._readers.pop(key)[0]
        self._ports = [None if port == key else port for port in self._ports]
        self._assign()
        return f"Unplugged: {name}"

    def read(self) -> tuple[int, int, set[str]]:
        """Buttons of controllers 1 and 2, and the actions that are held (``fast``, ``back``)."""
        buttons, actions = [0, 0], set()
        for port, key in enumerate(self._ports):
            if key is not None:
                held, acting = self._readers[key][1]()
                buttons[port] = held
                actions |= acting
        return buttons[0], buttons[1], actions

    def _assign(self):
        waiting = [key for key in self._readers if key not in self._ports]
        for port in (0, 1):
            if self._ports[port] is None and waiting:
                self._ports[port] = waiting.pop(0)

    def _message(self, key):
        name = self._readers[key][0]
        if key in self._ports:
            return f"Controller {self._ports.index(key) + 1}: {name}"
        return f"{name} waits: both controllers have a gamepad"

    def _controller_reader(self, device):
        pygame = self._pygame
        codes = {
            _BIT.get(name, name): getattr(pygame, f"CONTROLLER_BUTTON_{name.upper()}")
            for name in ("a", "b", "x", "y", "back", "start", "leftshoulder", "rightshoulder", *_BIT)
        }
        bits = [(codes[name], bit) for name, bit in PAD_BUTTONS.items()]
        actions = [(codes[name], action) for name, action in PAD_HOLD.items()]
        axis_x, axis_y = pygame.CONTROLLER_AXIS_LEFTX, pygame.CONTROLLER_AXIS_LEFTY

        def read():
            held = _stick(device.get_axis(axis_x) / 32768, device.get_axis(axis_y) / 32768)
            for code, bit in bits:
                if device.get_button(code):
                    held |= bit
            return int(held), {action for code, action in actions if device.get_button(code)}

        return read


def _joystick_reader(stick):
    axes, hats, count = stick.get_numaxes(), stick.get_numhats(), stick.get_numbuttons()

    def read():
        held = _stick(stick.get_axis(0), stick.get_axis(1)) if axes >= 2 else 0
        if hats:
            x, y = stick.get_hat(0)
            held |= _stick(x, -y)
        for number, bit in _JOYSTICK:
            if number < count and stick.get_button(number):
                held |= bit
        return int(held), set()

    return read


def _stick(x, y):
    held = Button(0)
    if abs(x) > DEAD_ZONE:
        held |= Button.RIGHT if x > 0 else Button.LEFT
    if abs(y) > DEAD_ZONE:
        held |= Button.DOWN if y > 0 else Button.UP
    return held
