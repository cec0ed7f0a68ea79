"""Running one row of the table on a console."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from .. import romtest
from . import accuracycoin, listening, pictures
from .table import Row

STEADY = 30  # frames for which a matching text must stay as it is


@dataclass(frozen=True)
class Outcome:
    """What a run showed: whether it is what the row expects, and the essence of it in one line.

    ``codes`` are AccuracyCoin's results, one byte a test.
    """

    passed: bool
    shown: str
    frames: int
    codes: bytes = field(default=b"", repr=False)


def run(row: Row, path: Path) -> Outcome:
    """Run the ROM at ``path`` as ``row`` says."""
    from ..console import Console

    console = Console(path, row.submapper)
    return _PROTOCOLS[row.protocol](row, console)


def _code(row, console):
    verdict = romtest.run(console, row.frames, "6000")
    shown = _one_line(verdict.text) or "no text"
    if verdict.code is None:
        return Outcome(False, f"no verdict in {row.frames} frames: {shown}", verdict.frames)
    return Outcome(verdict.code == row.expected, f"{shown} ($6000 = {verdict.code})", verdict.frames)


def screen_text(console, letters="ascii") -> str:
    """The first nametable as text, in one of the encodings of ``table.LETTERS``."""
    if letters == "ascii":
        return romtest.screen_text(console)
    # "low6": the tile is the letter's ASCII code without its upper two bits.
    letter = [chr(t if t >= 0x20 else t + 0x40) if t < 0x40 else " " for t in range(256)]
    lines = ("".join(letter[tile] for tile in row) for row in console.nametable(0))
    return "\n".join(re.sub(r"\s+", " ", line).strip() for line in lines if line.strip())


def _screen(row, console):
    wanted = re.compile(row.expected)
    text, steady = "", 0
    for frame in range(row.frames):
        console.run_frames(1, row.keys_at(frame), render=False, sound=False)
        before, text = text, screen_text(console, row.letters)
        steady = steady + 1 if text == before else 0
        match = wanted.search(text) if steady >= STEADY else None
        if match:
            return Outcome(True, _one_line(match[0]), frame + 1)
        # A failure is final once the screen has stood still and no more buttons are to come.
        if steady >= romtest.SETTLED and romtest.judge(text)[0] is False and not any(k[1] > frame for k in row.keys):
            break
    return Outcome(False, _one_line(text) or "an empty screen", frame + 1)


def _accuracycoin(row, console):
    codes, frames = accuracycoin.run(console, row.frames)
    results = accuracycoin.results(codes)
    passed = sum(r.passed for r in results)
    shown = f"{passed}/{len(results)} tests passed"
    wrong = [f"page {r.test.page}, {r.test.name}: {r.word}" for r in results if not r.passed]
    if wrong:
        shown += ": " + "; ".join(wrong[:5]) + (" ..." if len(wrong) > 5 else "")
    return Outcome(passed == row.expected, shown, frames, codes)


def _picture(row, console):
    wrong = pictures.CHECKS[row.expected](console, row.frames)
    return Outcome(wrong is None, wrong or "the picture its program draws", row.frames)


def _mixer(row, console):
    return Outcome(*listening.mixer(console, row.frames, row.expected))


def _dmc(row, console):
    return Outcome(*listening.dmc(console, row.frames, row.expected))


_PROTOCOLS = {
    "6000": _code,
    "screen": _screen,
    "accuracycoin": _accuracycoin,
    "picture": _picture,
    "mixer": _mixer,
    "dmc": _dmc,
}


def _one_line(text, most=160):
    """The end of a text on one line, where the verdicts are."""
    line = re.sub(r"\s+", " ", text).strip()
    return line if len(line) <= most else "... " + line[-most:].split(" ", 1)[-1]
