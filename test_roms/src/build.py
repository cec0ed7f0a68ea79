"""Build the ROMs of this folder with ca65 and ld65 (cc65 2.18 or newer).

    python build.py            build everything into test_roms/
    python build.py NAME ...   only these
    python build.py --check    build into a temporary folder and compare with the committed files

Pictures, maps, songs and drum samples are computed first (tools/, <rom>/assets.py); nothing is downloaded.
"""
import argparse
import importlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SRC = Path(__file__).resolve().parent
ROMS = SRC.parent
sys.path.insert(0, str(SRC))

GAME_LIB = ["lib/frame.s", "lib/sound.s", "lib/pad.s"]
TEST_LIB = ["lib/shell.s"]
# name -> (linker configuration, sources, folder with assets.py and music.mml or None)
TARGETS = {
    "pinewood": ("nrom", ["pinewood/pinewood.s", *GAME_LIB], "pinewood"),
    "kittiwake": ("mmc1", ["kittiwake/kittiwake.s", *GAME_LIB], "kittiwake"),
    "undertow": ("mmc3", ["undertow/undertow.s", *GAME_LIB], "undertow"),
    "selftest_cpu": ("st_nrom", ["selftest/cpu.s", *TEST_LIB], None),
    "selftest_ppu": ("st_nrom", ["selftest/ppu.s", *TEST_LIB], None),
    "selftest_apu": ("st_nrom", ["selftest/apu.s", *TEST_LIB], None),
    "selftest_nrom": ("st_nrom128", ["selftest/nrom.s", *TEST_LIB], None),
    "selftest_mmc1": ("st_mmc1", ["selftest/mmc1.s", *TEST_LIB], None),
    "selftest_uxrom": ("st_uxrom", ["selftest/uxrom.s", *TEST_LIB], None),
    "selftest_cnrom": ("st_cnrom", ["selftest/cnrom.s", *TEST_LIB], None),
    "selftest_mmc3": ("st_mmc3", ["selftest/mmc3.s", *TEST_LIB], None),
}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


def font_source():
    """The self-checking ROMs' pattern table: ASCII at its own codes, tile 1 solid. `.ifdef` free: boards with CHR RAM
    link it into segment CHR of their PRG, the others into CHR ROM."""
    from tools import art

    tiles = art.TileSet(96)
    tiles.put(1, art.blank(8, 8, 1))
    art.put_font(tiles, SRC / "lib" / "font.txt", 0x20, ink=1)
    return '.segment "CHR"\n.export font\nfont:\n' + art.asm_bytes(tiles.bytes())


def build(name, out_dir, work, verbose=False):
    """One ROM into out_dir/<name>.nes, its intermediate files into work."""
    from tools import dmc, mml

    config, sources, folder = TARGETS[name]
    generated = work / name
    generated.mkdir(parents=True, exist_ok=True)
    sources = [SRC / s for s in sources]
    if folder:
        note = importlib.import_module(f"{folder}.assets").generate(generated)
        if verbose:
            print(f"{name}: {note}")
        (generated / f"{folder}_music.s").write_text(mml.compile_songs((SRC / folder / "music.mml").read_text()))
        (generated / "dmc.s").write_text(dmc.source())
    else:
        (generated / "font.s").write_text(font_source())
    sources += sorted(generated.glob("*.s"))
    objects = []
    for source in sources:
        target = generated / (source.stem + ".o")
        run(["ca65", "-g", "-I", SRC / "lib", "-I", source.parent, "-I", generated, "-o", target, source])
        objects.append(target)
    run(["ld65", "-C", SRC / "cfg" / f"{config}.cfg", "-m", generated / f"{name}.map", "-Ln", generated / f"{name}.lbl",
         "-o", out_dir / f"{name}.nes", *objects])
    return out_dir / f"{name}.nes"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    for tool in ("ca65", "ld65"):
        if not shutil.which(tool):
            raise SystemExit(f"{tool} not found: install cc65 (https://cc65.github.io)")
    unknown = set(args.names) - set(TARGETS)
    if unknown:
        raise SystemExit(f"unknown ROM: {', '.join(sorted(unknown))}; known: {', '.join(TARGETS)}")
    bad = []
    for name in args.names or TARGETS:
        if args.check:
            with tempfile.TemporaryDirectory() as tmp:
                made = build(name, Path(tmp), Path(tmp) / "work").read_bytes()
            same = made == (ROMS / f"{name}.nes").read_bytes()
            print(f"{name}: {'same' if same else 'DIFFERENT'}")
            bad += [] if same else [name]
        else:
            made = build(name, ROMS, SRC / "build", verbose=True)
            print(f"{name}: {made.stat().st_size} bytes")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
