"""What leads up to a moment of a run: the CPU's instructions, every register access with scanline and dot, the state.

``pynes_ref`` plays the same ROM with the same buttons, in whole frames up to the frame before, then instruction by
instruction. An access is placed where the PPU stands when the CPU's bus cycle takes effect (abi/ABI.md, "Clock").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from abi.candidate import CandidateError, EmulatorError
from abi.loader import resolve
from grader.explain_registers import PpuState, name_of, read, register, subject, written
from grader.explain_run import Job, Picture, checksum
from grader.lockstep import prepare
from pynes_ref.accesses import Kind, plan_of
from pynes_ref.trace import trace_line

DOTS_A_LINE = 341
LINES = 262
OAM_DMA_CYCLES = 500
REPEATING = {0x2002, 0x2004, 0x2007, 0x4015, 0x4016, 0x4017}
"""Registers that are accessed many times in a row; such a run is one row of a table."""


@dataclass(frozen=True)
class Event:
    """A register access, a DMA or an interrupt."""

    frame: int
    line: int
    dot: int
    cycle: int
    pc: int
    what: str
    """"read", "write", "dummy read", "dummy write", "DMA", "NMI" or "IRQ"."""
    addr: int = 0
    value: int | None = None
    name: str = ""
    text: str = ""
    subject: str = ""

    @property
    def writes(self) -> bool:
        return self.what == "write"

    @property
    def place(self) -> str:
        return f"scanline {self.line} dot {self.dot}"


@dataclass(frozen=True)
class Row:
    """One or more like events as a row of a table."""

    first: Event
    last: Event
    count: int
    values: tuple[int | None, ...]

    @property
    def text(self) -> str:
        """What it means: of several writes, the first (of those to a serial register, the last)."""
        if self.count == 1 or not self.first.writes:
            return self.first.text
        if self.first.subject == "board":
            return self.last.text
        return f"first: {self.first.text}" if self.first.text else ""


@dataclass(frozen=True)
class Step:
    """A line of the trace; ``note``: no instruction."""

    pc: int
    text: str
    note: bool = False


@dataclass
class Watched:
    """The neighbourhood of a moment."""

    frame: int
    picture: Picture
    """Our picture of this frame."""
    events: list[Event] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    console: Any = None
    """The console as it stands at the last instruction before the moment."""
    line: int = 0
    dot: int = 0
    cycle: int = 0
    target: tuple[int, int] | None = None
    """Scanline and dot of the moment; None = the end of the frame."""
    mapper: int = 0

    def rows(self) -> list[Row]:
        """The events, runs of the same access in one row."""
        rows: list[list[Event]] = []
        for event in self.events:
            before = rows[-1][-1] if rows else None
            same = before is not None and (before.what, before.addr, before.frame) == (
                event.what,
                event.addr,
                event.frame,
            )
            serial = self.mapper == 1 and event.addr >= 0x8000 and before is not None and len(rows[-1]) < 5
            if same and (register(event.addr) in REPEATING or event.what == "DMA" or serial):
                rows[-1].append(event)
            else:
                rows.append([event])
        return [Row(run[0], run[-1], len(run), tuple(e.value for e in run[:16])) for run in rows]

    def last_writes(self, count: int, subjects: frozenset[str]) -> list[Event]:
        """The last register writes of this frame to one of ``subjects``, newest last."""
        return [e for e in self.events if e.writes and e.subject in subjects][-count:]


class Watcher:
    """Our console on a job, ready to be looked at. EmulatorError when it cannot play the ROM."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._player: Any = resolve("pynes_ref").open()
        try:
            prepare(self._player, job.rom)
        except CandidateError as error:
            raise EmulatorError(f"pynes_ref: {error}") from None
        self.console: Any = self._player.console
        self.at = 0

    def run_to(self, frame: int) -> None:
        """Run whole frames until ``frame`` is the next. Going back starts again."""
        if frame < self.at:
            self._player.emu_reset()
            self.console, self.at = self._player.console, 0
        while self.at < frame:
            self.console.run_frame(self._job.keys[self.at])
            self.console.drain_audio()
            self.at += 1

    def watch(self, frame: int, pixel: tuple[int, int] | None = None, cycle: int | None = None) -> Watched:
        """From the start of the frame before up to scanline and x of ``pixel``, or CPU cycle ``cycle``."""
        self.run_to(max(frame - 1, 0))
        console = self.console.clone()
        recorder = _Recorder(console)
        # A twin runs each frame whole: it knows where the frame ends, and goes on from there.
        for number in range(self.at, frame):
            twin = console.clone()
            twin.run_frame(self._job.keys[number])
            recorder.run(number, self._job.keys[number], twin.cycles)
            recorder.console = console = twin
        twin = console.clone()
        picture = twin.run_frame(self._job.keys[frame]).reshape(-1).copy()
        console.run_frames(0, self._job.keys[frame])
        stop, target = twin.cycles, None
        if pixel is not None:
            start = console.ppu.dots - (console.ppu.scanline * DOTS_A_LINE + console.ppu.dot)
            dots = start + pixel[0] * DOTS_A_LINE + pixel[1] + 1
            # The first pixels of scanline 0 are drawn at the end of a call, for the next picture.
            if console.ppu.dots < dots:
                stop, target = min(stop, dots // 3), (pixel[0], pixel[1] + 1)
        elif cycle is not None:
            stop = min(stop, cycle)
        before = console.snapshot()
        count = recorder.run(frame, self._job.keys[frame], stop)
        console.restore(before)
        for _ in range(count - 1):
            console.step_instruction()
        ppu = console.ppu
        return Watched(
            frame, picture, recorder.events, recorder.steps, console, ppu.scanline, ppu.dot, console.cycles, target,
            console.cartridge.mapper,
        )  # fmt: skip


class _Recorder:
    def __init__(self, console: Any) -> None:
        self.console = console
        self.events: list[Event] = []
        self.steps: list[Step] = []
        self._mapper = console.cartridge.mapper
        self._oam_page = 0
        self._bits: list[int] = []

    def run(self, frame: int, keys: int, stop: int) -> int:
        """Step until CPU cycle ``stop`` is done; the number of steps."""
        console = self.console
        console.run_frames(0, keys)
        self.steps.append(Step(-1, f"frame {frame}, buttons {keys:02X}", True))
        count = 0
        while console.cycles < stop and not console.jammed:
            self._step(frame)
            count += 1
        return count

    def _step(self, frame: int) -> None:
        console = self.console
        plan = plan_of(console)
        cpu, ppu = console.cpu, console.ppu
        line, dot, cycle = ppu.scanline, ppu.dot, console.cycles
        shown = -1 if line == LINES - 1 else line
        text = f"{trace_line(console).rsplit('PPU:', 1)[0]}PPU:{shown:3d},{dot:3d} CYC:{cycle}"
        fetched = console.apu.dmc_addr
        state = PpuState(ppu.v, ppu.t, ppu.w) if plan.touches else PpuState()
        status = console.peek(0x4015) if any(t.addr == 0x4015 for t in plan.touches) else 0
        taken = console.step_instruction()
        stolen = taken - plan.cycles(console)
        if stolen > 0:
            self._dma(frame, line, dot, cycle, plan.pc, stolen, fetched)
        if plan.interrupted(console):
            kind = "NMI" if console.cpu.pc == console.peek(0xFFFA) | console.peek(0xFFFB) << 8 else "IRQ"
            self.steps.append(
                Step(-2, f"{kind}: to ${console.cpu.pc:04X} from ${plan.pc:04X}, scanline {line} dot {dot}", True)
            )
            self.events.append(Event(frame, line, dot, cycle, plan.pc, kind, text=f"to ${console.cpu.pc:04X}"))
            return
        self.steps.append(Step(plan.pc, text))
        for touch in plan.touches:
            if 0x2000 <= touch.addr < 0x4018 or (touch.addr >= 0x4020 and touch.kind is Kind.WRITE):
                if 0x6000 <= touch.addr < 0x8000:
                    continue
                value = cpu.open_bus if touch.back == 0 else None
                if touch.addr == 0x4015 and touch.kind is Kind.READ:
                    value = status & 0xDF  # bit 5 is what the internal bus held: mostly bit 5 of the address
                self._touch(frame, plan.pc, touch, value, state)

    def _touch(self, frame, pc, touch, value, state) -> None:
        line, dot = back(self.console.ppu.scanline, self.console.ppu.dot, 3 * touch.back + 1)
        text = ""
        reads = touch.kind in (Kind.READ, Kind.DUMMY_READ)
        if touch.kind is Kind.WRITE and value is not None:
            text = self._mmc1(touch.addr, value) or written(touch.addr, value, state, self._mapper)
            if touch.addr == 0x4014:
                self._oam_page = value
        elif touch.kind is Kind.READ:
            text = read(touch.addr, value, state)
        self.events.append(
            Event(
                frame,
                line,
                dot,
                self.console.cycles - touch.back,
                pc,
                touch.kind.value,
                touch.addr,
                value,
                name_of(touch.addr, self._mapper, reads),
                text,
                subject(touch.addr, reads),
            )
        )

    def _mmc1(self, addr: int, value: int) -> str:
        """MMC1 takes five bits, one a write, lowest first; what the fifth completes."""
        if self._mapper != 1 or addr < 0x8000:
            return ""
        if value & 0x80:
            self._bits.clear()
            return ""
        self._bits.append(value & 1)
        if len(self._bits) < 5:
            return ""
        whole = sum(bit << place for place, bit in enumerate(self._bits))
        self._bits.clear()
        return f"${whole:02X} by five writes"

    def _dma(self, frame, line, dot, cycle, pc, stolen, fetched) -> None:
        if stolen >= OAM_DMA_CYCLES:
            text = f"OAM DMA from ${self._oam_page:02X}00, {stolen} cycles"
            name = "OAM DMA"
        else:
            text = f"DMC DMA of ${fetched:04X}, {stolen} cycles" if stolen > 1 else "DMC DMA, aborted after 1 cycle"
            name = "DMC DMA"
        self.steps.append(Step(-3, text, True))
        self.events.append(Event(frame, line, dot, cycle + 1, pc, "DMA", 0, None, name, text, "dma"))


def back(line: int, dot: int, dots: int) -> tuple[int, int]:
    """The place ``dots`` dots before."""
    while dots > dot:
        dots -= dot + 1
        line, dot = (line - 1) % LINES, DOTS_A_LINE - 1
    return line, dot - dots


def collapsed(steps: list[Step], longest: int = 16) -> list[Step]:
    """The trace with loops that do nothing else shown once: "the same 2 instructions 812 times more"."""
    pcs = [step.pc for step in steps]
    out: list[Step] = []
    at = 0
    while at < len(steps):
        period, turns = _loop(pcs, at, longest)
        if not turns:
            out.append(steps[at])
            at += 1
            continue
        what = "instruction" if period == 1 else f"{period} instructions"
        out += steps[at : at + period]
        out.append(Step(-4, f"... the same {what} {turns - 2} times more ...", True))
        at += turns * period
        out += steps[at - period : at]
    return out


def _loop(pcs: list[int], at: int, longest: int) -> tuple[int, int]:
    """(instructions, turns) of the loop that begins at a place, (0, 0) if none does."""
    for period in range(1, longest + 1):
        body = pcs[at : at + period]
        if len(body) < period or body[-1] < 0:
            break
        turns = 1
        while pcs[at + turns * period : at + (turns + 1) * period] == body:
            turns += 1
        if turns >= 4:
            return period, turns
    return 0, 0


@dataclass(frozen=True)
class Tile:
    """The background tile under a pixel."""

    nametable: int
    column: int
    row: int
    number: int
    palette: int
    pattern: int


def tile_at(watched: Watched, x: int) -> Tile | None:
    """The background tile that the PPU is about to show at ``x`` of the target's scanline; None if unknown."""
    console, target = watched.console, watched.target
    if console is None or target is None or not console.ppu.mask & 0x18:
        return None
    v, line, dot = console.ppu.v, watched.line, watched.dot
    if line == target[0] and dot <= 256:
        ahead = 2 + dot // 8
    elif line == (target[0] - 1) % LINES and dot >= 257:
        ahead = (dot >= 328) + (dot >= 336)
    else:
        return None
    position = (v & 31) + 32 * (v >> 10 & 1) - ahead + (x + console.ppu.x) // 8
    column, table = position & 31, (v >> 11 & 1) << 1 | position >> 5 & 1
    row = v >> 5 & 31
    tiles = console.nametable(table)
    if row >= 30:
        return None
    palette = int(console.attributes(table)[row, column])
    return Tile(table, column, row, int(tiles[row, column]), palette, 0x1000 if console.ppu.ctrl & 0x10 else 0)


def sprites_on(console: Any, y: int, x: int | None = None) -> list[int]:
    """Numbers of the sprites that cover a scanline, or one pixel of it."""
    height = 16 if console.ppu.ctrl & 0x20 else 8
    found = []
    for number in range(64):
        top, left = int(console.oam[4 * number]) + 1, int(console.oam[4 * number + 3])
        if top <= y < top + height and (x is None or left <= x < left + 8):
            found.append(number)
    return found


def sprite_mask(console: Any) -> np.ndarray:
    """Which pixels lie in some sprite's box, bool[240, 256]."""
    mask = np.zeros((240, 256), bool)
    height = 16 if console.ppu.ctrl & 0x20 else 8
    for number in range(64):
        top, left = int(console.oam[4 * number]) + 1, int(console.oam[4 * number + 3])
        mask[top : top + height, left : left + 8] = True
    return mask


def agrees_with(watched: Watched, ref: Picture, cand: Picture) -> str:
    """Whose picture ours is in this frame: "both", "reference", "candidate" or "neither"."""
    ours = checksum(watched.picture)
    like_ref, like_cand = ours == checksum(ref), ours == checksum(cand)
    return {(True, True): "both", (True, False): "reference", (False, True): "candidate"}.get(
        (like_ref, like_cand), "neither"
    )
