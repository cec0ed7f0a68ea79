"""``grader explain``: the console beside the difference, its register accesses and its trace; and the command."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from explaining import ROMS, explained, faulty, job, pictures
from places import ROOT

from grader.explain_watch import Step, Watcher, back, collapsed
from pynes_ref import Console


def test_the_split_write_is_named():
    """UNDERTOW scrolls by MMC3 interrupts: a picture wrong below the split points at the write that makes it."""
    which = job("undertow", 300)
    nes = Console(which.rom)
    frames = [nes.run_frame(held).copy() for held in which.keys]
    watched = Watcher(which).watch(250)
    splits = [e for e in watched.events if e.frame == 250 and e.writes and e.addr == 0x2005 and 8 < e.line < 200]
    assert splits, "no scroll write in the visible picture"
    assert any(e.what == "IRQ" for e in watched.events)
    assert np.array_equal(watched.picture.reshape(240, 256), frames[250])
    moved = [frames[250][e.line + 1] for e in splits]
    shift = [e.line + 1 for e, row in zip(splits, moved) if not np.array_equal(row[3:], row[:-3])]
    line = shift[0]

    def draw(frame, call):
        if call >= 250:
            frame[line:, 3:] = frame[line:, :-3].copy()
        return frame

    result = explained(faulty(draw=draw), which, begin=250)
    assert result.parting.first_frame == 250
    write = next(g.text for g in result.guesses if g.kind == "write")
    assert f"at scanline {line - 1} dot" in write


def test_accesses_stand_where_the_ppu_stands():
    """A write of $2001 shows in the PPU's mask at its scanline and dot, and not before."""
    which = job("pinewood", 200)
    watcher = Watcher(which)
    watched = watcher.watch(150)
    masks = [e for e in watched.events if e.writes and e.addr == 0x2001]
    assert masks
    console = Console(which.rom)
    for held in which.keys[: masks[0].frame]:
        console.run_frame(held)
    console.run_frames(0, which.keys[masks[0].frame])
    while console.cycles < masks[0].cycle:
        console.step_instruction()
    assert console.cycles == masks[0].cycle
    assert console.ppu.mask == masks[0].value
    assert back(console.ppu.scanline, console.ppu.dot, 1) == (masks[0].line, masks[0].dot)


def test_the_trace_ends_at_the_pixel():
    watched = Watcher(job()).watch(300, pixel=(120, 77))
    assert watched.target == (120, 78)
    assert (watched.line, watched.dot) <= (120, 78)
    assert watched.console.cycles == watched.cycle
    assert watched.steps[-1].text.endswith(f"CYC:{watched.cycle}") or watched.steps[-1].note


def test_going_back():
    watcher = Watcher(job())
    late, early = watcher.watch(50), watcher.watch(20)
    assert early.frame == 20
    assert np.array_equal(late.picture.reshape(240, 256), pictures()[50])
    assert np.array_equal(early.picture.reshape(240, 256), pictures()[20])


def test_places():
    assert back(10, 5, 5) == (10, 0)
    assert back(10, 5, 6) == (9, 340)
    assert back(0, 0, 1) == (261, 340)
    assert back(10, 5, 347) == (8, 340)


def test_loops_are_shown_once():
    def steps(*pcs):
        return [Step(pc, f"{pc:X}", pc < 0) for pc in pcs]

    loop = steps(1, *[2, 3] * 50, 4, 5, 5, 5, 5, 5, -2, 6)
    texts = [step.text for step in collapsed(loop)]
    assert texts == [
        "1", "2", "3", "... the same 2 instructions 48 times more ...", "2", "3", "4",
        "5", "... the same instruction 3 times more ...", "5", "-2", "6",
    ]  # fmt: skip


def grader(*arguments):
    command = [sys.executable, "-m", "grader.cli", "explain", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "140"}
    return subprocess.run(command, env=environment, text=True, capture_output=True, timeout=300, check=False)


def test_command(tmp_path):
    rom = ROMS / "pinewood.nes"
    equal = grader("pynes_ref", "--rom", rom, "--frames", 60)
    assert equal.returncode == 0, equal.stderr
    assert "No difference: 60 frames" in equal.stdout
    other = grader("pynes_ref:scanline", "--rom", rom, "--frames", 120, "--out", tmp_path / "o")
    assert other.returncode == 1, other.stderr
    assert "one scanline lower" in other.stdout
    assert "PPUMASK" in other.stdout
    names = {path.name for path in (tmp_path / "o").iterdir()}
    assert names == {"explain.html", "explain.txt", "frames.png", "close.png", "nametables.png", "trace.txt"}
    page = (tmp_path / "o" / "explain.html").read_text()
    assert page.count("data:image/png;base64,") == 4
    assert "http" not in page.replace("http-equiv", "")
    again = grader("pynes_ref:scanline", "--rom", rom, "--frames", 120, "--out", tmp_path / "p")
    assert again.stdout == other.stdout
    assert (tmp_path / "p" / "explain.html").read_text() == page


@pytest.mark.parametrize(
    "arguments",
    [
        ["pynes_ref"],
        ["pynes_ref", "--case", "a", "--rom", "b"],
        ["pynes_ref", "--replay", "x"],
        ["nothing.wasm", "--rom", "x.nes"],
        ["pynes_ref", "--rom", "there-is-none.nes"],
    ],
)
def test_command_refuses(arguments):
    done = grader(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("grader: ")
    assert "Traceback" not in done.stderr
