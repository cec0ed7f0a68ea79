"""A PPU by itself, for tests: accesses at dots, and a bus with 8 KiB of CHR RAM."""

import numpy as np

from pynes_ref.core import ppu, ppu_eval, ppu_next, ppu_regs, ppu_vram
from pynes_ref.core.jit import entry as jit
from pynes_ref.core.state import NES, offset_of

VBL, SPRITE_0, OVERFLOW = 0x80, 0x40, 0x20
LINE, FRAME = 341, 262 * 341
READ, WRITE, DMA = range(3)


@jit
def _play(nes, mem, ops, stops, seen):
    """Run to the dot ops[k, 0] of each access, and to each of the dots ``stops`` on the way."""
    stop = 0
    for k in range(ops.shape[0]):
        while stop < len(stops) and stops[stop] <= ops[k, 0]:
            ppu.ppu_run(nes, mem, stops[stop])
            stop += 1
        ppu.ppu_run(nes, mem, ops[k, 0])
        if ops[k, 1] == READ:
            seen[k] = ppu_regs.ppu_read(nes, mem, ops[k, 2])
        elif ops[k, 1] == WRITE:
            ppu_regs.ppu_write(nes, mem, ops[k, 2], ops[k, 3])
        elif ops[k, 1] == DMA:
            ppu_regs.ppu_dma_write(nes, ops[k, 3])


@jit
def catch_up(nes):
    ppu_eval.sprites_catch_up(nes)


@jit
def next_events(nes):
    return ppu_next.ppu_next_nmi_dot(nes), ppu_next.ppu_next_frame_dot(nes)


@jit
def peek(nes, mem, reg):
    return ppu_regs.ppu_peek(nes, mem, reg)


@jit
def reset(nes):
    ppu.ppu_reset(nes)


@jit
def next_tile(v):
    return ppu_vram.next_tile(v)


@jit
def next_row(v):
    return ppu_vram.next_row(v)


NO_STOPS = np.zeros(0, np.int64)


class Bench:
    """A PPU with 8 KiB of CHR RAM and vertical mirroring; warm, so that registers can be written at once.

    CHR tile 1 is solid colour 1, tile 2 solid colour 3, tile 0 transparent.
    """

    def __init__(self, warm=True):
        self.mem = np.zeros(NES.itemsize, np.uint8)
        self.nes = self.mem.view(NES)[0]
        self.ppu = self.nes["ppu"]
        cart = self.nes["cart"]
        for page in range(16):
            cart["ppu_page"][page] = (
                offset_of("chr_ram") if page < 8 else offset_of("vram") + ((page & 1) - page) * 1024
            )
            cart["ppu_wok"][page] = 1
        self.nes["chr_ram"][16:24] = 0xFF
        self.nes["chr_ram"][32:48] = 0xFF
        ppu.power_on_ppu(self.ppu)
        if warm:
            self.ppu["writable_at"] = 0
        self.ppu["oam"][:] = 0xFF
        self.run(1)

    def play(self, *ops, stops=NO_STOPS):
        ops = np.array(ops, np.int64).reshape(-1, 4)
        seen = np.full(len(ops), -1)
        _play(self.nes, self.mem, ops, stops, seen)
        return seen

    @property
    def dots(self):
        return int(self.ppu["dots"])

    def run(self, dots):
        self.play((self.dots + dots, -1, 0, 0))

    def to(self, scanline, dot):
        """Run to this dot: not at all if it was the last one."""
        here = int(self.ppu["scanline"]) * LINE + int(self.ppu["dot"])
        there = scanline * LINE + dot
        if there < here:
            self.run(FRAME - here - 1)
            while self.ppu["scanline"] != 0 or self.ppu["dot"] != 0:
                self.run(1)
            here = 0
        self.run(there - here)
        assert (self.ppu["scanline"], self.ppu["dot"]) == (scanline, dot)

    def write(self, addr, *values):
        for value in values:
            self.play((self.dots, WRITE, addr & 7, value))

    def read(self, addr):
        return int(self.play((self.dots, READ, addr & 7, 0))[0])

    def sprite(self, number, y, tile, attr, x):
        self.ppu["oam"][4 * number : 4 * number + 4] = y, tile, attr, x

    def status(self):
        catch_up(self.nes)
        return int(self.ppu["status"])

    def pixels(self, line):
        return self.ppu["frame"][line * 256 : line * 256 + 256]
