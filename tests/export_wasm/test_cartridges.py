"""Compiled code reads a ROM file as ``ines.py`` and ``core/power.py`` do: it refuses the same, and builds the same."""

import random

import numpy as np
import pytest
from wasm_consoles import console_state, state

from abi.inprocess import PynesRef
from pynes_ref.core.mappers.boards import BOARDS

# Bytes 4 to 6 and 10, 11 of a header: units of PRG and CHR, flags, RAM, CHR RAM.
SIZES = [(1, 0, 0, 0, 0), (2, 1, 1, 7, 0), (2, 0, 9, 0x70, 7), (2, 0, 2, 9, 9), (8, 4, 6, 7, 0)]


def same_cartridge(module, data):
    """Do both take the file, and build the same console? True when they do, False when both refuse it."""
    reference = PynesRef()
    reference.emu_rom_buffer()[: len(data)] = np.frombuffer(data, np.uint8)
    module.emu_rom_buffer()[: len(data)] = np.frombuffer(data, np.uint8)
    taken = reference.emu_load_rom(len(data))
    assert module.emu_load_rom(len(data)) == taken, f"header {data[:16].hex()}, {len(data)} bytes: {taken} wanted"
    if taken:
        assert state(module) == console_state(reference), f"header {data[:16].hex()}, {len(data)} bytes"
    return bool(taken)


def test_reads_all_test_roms_as_the_console_does(module, known_roms):
    from pynes_ref.roms import find

    paths = [path for row in known_roms.values() if (path := find(row.sha256))]
    if not paths:
        pytest.skip("no test ROMs are here")
    assert sum(same_cartridge(module, path.read_bytes()) for path in paths) > len(paths) * 0.9


@pytest.mark.parametrize("key", BOARDS, ids=str)
def test_builds_every_board_as_the_console_does(module, key):
    mapper, submapper = key
    taken = 0
    for prg, chr_, flags, *ram in SIZES:
        header = [prg, chr_, flags | (mapper & 15) << 4, mapper & 0xF0 | 8, submapper << 4 | mapper >> 8, 0, *ram]
        size = (512 if flags & 4 else 0) + prg * 0x4000 + chr_ * 0x2000
        taken += same_cartridge(module, b"NES\x1a" + bytes(header) + bytes(4) + random.Random(size).randbytes(size))
    assert taken >= 2


@pytest.mark.parametrize("seed", range(4))
def test_reads_mutated_headers_as_the_console_does(module, seed):
    chosen = random.Random(seed)
    body = chosen.randbytes(512 + 0x80000 + 0x20000)
    keys = list(BOARDS)
    taken = 0
    for _ in range(700):
        mapper, submapper = chosen.choice(keys)
        header = bytearray(b"NES\x1a" + bytes(12))
        header[4], header[5] = chosen.choice([1, 1, 2, 2, 4, 8, 32, 3]), chosen.choice([0, 0, 1, 1, 2, 4, 16])
        header[6] = (mapper & 15) << 4 | chosen.choice([0, 0, 1, 1, 2, 3, 4, 6, 8, 9, 15])
        header[7] = mapper & 0xF0 | chosen.choice([0, 8, 8, 8, 4, 1, 9, 3, 11])
        header[8] = chosen.choice([submapper << 4, 0, 1, 2, 4, 255])
        header[9] = chosen.choice([0, 0, 0, 1, 0xF0, 0x0F, 0xFF])
        header[10], header[11] = (chosen.choice([0, 0, 7, 0x70, 8, 9, 10, 0x77, 0x67, 4, 5, 6, 3, 1]) for _ in range(2))
        header[12:] = chosen.choice([bytes(4), bytes(4), bytes([1, 0, 0, 0]), bytes([0, 4, 0, 0]), b"Dude"])
        for _ in range(chosen.choice([0, 0, 0, 1, 2])):
            header[chosen.randrange(16)] = chosen.choice([chosen.randrange(256), 1 << chosen.randrange(8)])
        if header[9] & 15 == 15:
            header[4] = chosen.choice([chosen.randrange(256), 0x36, 0x38, 0x3C, 0x40])
        if header[9] >> 4 == 15:
            header[5] = chosen.choice([chosen.randrange(256), 0x2C, 0x34, 0x39])
        plain = (512 if header[6] & 4 else 0) + header[4] * 0x4000 + header[5] * 0x2000
        plain = min(plain, len(body))
        size = chosen.choice([len(body), len(body), len(body), plain, max(plain - 1, 0)])
        taken += same_cartridge(module, bytes(header) + body[:size])
    assert 100 < taken < 600


@pytest.mark.parametrize("length", [0, -1, 1, 3, 4, 15, 16, 17, 8 * 2**20 + 1, 2**31 - 1, -(2**31)])
def test_refuses_what_is_no_file(module, length):
    module.emu_rom_buffer()[:16] = np.frombuffer(b"NES\x1a\x01\x01" + bytes(10), np.uint8)
    assert module.emu_load_rom(length) == 0
