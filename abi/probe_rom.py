"""A ROM of a few hundred bytes that shows how an emulator frames time, made here byte by byte.

NROM, rendering off, so that every picture is one flat colour (the backdrop, palette entry 0):

* After two vertical blanks, counted by polling $2002, the NMI is switched on. Nothing else is written before.
* Each NMI reads controller 1 and writes the colour of the next picture: with no button pressed
  ``(count & 15) + 1``, ``count`` the number of NMIs; with a button, $27 for A, $26 B, $25 Select, $24 Start, $23 Up,
  $22 Down, $21 Left, $20 Right.
* It then writes 127 or 0 to the DMC's level in turn: a click each frame, at scanline 241.

On a console that keeps the ABI, calls 0 to 3 show colour 0 (the palette is zero at power-on): vertical blanks 1 and 2
end the two waits in calls 1 and 2, and the first NMI comes at the end of call 3. From then on call n shows
``((n - 3) & 15) + 1``. A button set before call n shows in call n + 1.
"""

from __future__ import annotations

FIRST_COLOUR_CALL = 4
"""The first call whose picture has a colour."""

KEY_COLOURS = (0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21, 0x20)
"""Colour shown for each button bit."""

_RESET = """
78 D8 A2 FF 9A        SEI, CLD, stack at $01FF
2C 02 20              BIT $2002: a stale flag goes
2C 02 20 10 FB        wait for VBL 1
2C 02 20 10 FB        wait for VBL 2
A9 80 8D 00 20        NMI on
4C 17 C0              for ever
"""

_NMI = """
2C 02 20 E6 00                       BIT $2002, count
A9 01 8D 16 40 A9 00 8D 16 40 85 01  strobe the controller
A2 08                                eight buttons:
AD 16 40 4A 26 01 CA D0 F7           shift each into $01, A ends in bit 7
A9 3F 8D 06 20 A9 00 8D 06 20        palette entry 0
A5 01 F0 0C                          a button?
A2 FF E8 4A 90 FC                    X = number of its bit in $01
8A 18 69 20 D0 07                    colour $20 + X
A5 00 29 0F 18 69 01                 else (count & 15) + 1
8D 07 20                             write it
A9 00 8D 06 20 8D 06 20              address back to 0: the backdrop shows
A5 00 29 01 F0 02 A9 7F 8D 11 40     click
40                                   RTI
"""


def _code(text: str) -> bytes:
    """The hexadecimal pairs at the head of each line; the rest is comment."""
    out = bytearray()
    for line in text.splitlines():
        for word in line.split():
            if len(word) != 2 or any(c not in "0123456789ABCDEF" for c in word):
                break
            out.append(int(word, 16))
    return bytes(out)


def rom() -> bytes:
    """The iNES image: 16 KiB PRG, 8 KiB CHR, mapper 0."""
    reset, nmi = _code(_RESET), _code(_NMI)
    prg = bytearray(b"\xea" * 0x4000)
    prg[: len(reset)] = reset
    prg[0x100 : 0x100 + len(nmi)] = nmi
    prg[0x200] = 0x40  # RTI, for the IRQ vector
    prg[0x3FFA:0x4000] = bytes([0x00, 0xC1, 0x00, 0xC0, 0x00, 0xC2])
    return b"NES\x1a" + bytes([1, 1, 0, 0]) + bytes(8) + bytes(prg) + bytes(0x2000)


def expected_colour(call: int) -> int:
    """The colour of call ``call`` with no button ever pressed."""
    return ((call - 3) & 15) + 1 if call >= FIRST_COLOUR_CALL else 0
