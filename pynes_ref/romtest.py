"""Self-checking test ROMs: run one and read its verdict.

Two protocols are known. "6000": the ROM writes DE B0 61 to $6001-$6003, its
state to $6000 ($80 running, $81 please press Reset, below $80 the result, 0 =
passed) and a text from $6004. "screen": the verdict is only on the screen, as
text whose tiles are ASCII; the 2005 suites print a code instead, $01 = passed.
Both are described in the readmes of the test ROMs by Shay Green (blargg).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .console import Console

SIGNATURE = bytes((0xDE, 0xB0, 0x61))
RUNNING, WANTS_RESET = 0x80, 0x81
RESET_DELAY = 8  # frames; the ROMs ask for at least 100 ms
SETTLED = 90  # frames without a change of the screen after which a verdict on it counts
COLUMNS, ROWS = 32, 30
OF_TEXT = 0.95  # part of a text screen's tiles that are ASCII or its background

_FAILED = re.compile(r"\bFAILED\b|\bFAIL\b|\berror\b|Failed", re.IGNORECASE)
_PASSED = re.compile(r"\bPASSED\b|\bPASS\b|All tests passed|\bOK\b", re.IGNORECASE)
_CODE = re.compile(r"\$([0-9A-F]{2})\b")


@dataclass(frozen=True)
class Verdict:
    """What a test ROM said: ``passed`` (None = nothing readable), its code, its text, when, by which protocol."""

    passed: bool | None
    code: int | None
    text: str
    frames: int
    protocol: str


def screen_text(console: Console) -> str:
    """The first nametable as text: tile = ASCII, other tiles as spaces, blank lines dropped."""
    tiles = console.nametable(0)
    lines = []
    for row in tiles:
        line = "".join(chr(t) if 0x20 <= t < 0x7F else " " for t in row).strip()
        if line:
            lines.append(re.sub(r"\s+", " ", line))
    return "\n".join(lines)


def is_text(console: Console) -> bool:
    """Does the first nametable look like text in ASCII? A game's tiles have any numbers."""
    tiles = console.nametable(0)
    numbers = [int(t) for row in tiles for t in row]
    background = max(set(numbers), key=numbers.count)
    shown = sum(t == background or t == 0 or 0x20 <= t < 0x7F for t in numbers)
    text = re.sub(r"\s", "", screen_text(console))
    return shown >= OF_TEXT * len(numbers) and 2 * sum(c.isalnum() for c in text) >= len(text)


def memory_text(console: Console) -> str:
    """The zero-terminated text from $6004."""
    raw = console.memory[0x6004:0x7000]
    return raw.split(b"\0", 1)[0].decode("ascii", "replace").strip()


def judge(text: str) -> tuple[bool | None, int | None]:
    """Verdict and code of a screen's text; (None, None) when it holds none."""
    codes = _CODE.findall(text)
    if _FAILED.search(text):
        return False, int(codes[-1], 16) if codes else None
    if _PASSED.search(text):
        return True, 0
    if codes:
        code = int(codes[-1], 16)
        return code == 1, code
    return None, None


def run(console: Console, max_frames: int = 3600, protocol: str = "auto") -> Verdict:
    """Run a test ROM from power-on until it gives its verdict, pressing Reset when it asks.

    ``protocol``: ``6000``, ``screen`` or ``auto`` (6000 as soon as its
    signature appears).
    """
    last, still = None, 0
    reset_in = -1
    signed = False
    for frame in range(1, max_frames + 1):
        console.run_frame()
        if protocol != "screen" and console.memory[0x6001:0x6004] == SIGNATURE:
            signed = True
            status = console.memory[0x6000]
            if status == WANTS_RESET:
                reset_in = RESET_DELAY if reset_in < 0 else reset_in - 1
                if reset_in == 0:
                    console.reset()
                    reset_in = -1
            elif status < RUNNING:
                # One frame more, so that the text is complete.
                console.run_frame()
                return Verdict(status == 0, status, memory_text(console), frame + 1, "6000")
            continue
        if signed or protocol == "6000":
            continue
        text = screen_text(console)
        still = still + 1 if text == last else 0
        last = text
        if still >= SETTLED or console.jammed:
            passed, code = judge(text)
            if passed is not None:
                return Verdict(passed, code, text, frame, "screen")
            if console.jammed:
                break
    text = memory_text(console) if signed else screen_text(console) if is_text(console) else ""
    return Verdict(None, None, text, max_frames, "6000" if signed else "screen")
