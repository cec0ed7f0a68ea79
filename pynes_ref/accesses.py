"""What the instruction that a console is about to run will do on the bus: for tools, not for the core.

>>> plan = plan_of(console)         # before
>>> taken = console.step_instruction()
>>> plan.touches                    # effective addresses, dummy accesses included, and when
>>> taken - plan.cycles(console)    # cycles that DMA took

Only accesses through the operand are listed; opcode fetches and the stack are not. Every instruction that has such
an access ends with it, so its cycle is the console's cycle after the step.
https://www.nesdev.org/wiki/CPU_addressing_modes, /6502_cycle_times
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .core.ops import (
    ABS,
    ABX,
    ABY,
    IMM,
    IMP,
    IZX,
    IZY,
    KIND,
    MNEMONICS,
    MODE,
    MODIFY,
    REL,
    SPECIAL,
    STORE,
    ZP,
    ZPX,
    ZPY,
)

INTERRUPT_CYCLES = 7
_READ_CYCLES = {IMP: 2, IMM: 2, ZP: 3, ZPX: 4, ZPY: 4, ABS: 4, ABX: 4, ABY: 4, IZX: 6, IZY: 5, REL: 2}
_SPECIAL_CYCLES = {
    "BRK": 7, "JSR": 6, "RTI": 6, "RTS": 6, "PHP": 3, "PHA": 3, "PLP": 4, "PLA": 4, "JMP": 3, "JMI": 5, "JAM": 2
}  # fmt: skip
_INDEXED = (ABX, ABY, IZY)


class Kind(Enum):
    """A bus access. Dummy ones are those whose value the instruction does not use; registers react all the same."""

    READ = "read"
    WRITE = "write"
    DUMMY_READ = "dummy read"
    DUMMY_WRITE = "dummy write"


@dataclass(frozen=True)
class Touch:
    """One access: ``back`` cycles before the instruction's last cycle."""

    addr: int
    kind: Kind
    back: int


@dataclass(frozen=True)
class Plan:
    """An instruction about to be run."""

    pc: int
    opcode: int
    name: str
    s: int
    touches: tuple[Touch, ...]
    base_cycles: int

    def interrupted(self, console) -> bool:
        """After the step: was it an interrupt sequence that ran, in place of the instruction?"""
        if console.cpu.s != (self.s - 3) & 0xFF:
            return False
        ram = console.ram
        pushed = int(ram[0x100 + self.s]) << 8 | int(ram[0x100 + ((self.s - 1) & 0xFF)])
        return pushed == self.pc  # BRK pushes the address after its padding byte

    def cycles(self, console) -> int:
        """After the step: the cycles that it takes without DMA."""
        if self.interrupted(console):
            return INTERRUPT_CYCLES
        return self.base_cycles


def plan_of(console) -> Plan:
    """The plan of the instruction at the console's PC. Registers are not disturbed."""
    peek, cpu = console.peek, console.cpu
    pc, x, y = cpu.pc, cpu.x, cpu.y
    op = peek(pc)
    mode, kind = int(MODE[op]), int(KIND[op])
    name = MNEMONICS[op]
    if mode == SPECIAL:
        return Plan(pc, op, name, cpu.s, (), _SPECIAL_CYCLES[name])
    cycles = _READ_CYCLES[mode]
    if mode == REL:
        return Plan(pc, op, name, cpu.s, (), cycles + _branch_cycles(op, cpu.p, pc, peek((pc + 1) & 0xFFFF)))
    if mode in (IMP, IMM):
        return Plan(pc, op, name, cpu.s, (), cycles)
    low = peek((pc + 1) & 0xFFFF)
    addr, base = _effective(peek, mode, pc, low, x, y)
    wrong = (base & 0xFF00) | (addr & 0xFF)
    early = mode in _INDEXED and (kind != 0 or wrong != addr)
    touches = []
    if kind == MODIFY:
        cycles += 2 + (mode in _INDEXED)
        if early:
            touches.append(Touch(wrong, Kind.DUMMY_READ, 3))
        touches += [Touch(addr, Kind.READ, 2), Touch(addr, Kind.DUMMY_WRITE, 1), Touch(addr, Kind.WRITE, 0)]
    else:
        cycles += early
        if early:
            touches.append(Touch(wrong, Kind.DUMMY_READ, 1))
        touches.append(Touch(addr, Kind.WRITE if kind == STORE else Kind.READ, 0))
    return Plan(pc, op, name, cpu.s, tuple(touches), cycles)


def _branch_cycles(op, p, pc, offset):
    """What a branch takes beyond two cycles: one if taken, one more into another page."""
    flag = p >> (7, 6, 0, 1)[op >> 6] & 1  # N, V, C, Z
    if flag != op >> 5 & 1:
        return 0
    after = pc + 2
    return 1 + ((after ^ (after + (offset ^ 0x80) - 0x80)) & 0xFF00 != 0)


def _effective(peek, mode, pc, low, x, y):
    """Effective address, and the address before the index was added."""
    if mode == ZP:
        return low, low
    if mode in (ZPX, ZPY):
        return (low + (x if mode == ZPX else y)) & 0xFF, low
    if mode == IZX:
        at = low + x
        addr = peek(at & 0xFF) | peek((at + 1) & 0xFF) << 8
        return addr, addr
    if mode == IZY:
        base = peek(low) | peek((low + 1) & 0xFF) << 8
        return (base + y) & 0xFFFF, base
    base = low | peek((pc + 2) & 0xFFFF) << 8
    return (base + (0 if mode == ABS else x if mode == ABX else y)) & 0xFFFF, base
