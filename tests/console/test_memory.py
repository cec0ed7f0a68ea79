"""``Console``: the CPU's address space, live views, registers, tables drawn from video memory."""

import numpy as np
import pytest
from small_rom import FOREVER, rom

from pynes_ref import Console


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
