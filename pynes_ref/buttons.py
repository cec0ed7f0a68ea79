"""The buttons of the standard controller, as bits in the order it shifts them out."""

from enum import IntFlag


class Button(IntFlag):
    """Buttons to hold, combined with ``|``. https://www.nesdev.org/wiki/Standard_controller"""

    A = 0x01
    B = 0x02
    SELECT = 0x04
    START = 0x08
    UP = 0x10
    DOWN = 0x20
    LEFT = 0x40
    RIGHT = 0x80
