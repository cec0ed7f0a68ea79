"""Pictures for ``grader explain``: both frames and their difference, a close look, tables of the PPU. As PNG."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.explain_watch import Tile, sprite_mask
from grader.metrics.video import HEIGHT, WIDTH
from grader.pictures import difference, palette, rgb_png

RGB = NDArray[np.uint8]
MARK = (255, 0, 200)
GAP = 8
PAPER = (40, 44, 52)
CLOSE_WIDTH, CLOSE_HEIGHT = 32, 24


def frame_rgb(picture: NDArray[np.uint16]) -> RGB:
    return palette().picture(np.asarray(picture).reshape(-1)).reshape(HEIGHT, WIDTH, 3)


def enlarged(image: RGB, scale: int) -> RGB:
    return image.repeat(scale, axis=0).repeat(scale, axis=1)


def side_by_side(*images: RGB) -> RGB:
    height = max(image.shape[0] for image in images)
    width = sum(image.shape[1] for image in images) + GAP * (len(images) - 1)
    sheet = np.full((height, width, 3), PAPER, np.uint8)
    x = 0
    for image in images:
        sheet[: image.shape[0], x : x + image.shape[1]] = image
        x += image.shape[1] + GAP
    return sheet


def frames(ref: NDArray[np.uint16], cand: NDArray[np.uint16], first: tuple[int, int], scale: int = 2) -> bytes:
    """Reference, candidate, difference; ticks at the edges point at the first differing pixel."""
    images = [enlarged(image, scale) for image in (frame_rgb(ref), frame_rgb(cand), difference(ref, cand))]
    for image in images:
        _ticks(image, first[0] * scale + scale // 2, first[1] * scale + scale // 2)
    return rgb_png(side_by_side(*images))


def _ticks(image: RGB, y: int, x: int, length: int = 10) -> None:
    lines, columns = slice(max(y - 1, 0), y + 1), slice(max(x - 1, 0), x + 1)
    image[lines, :length] = image[lines, -length:] = MARK
    image[:length, columns] = image[-length:, columns] = MARK


def close_place(first: tuple[int, int]) -> tuple[int, int]:
    """Top left pixel of the close look."""
    y = min(max(first[0] - CLOSE_HEIGHT // 2, 0), HEIGHT - CLOSE_HEIGHT)
    x = min(max(first[1] - CLOSE_WIDTH // 2, 0), WIDTH - CLOSE_WIDTH)
    return y, x


def close_look(ref: NDArray[np.uint16], cand: NDArray[np.uint16], first: tuple[int, int], scale: int = 16) -> bytes:
    """The pixels around the first that differs, with a grid; those that differ have a dot."""
    top, left = close_place(first)
    place = slice(top, top + CLOSE_HEIGHT), slice(left, left + CLOSE_WIDTH)
    unequal = (np.asarray(ref) != np.asarray(cand)).reshape(HEIGHT, WIDTH)[place]
    images = []
    for picture in (ref, cand):
        image = enlarged(frame_rgb(picture)[place], scale)
        image[::scale] = image[::scale] // 2 + 32
        image[:, ::scale] = image[:, ::scale] // 2 + 32
        for y, x in np.argwhere(unequal):
            middle = slice(y * scale + scale // 2 - 2, y * scale + scale // 2 + 2)
            image[middle, x * scale + scale // 2 - 2 : x * scale + scale // 2 + 2] = MARK
        _box(image, (first[0] - top) * scale, (first[1] - left) * scale, scale, scale)
        images.append(image)
    return rgb_png(side_by_side(*images))


def _box(image: RGB, y: int, x: int, height: int, width: int, thick: int = 2) -> None:
    rows, columns = slice(y, y + height), slice(x, x + width)
    image[y : y + thick, columns] = image[y + height - thick : y + height, columns] = MARK
    image[rows, x : x + thick] = image[rows, x + width - thick : x + width] = MARK


def _tiles_rgb(console: Any, numbers: NDArray[np.uint8], palettes: NDArray[np.uint8], pattern: int) -> RGB:
    """Tiles of a background in the palette RAM's present colours."""
    shapes = console.pattern_table(pattern)[numbers]  # rows, columns, 8, 8
    cells = palettes[:, :, None, None] * 4 + shapes
    cells = np.where(shapes == 0, 0, cells)
    colours = palette().rgb[np.asarray(console.palette_ram, np.int64) & 0x3F]
    image = colours[cells]
    rows, columns = numbers.shape
    return image.transpose(0, 2, 1, 3, 4).reshape(rows * 8, columns * 8, 3).astype(np.uint8)


def nametables(console: Any, tile: Tile | None) -> bytes:
    """All four nametables as the background would show them now; the tile in question in a box."""
    pattern = console.ppu.ctrl >> 4 & 1
    sheets = [_tiles_rgb(console, console.nametable(n), console.attributes(n), pattern) for n in range(4)]
    image = np.concatenate((np.concatenate(sheets[:2], axis=1), np.concatenate(sheets[2:], axis=1)))
    image[239:241], image[:, 255:257] = 96, 96
    if tile is not None:
        y = tile.nametable // 2 * HEIGHT + tile.row * 8
        x = tile.nametable % 2 * WIDTH + tile.column * 8
        top, left = max(y - 2, 0), max(x - 2, 0)
        _box(image, top, left, min(12, 480 - top), min(12, 512 - left))
    return rgb_png(image)


def pattern_tables(console: Any) -> bytes:
    """Both pattern tables in greys."""
    greys = np.array([16, 96, 168, 240], np.uint8)
    sheets = []
    for which in range(2):
        tiles = greys[console.pattern_table(which)].reshape(16, 16, 8, 8)
        sheets.append(tiles.transpose(0, 2, 1, 3).reshape(128, 128)[:, :, None].repeat(3, axis=2))
    return rgb_png(enlarged(side_by_side(*sheets), 2))


def sprites_only(ref: NDArray[np.uint16], cand: NDArray[np.uint16], console: Any) -> bool:
    """Do all differing pixels lie in the boxes of sprites, and is that worth saying?"""
    unequal = (np.asarray(ref) != np.asarray(cand)).reshape(HEIGHT, WIDTH)
    boxes = sprite_mask(console)
    return bool(unequal.any() and not (unequal & ~boxes).any() and boxes.mean() < 0.5)
