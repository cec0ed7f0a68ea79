"""The player's picture and gamepads, in SDL's dummy window and with SDL's virtual gamepads."""

import ctypes
import sys

import numpy as np
import pytest
from driver import pygame, tap
from fakes import FakeConsole


def test_the_picture_is_enlarged_by_whole_numbers(window):
    from pynes_ref.palette import rgb_table

    console = FakeConsole()
    player = window(console)
    screen = player.screen
    screen.square = True
    screen._open(2)
    frame = np.arange(240 * 256, dtype=np.uint16).reshape(240, 256) % 512
    screen.draw(frame)
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).transpose(1, 0, 2)
    assert np.array_equal(shown, rgb_table()[frame].repeat(2, 0).repeat(2, 1))
    screen.toggle_square()
    assert pygame.display.get_window_size() == (585, 480)
    screen.draw(np.full((240, 256), 0x21, dtype=np.uint16))
    shown = pygame.surfarray.array3d(pygame.display.get_surface())
    assert np.abs(shown.astype(int) - rgb_table()[0x21]).max() <= 1  # the averaging rounds down


def test_a_wide_window_has_black_borders(window):
    player = window()
    player.screen.square = True
    pygame.display.set_mode((700, 500), pygame.RESIZABLE)
    player.screen.draw(np.full((240, 256), 0x30, dtype=np.uint16))
    shown = pygame.surfarray.array3d(pygame.display.get_surface())[:, :, 0]
    assert not shown[: (700 - 512) // 2].any()
    assert shown[94 : 94 + 512, 10 : 10 + 480].all()


def test_the_help_fits_the_smallest_window(window):
    player = window()
    tap(player, "f1")
    player.notify("a very long line " * 20)
    player.tick()


class VirtualPad:
    """A gamepad inside SDL: plugged in, pressed and unplugged like a real one."""

    def __init__(self):
        self.sdl = ctypes.CDLL(pygame.base.__file__)
        self.sdl.SDL_JoystickOpen.restype = ctypes.c_void_p
        self.index = self.sdl.SDL_JoystickAttachVirtual(1, 6, 21, 0)
        assert self.index >= 0
        self.stick = ctypes.c_void_p(self.sdl.SDL_JoystickOpen(self.index))

    def button(self, number, down):
        self.sdl.SDL_JoystickSetVirtualButton(self.stick, number, down)

    def axis(self, number, value):
        self.sdl.SDL_JoystickSetVirtualAxis(self.stick, number, ctypes.c_int16(value))

    def unplug(self):
        self.sdl.SDL_JoystickDetachVirtual(self.index)


@pytest.mark.skipif(sys.platform != "linux", reason="reaches into the SDL of the Linux wheel")
def test_gamepads_are_plugged_in_played_and_unplugged(window):
    console = FakeConsole()
    player = window(console)
    player.tick()
    first = VirtualPad()
    player.tick()
    assert player.notice.startswith("Controller 1: ")
    second = VirtualPad()
    player.tick()
    assert player.notice.startswith("Controller 2: ")

    def seen():
        player.tick()
        player.tick()
        return console.seen[-1]

    for number, bit in ((0, 1), (1, 1), (2, 2), (3, 2), (4, 4), (6, 8), (11, 0x10), (12, 0x20), (13, 0x40), (14, 0x80)):
        first.button(number, 1)
        assert seen() == (bit, 0), number
        first.button(number, 0)
    second.axis(0, -32000)
    assert seen() == (0, 0x40)
    first.unplug()
    assert seen() == (0, 0x40)
    assert player.notice.startswith("Unplugged: ")
    second.index = 0  # SDL counts the devices that are left
    second.unplug()
    assert seen() == (0, 0)
