"""The library: what every documented member of ``Console`` returns, refuses and leaves alone."""

import gc
import hashlib
import inspect
import io
import sys
import threading
import tracemalloc
import typing
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from small_rom import FOREVER, JAM, OWN, READ_PADS, own, rom

import pynes_ref
from pynes_ref import Button, Console, RomError, StateError
from pynes_ref.console import AUDIO_RATE, CPU_RATE, FRAME_RATE, HEIGHT, WIDTH
from pynes_ref.core.state import NES
from pynes_ref.palette import rgb_table

GAMES = ["pinewood", "kittiwake", "undertow"]  # NROM, MMC1 with CHR RAM and battery, MMC3
PRESS_START = [0] * 150 + [Button.START] * 6


def played(name="pinewood", frames=170):
    """A console in the middle of a game."""
    console = Console(own(name))
    for n in range(frames):
        console.run_frame(PRESS_START[n] if n < len(PRESS_START) else 0)
        console.drain_audio()
    return console


@pytest.fixture(scope="module", params=GAMES)
def game(request):
    return played(request.param)


def leaves(dtype=NES, at=0, name=""):
    """(name, first byte, end) of every field of the record."""
    if dtype.names is None:
        yield name, at, at + dtype.itemsize
        return
    for field in dtype.names:
        kind, offset = dtype.fields[field][:2]
        yield from leaves(kind, at + offset, f"{name}.{field}" if name else field)


def differing(one, other):
    """Names of the fields in which two snapshots differ."""
    bytes_differ = one != other
    return {name for name, a, b in leaves() if bytes_differ[a:b].any()}


def same(one, other):
    return np.array_equal(one.snapshot(), other.snapshot())


def outputs(console, frames, keys=0):
    """Everything a console puts out during some frames, as one hash."""
    digest = hashlib.sha256()
    for _ in range(frames):
        digest.update(console.run_frame(keys))
        digest.update(console.drain_audio())
    return digest.hexdigest()


# Making one ---------------------------------------------------------------


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


# Running ------------------------------------------------------------------


def test_call_0_runs_nothing():
    console = Console(own("pinewood"))
    picture = console.run_frame(0xFF)
    assert console.cycles == 8
    assert not picture.any()
    assert len(console.drain_audio()) == 0
    console.run_frame()
    assert 29_700 < console.cycles < 29_900
    assert len(console.drain_audio()) == 716


def test_frames_are_as_long_as_the_hardware_has_them(game):
    twin = game.clone()
    begun, samples = twin.cycles, 0
    for _ in range(60):
        twin.run_frame()
        count = len(twin.drain_audio())
        assert count in (733, 734)
        samples += count
        assert twin.ppu.scanline == 0
        assert twin.ppu.dots in (3 * twin.cycles + 1, 3 * twin.cycles + 2)
    assert (twin.cycles - begun) / 60 == pytest.approx(29_780.5, abs=1)
    assert samples / 60 == pytest.approx(733.8, abs=0.5)


def test_the_frame_is_a_live_read_only_view(game):
    twin = game.clone()
    frame = twin.frame
    assert (frame.shape, frame.dtype) == ((240, 256), np.uint16)
    assert frame.max() < 512
    assert twin.run_frame() is frame
    assert twin.run_frames(2) is frame
    with pytest.raises(ValueError, match="read-only"):
        frame[0, 0] = 1


@pytest.mark.parametrize("name", GAMES)
def test_run_frames_is_run_frame_n_times(name):
    one, many = Console(own(name)), Console(own(name))
    many.run_frames(150)
    many.run_frames(6, Button.START, Button.A)
    many.run_frames(0, 0xFF)
    many.run_frames(24)
    for n in range(180):
        one.run_frame(*((Button.START, Button.A) if 150 <= n < 156 else (0, 0)))
    # The 0 frames in between have pressed buttons all the same, which nothing read.
    assert same(one, many)


def test_run_frames_refuses_nonsense():
    console = Console(rom())
    before = console.snapshot()
    for n in (-1, 1 << 63, 1 << 64):
        with pytest.raises(ValueError, match=f"cannot run {n} frames"):
            console.run_frames(n)
    for n in (1.0, "1", None):
        with pytest.raises(TypeError):
            console.run_frames(n)
    assert np.array_equal(console.snapshot(), before)


@pytest.mark.parametrize(
    ("render", "sound", "may_differ"),
    [
        (False, True, {"ppu.frame"}),
        (True, False, {"audio.out", "audio.count"}),
        (False, False, {"ppu.frame", "audio.out", "audio.count"}),
    ],
)
def test_what_is_switched_off_leaves_the_state_alone(game, render, sound, may_differ):
    full, quiet = game.clone(), game.clone()
    for count in (1, 5, 40):
        full.run_frames(count, Button.RIGHT)
        quiet.run_frames(count, Button.RIGHT, render=render, sound=sound)
        differ = differing(full.snapshot(), quiet.snapshot())
        assert differ == may_differ if count == 40 else differ <= may_differ
    full.drain_audio()
    assert (len(quiet.drain_audio()) > 0) == sound
    # With both on again the next frame is whole, but for the pixels of its first line that the last call drew.
    different = full.run_frame() != quiet.run_frame()
    assert not different[1:].any()
    assert not different[0, 16:].any()
    assert np.array_equal(full.drain_audio(), quiet.drain_audio())
    assert outputs(full, 2) == outputs(quiet, 2)


def test_a_refused_run_leaves_picture_and_sound_on():
    console = played(frames=20)
    with pytest.raises(ValueError, match="byte"):
        console.run_frames(1, buttons=256, render=False, sound=False)
    console.run_frame()
    assert len(console.drain_audio()) in (733, 734)


def test_step_instruction_counts_its_cycles():
    # LDA #$42, STA $10, JMP $C000
    console = Console(rom(bytes.fromhex("a942 8510 4c00c0")))
    assert [console.step_instruction() for _ in range(6)] == [2, 3, 3, 2, 3, 3]
    assert console.cycles == 8 + 16
    assert console.cpu.pc == 0xC000
    assert console.memory[0x10] == 0x42


def test_steps_and_frames_go_the_same_way(game):
    framed, stepped = game.clone(), game.clone()
    framed.run_frame(0)
    while stepped.cycles < framed.cycles:
        stepped.step_instruction()
    assert stepped.cycles == framed.cycles
    stepped.run_frame(0)  # the frame that has ended under the steps
    assert stepped.cycles == framed.cycles
    assert outputs(stepped, 3) == outputs(framed, 3)
    assert np.array_equal(stepped.ram, framed.ram)


def test_numbers_of_any_integer_type_are_taken():
    console = Console(rom(READ_PADS))
    console.run_frames(3)
    for kind in (np.int32, np.uint8, np.uint64, bool, Button):
        console.run_frames(kind(1), kind(1), kind(1))
        console.run_frame(kind(1))
        console.peek(kind(1))
        console.memory[kind(1)] = kind(1)
        assert console.memory[kind(1)] == 1


# Buttons ------------------------------------------------------------------


def finish_round(console):
    """READ_PADS has just stored both pads at $10 and $11, first bit highest."""
    before = console.ram[0x12]
    while console.ram[0x12] == before:
        console.step_instruction()


def test_every_combination_of_buttons_arrives_at_the_program():
    console = Console(rom(READ_PADS))
    console.run_frames(2)
    for value in range(256):  # opposite directions, too
        console.run_frame(value, value ^ 0x5A)
        finish_round(console)
        seen = [int(f"{console.ram[at]:08b}"[::-1], 2) for at in (0x10, 0x11)]
        assert seen == [value, value ^ 0x5A]


def test_the_order_of_the_buttons():
    assert [button.name for button in Button] == ["A", "B", "SELECT", "START", "UP", "DOWN", "LEFT", "RIGHT"]
    assert [int(button) for button in Button] == [1 << bit for bit in range(8)]
    assert Button.A | Button.RIGHT == 0x81


@pytest.mark.parametrize("value", [-1, 256, 1 << 40])
def test_buttons_that_are_no_byte(value):
    console = Console(rom())
    before = console.snapshot()
    for call in (console.run_frame, lambda *keys: console.run_frames(1, *keys)):
        with pytest.raises(ValueError, match="byte"):
            call(value)
        with pytest.raises(ValueError, match="byte"):
            call(0, value)
    assert np.array_equal(console.snapshot(), before)


@pytest.mark.parametrize("value", [1.5, "A", None, b"\1"])
def test_buttons_that_are_no_number(value):
    with pytest.raises(TypeError):
        Console(rom()).run_frame(value)


# Picture and sound --------------------------------------------------------


def test_rgb_is_the_frame_in_colour(game):
    picture = game.rgb()
    assert (picture.shape, picture.dtype) == ((240, 256, 3), np.uint8)
    assert np.array_equal(picture, rgb_table()[game.frame])
    assert game.rgb() is not picture
    out = np.zeros((240, 256, 3), np.uint8)
    assert game.rgb(out) is out
    assert np.array_equal(out, picture)
    with pytest.raises((ValueError, TypeError)):
        game.rgb(np.zeros((10, 10, 3), np.uint8))


def test_audio_is_handed_out_once(game):
    twin = game.clone()
    twin.drain_audio()
    twin.run_frame()
    samples = twin.drain_audio()
    assert (samples.dtype, samples.ndim) == (np.int16, 1)
    kept = samples.copy()
    assert len(twin.drain_audio()) == 0
    twin.run_frames(3)
    assert np.array_equal(samples, kept)  # a copy, not a view


def test_audio_of_several_frames_is_joined(game):
    one, other = game.clone(), game.clone()
    one.drain_audio(), other.drain_audio()
    joined = np.concatenate([(one.run_frame(), one.drain_audio())[1] for _ in range(4)])
    other.run_frames(4)
    assert np.array_equal(other.drain_audio(), joined)


def test_undrained_audio_keeps_the_newest(game):
    one, other = game.clone(), game.clone()
    one.drain_audio(), other.drain_audio()
    everything = np.concatenate([(one.run_frame(), one.drain_audio())[1] for _ in range(30)])
    for n in range(30):
        other.run_frame()
        if n == 10:
            twin = other.clone()
            assert 2 * 734 <= len(twin.drain_audio()) <= 4096
    rest = other.drain_audio()
    assert 3000 < len(rest) <= 4096
    assert np.array_equal(rest, everything[-len(rest) :])
    # Draining or not is no part of what happens next.
    assert outputs(one, 2) == outputs(other, 2)


# Memory and registers -----------------------------------------------------


def test_looking_at_any_address_changes_nothing(game):
    twin = game.clone()
    for _ in range(3):
        before = twin.snapshot()
        everything = twin.memory[0:0x10000]
        assert np.array_equal(twin.snapshot(), before)
        assert len(everything) == 0x10000
        assert everything == bytes(twin.peek(a) for a in range(0x10000))
        assert np.array_equal(twin.snapshot(), before)
        twin.run_frame()
        for _ in range(1000):
            twin.step_instruction()


def test_what_memory_shows(game):
    memory, ram = game.memory, game.ram
    assert memory[0:0x800] == memory[0x1800:0x2000] == ram.tobytes()
    assert len(memory) == 0x10000
    assert isinstance(memory[0], int)
    assert isinstance(memory[0:4], bytes)
    assert memory[0x10:0x20:5] == bytes([ram[0x10], ram[0x15], ram[0x1A], ram[0x1F]])
    assert memory[5:5] == b""
    assert memory[0xFFF0:] == bytes(game.cartridge.prg[-16:])
    assert game.peek(0x1_0002) == game.peek(2)
    assert game.peek(-1) == game.peek(0xFFFF)


def test_memory_refuses_what_is_no_address_or_byte():
    console = Console(rom())
    before = console.snapshot()
    for where in (-1, 0x10000):
        with pytest.raises(IndexError):
            console.memory[where]
        with pytest.raises(IndexError):
            console.memory[where] = 0
    for value in (-1, 256):
        with pytest.raises(ValueError, match="byte"):
            console.memory[0] = value
        with pytest.raises(ValueError, match="byte"):
            console.memory[0:2] = [0, value]
    with pytest.raises(ValueError, match="3 bytes for 2"):
        console.memory[0:2] = b"abc"
    for wrong in ("0", 1.0, None):
        with pytest.raises(TypeError):
            console.memory[wrong]
        with pytest.raises(TypeError):
            console.memory[0] = wrong
    assert np.array_equal(console.snapshot(), before)


def test_memory_writes_are_the_cpus():
    console = Console(rom(prg_ram=7))
    console.run_frames(3)
    memory = console.memory
    memory[0x0810] = 0x42
    assert console.ram[0x10] == 0x42
    memory[0x20:0x24] = b"abcd"
    assert bytes(console.ram[0x20:0x24]) == b"abcd"
    memory[0x30:0x40:8] = [1, 2]
    assert (console.ram[0x30], console.ram[0x38]) == (1, 2)
    memory[0x6000] = 0x99
    assert memory[0x6000] == 0x99
    memory[0xC000] = 0
    assert memory[0xC000] == FOREVER[0]
    for value in (0x21, 0x05):
        memory[0x2006] = value
    memory[0x2007] = 0x77
    assert console.vram[0x105] == 0x77
    assert console.nametable(0)[8, 5] == 0x77
    memory[0x2003] = 0x10
    assert console.ppu.oam_addr == 0x10
    memory[0x2004] = 0x33
    assert console.oam[0x10] == 0x33


def test_memory_writes_reach_the_board():
    console = Console(rom(mapper=2, prg=8, chr_=0))
    assert console.memory[0x8000] == 0
    console.memory[0xC100] = 5
    assert console.memory[0x8000:0x8003] == bytes([5, 5, 5])
    assert console.memory[0xC000] == FOREVER[0]


def test_live_views_of_memory():
    console = Console(rom())
    for name, size in [("ram", 2048), ("oam", 256), ("palette_ram", 32), ("vram", 4096)]:
        view = getattr(console, name)
        assert (view.shape, view.dtype) == ((size,), np.uint8)
        view[3] = 0x2A
        assert getattr(console.clone(), name)[3] == 0x2A
    assert console.memory[3] == 0x2A
    console.power_cycle()
    assert console.ram[3] == 0


def test_registers_are_live_and_settable_within_their_width():
    console = Console(rom())
    cpu = console.cpu
    for name, most in [("a", 255), ("x", 255), ("y", 255), ("s", 255), ("p", 255), ("pc", 0xFFFF)]:
        setattr(cpu, name, np.uint16(most))
        assert getattr(cpu, name) == most
        for value in (-1, most + 1, 1 << 40):
            with pytest.raises(ValueError, match=name):
                setattr(cpu, name, value)
        with pytest.raises(TypeError):
            setattr(cpu, name, 1.0)
        assert getattr(cpu, name) == most
    for view, name in [(cpu, "cycles"), (cpu, "nothing"), (console.ppu, "dots"), (console.apu, "cycle")]:
        with pytest.raises(AttributeError, match=name):
            setattr(view, name, 0)
    for view in (cpu, console.ppu, console.apu):
        values = view.as_dict()
        assert values
        assert all(type(value) is int for value in values.values())
        assert set(values) <= set(dir(view))
        assert all(name in repr(view) for name in values)
        with pytest.raises(AttributeError, match="no register 'nothing'"):
            view.nothing  # noqa: B018


def test_registers_show_what_the_program_did():
    # LDA #$80, STA $2003, LDX #7, LDY #9, SEC
    console = Console(rom(bytes.fromhex("a980 8d0320 a207 a009 38 4c0ac0")))
    for _ in range(5):
        console.step_instruction()
    assert (console.cpu.a, console.cpu.x, console.cpu.y, console.cpu.p & 1) == (0x80, 7, 9, 1)
    assert console.ppu.oam_addr == 0x80
    console.cpu.x = 0x55
    assert console.clone().cpu.x == 0x55


def test_nametables_and_pattern_tables():
    console = Console(rom(flags=1))  # vertical mirroring: tables 0 and 2 are one
    console.vram[:960] = np.arange(960) % 251
    table = console.nametable(0)
    assert (table.shape, table.dtype) == ((30, 32), np.uint8)
    assert np.array_equal(table.reshape(-1), np.arange(960) % 251)
    assert np.array_equal(console.nametable(2), table)
    assert not console.nametable(1).any()
    tiles = console.pattern_table(1)
    assert (tiles.shape, tiles.dtype) == ((256, 8, 8), np.uint8)
    chr_rom = np.frombuffer(console.cartridge.chr, np.uint8)
    low, high = chr_rom[0x1000 + 16 * 9 + 3], chr_rom[0x1000 + 16 * 9 + 11]
    assert list(tiles[9, 3]) == [(low >> 7 - i & 1) | (high >> 7 - i & 1) << 1 for i in range(8)]


# Reset and power ----------------------------------------------------------


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


# Keeping ------------------------------------------------------------------


def test_a_clone_goes_its_own_way(game):
    twin = game.clone()
    assert same(game, twin)
    before = game.snapshot()
    twin.run_frames(5, Button.LEFT)
    twin.ram[0] ^= 0xFF
    twin.memory[1] = twin.memory[1] ^ 0xFF
    twin.cpu.a ^= 0xFF
    twin.reset()
    assert np.array_equal(game.snapshot(), before)
    assert not np.shares_memory(game.frame, twin.frame)
    again = game.clone()
    assert outputs(again, 5) == outputs(game.clone(), 5)


def test_snapshot_and_restore(game):
    twin = game.clone()
    kept = twin.snapshot()
    assert (kept.dtype, kept.ndim) == (np.uint8, 1)
    first = outputs(twin, 4)
    twin.restore(kept)
    assert outputs(twin, 4) == first
    with pytest.raises(ValueError, match="broadcast"):
        twin.restore(kept[:-1])


def test_state_as_bytes_and_files(game, tmp_path):
    data = game.save_state()
    assert isinstance(data, bytes)
    assert data == game.save_state()
    buffer = io.BytesIO()
    assert game.save_state(buffer) == data == buffer.getvalue()
    (tmp_path / "state").write_bytes(data)
    for source in (data, bytearray(data), memoryview(data), io.BytesIO(data), (tmp_path / "state").open("rb")):
        console = Console(game.cartridge)
        console.load_state(source)
        assert same(console, game)


def test_a_loaded_state_goes_on_exactly(game):
    straight = game.clone()
    straight.run_frames(2)  # its sound is not drained
    data = straight.save_state()
    loaded = Console(straight.cartridge)
    loaded.run_frames(7, 0xFF)
    loaded.load_state(data)
    assert np.array_equal(loaded.frame, straight.frame)
    assert np.array_equal(loaded.clone().drain_audio(), straight.clone().drain_audio())
    assert len(loaded.clone().drain_audio()) >= 2 * 733
    for keys in (0, Button.RIGHT, Button.A | Button.RIGHT):
        straight.run_frames(3, keys)
        loaded.run_frames(3, keys)
        assert same(straight, loaded)
    assert straight.save_state() == loaded.save_state()


def test_a_state_amid_a_frame_goes_on_exactly(game):
    straight = game.clone()
    for steps in (1, 7, 1234, 3000):
        for _ in range(steps):
            straight.step_instruction()
        loaded = Console(straight.cartridge)
        loaded.load_state(straight.save_state())
        assert same(straight, loaded)
        for _ in range(50):
            straight.step_instruction()
            loaded.step_instruction()
        assert same(straight, loaded)
        straight.run_frames(3, Button.RIGHT)
        loaded.run_frames(3, Button.RIGHT)
        assert same(straight, loaded)


def test_pending_input_is_part_of_a_state():
    straight = Console(rom(READ_PADS))
    straight.run_frames(3, 0b10110010, 0b01011100)
    finish_round(straight)
    for _ in range(200):  # the strobe and every bit of both pads
        straight.step_instruction()
        loaded = Console(rom(READ_PADS))
        loaded.load_state(straight.save_state())
        for console in (straight.clone(), loaded):
            finish_round(console)
            assert [int(f"{console.ram[at]:08b}"[::-1], 2) for at in (0x10, 0x11)] == [0b10110010, 0b01011100]
        assert loaded.cycles > straight.cycles


def refused(console, data, words):
    before = console.snapshot()
    with pytest.raises(StateError, match=words) as caught:
        console.load_state(data)
    assert len(str(caught.value).splitlines()) == 1
    assert np.array_equal(console.snapshot(), before)


def test_states_that_do_not_belong_here(game):
    data = game.save_state()
    assert issubclass(StateError, ValueError)
    refused(Console(rom()), data, "another ROM")
    newer = data[:8] + (2).to_bytes(4, "little") + data[12:]
    refused(game, newer, "format 2")
    layout = data[:44] + bytes(32) + data[76:]
    refused(game, layout, "another version")
    for nothing in (b"", b"x", own("pinewood"), data[1:], io.BytesIO()):
        refused(game, nothing, "not a save state")


def test_truncated_states(game):
    data = game.save_state()
    for length in [*range(0, 140), *range(140, len(data), 97), len(data) - 1]:
        refused(game, data[:length], "save state")
    refused(game, data + b"\0", "damaged")
    refused(game, data + data, "damaged")


def test_states_with_any_bit_flipped():
    console = played(frames=30)
    data = console.save_state()
    before = console.snapshot()
    places = [*range(200), *np.random.default_rng(1).integers(0, len(data), 500)]
    for place in places:
        for bit in range(8):
            damaged = bytearray(data)
            damaged[place] ^= 1 << bit
            with pytest.raises(StateError):
                console.load_state(damaged)
    assert np.array_equal(console.snapshot(), before)


def test_a_state_made_by_hand_unpacks_to_no_more_than_a_console():
    import zstandard

    console = played(frames=3)
    data = console.save_state()
    for content in (b"", bytes(1000), bytes(50_000_000)):
        frame = zstandard.ZstdCompressor().compress(content)
        refused(console, data[:76] + hashlib.sha256(frame).digest() + frame, "damaged")


# Side by side -------------------------------------------------------------


def test_consoles_in_threads_equal_consoles_in_sequence():
    jobs = [(name, keys) for name in GAMES for keys in (0, Button.START, Button.A | Button.RIGHT)]

    def work(job):
        return outputs(Console(own(job[0])), 60, job[1])

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(work, jobs))
    assert together == [work(job) for job in jobs]


def test_others_run_while_a_console_runs():
    console = played()
    ticks, done = [0], threading.Event()

    def count():
        while not done.wait(0.001):
            ticks[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    console.run_frames(300)  # one call of compiled code, a tenth of a second or more
    done.set()
    thread.join()
    assert ticks[0] > 5


def test_frames_allocate_nothing():
    console = played()
    gc.collect()
    objects = len(gc.get_objects())
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for _ in range(300):
            console.run_frame(Button.RIGHT)
        console.run_frames(50)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Numba looks up the record's type at every call, with some bytes that are let go again; a picture has 122 880.
    assert peak - before < 20_000
    assert after - before < 20_000
    assert len(gc.get_objects()) - objects < 10


# Types and documents ------------------------------------------------------


def public_functions():
    from abi.inprocess import PynesRef
    from pynes_ref import battery, describe, files, headless, ines, movie, palette, roms, romtest, savestate, trace
    from pynes_ref.views import Memory, Registers

    for owner in (Console, Memory, Registers, PynesRef, ines.Cartridge, movie.Movie):
        for name, member in vars(owner).items():
            if name in ("__init__", "__getitem__", "__setitem__", "__getattr__") or not name.startswith("_"):
                function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
                if inspect.isfunction(function):
                    yield f"{owner.__name__}.{name}", function
    modules = (battery, describe, files, headless, ines, movie, palette, roms, romtest, savestate, trace)
    for module in modules:
        for name, function in vars(module).items():
            if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_"):
                yield f"{module.__name__}.{name}", function


@pytest.mark.parametrize(("name", "function"), [pytest.param(*item, id=item[0]) for item in public_functions()])
def test_public_functions_are_typed_and_documented(name, function):
    hints = function.__annotations__
    parameters = [p for p in inspect.signature(function).parameters if p not in ("self", "cls")]
    missing = [p for p in parameters if p not in hints]
    assert not missing, f"{name} has no type for {', '.join(missing)}"
    if not name.endswith("__init__"):
        assert "return" in hints, f"{name} has no return type"
        if "__" not in name:
            assert function.__doc__, f"{name} has no docstring"


def test_the_types_of_the_console_resolve():
    for member in vars(Console).values():
        if inspect.isfunction(member):
            assert typing.get_type_hints(member) is not None
    assert typing.get_type_hints(Console.run_frame)["return"] is np.ndarray


def test_what_the_package_exports():
    assert set(pynes_ref.__all__) == {"Button", "Console", "RomError", "StateError", "__version__"}
    for name in pynes_ref.__all__:
        assert getattr(pynes_ref, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        pynes_ref.nothing  # noqa: B018
    assert (OWN.parent / "pynes_ref" / "py.typed").exists()


def test_importing_the_package_loads_nothing_heavy():
    import subprocess

    code = "import sys, pynes_ref; print([m for m in ('numba', 'numpy', 'scipy', 'zstandard') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=OWN.parent, check=True)
    assert out.stdout.strip() == "[]"
