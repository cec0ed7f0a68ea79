"""ASCII art and small drawings to NES pattern tables. Our own format: '.' or '0' is colour 0, '1' '2' '3' the rest."""
from pathlib import Path

GLYPH_HEIGHT = 7


def parse(text):
    """Blocks `@name key=value flag` followed by equal-length rows -> {name: (rows, options)}."""
    blocks, name, rows, options = {}, None, [], {}

    def close():
        if name is not None:
            width = max(len(r) for r in rows)
            blocks[name] = ([[int(c) if c.isdigit() else 0 for c in r.ljust(width, ".")] for r in rows], options)

    for line in text.splitlines():
        line = line.rstrip()
        if line.startswith("@"):
            close()
            head = line[1:].split()
            name, rows = head[0], []
            options = dict((w.split("=") + ["1"])[:2] for w in head[1:])
        elif line and not line.startswith(";"):
            rows.append(line)
    close()
    return blocks


def blank(width, height, colour=0):
    return [[colour] * width for _ in range(height)]


def paste(canvas, rows, x, y, transparent=True):
    for dy, row in enumerate(rows):
        for dx, c in enumerate(row):
            if (c or not transparent) and 0 <= y + dy < len(canvas) and 0 <= x + dx < len(canvas[0]):
                canvas[y + dy][x + dx] = c


def cut(canvas, x, y, width, height):
    return [[canvas[j][i] if j < len(canvas) and i < len(canvas[0]) else 0 for i in range(x, x + width)]
            for j in range(y, y + height)]


def encode(tile):
    """8x8 colours -> 16 bytes: the low bit plane, then the high one."""
    lo = bytes(sum((tile[y][x] & 1) << (7 - x) for x in range(8)) for y in range(8))
    hi = bytes(sum((tile[y][x] >> 1) << (7 - x) for x in range(8)) for y in range(8))
    return lo + hi


class TileSet:
    """One pattern table. `add` reuses an equal tile; `put` writes a fixed place; free places are used in order."""

    def __init__(self, size=256):
        self.tiles = [None] * size

    def put(self, index, tile):
        self.tiles[index] = encode(tile)

    def reserve(self, first, count):
        for i in range(first, first + count):
            if self.tiles[i] is None:
                self.tiles[i] = bytes(16)

    def add(self, tile):
        data = encode(tile)
        for i, t in enumerate(self.tiles):
            if t == data:
                return i
        i = self.tiles.index(None)
        self.tiles[i] = data
        return i

    def add_pair(self, top, bottom):
        """An 8x16 sprite: an even tile and the one after it. Returns the even number (never shared: halves stay +2)."""
        data = encode(top), encode(bottom)
        for i in range(0, len(self.tiles), 2):
            if self.tiles[i] is None and self.tiles[i + 1] is None:
                self.tiles[i:i + 2] = data
                return i
        raise ValueError("pattern table full")

    def used(self):
        return sum(t is not None for t in self.tiles)

    def bytes(self):
        return b"".join(t or bytes(16) for t in self.tiles)


def font(path):
    """{character: 7 rows of 7 bits as lists}."""
    glyphs, names, rows = {}, [], []
    for line in Path(path).read_text().splitlines():
        if line.startswith("= ") or line.startswith("=\t"):
            names, rows = line[2:].split(), []
        elif names and line and not line.startswith("# "):
            rows.append(line.split())
            if len(rows) == GLYPH_HEIGHT:
                for i, n in enumerate(names):
                    glyphs[n] = [[int(c == "#") for c in r[i]] for r in rows]
                names = []
    return glyphs


def glyph_tile(glyph, ink, paper=0, shadow=0):
    """One 8x8 tile; a shadow falls one pixel right and down."""
    tile = blank(8, 8, paper)
    for pass_ in (1, 0):
        for y, row in enumerate(glyph):
            for x, on in enumerate(row):
                if on and pass_ and shadow:
                    tile[y + 1][x + 1] = shadow
                elif on and not pass_:
                    tile[y][x] = ink
    return tile


def put_font(tiles, path, base, ink, paper=0, shadow=0, chars=None):
    """ASCII $20-$5F at `base`; unknown characters are blank paper."""
    glyphs = font(path)
    for code in range(0x20, 0x60):
        ch = chr(code)
        if chars is not None and ch not in chars:
            continue
        tiles.put(base + code - 0x20, glyph_tile(glyphs.get(ch, blank(7, 7)), ink, paper, shadow))


def big_letter(glyph, light, face, edge):
    """A 7x7 glyph doubled to 16x16 with a lit top, a face and a dark outline."""
    big = blank(16, 16)
    for y in range(7):
        for x in range(7):
            if glyph[y][x]:
                for j in range(2):
                    for i in range(2):
                        big[y * 2 + j + 1][x * 2 + i + 1] = light if y < 3 else face
    out = blank(16, 16)
    for y in range(16):
        for x in range(16):
            if big[y][x]:
                above = y == 0 or not big[y - 1][x]
                out[y][x] = light if above else big[y][x]
            elif any(0 <= y + dy < 16 and 0 <= x + dx < 16 and big[y + dy][x + dx]
                     for dy in (-1, 0, 1) for dx in (-1, 0, 1)):
                out[y][x] = edge
    return out


def asm_bytes(data, per_line=16):
    return "\n".join("        .byte " + ",".join(f"${b:02X}" for b in data[i:i + per_line])
                     for i in range(0, len(data), per_line)) + "\n"


class Rng:
    """A small generator of our own, so that drawings never depend on a library's version."""

    def __init__(self, seed):
        self.s = seed

    def below(self, n):
        self.s = (self.s * 1103515245 + 12345) & 0x7FFFFFFF
        return (self.s >> 12) % n
