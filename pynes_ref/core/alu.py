"""What the 6502's instructions do to registers and flags, without any bus cycle.

``cpu`` decodes; the numbers of the operations are those of ``ops``.
https://www.nesdev.org/wiki/Instruction_reference, /CPU_unofficial_opcodes.
"""

import numpy as np

from .jit import inline, inner

# The value an idle data bus adds to A in ANE ($8B): $FF, as nestest and the
# recorded reference have it; consoles differ.
# https://www.nesdev.org/wiki/CPU_unofficial_opcodes
ANE_MAGIC = 0xFF


@inline
def set_nz(p, value):
    """P with N and Z as ``value`` has them."""
    return (p & 0x7D) | (value & 0x80) | (np.int64(value == 0) << 1)


@inline
def _adc(a, p, value):
    total = a + value + (p & 1)
    overflow = (~(a ^ value) & (a ^ total) & 0x80) >> 1
    return total & 0xFF, set_nz((p & 0xBE) | (total >> 8) | overflow, total & 0xFF)


@inline
def _compare(p, reg, value):
    return set_nz((p & 0xFE) | np.int64(reg >= value), (reg - value) & 0xFF)


@inline
def _shift(kind, p, value):
    """ASL, LSR, ROL, ROR (0 to 3): returns result and P."""
    if kind == 0 or kind == 2:
        out = value >> 7
        result = (value << 1) & 0xFF
        if kind == 2:
            result |= p & 1
    else:
        out = value & 1
        result = value >> 1
        if kind == 3:
            result |= (p & 1) << 7
    return result, set_nz((p & 0xFE) | out, result)


@inner
def operate(oper, a, x, y, s, p, value):
    """The instructions that only read: returns A, X, Y, S, P. Numbered as ops.READS."""
    if oper == 0:  # LDA
        a = value
        p = set_nz(p, a)
    elif oper == 1:  # LDX
        x = value
        p = set_nz(p, x)
    elif oper == 2:  # LDY
        y = value
        p = set_nz(p, y)
    elif oper == 3:  # LAX
        a = value
        x = value
        p = set_nz(p, a)
    elif oper == 4:  # ADC
        a, p = _adc(a, p, value)
    elif oper == 5:  # SBC
        a, p = _adc(a, p, value ^ 0xFF)
    elif oper == 6:  # AND
        a &= value
        p = set_nz(p, a)
    elif oper == 7:  # ORA
        a |= value
        p = set_nz(p, a)
    elif oper == 8:  # EOR
        a ^= value
        p = set_nz(p, a)
    elif oper == 9:  # CMP
        p = _compare(p, a, value)
    elif oper == 10:  # CPX
        p = _compare(p, x, value)
    elif oper == 11:  # CPY
        p = _compare(p, y, value)
    elif oper == 12:  # BIT
        p = (p & 0x3D) | (value & 0xC0) | (np.int64((a & value) == 0) << 1)
    elif oper == 13:  # NOP
        pass
    elif oper == 14:  # ANC
        a &= value
        p = set_nz((p & 0xFE) | (a >> 7), a)
    elif oper == 15:  # ALR
        a, p = _shift(1, p, a & value)
    elif oper == 16:  # ARR
        a = ((a & value) >> 1) | ((p & 1) << 7)
        p = set_nz((p & 0xBE) | (a >> 6 & 1) | ((a ^ (a << 1)) & 0x40), a)
    elif oper == 17:  # ANE
        a = (a | ANE_MAGIC) & x & value
        p = set_nz(p, a)
    elif oper == 18:  # LXA
        a = value
        x = value
        p = set_nz(p, a)
    elif oper == 19:  # SBX
        x &= a
        p = _compare(p, x, value)
        x = (x - value) & 0xFF
    else:  # LAS
        s &= value
        a = s
        x = s
        p = set_nz(p, a)
    return a, x, y, s, p


@inner
def modify(oper, a, p, value):
    """The read-modify-write instructions: returns the new byte, A, P. Numbered as ops.MODIFIES."""
    if oper < 4:  # ASL LSR ROL ROR
        value, p = _shift(oper, p, value)
    elif oper == 4:  # INC
        value = (value + 1) & 0xFF
        p = set_nz(p, value)
    elif oper == 5:  # DEC
        value = (value - 1) & 0xFF
        p = set_nz(p, value)
    elif oper == 6:  # SLO
        value, p = _shift(0, p, value)
        a |= value
        p = set_nz(p, a)
    elif oper == 7:  # RLA
        value, p = _shift(2, p, value)
        a &= value
        p = set_nz(p, a)
    elif oper == 8:  # SRE
        value, p = _shift(1, p, value)
        a ^= value
        p = set_nz(p, a)
    elif oper == 9:  # RRA
        value, p = _shift(3, p, value)
        a, p = _adc(a, p, value)
    elif oper == 10:  # DCP
        value = (value - 1) & 0xFF
        p = _compare(p, a, value)
    else:  # ISC
        value = (value + 1) & 0xFF
        a, p = _adc(a, p, value ^ 0xFF)
    return value, a, p


@inner
def implied(oper, a, x, y, s, p):
    """The instructions without an operand: returns A, X, Y, S, P. Numbered as ops.IMPLIED."""
    if oper == 0:  # CLC
        p &= 0xFE
    elif oper == 1:  # SEC
        p |= 0x01
    elif oper == 2:  # CLI
        p &= 0xFB
    elif oper == 3:  # SEI
        p |= 0x04
    elif oper == 4:  # CLV
        p &= 0xBF
    elif oper == 5:  # CLD
        p &= 0xF7
    elif oper == 6:  # SED
        p |= 0x08
    elif oper == 7:  # TAX
        x = a
        p = set_nz(p, x)
    elif oper == 8:  # TAY
        y = a
        p = set_nz(p, y)
    elif oper == 9:  # TXA
        a = x
        p = set_nz(p, a)
    elif oper == 10:  # TYA
        a = y
        p = set_nz(p, a)
    elif oper == 11:  # TSX
        x = s
        p = set_nz(p, x)
    elif oper == 12:  # TXS
        s = x
    elif oper == 13:  # INX
        x = (x + 1) & 0xFF
        p = set_nz(p, x)
    elif oper == 14:  # INY
        y = (y + 1) & 0xFF
        p = set_nz(p, y)
    elif oper == 15:  # DEX
        x = (x - 1) & 0xFF
        p = set_nz(p, x)
    elif oper == 16:  # DEY
        y = (y - 1) & 0xFF
        p = set_nz(p, y)
    elif oper >= 18:  # ASL LSR ROL ROR
        a, p = _shift(oper - 18, p, a)
    return a, x, y, s, p
