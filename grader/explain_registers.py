"""Registers by name, and what a value written to one means, in words.

https://www.nesdev.org/wiki/PPU_registers, /APU, /MMC1, /MMC3.
"""

from __future__ import annotations

from dataclasses import dataclass

_PPU_NAMES = ("PPUCTRL", "PPUMASK", "PPUSTATUS", "OAMADDR", "OAMDATA", "PPUSCROLL", "PPUADDR", "PPUDATA")
_APU_NAMES = (
    "PULSE1 volume", "PULSE1 sweep", "PULSE1 period low", "PULSE1 period high",
    "PULSE2 volume", "PULSE2 sweep", "PULSE2 period low", "PULSE2 period high",
    "TRIANGLE counter", "unused", "TRIANGLE period low", "TRIANGLE period high",
    "NOISE volume", "unused", "NOISE period", "NOISE length",
    "DMC rate", "DMC level", "DMC address", "DMC length",
    "OAMDMA", "APU status", "JOY1", "APU frame counter",
)  # fmt: skip
NAMES = dict(enumerate(_PPU_NAMES, 0x2000)) | dict(enumerate(_APU_NAMES, 0x4000))

MASK_BITS = ("grey", "background left", "sprites left", "background", "sprites", "red", "green", "blue")
CHANNELS = ("pulse 1", "pulse 2", "triangle", "noise", "dmc")


@dataclass(frozen=True)
class PpuState:
    """What the PPU held when a register was accessed; some meanings depend on it."""

    v: int = 0
    t: int = 0
    w: int = 0


def register(addr: int) -> int:
    """The register behind an address (mirrors of the PPU's undone)."""
    return 0x2000 | addr & 7 if 0x2000 <= addr < 0x4000 else addr


def name_of(addr: int, mapper: int = 0, reads: bool = False) -> str:
    """``$2005 PPUSCROLL``."""
    known = "JOY2" if reads and addr == 0x4017 else NAMES.get(register(addr))
    if known is None:
        known = _board_register(addr, mapper) if addr >= 0x8000 else "cartridge"
    return f"${addr:04X} {known}"


def subject(addr: int, reads: bool = False) -> str:
    """Who listens: "ppu", "apu", "pads", "dma" or "board"."""
    reg = register(addr)
    if reads and reg == 0x4017:
        return "pads"
    if reg < 0x4000:
        return "ppu"
    if reg == 0x4014:
        return "dma"
    if reg == 0x4016:
        return "pads"
    return "apu" if reg < 0x4018 else "board"


def written(addr: int, value: int, ppu: PpuState, mapper: int = 0) -> str:
    """What writing ``value`` to ``addr`` does."""
    reg = register(addr)
    if reg < 0x4000:
        return _ppu_write(reg, value, ppu)
    if reg < 0x4018:
        return _apu_write(reg, value)
    return _board_write(addr, value, mapper)


def read(addr: int, value: int | None, ppu: PpuState) -> str:
    """What reading ``value`` from ``addr`` says."""
    reg = register(addr)
    if reg == 0x2002 and value is not None:
        flags = [n for bit, n in ((7, "VBL"), (6, "sprite 0 hit"), (5, "overflow")) if value >> bit & 1]
        return " + ".join(flags) or "nothing set"
    if reg == 0x2007:
        return f"v was ${ppu.v & 0x3FFF:04X}"
    if reg == 0x4015 and value is not None:
        flags = [n for bit, n in enumerate(CHANNELS) if value >> bit & 1]
        flags += [n for bit, n in ((6, "frame IRQ"), (7, "DMC IRQ")) if value >> bit & 1]
        return ", ".join(flags) or "nothing set"
    return ""


def where_ppu(addr: int) -> str:
    """What lies at a PPU address."""
    addr &= 0x3FFF
    if addr >= 0x3F00:
        at = addr & 0x1F
        if at & 3 == 0:
            return f"palette ${0x3F00 | at & 0x0F:04X} (backdrop)"
        return f"palette ${0x3F00 | at:04X} ({'sprite' if at & 0x10 else 'background'} {at >> 2 & 3}, colour {at & 3})"
    if addr >= 0x2000:
        table, cell = addr >> 10 & 3, addr & 0x3FF
        if cell >= 0x3C0:
            return f"attributes of nametable {table}, column {4 * (cell & 7)}, row {4 * (cell >> 3 & 7)}"
        return f"nametable {table}, column {cell & 31}, row {cell >> 5}"
    return f"pattern table {addr >> 12}, tile ${addr >> 4 & 0xFF:02X}, row {addr & 7}"


def _ppu_write(reg: int, value: int, ppu: PpuState) -> str:
    if reg == 0x2000:
        return (
            f"NMI {'on' if value & 0x80 else 'off'}, sprites {'8x16' if value & 0x20 else '8x8'}"
            f" at ${0x1000 if value & 8 else 0:04X}, background at ${0x1000 if value & 0x10 else 0:04X},"
            f" PPUDATA +{32 if value & 4 else 1}, nametable {value & 3}"
        )
    if reg == 0x2001:
        return ", ".join(name for bit, name in enumerate(MASK_BITS) if value >> bit & 1) or "everything off"
    if reg == 0x2005:
        return f"scroll y {value}" if ppu.w else f"scroll x {value} (tile {value >> 3}, fine {value & 7})"
    if reg == 0x2006:
        if ppu.w == 0:
            return f"high byte: t = ${(value & 0x3F) << 8 | ppu.t & 0xFF:04X}"
        v = ppu.t & 0x7F00 | value
        return f"v = ${v:04X}: {where_ppu(v)}"
    if reg == 0x2007:
        return f"${ppu.v & 0x3FFF:04X}, {where_ppu(ppu.v)}"
    return ""


def _apu_write(reg: int, value: int) -> str:
    if reg in (0x4000, 0x4004, 0x400C):
        kind = f"constant {value & 15}" if value & 0x10 else f"envelope, period {value & 15}"
        duty = "" if reg == 0x400C else f"duty {('12.5', '25', '50', '75')[value >> 6]} %, "
        return f"{duty}{kind}{', no length' if value & 0x20 else ''}"
    if reg in (0x4001, 0x4005):
        if not value & 0x80:
            return "sweep off"
        return f"sweep period {value >> 4 & 7}, {'up' if value & 8 else 'down'} by 1/{1 << (value & 7)}"
    if reg in (0x4003, 0x4007, 0x400B):
        return f"period high {value & 7}, length {value >> 3}"
    if reg == 0x4008:
        return f"linear counter {value & 0x7F}{', control' if value & 0x80 else ''}"
    if reg == 0x400E:
        return f"period {value & 15}{', short sequence' if value & 0x80 else ''}"
    if reg == 0x400F:
        return f"length {value >> 3}"
    if reg == 0x4010:
        return f"rate {value & 15}{', loop' if value & 0x40 else ''}{', IRQ' if value & 0x80 else ''}"
    if reg == 0x4011:
        return f"level {value & 0x7F}"
    if reg == 0x4012:
        return f"sample at ${0xC000 | value << 6:04X}"
    if reg == 0x4013:
        return f"{(value << 4) + 1} bytes"
    if reg == 0x4014:
        return f"OAM from ${value << 8:04X}"
    if reg == 0x4015:
        return ", ".join(name for bit, name in enumerate(CHANNELS) if value >> bit & 1) or "all channels off"
    if reg == 0x4017:
        return f"{'5' if value & 0x80 else '4'} steps{', no IRQ' if value & 0x40 else ''}"
    return ""


def _board_register(addr: int, mapper: int) -> str:
    if mapper == 1:
        return f"MMC1 {('control', 'CHR bank 0', 'CHR bank 1', 'PRG bank')[addr >> 13 & 3]}"
    if mapper == 4:
        pairs = (
            ("bank select", "bank data"),
            ("mirroring", "PRG RAM"),
            ("IRQ latch", "IRQ reload"),
            ("IRQ off", "IRQ on"),
        )
        return f"MMC3 {pairs[addr >> 13 & 3][addr & 1]}"
    return {2: "PRG bank", 3: "CHR bank", 7: "PRG bank, screen"}.get(mapper, "board")


def _board_write(addr: int, value: int, mapper: int) -> str:
    if mapper == 1:
        return "shift register reset" if value & 0x80 else f"bit {value & 1} shifted in"
    if mapper == 4 and addr >= 0x8000:
        place = addr >> 13 & 3, addr & 1
        if place == (0, 0):
            return (
                f"R{value & 7} next{', PRG swapped' if value & 0x40 else ''}{', CHR swapped' if value & 0x80 else ''}"
            )
        if place == (1, 0):
            return "horizontal" if value & 1 else "vertical"
        if place == (2, 0):
            return f"every {value + 1} lines"
    return ""
