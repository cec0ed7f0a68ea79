"""Save states with right checksums and wrong contents: refused, or run; and no true state is refused."""

import subprocess
import sys
import time

import numpy as np
import pytest
from commands import PINEWOOD, environment, refused, spawned
from consoles import leaves, outputs, played, same
from places import ROOT
from small_rom import READ_PADS, rom

from pynes_ref import Button, Console, StateError, roms, statecheck
from pynes_ref.core.state import NES, STATE_BYTES
from pynes_ref.savestate import pack


def fault(console):
    return statecheck.fault(console.snapshot().tobytes(), console._nes["cart"])


def changed(console, name, value, at=None):
    """A save state of ``console`` with another value in a field, or in one element of it."""
    raw = np.zeros(NES.itemsize, np.uint8)
    raw[:STATE_BYTES] = console.snapshot()
    section, field = name.split(".")
    record = raw.view(NES)[0]
    if at is None:
        record[section][field] = value
    else:
        record[section][field][at] = value
    return pack(raw[:STATE_BYTES], console.cartridge.sha256)


@pytest.mark.parametrize(("name", "value", "at"), [
    ("cpu.pc", 1 << 40, None),
    ("cpu.pc", -1, None),
    ("cpu.s", 256, None),
    ("cpu.clk", -(10**15), None),
    ("cpu.clk", 1 << 62, None),
    ("ppu.dots", -(10**15), None),
    ("ppu.dots", 1 << 62, None),
    ("ppu.scanline", 10**6, None),
    ("ppu.scanline", 262, None),
    ("ppu.dot", 10**9, None),
    ("ppu.v", 0x8000, None),
    ("ppu.spr_count", 9, None),
    ("ppu.bus_room", -1, None),
    ("ppu.frame", 0x200, 61439),
    ("apu.pulse_duty", 4, 1),
    ("apu.pulse_at", -(1 << 40), 0),
    ("apu.noise_rate", 16, None),
    ("apu.noise_at", 0, None),
    ("apu.fc_at", 1 << 40, None),
    ("apu.due", 1 << 61, None),
    ("apu.dmc_rate", 55, None),
    ("apu.dmc_clock_at", 0, None),
    ("audio.count", 4097, None),
    ("audio.ring_at", 256, None),
    ("audio.sample_at", 0, None),
    ("audio.phase", np.nan, None),
    ("audio.ring", np.inf, 3),
    ("dma.oam_active", 1, None),
    ("cart.board", 7, None),
    ("cart.prg_size", 0, None),
    ("cart.chr_off", 1 << 30, None),
    ("cart.ppu_wok", 1, 0),
    ("cart.cpu_page", 1 << 40, None),
    ("cart.cpu_page", (1 << 63) - 1, 31),
    ("cart.cpu_page", -(1 << 40), 20),
    ("cart.cpu_wpage", 0, 16),
    ("cart.ppu_page", -(1 << 63), 15),
    ("cart.reg", 256, 9),
])  # fmt: skip
def test_what_would_index_memory_or_bound_a_loop_is_refused(name, value, at):
    console = played(frames=30)
    before = console.snapshot()
    with pytest.raises(StateError, match=f"is damaged \\({name}") as caught:
        console.load_state(changed(console, name, value, at))
    assert len(str(caught.value).splitlines()) == 1
    assert np.array_equal(console.snapshot(), before)


def test_the_command_refuses_it_with_one_line(tmp_path):
    console = Console(PINEWOOD)
    (tmp_path / "s").write_bytes(changed(console, "cpu.pc", -1))
    refused(spawned("run", PINEWOOD, "--frames", 1, "--load-state", tmp_path / "s"), "cpu.pc is -1")


def test_every_integer_of_the_record_is_in_one_table():
    rows = statecheck.RANGES + statecheck.TIMES + statecheck.TIMES_OR_NEVER
    named = [name for _, _, names in rows for name in names.split()]
    named += [f"cart.{name}" for name in statecheck.SAME] + statecheck.OTHERS
    integers = [name for name, at, _ in leaves() if at < STATE_BYTES and _kind(name).base == np.int64]
    assert sorted(set(named) - {"cart.ppu_wok"}) == sorted(integers)
    assert len(named) == len(set(named))


def _kind(name):
    kind = NES
    for part in name.split("."):
        kind = kind.fields[part][0]
    return kind


def test_no_true_state_is_refused(game):
    console = Console(game.cartridge, hardware_sound=True)
    assert fault(console) is None
    rng = np.random.default_rng(5)
    for n in range(160):
        console.run_frame(int(rng.integers(256)) if n % 3 == 0 else 0)
        assert fault(console) is None
        if n % 10 == 0:
            for _ in range(40):
                console.step_instruction()
                assert fault(console) is None
            console.memory[int(rng.integers(0x2000, 0x2008))] = int(rng.integers(256))
            console.memory[int(rng.integers(0x4000, 0x4018))] = int(rng.integers(256))
            console.mute(["noise"])
            assert fault(console) is None
    console.reset()
    assert fault(console) is None
    console.power_cycle()
    assert fault(console) is None


@pytest.mark.parametrize("group", ["accuracycoin", "dmc_dma_during_read4", "mmc3_test_2", "holy_mapperel"])
def test_no_true_state_of_a_test_rom_is_refused(group):
    found = [path for folder in roms.search_folders() for path in sorted(folder.glob(f"{group}/**/*.nes"))[:2]]
    if not found:
        pytest.skip(f"no {group} here")
    for path in found:
        console = Console(path)
        for n in range(120):
            console.run_frame(Button.START if n == 30 else 0)
            for _ in range(10):
                console.step_instruction()
                assert fault(console) is None


def test_a_jammed_console_is_a_true_state():
    console = Console(rom(bytes([0x02])))
    console.run_frames(3)
    assert console.jammed
    assert fault(console) is None


def test_what_the_sound_of_a_console_makes_audible_is_brought_up_to_date():
    """Pulse 1 with $4001 = $08 is silent in one of the two and is not clocked there."""
    code = bytes.fromhex("a901 8d1540 a9bf 8d0040 a908 8d0140 a940 8d0240 a9f8 8d0340 a980 8d1740 4c1ec0")
    for frames in range(3, 12):
        console = Console(rom(code))
        console.run_frames(frames)
        loaded = Console(console.cartridge, hardware_sound=True)
        loaded.load_state(console.save_state())
        assert fault(loaded) is None
        always = Console(console.cartridge, hardware_sound=True)
        always.run_frames(frames)
        for _ in range(3):
            loaded.run_frame()
            always.run_frame()
            assert loaded.apu.cycle == always.apu.cycle
            assert loaded._nes["apu"]["pulse_at"][0] == always._nes["apu"]["pulse_at"][0]
            assert loaded._nes["apu"]["pulse_step"][0] == always._nes["apu"]["pulse_step"][0]


def test_a_state_of_the_other_sound_goes_on_as_it_does_with_it_from_the_start():
    console = played(frames=40)
    loaded = Console(console.cartridge)
    loaded.load_state(console.save_state())
    assert same(loaded, console)
    assert outputs(loaded, 3) == outputs(console, 3)


def test_the_check_is_quick():
    console = Console(rom(READ_PADS))
    console.run_frames(4)
    raw = console.snapshot().tobytes()
    best = 1.0
    for _ in range(50):
        begun = time.perf_counter()
        assert statecheck.fault(raw, console._nes["cart"]) is None
        best = min(best, time.perf_counter() - begun)
    assert best < 0.001


def test_states_made_at_random_neither_crash_nor_hang():
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(ROOT / "tests" / "state_fuzzer.py"), "0", "600"],
        env=environment(), capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert 60 < int(done.stdout) < 540
