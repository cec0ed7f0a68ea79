"""UNDERTOW: the sea as one wide picture in four phases, the sprites, the title and the list of what drifts by."""
from pathlib import Path

from tools import art

HERE = Path(__file__).parent
WIDE = 512                      # both nametables side by side
ANIM = 128                      # first tile of the bank that changes
PHASES = 4


class Picture:
    """Four phases of one background. Every tile that is the same in all phases goes to the static bank."""

    def __init__(self):
        self.phase = [art.blank(WIDE, 240) for _ in range(PHASES)]
        self.pal = [[0] * (WIDE // 16) for _ in range(15)]

    def each(self, painter):
        for p in range(PHASES):
            painter(self.phase[p], p)


def sky(c, p):
    """Rows 0-5: sky (1) with clouds; the sun; rows 6-7: the swell."""
    for y in range(48):
        for x in range(WIDE):
            c[y][x] = 1
    for cx, cy, s in ((40, 24, 0), (168, 16, 1), (296, 28, 0), (424, 16, 1)):
        puffs = ((0, 0, 7), (10, -4, 9), (22, -2, 8), (32, 1, 6)) if s else ((0, 0, 5), (8, -3, 7), (17, 0, 5))
        for bx, by, r in puffs:
            for y in range(-r, r + 1):
                for x in range(-r, r + 1):
                    if x * x + y * y <= r * r and cy + by + y <= cy + 3:
                        c[cy + by + y][cx + bx + x] = 2
    swell = (0, 0, 1, 1, 2, 3, 3, 4, 4, 4, 3, 3, 2, 1, 1, 0)
    for x in range(WIDE):
        top = 50 + swell[(x + 4 * p) % 16]
        for y in range(48, 64):
            c[y][x] = 1 if y < top else 2 if y < top + 2 else 3 if y < top + 4 and (x + y) % 2 else 0
        if (x + 8 * p) % 32 < 6:
            c[60][x] = 2


def light(c, p):
    """Rows 8-13: clear water (0) with slanting rays (2) and far fish (1)."""
    for y in range(64, 112):
        for x in range(WIDE):
            s = (x + y) % 64
            c[y][x] = 2 if s in (0, 1, 2, 24) and (x - y) % 4 == 0 else 0
    fish = ((1, 1, 0, 0, 0, 1, 0, 0), (0, 1, 1, 1, 1, 1, 1, 0), (0, 1, 1, 1, 1, 3, 1, 1), (1, 1, 0, 1, 1, 1, 1, 0))
    for fx, fy in ((48, 80), (64, 88), (56, 96), (304, 80), (320, 88), (312, 72), (200, 96), (216, 96)):
        for j, row in enumerate(fish):
            for i, v in enumerate(row):
                if v:
                    c[fy + 2 + j][fx + i] = v


def deep(c, p):
    """Rows 14-21: dusk below (1), kelp (2, 3) that sways."""
    for y in range(112, 176):
        for x in range(WIDE):
            if y < 116:
                v = 0
            elif y < 124:
                v = 1 if (x + y * 2) % 4 == 0 or (y > 119 and (x + y) % 2) else 0
            else:
                v = 1
            c[y][x] = v
    sway = ((0, 0, 1, 1, 2, 2, 1, 1), (1, 1, 2, 2, 1, 1, 0, 0), (2, 2, 1, 1, 0, 0, 1, 1), (1, 1, 0, 0, 1, 1, 2, 2))[p]
    plants = ((24, 128), (40, 144), (120, 136), (216, 128), (232, 136), (248, 152), (336, 136), (440, 128), (456, 144))
    for kx, top in plants:
        for y in range(top, 176):
            o = sway[(y // 2) % 8]
            for i in range(4):
                c[y][kx + 2 + o + i] = 3 if i == 1 else 2
            if y % 8 in (2, 3, 4):
                c[y][kx + 1 + o - (y % 8 == 3)] = 2
            if y % 8 in (6, 7):
                c[y][kx + 6 + o] = 2


def sand(c, p):
    """Rows 22-25: dunes (2), corals (3), a bubbling vent."""
    dune = (10, 9, 9, 8, 8, 7, 7, 6, 6, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, *[12] * 8, 11, 11, 10)
    rng = art.Rng(4)
    grain = [[rng.below(14) == 0 for _ in range(32)] for _ in range(32)]
    for x in range(WIDE):
        top = 176 + dune[(x // 2) % 32]
        for y in range(176, 208):
            c[y][x] = 1 if y < top else 3 if y < top + 1 else (3 if grain[y % 32][x % 32] and y % 3 == 0 else 2)
        c[207][x] = c[206][x] = 1
    for x0, kind in ((16, 0), (104, 1), (176, 0), (264, 1), (344, 0), (456, 1)):
        for y in range(176, 200):
            for x in range(24):
                if kind == 0:       # fan
                    dx, dy = x - 12, 200 - y
                    on = dy * dy + dx * dx < 340 and abs(dx) < dy + 2 and (dx * 3 + dy * 2) % 5 < 3
                else:               # fingers
                    on = x % 6 in (1, 2, 3) and y > 178 + (x // 6 * 5) % 11
                if on:
                    c[y][x0 + x] = 3
    for vx in (72, 312):
        for k in range(3):
            y = 196 - ((k * 8 + p * 2) % 24)
            for i, j in ((0, -1), (1, 0), (0, 1), (-1, 0)):
                if y + j < 200:
                    c[y + j][vx + 4 + (k % 2) * 2 - 1 + i] = 3


def letters(c, text, x, y):
    glyphs = art.font(HERE.parent / "lib" / "font.txt")
    for ch in text:
        art.paste(c, art.big_letter(glyphs[ch], 2, 1, 3), x, y)
        x += 16


def scene():
    pic = Picture()
    for painter in (sky, light, deep, sand):
        pic.each(painter)
    for r in range(15):
        for c in range(WIDE // 16):
            pic.pal[r][c] = 0 if r < 4 else 1 if r < 7 else 2 if r < 11 else 3 if r < 13 else 0
    return pic


def split(pic, static, anim):
    """-> 60 rows of tile numbers (left nametable's 30 rows, then the right one's)."""
    names = [[0] * 64 for _ in range(30)]
    for r in range(26):
        for col in range(64):
            four = tuple(art.encode(art.cut(pic.phase[p], col * 8, r * 8, 8, 8)) for p in range(PHASES))
            if len(set(four)) == 1:
                names[r][col] = static.add(art.cut(pic.phase[0], col * 8, r * 8, 8, 8))
            else:
                if four not in anim:
                    anim.append(four)
                names[r][col] = ANIM + anim.index(four)
    for r in range(26, 30):
        for col in range(64):
            names[r][col] = ANIM + 0x20         # blank of the status bar's face
    return names


def nametables(names, pal):
    out = bytearray()
    for side in (0, 1):
        for r in range(30):
            out += bytes(names[r][side * 32:side * 32 + 32])
        for a in range(8):
            for b in range(8):
                v = 0
                for k in range(4):
                    cy = a * 2 + k // 2
                    v |= (pal[cy][side * 16 + b * 2 + k % 2] if cy < 15 else 0) << (2 * k)
                out.append(v)
    return out


def drift():
    """What drifts by: eighths of the way to wait, kind, height. Kinds as in undertow.s; $FF starts again, faster."""
    rng = art.Rng(31)
    out = []
    plan = "pjpfmapjfpmfpajmjpffpmapjfmp"
    kinds = {"p": 1, "j": 2, "f": 3, "m": 4, "a": 5}
    for i in range(90):
        k = plan[i % len(plan)]
        if k == "p":
            y = 60 + rng.below(100)
            bend = rng.below(3)
            for j in range(5):
                dy = (0, j * 6, -abs(j - 2) * 8)[bend]
                out += [(6 + rng.below(4)) if j == 0 else 2, 1, max(48, min(180, y + dy))]
        else:
            out += [5 + rng.below(6), kinds[k], 56 + rng.below(120)]
    return bytes(out + [8, 0xFF, 0])


def generate(out):
    font_path = HERE.parent / "lib" / "font.txt"
    static, anim = art.TileSet(128), []
    pic = scene()
    names = split(pic, static, anim)
    scene_names = nametables(names, pic.pal)
    # the title is the same sea with its name in the clear water
    for p in range(PHASES):
        letters(pic.phase[p], "UNDERTOW", 64, 80)
    title_names = nametables(split(pic, static, anim), pic.pal)
    if len(anim) > 128:
        raise ValueError(f"{len(anim)} moving tiles")
    banks = [art.TileSet(128) for _ in range(PHASES)]
    for i, four in enumerate(anim):
        for p in range(PHASES):
            banks[p].tiles[i] = four[p]
    face = art.TileSet(128)
    art.put_font(face, font_path, 0x20, ink=2, paper=3)
    for n in range(9):          # the air gauge: n of 8 columns full
        t = art.blank(8, 8, 3)
        for y in range(1, 7):
            for x in range(8):
                t[y][x] = 2 if y in (1, 6) else 1 if x < n else 3
        face.put(0x60 + n, t)
    face.put(0x70, [[2] * 8, [1] * 8] + art.blank(8, 6, 3))

    fixed, moving = art.TileSet(128), [art.TileSet(64) for _ in range(PHASES)]
    text = ""
    frames = {}
    for name, (canvas, _) in art.parse((HERE / "sprites.txt").read_text()).items():
        key, n = name.split(".")
        canvas = [r[:8] if key in ("pearl", "dart") else r for r in canvas]
        frames.setdefault(key, []).append(canvas)
    order = {1: (0, 0, 0, 0), 2: (0, 0, 1, 1), 3: (0, 1, 2, 1)}
    for key, pics in frames.items():
        first = None
        for col in range(0, len(pics[0][0]), 8):
            for p in range(PHASES):
                pic_p = pics[order[len(pics)][p]]
                t = moving[p].add_pair(art.cut(pic_p, col, 0, 8, 8), art.cut(pic_p, col, 8, 8, 8))
            first = t if first is None else first
        text += f"SPR_{key.upper()} = ${first + 0x80:02X}\n"
    dot = art.blank(8, 8)
    for x, y in ((3, 2), (4, 2), (2, 3), (5, 3), (2, 4), (5, 4), (3, 5), (4, 5)):
        dot[y][x] = 3
    text += f"SPR_DOT = ${fixed.add_pair(dot, art.blank(8, 8)):02X}\n"
    (out / "undertow_assets.inc").write_text(text)
    src = '.segment "SCENE"\n.export scene_names, title_names\n'
    src += "scene_names:\n" + art.asm_bytes(scene_names) + "title_names:\n" + art.asm_bytes(title_names)
    src += '.segment "LEVELS"\n.export drift\ndrift:\n' + art.asm_bytes(drift(), 3)
    src += '.segment "CHR"\n' + art.asm_bytes(static.bytes())                       # 1 KiB pages 0-1
    src += "".join(art.asm_bytes(b.bytes()) for b in banks)                         # 2-9
    src += art.asm_bytes(face.bytes())                                              # 10-11
    src += art.asm_bytes(fixed.bytes())                                             # 12-13
    src += "".join(art.asm_bytes(m.bytes()) for m in moving)                        # 14-17
    (out / "undertow_assets.s").write_text(src)
    return f"{static.used()} still and {len(anim)} moving background tiles, {moving[0].used()} sprite tiles"
