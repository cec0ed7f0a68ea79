"""AccuracyCoin: hold Start until it runs everything, then read one byte a test from RAM.

A result: 0 = not run, $FF = skipped, bit 0 set = passed (the upper six bits:
which of several right behaviours), else failed with a code in the upper six
bits. Its README explains the codes: https://github.com/100thCoin/AccuracyCoin
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

START = 0x08
PRESSED = range(60, 64)  # frames in which Start is held
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Test:
    page: int
    suite: str
    name: str
    address: int


@dataclass(frozen=True)
class Result:
    test: Test
    byte: int

    @property
    def passed(self) -> bool:
        return bool(self.byte & 1) and self.byte != 0xFF

    @property
    def code(self) -> str:
        """The error code as the ROM prints it; for a pass the variant, "" when there is only one."""
        number = self.byte >> 2
        return (_DIGITS[number] if number < len(_DIGITS) else f"${number:02X}") if number else ""

    @property
    def word(self) -> str:
        if self.byte == 0:
            return "not run"
        if self.byte == 0xFF:
            return "skipped"
        if self.passed:
            return "passed" + (f" (behaviour {self.code})" if self.code else "")
        return f"error {self.code or '?'}"


@cache
def tests() -> tuple[Test, ...]:
    """All tests in the order of the ROM's menu."""
    path = Path(__file__).parent.parent / "data" / "accuracycoin.toml"
    pages = tomllib.loads(path.read_text(encoding="utf-8"))["page"]
    return tuple(Test(p["number"], p["name"], name, address) for p in pages for name, address in p["tests"])


def run(console, frames: int) -> tuple[bytes, int]:
    """Run all tests from power-on; the result bytes in the order of ``tests()`` and the frames it took."""
    console.run_frames(PRESSED.start, render=False, sound=False)
    console.run_frames(len(PRESSED), START, render=False, sound=False)
    done, codes = PRESSED.stop, b""
    while done < frames:
        step = min(60, frames - done)
        console.run_frames(step, render=False, sound=False)
        done += step
        before, codes = codes, bytes(int(console.ram[test.address]) for test in tests())
        if codes == before and all(codes):
            break
    return codes, done


def results(codes: bytes) -> list[Result]:
    return [Result(test, byte) for test, byte in zip(tests(), codes, strict=True)]


def grid(codes: bytes) -> list[list[Result | None]]:
    """Rows of the ROM's result table: a column a page, the page's tests downwards, None below its last."""
    columns: dict[int, list] = {}
    for result in results(codes):
        columns.setdefault(result.test.page, []).append(result)
    height = max(map(len, columns.values()))
    return [[column[y] if y < len(column) else None for column in columns.values()] for y in range(height)]
