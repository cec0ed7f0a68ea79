"""What each of the 256 opcodes is: addressing mode, access kind, operation.

The 2A03 decodes opcodes by bit fields, and so do these tables: the documented
and the undocumented instructions come from the same grid.
https://www.nesdev.org/wiki/CPU_unofficial_opcodes
"""

import numpy as np

# Addressing modes.
(IMP, IMM, ZP, ZPX, ZPY, ABS, ABX, ABY, IZX, IZY, REL, SPECIAL) = range(12)

# What the instruction does with its operand.
(READ, STORE, MODIFY) = range(3)

READS = (
    "LDA LDX LDY LAX ADC SBC AND ORA EOR CMP CPX CPY BIT NOP "
    "ANC ALR ARR ANE LXA SBX LAS"
).split()
STORES = "STA STX STY SAX SHA SHX SHY SHS".split()
MODIFIES = "ASL LSR ROL ROR INC DEC SLO RLA SRE RRA DCP ISC".split()
IMPLIED = "CLC SEC CLI SEI CLV CLD SED TAX TAY TXA TYA TSX TXS INX INY DEX DEY NOP ASL LSR ROL ROR".split()
SPECIALS = "BRK JSR RTI RTS PHP PLP PHA PLA JMP JMI JAM".split()
BRANCHES = "BPL BMI BVC BVS BCC BCS BNE BEQ".split()

_ROWS = """
BRK ORA JAM SLO NOP ORA ASL SLO PHP ORA ASL ANC NOP ORA ASL SLO
BPL ORA JAM SLO NOP ORA ASL SLO CLC ORA NOP SLO NOP ORA ASL SLO
JSR AND JAM RLA BIT AND ROL RLA PLP AND ROL ANC BIT AND ROL RLA
BMI AND JAM RLA NOP AND ROL RLA SEC AND NOP RLA NOP AND ROL RLA
RTI EOR JAM SRE NOP EOR LSR SRE PHA EOR LSR ALR JMP EOR LSR SRE
BVC EOR JAM SRE NOP EOR LSR SRE CLI EOR NOP SRE NOP EOR LSR SRE
RTS ADC JAM RRA NOP ADC ROR RRA PLA ADC ROR ARR JMI ADC ROR RRA
BVS ADC JAM RRA NOP ADC ROR RRA SEI ADC NOP RRA NOP ADC ROR RRA
NOP STA NOP SAX STY STA STX SAX DEY NOP TXA ANE STY STA STX SAX
BCC STA JAM SHA STY STA STX SAX TYA STA TXS SHS SHY STA SHX SHA
LDY LDA LDX LAX LDY LDA LDX LAX TAY LDA TAX LXA LDY LDA LDX LAX
BCS LDA JAM LAX LDY LDA LDX LAX CLV LDA TSX LAS LDY LDA LDX LAX
CPY CMP NOP DCP CPY CMP DEC DCP INY CMP DEX SBX CPY CMP DEC DCP
BNE CMP JAM DCP NOP CMP DEC DCP CLD CMP NOP DCP NOP CMP DEC DCP
CPX SBC NOP ISC CPX SBC INC ISC INX SBC NOP SBC CPX SBC INC ISC
BEQ SBC JAM ISC NOP SBC INC ISC SED SBC NOP ISC NOP SBC INC ISC
"""
MNEMONICS = tuple(_ROWS.split())

_COLUMNS_EVEN = (IMM, IZX, IMM, IZX, ZP, ZP, ZP, ZP, IMP, IMM, IMP, IMM, ABS, ABS, ABS, ABS)
_COLUMNS_ODD = (REL, IZY, IMM, IZY, ZPX, ZPX, ZPX, ZPX, IMP, ABY, IMP, ABY, ABX, ABX, ABX, ABX)


def _mode(op):
    name = MNEMONICS[op]
    if name in SPECIALS:
        return SPECIAL
    mode = (_COLUMNS_ODD if op & 0x10 else _COLUMNS_EVEN)[op & 15]
    if name in ("STX", "LDX", "SAX", "LAX", "SHX", "SHA"):
        mode = {ZPX: ZPY, ABX: ABY}.get(mode, mode)
    return mode


def _kind(op):
    name = MNEMONICS[op]
    if name in STORES:
        return STORE
    if name in MODIFIES and _mode(op) != IMP:
        return MODIFY
    return READ


def _oper(op):
    name = MNEMONICS[op]
    mode = _mode(op)
    if mode == SPECIAL:
        return SPECIALS.index(name)
    if mode == REL:
        return BRANCHES.index(name)
    if mode == IMP:
        return IMPLIED.index(name)
    for group in (READS, STORES, MODIFIES):
        if name in group:
            return group.index(name)
    raise AssertionError(f"opcode {op:02X} has no operation")


MODE = np.array([_mode(op) for op in range(256)], dtype=np.uint8)
KIND = np.array([_kind(op) for op in range(256)], dtype=np.uint8)
OPER = np.array([_oper(op) for op in range(256)], dtype=np.uint8)
