"""The 6502 of the 2A03: every opcode, every bus cycle.

https://www.nesdev.org/wiki/CPU - ``frame.py`` calls it; it drives everything
else, because each of its accesses is one cycle of the clock.

Registers and clock live in local variables while ``run_cpu`` runs (2 to 5 ns a
cycle instead of 41 for record fields). An access costs an addition and two
comparisons unless ``next_event`` is due or the address is not memory. Opcodes
are decoded in two steps, addressing mode and then operation, because compile
time follows the number of inlined accesses.

``bus`` is the byte that the last access left on the data bus.
"""

import numpy as np

from .alu import implied, modify, operate, set_nz
from .clock import cycle_end
from .events import GO_ON, STOP, arm, boundary, interrupted, slow_read, slow_write
from .jit import inline, outline
from .ops import ABS, ABX, ABY, IMM, IMP, IZX, IZY, KIND, MODE, MODIFY, OPER, REL, SPECIAL, STORE, ZP, ZPY
from .ppu_regs import ppu_start, ppu_stop
from .state import NEVER


@inline
def _read(nes, mem, clk, next_event, int_at, bus, addr):
    clk += 1
    ix = nes.cart.cpu_page[addr >> 11] + addr
    if clk >= next_event or ix < 0:
        value = slow_read(nes, mem, clk, addr, bus)
        clk = nes.cpu.clk
        next_event = nes.cpu.next_event
        int_at = nes.cpu.int_at
    else:
        value = np.int64(mem[ix])
    return value, clk, next_event, int_at


@inline
def _write(nes, mem, clk, next_event, int_at, addr, value):
    clk += 1
    ix = nes.cart.cpu_wpage[addr >> 11] + addr
    if clk >= next_event or ix < 0:
        slow_write(nes, mem, clk, addr, value)
        next_event = nes.cpu.next_event
        int_at = nes.cpu.int_at
    else:
        mem[ix] = value
    return clk, next_event, int_at


@outline
def run_cpu(nes, mem):
    """Run instructions until a frame has ended, the CPU jams, or after one with ``stop_always``."""
    cpu = nes.cpu
    a, x, y, s, p, pc = cpu.a, cpu.x, cpu.y, cpu.s, cpu.p, cpu.pc
    clk = cpu.clk
    bus = cpu.open_bus
    service = interrupted(nes, cpu.nmi_poll, cpu.irq_poll, cpu.early_poll, cpu.masked)
    cpu.irq_last = -1
    ppu_start(nes)
    arm(nes, clk)
    next_event, int_at = cpu.next_event, cpu.int_at
    cpu.nmi_poll = -1
    cpu.irq_poll = -1
    cpu.early_poll = -1

    while True:
        masked = p & 4
        if service:
            op = 0
            bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, pc)
        else:
            op, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, pc)
            bus = op
            pc = (pc + 1) & 0xFFFF
        fetched = clk
        # Every instruction reads the byte after its opcode, needed or not.
        nxt, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, pc)
        bus = nxt
        mode = np.int64(MODE[op])
        oper = np.int64(OPER[op])
        nmi_polled = 1
        irq_polled = 1
        early_poll = np.int64(-1)

        if mode == IMP:
            a, x, y, s, p = implied(oper, a, x, y, s, p)
        elif mode == IMM:
            pc = (pc + 1) & 0xFFFF
            a, x, y, s, p = operate(oper, a, x, y, s, p, nxt)
        elif mode == REL:
            pc = (pc + 1) & 0xFFFF
            flag = 0x80
            if oper == 2 or oper == 3:
                flag = 0x40
            elif oper == 4 or oper == 5:
                flag = 0x01
            elif oper >= 6:
                flag = 0x02
            if ((p & flag) != 0) == ((oper & 1) != 0):
                bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, pc)
                target = (pc + (nxt ^ 0x80) - 0x80) & 0xFFFF
                # A taken branch polls IRQ before its second cycle and, if it
                # crosses a page, before its fourth; never before its third.
                # NMI is taken as after any other instruction: no hardware test
                # decides, the recorded reference does so.
                if (target ^ pc) & 0xFF00:
                    fix = (pc & 0xFF00) | (target & 0xFF)
                    bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, fix)
                else:
                    irq_polled = 0
                early_poll = fetched
                pc = target
        elif mode == SPECIAL:
            if oper == 0:  # BRK, and the interrupt sequence
                if service == 0:
                    pc = (pc + 1) & 0xFFFF
                value = pc >> 8
                for step in range(3):
                    if step == 1:
                        value = pc & 0xFF
                    elif step == 2:
                        value = p | 0x30 if service == 0 else (p & 0xEF) | 0x20
                    clk, next_event, int_at = _write(nes, mem, clk, next_event, int_at, 0x100 | s, value)
                    s = (s - 1) & 0xFF
                bus = value
                p |= 4
                # The vector is chosen when P has been pushed: an NMI seen by
                # then takes over a BRK or an IRQ.
                vector = 0xFFFE
                if clk > cpu.nmi_at:
                    vector = 0xFFFA
                    cpu.nmi_at = NEVER
                bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, vector)
                pc = bus
                bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, vector + 1)
                pc |= bus << 8
                # No poll: one instruction of the handler always runs.
                nmi_polled = 0
                irq_polled = 0
                cpu.clk = clk
                arm(nes, clk)
                next_event, int_at = cpu.next_event, cpu.int_at
            elif oper == 1:  # JSR
                pc = (pc + 1) & 0xFFFF
                bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, 0x100 | s)
                bus = pc >> 8
                clk, next_event, int_at = _write(nes, mem, clk, next_event, int_at, 0x100 | s, bus)
                s = (s - 1) & 0xFF
                bus = pc & 0xFF
                clk, next_event, int_at = _write(nes, mem, clk, next_event, int_at, 0x100 | s, bus)
                s = (s - 1) & 0xFF
                bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, pc)
                pc = nxt | (bus << 8)
            elif oper == 4 or oper == 6:  # PHP PHA
                bus = p | 0x30 if oper == 4 else a
                clk, next_event, int_at = _write(nes, mem, clk, next_event, int_at, 0x100 | s, bus)
                s = (s - 1) & 0xFF
            elif oper == 8:  # JMP absolute
                pc = (pc + 1) & 0xFFFF
                bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, pc)
                pc = nxt | (bus << 8)
            elif oper == 9:  # JMP indirect
                pc = (pc + 1) & 0xFFFF
                bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, pc)
                pointer = nxt | (bus << 8)
                bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, pointer)
                pc = bus
                pointer = (pointer & 0xFF00) | ((pointer + 1) & 0xFF)
                bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, pointer)
                pc |= bus << 8
            elif oper == 10:  # JAM
                cpu.jammed = 1
                cycle_end(nes, mem, clk)
                break
            else:  # RTI RTS PLP PLA: pull one, two or three bytes
                bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, 0x100 | s)
                if oper != 3:
                    s = (s + 1) & 0xFF
                    bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, 0x100 | s)
                    if oper == 7:  # PLA
                        a = bus
                        p = set_nz(p, a)
                    else:
                        p = (bus & 0xCF) | 0x20
                        if oper == 2:  # RTI polls with the flag it has pulled
                            masked = p & 4
                if oper < 4:  # RTI RTS
                    s = (s + 1) & 0xFF
                    bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, 0x100 | s)
                    pc = bus
                    s = (s + 1) & 0xFF
                    bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, 0x100 | s)
                    pc |= bus << 8
                    if oper == 3:  # RTS
                        bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, pc)
                        pc = (pc + 1) & 0xFFFF
        else:
            kind = np.int64(KIND[op])
            pc = (pc + 1) & 0xFFFF
            addr = nxt
            base = nxt
            before = clk
            if mode != ZP:
                if mode == ABS or mode == ABX or mode == ABY:
                    bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, pc)
                    pc = (pc + 1) & 0xFFFF
                    base = nxt | (bus << 8)
                elif mode == IZY:
                    bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, nxt)
                    base = bus
                    pointer = (nxt + 1) & 0xFF
                    bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, pointer)
                    base |= bus << 8
                else:  # ZPX ZPY IZX: the unindexed address is read while the index is added
                    bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, nxt)
                    addr = (nxt + (y if mode == ZPY else x)) & 0xFF
                    if mode == IZX:
                        pointer = addr
                        bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, pointer)
                        addr = bus
                        pointer = (pointer + 1) & 0xFF
                        bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, pointer)
                        addr |= bus << 8
                if mode == ABS:
                    addr = base
                elif mode == ABX or mode == ABY or mode == IZY:
                    addr = (base + (x if mode == ABX else y)) & 0xFFFF
                    # The high byte is mended one cycle later; only a read
                    # that needs no mending skips that cycle.
                    if kind != 0 or (addr ^ base) & 0xFF00:
                        unfixed = (base & 0xFF00) | (addr & 0xFF)
                        before = clk
                        bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, unfixed)

            if kind == STORE:
                if oper == 0:  # STA
                    bus = a
                elif oper == 1:  # STX
                    bus = x
                elif oper == 2:  # STY
                    bus = y
                elif oper == 3:  # SAX
                    bus = a & x
                else:
                    # SHA SHX SHY SHS: the register goes through the bus with
                    # the high byte of the base plus one; a DMA in the cycle
                    # before lets that byte go, and a page crossing puts the
                    # same AND on the address.
                    value = y
                    if oper == 4:
                        value = a & x
                    elif oper == 5:
                        value = x
                    elif oper == 7:
                        value = a & x
                        s = value
                    bus = value & ((base >> 8) + 1)
                    if (addr ^ base) & 0xFF00:
                        addr = (addr & 0xFF) | ((addr & (value << 8)) & 0xFF00)
                    if clk - before > 1:
                        bus = value
                clk, next_event, int_at = _write(nes, mem, clk, next_event, int_at, addr, bus)
            else:
                bus, clk, next_event, int_at = _read(nes, mem, clk, next_event, int_at, bus, addr)
                if kind == MODIFY:
                    clk, next_event, int_at = _write(nes, mem, clk, next_event, int_at, addr, bus)
                    bus, a, p = modify(oper, a, p, bus)
                    clk, next_event, int_at = _write(nes, mem, clk, next_event, int_at, addr, bus)
                else:
                    a, x, y, s, p = operate(oper, a, x, y, s, p, bus)

        service = 0
        if clk > int_at:
            nmi_poll = clk - 1 if nmi_polled else np.int64(-1)
            irq_poll = clk - 1 if irq_polled else np.int64(-1)
            verdict = boundary(nes, mem, clk, nmi_poll, irq_poll, early_poll, masked)
            next_event, int_at = cpu.next_event, cpu.int_at
            if verdict == STOP:
                break
            service = np.int64(verdict != GO_ON)

    cpu.a, cpu.x, cpu.y, cpu.s, cpu.p, cpu.pc = a, x, y, s, p, pc
    cpu.clk = clk
    cpu.open_bus = bus
    cpu.int_bus = bus
    # What is left over from how the way was divided.
    cpu.next_event = 0
    cpu.ppu_due = 0
    ppu_stop(nes)
