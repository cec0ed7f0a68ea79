"""PINEWOOD: pictures, map and palettes to assembler."""
from pathlib import Path

from tools import art

HERE = Path(__file__).parent
ROWS = 13                       # 16-pixel rows of the playfield, under the status bar
CHUNK = 32
SOLID = {"sky": 0}


def pine(height, half, seed):
    """A fir of overlapping tiers: lit on the left, ragged below, a trunk at the foot. 32 wide, `height` high."""
    rng = art.Rng(seed)
    c = art.blank(32, height)
    mid, top, foot = 16, 1, height - 9
    for y in range(foot - 3, height):
        for x in range(mid - 3, mid + 3):
            c[y][x] = 1
    tiers = max(3, height // 15)
    for t in range(tiers):
        y0 = top + (foot - top) * t // (tiers + 1)
        y1 = top + (foot - top) * (t + 2) // (tiers + 1)
        wide = half * (t + 2) // (tiers + 1)
        for y in range(y0, y1 + 1):
            w = max(1, wide * (y - y0 + 1) // (y1 - y0 + 1))
            w = max(1, w - rng.below(2))
            for x in range(mid - w, mid + w):
                edge = y >= y1 - 1 and (x + t) % 3 == 0
                if edge:
                    continue
                k = x - (mid - w)
                if y >= y1 - 2 or k >= 2 * w - 2 - (y - y0) // 4:
                    c[y][x] = 1
                elif k <= 1 + w // 3 and (x + y) % 4 != 3 and y < y1 - 3:
                    c[y][x] = 3
                else:
                    c[y][x] = 1 if rng.below(9) == 0 else 2
    return c


def cloud():
    c = art.blank(32, 16)
    for cx, cy, r in ((7, 10, 5), (14, 7, 6), (22, 8, 6), (27, 11, 4)):
        for y in range(16):
            for x in range(32):
                if (x - cx) ** 2 + (y - cy) ** 2 <= r * r and y < 14:
                    c[y][x] = 2
    for x in range(32):
        c[13][x] = 0
        if x % 2:
            c[12][x] = 0
    return c


def hill():
    """A far ridge, two metatiles wide and two high."""
    c = art.blank(64, 32)
    rng = art.Rng(5)
    for x in range(64):
        d = abs(x - 32)
        h = max(0, 30 - d + (2 if x % 5 == 0 else 0) - rng.below(2))
        for y in range(32 - h, 32):
            c[y][x] = 3 if h > 18 and y < 32 - h + 4 + (x * 3 % 4) and x < 36 else 2 if (x < 30 + (y * 5 % 4)) else 1
    return c


def cabin():
    """The end of a stage: a log cabin, 3 metatiles by 3, with a lit window and a door."""
    c = art.blank(48, 48)
    for y in range(18, 48):
        for x in range(4, 44):
            c[y][x] = 1 if (y - 18) % 5 == 4 else 2
    for y in range(2, 19):
        w = 6 + (y - 2) * 18 // 16
        for x in range(24 - w, 24 + w):
            if 0 <= x < 48:
                c[y][x] = 1 if y in (2, 18) or x in (24 - w, 23 + w) or (x + y * 2) % 8 == 0 else 3
    for y in range(26, 36):
        for x in range(9, 20):
            c[y][x] = 1 if y in (26, 35, 30) or x in (9, 19, 14) else 3
    for y in range(25, 48):
        for x in range(27, 39):
            c[y][x] = 1 if y == 25 or x in (27, 38) else 2 if x % 4 else 1
    c[37][35] = c[36][35] = 3
    return c


class Metatiles:
    def __init__(self, tiles):
        self.tiles, self.rows, self.names = tiles, [], {}

    def add(self, name, canvas, pal, solid=0):
        q = [self.tiles.add(art.cut(canvas, x, y, 8, 8)) for y in (0, 8) for x in (0, 8)]
        row = (*q, pal, solid)
        self.names.setdefault(name, len(self.rows))
        for i, r in enumerate(self.rows):
            if r == row:
                self.names[name] = i
                return i
        self.names[name] = len(self.rows)
        self.rows.append(row)
        return len(self.rows) - 1

    def slice(self, name, canvas, pal, solid=0):
        """A big picture -> rows of metatile numbers."""
        return [[self.add(f"{name}_{x}_{y}", art.cut(canvas, x * 16, y * 16, 16, 16), pal, solid)
                 for x in range(len(canvas[0]) // 16)] for y in range(len(canvas) // 16)]


def level_chunks(meta, big):
    """Each chunk of levels.txt: 32 columns of 16 bytes (13 metatiles, enemy, 2 spare)."""
    chunks, rows = [], []
    for line in (HERE / "levels.txt").read_text().splitlines() + ["= end"]:
        if line.startswith("="):
            if rows:
                chunks.append(rows)
            rows = []
        elif line and not line.startswith(";"):
            rows.append(line.ljust(CHUNK, ".")[:CHUNK])
    n = meta.names
    single = {"o": n["cone"], "R": n["rock"], "f": n["flower"], "b": n["bush"], "=": n["log"], "s": n["sign"]}
    enemies = {"h": 1, "c": 2, "v": 3}
    out = bytearray()
    for rows in chunks:
        rows = ["." * CHUNK] * (ROWS - len(rows)) + rows
        grid = [[n["sky"]] * CHUNK for _ in range(ROWS)]
        enemy = [0] * CHUNK

        def stamp(kind, x, y, grid=grid):
            pic = big[kind]
            for j, prow in enumerate(pic):
                for i, m in enumerate(prow):
                    yy = y - len(pic) + 1 + j
                    if m != n["sky"] and 0 <= x + i < CHUNK and 0 <= yy < ROWS:
                        grid[yy][x + i] = m

        for kinds in ("m", "~", "TtC"):         # far things first
            for y, row in enumerate(rows):
                for x, ch in enumerate(row):
                    if ch in kinds:
                        stamp(ch, x, y)
        for y, row in enumerate(rows):
            for x, ch in enumerate(row):
                if ch == "#":
                    top = y == 0 or rows[y - 1][x] != "#"
                    left = x > 0 and row[x - 1] != "#"
                    right = x + 1 < CHUNK and row[x + 1] != "#"
                    grid[y][x] = n[("grass" if top else "soil") + ("_l" if left else "_r" if right else "")]
                elif ch in single:
                    grid[y][x] = single[ch]
                elif ch in enemies:
                    enemy[x] = enemies[ch] << 4 | (y + 2)
        for x in range(CHUNK):
            out += bytes(grid[y][x] for y in range(ROWS)) + bytes((enemy[x], 0, 0))
    return out, len(chunks)


def generate(out):
    bg, spr = art.TileSet(), art.TileSet()
    font = HERE.parent / "lib" / "font.txt"
    bg.put(0, art.blank(8, 8))
    art.put_font(bg, font, 0x20, ink=2, shadow=1, chars=set(" AEFGHIMNOPRSTVWXY'C0123456789"))
    art.put_font(bg, font, 0xA0, ink=2, paper=1, chars=set(" ACEFGHIORSTX0123456789*"))
    bg.put(0x20, art.blank(8, 8))
    meta = Metatiles(bg)
    flags = {}
    for name, (rows, opt) in art.parse((HERE / "tiles.txt").read_text()).items():
        flags[name] = meta.add(name, rows, int(opt["pal"]), int(opt.get("solid", 0)))
    big = {
        "T": meta.slice("pine", pine(64, 15, 3), 2),
        "t": meta.slice("fir", pine(48, 12, 11), 2),
        "~": meta.slice("cloud", cloud(), 0),
        "m": meta.slice("hill", hill(), 2),
        "C": meta.slice("cabin", cabin(), 3, 4),
    }
    # status bar: its last row is a plank with an edge, on which sprite 0 hits
    plank = art.blank(8, 8, 1)
    for x in range(8):
        plank[0][x] = 3
        plank[1][x] = 2 if x % 8 < 7 else 1
        plank[2][x] = 3 if x % 8 else 1
    logo = "PINEWOOD"
    glyphs = art.font(font)
    logo_tiles = []
    for ch in logo:
        big_ch = art.big_letter(glyphs[ch], 2, 3, 1)
        logo_tiles.append([bg.add(art.cut(big_ch, x, y, 8, 8)) for y in (0, 8) for x in (0, 8)])
    tile_plank = bg.add(plank)
    tile_solid = bg.add(art.blank(8, 8, 1))

    sprites = art.parse((HERE / "sprites.txt").read_text())
    text = ""
    marker = art.blank(8, 16)
    marker[15][3] = marker[15][4] = 1
    for name, canvas in [("marker", marker)] + [(k, v[0]) for k, v in sprites.items()]:
        if len(canvas) > 8:
            for col in range(0, 16 if len(canvas[0]) > 8 else 8, 8):
                t = spr.add_pair(art.cut(canvas, col, 0, 8, 8), art.cut(canvas, col, 8, 8, 8))
                text += f"SPR_{name.upper()}{'_R' if col else ''} = ${t:02X}\n"
        else:
            t = spr.add_pair(canvas, art.blank(8, 8))
            text += f"SPR_{name.upper()} = ${t:02X}\n"
    chunks, count = level_chunks(meta, big)
    text += f"TILE_PLANK = ${tile_plank:02X}\nTILE_SOLID = ${tile_solid:02X}\nCHUNKS = {count}\n"
    for k, v in meta.names.items():
        if k in flags:
            text += f"MT_{k.upper()} = {v}\n"
    (out / "pinewood_assets.inc").write_text(text)

    src = '.segment "RODATA"\n.export mt_tl, mt_tr, mt_bl, mt_br, mt_pal, mt_solid, logo_top, logo_bottom\n'
    for i, name in enumerate(("tl", "tr", "bl", "br", "pal", "solid")):
        src += f"mt_{name}:\n" + art.asm_bytes([r[i] for r in meta.rows])
    src += "logo_top:\n" + art.asm_bytes([t for q in logo_tiles for t in q[:2]])
    src += "logo_bottom:\n" + art.asm_bytes([t for q in logo_tiles for t in q[2:]])
    src += '.segment "LEVELS"\n.export level_chunks\nlevel_chunks:\n' + art.asm_bytes(chunks)
    src += '.segment "CHR"\n' + art.asm_bytes(bg.bytes()) + art.asm_bytes(spr.bytes())
    (out / "pinewood_assets.s").write_text(src)
    return f"{bg.used()} background tiles, {spr.used()} sprite tiles, {len(meta.rows)} metatiles, {count} chunks"
