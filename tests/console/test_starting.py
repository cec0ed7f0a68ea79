"""``Console``: what it is made from and refuses, power-on, reset, the battery, a jammed CPU."""

import hashlib

import numpy as np
import pytest
from consoles import GAMES, differing, outputs, played, same
from small_rom import JAM, OWN, READ_PADS, own, rom

from pynes_ref import Console, RomError
from pynes_ref.console import AUDIO_RATE, CPU_RATE, FRAME_RATE, HEIGHT, WIDTH


def test_a_rom_is_a_path_or_bytes_or_a_parsed_cartridge():
    path, data = OWN / "pinewood.nes", own("pinewood")
    consoles = [Console(source) for source in (path, str(path), data, bytearray(data), memoryview(data))]
    consoles.append(Console(consoles[0].cartridge))
    assert all(same(consoles[0], other) for other in consoles)
    assert consoles[0].cartridge.sha256 == hashlib.sha256(data).hexdigest()


def test_an_unusable_rom_is_a_rom_error_and_a_value_error(tmp_path):
    assert issubclass(RomError, ValueError)
    for source in (b"", b"NES\x1a", own("pinewood")[:-1], tmp_path, tmp_path / "none.nes", rom(mapper=90)):
        with pytest.raises(RomError) as caught:
            Console(source)
        assert len(str(caught.value).splitlines()) == 1


def test_submapper_overrides_the_header():
    assert Console(rom(mapper=4, prg=2)).cartridge.submapper == 0
    assert Console(rom(mapper=4, prg=2), submapper=4).cartridge.board == "TxROM (MMC3, NEC)"
    with pytest.raises(RomError):
        Console(rom(mapper=4, prg=2), submapper=16)


def test_options_are_yes_or_no():
    yes = Console(rom(), famicom="yes", hardware_sound=5)
    assert same(yes, Console(rom(), famicom=True, hardware_sound=True))
    no = Console(rom(), famicom="", hardware_sound=None)
    assert same(no, Console(rom()))


def test_constants():
    assert (AUDIO_RATE, CPU_RATE, HEIGHT, WIDTH) == (44_100, 1_789_773, 240, 256)
    assert abs(FRAME_RATE - 39_375_000 / 655_171) < 1e-4


def test_power_on_state():
    console = Console(rom())
    assert console.cycles == 8
    assert not console.jammed
    cpu = console.cpu
    assert (cpu.a, cpu.x, cpu.y, cpu.s, cpu.p, cpu.pc, cpu.cycles) == (0, 0, 0, 0xFD, 0x24, 0xC000, 8)
    assert (console.ppu.scanline, console.ppu.dot) == (0, 25)
    for memory in (console.ram, console.oam, console.palette_ram, console.vram, console.battery_ram, console.frame):
        assert not memory.any()


def test_reset_keeps_memory_and_power_does_not():
    console = Console(rom(READ_PADS, flags=2))
    console.run_frames(5, 0xFF)
    console.ram[0x300] = 0x42
    console.battery_ram[7] = 0x99
    stack, cycles = console.cpu.s, console.cycles
    console.reset()
    assert (console.ram[0x300], console.battery_ram[7]) == (0x42, 0x99)
    assert (console.cpu.pc, console.cpu.s, console.cycles) == (0xC000, (stack - 3) & 0xFF, cycles + 8)
    console.run_frame()  # a reset is no power-on: there is no call 0
    assert console.cycles > cycles + 8 + 1000
    console.power_cycle()
    assert console.ram[0x300] == 0
    assert console.battery_ram[7] == 0x99
    console.battery_ram[7] = 0
    assert same(console, Console(rom(READ_PADS, flags=2)))
    console.run_frame()
    assert console.cycles == 8


@pytest.mark.parametrize("name", GAMES)
def test_power_cycle_is_a_new_console(name):
    console = played(name)
    console.power_cycle()
    console.battery_ram[:] = 0
    new = Console(own(name))
    assert same(console, new)
    assert outputs(console, 40) == outputs(new, 40)


def test_battery_ram():
    assert len(Console(rom()).battery_ram) == 0
    console = Console(rom(flags=2))
    assert (console.battery_ram.shape, console.battery_ram.dtype) == ((8192,), np.uint8)
    console.memory[0x6005] = 0x42
    assert console.battery_ram[5] == 0x42


def test_a_jammed_cpu_stands_still_until_reset_or_power():
    console = Console(rom(JAM))
    console.run_frames(3)
    assert console.jammed
    assert console.cpu.jammed == 1
    cycles = console.cycles
    console.drain_audio()
    before = console.snapshot()
    picture = console.run_frame(0x00).copy()
    console.run_frames(1000)
    assert console.step_instruction() == 0
    assert (console.cycles, len(console.drain_audio())) == (cycles, 0)
    assert np.array_equal(picture, console.frame)
    assert differing(console.snapshot(), before) <= {"ppu.frame_done"}
    twin = Console(rom(JAM))
    twin.load_state(console.save_state())
    assert twin.jammed
    for restart in (console.reset, console.power_cycle):
        restart()
        assert not console.jammed
        console.step_instruction()
        assert console.cpu.a == 0x42
