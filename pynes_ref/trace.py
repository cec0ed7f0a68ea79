"""A CPU log in Nintendulator's format, one line an instruction.

The format is that of the golden log of ``nestest``: address, bytes,
disassembly with the operand's effective address and present value, registers
before the instruction, PPU scanline and dot, CPU cycle. The log counts from a power-on
one CPU cycle and four dots earlier than ours, and so does this one, so that
the two can be compared line by line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from .core.ops import ABS, ABX, ABY, IMM, IMP, IZX, IZY, MNEMONICS, MODE, REL, SPECIAL, ZP, ZPX, ZPY

if TYPE_CHECKING:
    from .console import Console

CYCLE_SHIFT = 1
DOT_SHIFT = 4
DOTS_A_LINE = 341
PRE_RENDER = 261

_UNDOCUMENTED = {"SLO", "RLA", "SRE", "RRA", "SAX", "LAX", "DCP", "ISC", "ANC", "ALR", "ARR", "ANE", "LXA", "SBX",
                 "SHA", "SHX", "SHY", "SHS", "LAS", "JAM"}
_LENGTH = {IMP: 1, IMM: 2, ZP: 2, ZPX: 2, ZPY: 2, IZX: 2, IZY: 2, REL: 2, ABS: 3, ABX: 3, ABY: 3}
_SPECIAL_LENGTH = {"JSR": 3, "JMP": 3, "JMI": 3}
_ACCUMULATOR = {0x0A, 0x2A, 0x4A, 0x6A}


def _undocumented(op):
    name = MNEMONICS[op]
    return name in _UNDOCUMENTED or op == 0xEB or (name == "NOP" and op != 0xEA)


def length_of(op: int) -> int:
    """Bytes of the instruction with this opcode (BRK counts as one)."""
    mode = int(MODE[op])
    return _SPECIAL_LENGTH.get(MNEMONICS[op], 1) if mode == SPECIAL else _LENGTH[mode]


def disassemble(peek: Callable[[int], int], pc: int, x: int = 0, y: int = 0) -> tuple[bytes, str]:
    """The instruction at ``pc``: its bytes and its text with effective address and operand value.

    ``peek(addr)`` reads memory without side effects; registers that such a
    read could disturb ($2000-$401F) are shown as FF, as in the golden log.
    """
    op = peek(pc)
    raw = bytes(peek((pc + i) & 0xFFFF) for i in range(length_of(op)))
    name = {"ISC": "ISB", "JMI": "JMP"}.get(MNEMONICS[op], MNEMONICS[op])
    low = raw[1] if len(raw) > 1 else 0
    word = low | (raw[2] << 8 if len(raw) > 2 else 0)

    def value(addr):
        return 0xFF if 0x2000 <= addr < 0x4020 else peek(addr)

    def pointer(zero_page):
        return peek(zero_page & 0xFF) | peek((zero_page + 1) & 0xFF) << 8

    mode = int(MODE[op])
    text = ""
    if mode == IMM:
        text = f"#${low:02X}"
    elif mode == REL:
        text = f"${(pc + 2 + (low ^ 0x80) - 0x80) & 0xFFFF:04X}"
    elif mode == ZP:
        text = f"${low:02X} = {value(low):02X}"
    elif mode in (ZPX, ZPY):
        at = (low + (x if mode == ZPX else y)) & 0xFF
        text = f"${low:02X},{'X' if mode == ZPX else 'Y'} @ {at:02X} = {value(at):02X}"
    elif mode == ABS:
        text = f"${word:04X} = {value(word):02X}"
    elif mode in (ABX, ABY):
        at = (word + (x if mode == ABX else y)) & 0xFFFF
        text = f"${word:04X},{'X' if mode == ABX else 'Y'} @ {at:04X} = {value(at):02X}"
    elif mode == IZX:
        at = (low + x) & 0xFF
        text = f"(${low:02X},X) @ {at:02X} = {pointer(at):04X} = {value(pointer(at)):02X}"
    elif mode == IZY:
        base = pointer(low)
        at = (base + y) & 0xFFFF
        text = f"(${low:02X}),Y = {base:04X} @ {at:04X} = {value(at):02X}"
    elif op in _ACCUMULATOR:
        text = "A"
    elif MNEMONICS[op] == "JMI":
        target = peek(word) | peek((word & 0xFF00) | ((word + 1) & 0xFF)) << 8
        text = f"(${word:04X}) = {target:04X}"
    elif mode == SPECIAL and len(raw) == 3:
        text = f"${word:04X}"
    return raw, f"{'*' if _undocumented(op) else ' '}{name} {text}".rstrip()


def trace_line(console: Console) -> str:
    """The log line of the instruction that ``console`` is about to run."""
    cpu, ppu = console.cpu, console.ppu
    raw, text = disassemble(console.peek, cpu.pc, cpu.x, cpu.y)
    line, dot = ppu.scanline, ppu.dot - DOT_SHIFT
    if dot < 0:
        line, dot = (PRE_RENDER if line == 0 else line - 1), dot + DOTS_A_LINE
    shown = -1 if line == PRE_RENDER else line
    code = " ".join(f"{byte:02X}" for byte in raw)
    return (
        f"{cpu.pc:04X}  {code:<8} {text:<33}A:{cpu.a:02X} X:{cpu.x:02X} Y:{cpu.y:02X} P:{cpu.p:02X} SP:{cpu.s:02X} "
        f"PPU:{shown:3d},{dot:3d} CYC:{cpu.cycles - CYCLE_SHIFT}"
    )


def trace(console: Console, instructions: int, pc: int | None = None) -> Iterator[str]:
    """Run ``instructions`` instructions and yield a log line before each; ``pc`` sets where to begin."""
    if pc is not None:
        console.cpu.pc = pc
    for _ in range(instructions):
        if console.jammed:
            return
        yield trace_line(console)
        console.step_instruction()
