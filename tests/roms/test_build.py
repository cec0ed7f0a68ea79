"""Our own ROMs: what is committed is what the sources build, byte for byte."""
import importlib.util
import shutil
import sys

import pytest
from places import ROOT

ROMS = ROOT / "test_roms"
SOURCES = ROMS / "src"


def load_build():
    spec = importlib.util.spec_from_file_location("test_roms_build", SOURCES / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def build():
    path = list(sys.path)
    yield load_build()
    sys.path[:] = path


NAMES = sorted(p.stem for p in ROMS.glob("*.nes"))
needs_cc65 = pytest.mark.skipif(not (shutil.which("ca65") and shutil.which("ld65")),
                                reason="cc65 (ca65, ld65) is not installed")


def test_every_rom_has_a_source(build):
    assert sorted(build.TARGETS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_header_and_size(name):
    data = (ROMS / f"{name}.nes").read_bytes()
    assert data[:4] == b"NES\x1a"
    assert len(data) == 16 + data[4] * 0x4000 + data[5] * 0x2000


@needs_cc65
@pytest.mark.parametrize("name", NAMES)
def test_rebuild_gives_the_same_bytes(build, name, tmp_path):
    made = build.build(name, tmp_path, tmp_path / "work").read_bytes()
    assert made == (ROMS / f"{name}.nes").read_bytes()


REPLAYS = sorted(p.name for p in (ROMS.parent / "replays").glob("*-gameplay.txt"))


@pytest.mark.parametrize("name", REPLAYS)
def test_replays_are_long_and_in_order(name):
    lines = (ROMS.parent / "replays" / name).read_text().splitlines()
    events = [line.split("#")[0].split() for line in lines if line.split("#")[0].strip()]
    frames = [int(frame) for frame, _ in events]
    assert frames == sorted(set(frames))
    assert all(0 <= int(keys, 16) <= 0xFF for _, keys in events)
    assert frames[-1] >= 1800
