"""Pictures that a test ROM draws, computed from what its program does instead of stored.

full_palette turns rendering off in mid-frame: the PPU then shows the palette
entry that its address points at, and the program's writes to $2007 walk through
the palette at 18 dots an entry, three lines a step. Each line shows what was
written during the line before. flowing_palette does the same with lines of
changing height.

Wiki: https://www.nesdev.org/wiki/PPU_palettes#The_background_palette_hack
"""

from __future__ import annotations

BLACK = 0x0F
STEP = 18  # dots from one write to the next
LINES = 64 * 3 - 1


def _runs(line):
    """[(colour, first dot, length)] of a line."""
    found, start = [], 0
    for x in range(1, len(line) + 1):
        if x == len(line) or line[x] != line[start]:
            found.append((int(line[start]), start, x - start))
            start = x
    return found


def _shows(line, colours):
    """Whether a line shows ``colours``, each one step wide, with black at its sides."""
    runs = [r for r in _runs(line) if r[0] & 0x3F != BLACK]
    inner = [length for _, start, length in runs if start > 0]
    return [r[0] for r in runs] == colours and all(length == STEP for length in inner)


def _triplets(console, frames, brightness_and_tint):
    """64 steps of three lines; ``brightness_and_tint(n)`` of step n: bits 4-5 of its colours, emphasis bits."""
    console.run_frames(frames - 1, render=False, sound=False)
    picture = console.run_frame()
    drawn = [y for y in range(240) if picture[y, 128] & 0x3F != BLACK]
    if not drawn:
        return "a black picture"
    top = drawn[0]
    # A line shows the writes of the line before, and after the last line of the last step nothing is drawn.
    if top == 0 or drawn != list(range(top, top + LINES)):
        return f"the palette is not {LINES} lines in a piece"
    for y in range(LINES):
        brightness, tint = brightness_and_tint(y // 3)
        colours = [tint << 6 | brightness | hue for hue in range(14)]
        if not _shows(picture[top + y], colours):
            return f"line {top + y} should show ${colours[0]:03X} to ${colours[-1]:03X}"
    return None


def full_palette(console, frames):
    """Eight tints of four brightnesses, six lines each."""
    return _triplets(console, frames, lambda n: ((n * 4 & 0x18) << 1, n * 4 >> 5))


def full_palette_smooth(console, frames):
    """Four brightnesses of eight tints, six lines each, the tints from all three emphasis bits to none."""
    tints = (7, 6, 5, 3, 1, 2, 4, 0)
    return _triplets(console, frames, lambda n: (n & 0x30, tints[(n >> 1) & 7]))


def flowing_palette(console, frames):
    """Every line one brightness and tint of hues 1 to 12 in order; in time all 32 of them pass, and they move."""
    seen, pictures = set(), set()
    for frame in range(frames):
        # A call ends some dots into line 0, so a whole picture takes two rendered calls.
        picture = console.run_frames(1, render=frame % 16 in (0, 15), sound=False)
        if frame < frames // 4 or frame % 16:
            continue
        rows = []
        for y in range(240):
            runs = [r for r in _runs(picture[y]) if r[0] & 0x3F != BLACK]
            if not runs:
                rows.append(None)
                continue
            base = runs[0][0] & ~0x0F
            if [r[0] for r in runs] != [base | hue for hue in range(1, 13)] or any(r[2] != STEP for r in runs[1:-1]):
                return f"frame {frame}, line {y}: not the hues 1 to 12 of one brightness and tint"
            rows.append(base)
        seen.update(row for row in rows if row is not None)
        pictures.add(tuple(rows))
    if len(seen) != 32:
        return f"{len(seen)} of 32 brightnesses and tints seen"
    return None if len(pictures) > 8 else "the picture does not flow"


CHECKS = {f.__name__: f for f in (full_palette, full_palette_smooth, flowing_palette)}
