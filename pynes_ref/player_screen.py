"""The player's window: the picture enlarged by whole numbers, and text over it.

An NES pixel on a TV is 8/7 as wide as high. Heights are always whole multiples;
with 8:7 pixels the width is stretched from four times the picture's by
averaging, which keeps all columns equally wide to the eye.
"""

from __future__ import annotations

import numpy as np

from .palette import rgb_table
from .player_keys import HELP

WIDTH, HEIGHT = 256, 240
_WHITE, _GREY, _SHADE, _RED = (255, 255, 255), (170, 200, 255), (0, 0, 0, 220), (255, 80, 80)


class Screen:
    """The window. ``square`` = 1:1 instead of 8:7 pixels."""

    def __init__(self, pygame, title: str, scale: int, square: bool = False, fullscreen: bool = False):
        self._pygame = pygame
        self.scale = scale
        self.square = square
        self.fullscreen = False
        pygame.font.init()
        self._texts: dict = {}
        pygame.display.set_caption(title)
        self._open(self.fitting(scale))
        # Colours in the pixel format of the picture's surface, so that a frame is one table look-up.
        self._picture = pygame.Surface((WIDTH, HEIGHT), 0, 32)
        self._colours = np.array(
            [self._picture.map_rgb(tuple(int(c) for c in rgb)) for rgb in rgb_table()], dtype=np.uint32
        )
        self._wide = pygame.Surface((4 * WIDTH, HEIGHT), 0, 32)
        if fullscreen:
            self.toggle_fullscreen()

    # Size ----------------------------------------------------------------

    def size(self, scale: int) -> tuple[int, int]:
        """Width and height of the picture at a scale."""
        width = WIDTH * scale if self.square else round(WIDTH * scale * 8 / 7)
        return width, HEIGHT * scale

    def fitting(self, scale: int) -> int:
        """The largest scale up to ``scale`` that the desktop has room for."""
        room = max(self._pygame.display.get_desktop_sizes(), key=lambda size: size[0] * size[1], default=(0, 0))
        while scale > 1 and (self.size(scale)[0] > room[0] or self.size(scale)[1] > room[1]):
            scale -= 1
        return scale

    def _open(self, scale):
        self.scale = scale
        self._window = self._pygame.display.set_mode(self.size(scale), self._pygame.RESIZABLE)

    def resize(self, change: int) -> str:
        """Make the window one step larger or smaller; a message."""
        if not self.fullscreen:
            self._open(self.fitting(max(1, self.scale + change)))
        return f"Size {self.scale}"

    def toggle_square(self) -> str:
        """8:7 or square pixels; a message."""
        self.square = not self.square
        if not self.fullscreen:
            self._open(self.fitting(self.scale))
        return "Square pixels" if self.square else "8:7 pixels, as on a TV"

    def toggle_fullscreen(self) -> str:
        """Full screen or window; a message."""
        pygame = self._pygame
        self.fullscreen = not self.fullscreen
        if self.fullscreen:
            self._window = pygame.display.set_mode((0, 0), pygame.FULLSCREEN)
        else:
            self._open(self.scale)
        pygame.mouse.set_visible(not self.fullscreen)
        return ""

    # Drawing -------------------------------------------------------------

    def draw(self, frame: np.ndarray, status: str = "", notice: str = "", show_help: bool = False) -> None:
        """Show a frame, ``uint16[240, 256]``, a line at the top, a line at the bottom, and perhaps the help."""
        pygame = self._pygame
        window = self._window = pygame.display.get_surface()
        pixels = pygame.surfarray.pixels2d(self._picture)
        pixels[:] = np.take(self._colours, frame, mode="clip").T
        del pixels  # unlocks the surface
        room_x, room_y = window.get_size()
        scale = 1
        while self.size(scale + 1)[0] <= room_x and self.size(scale + 1)[1] <= room_y:
            scale += 1
        width, height = self.size(scale)
        picture = self._picture
        if not self.square:
            pygame.transform.scale(picture, self._wide.get_size(), self._wide)
            picture = pygame.transform.smoothscale(self._wide, (width, HEIGHT))
        picture = pygame.transform.scale(picture, (width, height))
        if (width, height) != (room_x, room_y):
            window.fill((0, 0, 0))
        window.blit(picture, ((room_x - width) // 2, (room_y - height) // 2))
        size = max(16, min(room_y // 26, room_x // 30))
        if show_help:
            self._help(window, size)
        if status:
            self._line(window, status, size, 0, _RED if status.startswith("REC") else _WHITE)
        if notice:
            self._line(window, notice, size, 1, _WHITE)
        pygame.display.flip()

    def _text(self, text, size, colour):
        key = (text, size, colour)
        if key not in self._texts:
            if len(self._texts) > 200:
                self._texts.clear()
            self._texts[key] = self._pygame.font.Font(None, size).render(text, True, colour)
        return self._texts[key]

    def _line(self, window, text, size, bottom, colour):
        image = self._text(text, size, colour)
        room = window.get_width()
        if image.get_width() > room - 8:  # long paths: smaller rather than cut off
            ratio = (room - 8) / image.get_width()
            image = self._pygame.transform.smoothscale_by(image, ratio)
        bar = self._pygame.Surface((room, image.get_height() + 6), self._pygame.SRCALPHA)
        bar.fill(_SHADE)
        bar.blit(image, (4, 3))
        window.blit(bar, (0, (window.get_height() - bar.get_height()) * bottom))

    def _help(self, window, size):
        pygame = self._pygame
        step = size + 4
        cells = [[self._text(cell, size, _GREY if i % 2 == 0 else _WHITE) for i, cell in enumerate(row)]
                 for row in HELP]  # fmt: skip
        gap = size
        pairs = [row for row in cells if len(row) == 4]
        columns = [max(row[i].get_width() for row in pairs) + gap for i in range(4)]
        first = max(columns[0], *(row[0].get_width() + gap for row in cells))
        starts = [0, first, first + columns[1], first + columns[1] + columns[2]]
        width = max(starts[len(row) - 1] + row[-1].get_width() for row in cells)
        sheet = pygame.Surface((width + 2 * gap, len(cells) * step + 2 * gap), pygame.SRCALPHA)
        sheet.fill(_SHADE)
        for y, row in enumerate(cells):
            for x, image in zip(starts, row, strict=False):
                sheet.blit(image, (gap + x, gap + y * step))
        room_x, room_y = window.get_size()
        ratio = min(1.0, room_x / sheet.get_width(), room_y / sheet.get_height())
        if ratio < 1:
            sheet = pygame.transform.smoothscale_by(sheet, ratio)
        window.blit(sheet, ((room_x - sheet.get_width()) // 2, (room_y - sheet.get_height()) // 2))
