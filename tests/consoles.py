"""Consoles in the middle of a game, and what it takes to compare two."""

import hashlib

import numpy as np
from small_rom import own

from pynes_ref import Button, Console
from pynes_ref.core.state import NES

GAMES = ["pinewood", "kittiwake", "undertow"]  # NROM, MMC1 with CHR RAM and battery, MMC3
PRESS_START = [0] * 150 + [Button.START] * 6


def played(name="pinewood", frames=170):
    """A console in the middle of a game."""
    console = Console(own(name))
    for n in range(frames):
        console.run_frame(PRESS_START[n] if n < len(PRESS_START) else 0)
        console.drain_audio()
    return console


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


def pads_seen(console):
    """What a console of ``small_rom.READ_PADS`` reads next from both pads, as bytes with A in bit 0."""
    before = console.ram[0x12]
    while console.ram[0x12] == before:
        console.step_instruction()
    return [int(f"{console.ram[at]:08b}"[::-1], 2) for at in (0x10, 0x11)]  # stored first bit highest
