"""KITTIWAKE: the archipelago, its tiles, the title picture and the sprites to assembler."""
from pathlib import Path

from tools import art

HERE = Path(__file__).parent
SCREENS = 8
HEIGHT = SCREENS * 30           # tile rows; the world repeats after them
WATER, SAND, GRASS = 0, 1, 2


def heights():
    """Land at the corners of the 8x8 tiles, from a few dozen round islands: 0 water, 1 sand, 2 grass."""
    rng = art.Rng(20)
    blobs = []
    for i in range(26):
        cy = i * HEIGHT // 26 + rng.below(6)
        cx = rng.below(33)
        r = 4 + rng.below(6)
        blobs.append((cx, cy, r))
        if rng.below(2):
            blobs.append((cx + rng.below(9) - 4, cy + rng.below(9) - 4, r - 1))
    field = []
    for y in range(HEIGHT):
        row = []
        for x in range(33):
            best = 0
            for cx, cy, r in blobs:
                dy = min((y - cy) % HEIGHT, (cy - y) % HEIGHT)
                d2 = (x - cx) ** 2 + dy * dy
                best = max(best, 1000 - 1000 * d2 // (r * r))
            best += rng.below(160) - 80 if best else 0
            row.append(GRASS if best > 560 else SAND if best > 250 else WATER)
        field.append(row)
    field.append(field[0])
    for y in range(0, HEIGHT, 2):       # a 16x16 cell has one palette: water and grass never meet in one
        for x in range(0, 32, 2):
            spots = [(j % HEIGHT, i) for j in range(y, y + 3) for i in range(x, x + 3)]
            if any(field[j][i] == WATER for j, i in spots):
                for j, i in spots:
                    field[j][i] = min(field[j][i], SAND)
    field[HEIGHT] = field[0]
    return field


def shore(corners, low, high):
    """A tile between two kinds of ground. corners: 4 flags (nw, ne, sw, se); low/high: painters of one pixel."""
    nw, ne, sw, se = corners
    tile = art.blank(8, 8)
    for y in range(8):
        for x in range(8):
            left, right, up, down = 15 - 2 * x, 2 * x + 1, 15 - 2 * y, 2 * y + 1
            v = (nw * left + ne * right) * up + (sw * left + se * right) * down
            v = v * 100 // 256 + (x * 7 + y * 5) % 5 * 3 - 6
            tile[y][x] = high(x, y, v) if v >= 50 else low(x, y, v)
    return tile


def ground_tiles(tiles):
    """-> two functions (x, y, corners) -> tile number."""
    def water(x, y, v):
        return 2 if v >= 34 else 1 if v >= 22 and (x + y) % 2 else 0

    def sand(x, y, v):
        return 3

    def grass(x, y, v):
        return 1 if v < 64 else 2

    beach = {}
    wood = {}
    for m in range(16):
        c = [(m >> 3) & 1, (m >> 2) & 1, (m >> 1) & 1, m & 1]
        if 0 < m < 15:
            beach[m] = tiles.add(shore(c, water, sand))
            wood[m] = tiles.add(shore(c, sand, grass))
    return beach, wood


def speckled(base, other, seed, n):
    rng = art.Rng(seed)
    t = art.blank(8, 8, base)
    for _ in range(n):
        t[rng.below(8)][rng.below(8)] = other
    return t


def trees():
    """16x16: four round crowns seen from above."""
    c = art.blank(16, 16, 2)
    for cx, cy, r in ((4, 4, 4), (12, 5, 4), (5, 12, 4), (12, 12, 3)):
        for y in range(16):
            for x in range(16):
                d = (x - cx) ** 2 + (y - cy) ** 2
                if d <= r * r:
                    c[y][x] = 1 if d > (r - 1) ** 2 or x - cx + y - cy > 1 or (x + y) % 3 == 0 else 2
    return c


def hut():
    c = art.blank(16, 16, 2)
    for y in range(3, 14):
        for x in range(2, 14):
            c[y][x] = 1 if y in (3, 13) or x in (2, 13) or y == 8 else 3 if y < 8 or x % 2 else 1
    return c


RIPPLES = []
for phase in range(4):
    frame = art.blank(8, 8)
    for x in range(2 + phase % 2, 6):
        frame[2 + (phase + x // 3) % 3][(x + phase) % 8] = 1
    other = art.blank(8, 8)
    for x in range(5):
        other[5 - (phase + x // 2) % 3][(x + 2 * phase) % 8] = 1
    RIPPLES.append((frame, other))


def level(tiles):
    field = heights()
    beach, wood = ground_tiles(tiles)
    rng = art.Rng(77)
    sands = [tiles.add(speckled(3, 3, 1, 0)), tiles.add(speckled(3, 2, 5, 1))]
    greens = [tiles.add(speckled(2, 2, 1, 0)), tiles.add(speckled(2, 1, 9, 4)), tiles.add(speckled(2, 1, 4, 2))]
    crown = [tiles.add(art.cut(trees(), x, y, 8, 8)) for y in (0, 8) for x in (0, 8)]
    house = [tiles.add(art.cut(hut(), x, y, 8, 8)) for y in (0, 8) for x in (0, 8)]
    grid = [[0] * 32 for _ in range(HEIGHT)]
    pal = [[0] * 16 for _ in range(HEIGHT // 2)]
    sea = [[True] * 16 for _ in range(HEIGHT // 2)]
    for cy in range(HEIGHT // 2):
        for cx in range(16):
            around = [field[cy * 2 + j][cx * 2 + i] for j in range(3) for i in range(3)]
            is_wood = GRASS in around
            pal[cy][cx] = int(is_wood)
            sea[cy][cx] = not any(around)
            kind = rng.below(12)
            for j in range(2):
                for i in range(2):
                    y, x = cy * 2 + j, cx * 2 + i
                    c = [field[y][x], field[y][x + 1], field[y + 1][x], field[y + 1][x + 1]]
                    if is_wood:
                        m = sum((h == GRASS) << (3 - k) for k, h in enumerate(c))
                        t = wood[m] if 0 < m < 15 else sands[0]
                        if m == 15:
                            t = greens[0 if rng.below(3) else 1 + rng.below(2)]
                    else:
                        m = sum((h >= SAND) << (3 - k) for k, h in enumerate(c))
                        t = beach[m] if 0 < m < 15 else sands[rng.below(5) == 0] if m else 0
                        if m == 0 and rng.below(7) == 0:
                            t = 0x10 + rng.below(2)
                    grid[y][x] = t
            if all(h == GRASS for h in around) and kind < 6:
                pic = house if kind == 0 else crown
                for k in range(4):
                    grid[cy * 2 + k // 2][cx * 2 + k % 2] = pic[k]
    return grid, pal, sea


def screens(grid, pal):
    """Screen 0 is the foot of the world (seen first), so the rows go up from the end. 1024 bytes a screen."""
    out = bytearray()
    for s in range(SCREENS):
        top = HEIGHT - 30 * (s + 1)
        for r in range(30):
            out += bytes(grid[top + r])
        for a in range(8):
            for b in range(8):
                v = 0
                for k in range(4):
                    cy = a * 2 + k // 2
                    if cy < 15:
                        v |= pal[top // 2 + cy][b * 2 + k % 2] << (2 * k)
                out.append(v)
    return out


def waves(sea):
    """What comes when: rows to wait, kind, x. Kinds: 1 drones, 2 divers, 3 gunboat, 4 drones that carry a prize."""
    rng = art.Rng(5)
    out, row = [], 0
    plan = [4, 2, 3, 1, 3, 2, 1, 3, 2, 4, 3, 1, 2, 3, 2, 1, 3, 4, 2, 3, 1, 2, 3, 1, 3, 2]
    for i in range(10_000):
        kind = plan[i % len(plan)]
        wait = 5 + rng.below(4)
        if row + wait >= HEIGHT - 4:
            break
        row += wait
        x = 32 + rng.below(160)
        if kind == 3:
            cy = (HEIGHT - 30 - row) // 2       # the cells at the top of the picture by then
            spots = [c for c in range(1, 15) if all(sea[(cy + k) % (HEIGHT // 2)][c] for k in (0, 1))]
            if not spots:
                kind = 2
            else:
                x = spots[rng.below(len(spots))] * 16
        out += [wait, kind, x]
    return bytes(out + [HEIGHT - row, 0xFF, 0])


def title(font_path):
    """The evening sea: sun, its road on the water, the name. -> tiles, 1024 bytes of nametable."""
    tiles = art.TileSet()
    tiles.put(0, art.blank(8, 8))
    art.put_font(tiles, font_path, 0x20, ink=3, shadow=1)
    tiles.put(0x20, art.blank(8, 8))
    art.put_font(tiles, font_path, 0xA0, ink=3, paper=1, chars=set(" PRESTAOMFYN-,I"))
    names = [[0] * 32 for _ in range(30)]
    pals = [[1] * 16 for _ in range(15)]
    sun = art.blank(96, 48)
    for y in range(48):
        for x in range(96):
            d = (x - 47) * (x - 48) + (47 - y) * (47 - y)
            if d <= 46 * 46:
                band = (y - 22) % 8 == 7 or (y > 38 and (y - 22) % 4 == 3)
                sun[y][x] = 0 if y > 20 and band else 3 if y < 18 else 2 if (y + x % 2) < 34 else 1
    for j in range(6):
        for i in range(12):
            names[10 + j][10 + i] = tiles.add(art.cut(sun, i * 8, j * 8, 8, 8))
    rng = art.Rng(9)
    sea = []
    for k in range(6):
        t = art.blank(8, 8, 1)
        for _ in range(3 - k // 3):
            y, x, n = rng.below(8), rng.below(5), 2 + rng.below(3)
            for i in range(n):
                t[y][(x + i) % 8] = 2
        sea.append(tiles.add(t))
    road = []
    for _ in range(4):
        t = art.blank(8, 8, 1)
        for _ in range(4):
            y, x, n = rng.below(8), rng.below(4), 3 + rng.below(4)
            for i in range(n):
                t[y][(x + i) % 8] = 3
        road.append(tiles.add(t))
    shore_line = tiles.add([[2] * 8] + art.blank(8, 7, 1))
    for r in range(16, 30):
        half = 5 - (r - 16) * 3 // 14
        for c in range(32):
            inside = 16 - half <= c < 16 + half
            if r == 16:
                names[r][c] = shore_line
            else:
                names[r][c] = road[rng.below(4)] if inside and rng.below(5) else sea[rng.below(6)]
            pals[r // 2][c // 2] = 2
    glyphs = art.font(font_path)
    for i, ch in enumerate("KITTIWAKE"):
        big = art.big_letter(glyphs[ch], 3, 2, 1)
        for j in range(2):
            for k in range(2):
                names[4 + j][7 + 2 * i + k] = tiles.add(art.cut(big, k * 8, j * 8, 8, 8))
    for r in (2, 3, 4):
        pals[r] = [0] * 16
    for r, s in ((7, "OVER A HUNDRED ISLES"),):
        for i, ch in enumerate(s):
            names[r][6 + i] = 0x20 + ord(ch) - 0x20
    out = bytearray(b for row in names for b in row)
    for a in range(8):
        for b in range(8):
            v = 0
            for k in range(4):
                cy = a * 2 + k // 2
                v |= (pals[cy][b * 2 + k % 2] if cy < 15 else 0) << (2 * k)
            out.append(v)
    return tiles, out


def generate(out):
    font_path = HERE.parent / "lib" / "font.txt"
    glyphs = art.font(font_path)
    bg, spr = art.TileSet(), art.TileSet()
    bg.put(0, art.blank(8, 8))
    for i, t in enumerate(RIPPLES[0]):
        bg.put(0x10 + i, t)
    grid, pal, sea = level(bg)
    text = ""
    for name, (canvas, _) in art.parse((HERE / "sprites.txt").read_text()).items():
        for col in range(0, 16 if len(canvas[0]) > 8 else 8, 8):
            t = spr.add_pair(art.cut(canvas, col, 0, 8, 8), art.cut(canvas, col, 8, 8, 8))
            text += f"SPR_{name.upper()}{'_R' if col else ''} = ${t:02X}\n"
    first = None
    for ch in "0123456789GAMEOVR":
        t = spr.add_pair(art.glyph_tile(glyphs[ch], 3, 0, 1), art.blank(8, 8))
        first = t if first is None else first
        if ch in "GAMEOVR":
            text += f"SPR_CHAR_{ch} = ${t:02X}\n"
    text += f"SPR_DIGIT = ${first:02X}\n"
    title_tiles, title_names = title(font_path)
    (out / "kittiwake_assets.inc").write_text(text)
    src = '.segment "LEVELS"\n.export level, waves\nlevel:\n' + art.asm_bytes(screens(grid, pal))
    src += "waves:\n" + art.asm_bytes(waves(sea), 3)
    src += '.segment "GFX"\n.export chr_title, chr_game, chr_sprites, title_names\n'
    src += "chr_title:\n" + art.asm_bytes(title_tiles.bytes()) + "chr_game:\n" + art.asm_bytes(bg.bytes())
    src += "chr_sprites:\n" + art.asm_bytes(spr.bytes()) + "title_names:\n" + art.asm_bytes(title_names)
    src += '.segment "RODATA"\n.export ripples\nripples:\n'
    src += "".join(art.asm_bytes(art.encode(a) + art.encode(b)) for a, b in RIPPLES)
    (out / "kittiwake_assets.s").write_text(src)
    return f"{title_tiles.used()} title tiles, {bg.used()} background tiles, {spr.used()} sprite tiles"
