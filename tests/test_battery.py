"""Battery RAM files: exact, refused when they do not fit, whole after kill -9."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from pynes_ref.battery import BatteryError, battery_path, load_battery, save_battery
from pynes_ref.core.power import make_console
from pynes_ref.files import atomic_write
from pynes_ref.ines import KIB, load_rom


def battery_cart(prg_nvram=7, prg_ram=0, form=8):
    header = b"NES\x1a" + bytes([1, 0, 0x12, form, 0, 0, prg_nvram << 4 | prg_ram, 7, 0, 0, 0, 0])
    if form == 0:
        header = header[:8] + bytes(8)
    cart = load_rom(header + bytes(16 * KIB))
    return cart, make_console(cart)


def test_path():
    assert str(battery_path("x/game.nes")) == os.path.join("x", "game.sav")
    assert battery_path("game.v2").name == "game.v2.sav"
    assert battery_path("game.sav").name == "game.sav.sav"


def test_round_trip(tmp_path):
    cart, (mem, nes) = battery_cart()
    path = tmp_path / "g.sav"
    assert load_battery(cart, nes, path) is False
    nes["prg_ram"][:8192] = list(range(256)) * 32
    assert save_battery(cart, nes, path) is True
    assert path.read_bytes() == bytes(range(256)) * 32
    _, (mem2, nes2) = battery_cart()
    assert load_battery(cart, nes2, path) is True
    assert bytes(mem2) == bytes(mem)
    assert os.listdir(tmp_path) == ["g.sav"]


def test_only_the_battery_backed_chip_is_saved(tmp_path):
    cart, (_, nes) = battery_cart(prg_nvram=7, prg_ram=7)
    nes["prg_ram"][:8192] = 1
    nes["prg_ram"][8192:16384] = 2
    save_battery(cart, nes, tmp_path / "g.sav")
    assert (tmp_path / "g.sav").read_bytes() == bytes([2]) * 8192


@pytest.mark.parametrize("size", [0, 1, 4096, 8191, 8193, 100_000])
def test_wrong_size_is_refused_and_nothing_changes(tmp_path, size):
    cart, (mem, nes) = battery_cart()
    before = bytes(mem)
    path = tmp_path / "g.sav"
    path.write_bytes(b"x" * size)
    with pytest.raises(BatteryError, match=f"has {size} bytes .* has 8192"):
        load_battery(cart, nes, path)
    assert bytes(mem) == before
    assert path.read_bytes() == b"x" * size


def test_ines_header_takes_shorter_files(tmp_path):
    cart, (_, nes) = battery_cart(form=0)
    assert cart.battery_range == (0, 32 * KIB)
    (tmp_path / "g.sav").write_bytes(b"z" * 8192)
    assert load_battery(cart, nes, tmp_path / "g.sav")
    assert set(nes["prg_ram"][:8192]) == {ord("z")}
    assert not nes["prg_ram"][8192:].any()


def test_unreadable_and_unwritable(tmp_path):
    cart, (_, nes) = battery_cart()
    with pytest.raises(BatteryError, match="cannot read"):
        load_battery(cart, nes, tmp_path)
    with pytest.raises(BatteryError, match="cannot write"):
        save_battery(cart, nes, tmp_path / "none" / "g.sav")
    (tmp_path / "dir.sav").mkdir()
    with pytest.raises(BatteryError, match="cannot write"):
        save_battery(cart, nes, tmp_path / "dir.sav")
    assert os.listdir(tmp_path) == ["dir.sav"]


def test_atomic_write_keeps_links_and_permissions(tmp_path):
    target = tmp_path / "real"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(target)
    atomic_write(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640


CHILD = """
import sys
from pynes_ref.files import atomic_write
path, i = sys.argv[1], int(sys.argv[2])
print("ready", flush=True)
while True:
    i = (i + 1) % 256
    atomic_write(path, bytes([i]) * 200_000)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_kill_at_any_moment_leaves_a_whole_file(tmp_path):
    path = tmp_path / "g.sav"
    path.write_bytes(bytes(200_000))
    rng = random.Random(1)
    seen = set()
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for _ in range(12):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path), str(path.read_bytes()[0])], stdout=subprocess.PIPE, env=env
        )
        try:
            assert child.stdout.readline() == b"ready\n"
            time.sleep(rng.uniform(0.0, 0.03))
        finally:
            child.send_signal(signal.SIGKILL)
            child.wait()
            child.stdout.close()
        data = path.read_bytes()
        assert len(data) == 200_000
        assert len(set(data)) == 1
        seen.add(data[0])
    assert len(seen) > 1
