"""Hostile candidates, each a module made for it, graded end to end.

The testcase scores 0 or the run stops with one clear line. The grader never crashes, hangs, reads outside the module
or writes outside OUT.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import corpus_maker
import pytest
import toy_emulator as toy
from places import ROOT


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A corpus, a good reference and its recordings in a cache, shared by all tests here."""
    folder = tmp_path_factory.mktemp("hostile")
    corpus_maker.make(folder / "corpus")
    (folder / "good.wasm").write_bytes(toy.module())
    run(folder, folder / "good.wasm")
    return folder


def run(folder: Path, candidate: Path | str, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYNES_REF_CACHE": str(folder / "cache"), "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    command = [sys.executable, "-m", "grader.cli", "-r", folder / "good.wasm", candidate, folder / "corpus"]
    command += [folder / "out" / Path(candidate).stem, "--jobs", "1", *options]
    return subprocess.run(
        command, env=environment, cwd=folder, text=True, capture_output=True, timeout=120, check=False
    )


def graded(folder: Path, data: bytes, name: str) -> dict:
    """Grade a module and return its summary; the run must end well and leave nothing outside OUT."""
    path = folder / f"{name}.wasm"
    path.write_bytes(data)
    before = listing(folder, name)
    done = run(folder, path)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert listing(folder, name) == before
    return json.loads((folder / "out" / name / "summary.json").read_text())


def stopped(folder: Path, data: bytes, name: str) -> str:
    """Grade a module that cannot be used: exit 2 and one line, which is returned."""
    path = folder / f"{name}.wasm"
    path.write_bytes(data)
    done = run(folder, path)
    assert done.returncode == 2, done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith("note:")]
    assert len(lines) == 1, done.stderr
    assert not (folder / "out" / name).exists()
    return lines[0]


def listing(folder: Path, name: str) -> list[str]:
    """Everything outside OUT but compiled code, which is kept when it is first needed."""
    inside = folder / "out" / name
    return sorted(str(p) for p in folder.rglob("*") if {p, *p.parents}.isdisjoint({inside}) and p.suffix != ".code")


def test_an_endless_loop_in_a_frame(place):
    summary = graded(place, toy.module(emu_run_frame="(loop br 0)"), "loop")
    assert summary["overall"] < 0.05
    assert summary["per_testcase"]["game"]["audio_score"] == 0.0


def test_an_endless_init(place):
    line = stopped(place, toy.module(emu_init="(result i32) (loop br 0) i32.const 1"), "init")
    assert "emu_init did not return within 20,000,000 units of fuel" in line


def test_an_endless_load(place):
    summary = graded(place, toy.module(emu_load_rom="(param i32) (result i32) (loop br 0) i32.const 1"), "load")
    assert summary["overall"] == 0.0
    assert all(case["skipped"] for case in summary["per_testcase"].values())
    assert "emu_load_rom did not return" in summary["per_testcase"]["one"]["skip_reason"]


def test_memory_grown_to_the_limit(place):
    code = "(loop $more (br_if $more (i32.ne (memory.grow (i32.const 64)) (i32.const -1)))) call $frame"
    assert graded(place, toy.module(emu_run_frame=code), "grow")["overall"] == 1.0


def test_a_stack_overflow(place):
    summary = graded(place, toy.module(body="(func $deep (call $deep))", emu_run_frame="call $deep"), "stack")
    assert summary["overall"] < 0.05


def test_a_forbidden_import(place):
    head = '(import "env" "system" (func $system (param i32) (result i32)))'
    code = "(drop (call $system (i32.const 0))) call $frame"
    assert graded(place, toy.module(head=head, emu_run_frame=code), "import")["overall"] < 0.05
    html = (place / "out" / "import" / "report.html").read_text()
    assert "env.system, which is forbidden" in html


def test_an_import_named_to_break_the_report(place):
    name = "</script><script>alert(1)</script>{{DATA}}"
    head = f'(import "env" "{name}" (func $evil))'
    graded(place, toy.module(head=head, emu_run_frame="call $evil"), "markup")
    html = (place / "out" / "markup" / "report.html").read_text()
    assert "<script>alert" not in html
    assert html.count("<script") == 2


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("missing", toy.module(skip=("emu_reset",)), "emu_reset is missing"),
        ("typed", toy.module(emu_set_keys="(param i64)"), "emu_set_keys is (i64) -> nothing and should be (i32)"),
        ("start", toy.module(body="(func $s unreachable) (start $s)"), "does not start (unreachable)"),
        ("text", b"I am no module", "not a WebAssembly module"),
        ("cut", toy.module()[:500], "not a valid WebAssembly module"),
        ("frame", toy.module(emu_framebuffer="(result i32) i32.const -8"), "leaves the memory"),
        ("fails", toy.module(emu_init="(result i32) i32.const 0"), "emu_init returned 0"),
    ],
)
def test_modules_that_stop_the_run(place, name, data, words):
    assert words in stopped(place, data, name)


def test_a_file_of_200_mb(place):
    path = place / "huge.wasm"
    with path.open("wb") as file:
        file.truncate(200 << 20)
    done = run(place, path)
    path.unlink()
    assert done.returncode == 2
    assert "200 MB is too large for a module" in done.stderr


def test_a_framebuffer_that_moves_out_after_loading(place):
    """Outside once a ROM is loaded: each testcase is skipped with the reason."""
    code = """(result i32) (if (i32.eqz (i32.load8_u (i32.const 0x100000))) (then (return (i32.const 0x1000))))
              i32.const 0x7fffffff"""
    summary = graded(place, toy.module(emu_framebuffer=code), "moves")
    assert "leaves the memory" in summary["per_testcase"]["one"]["skip_reason"]


@pytest.mark.parametrize("count", ["-1", "0x7fffffff", "0x80000000", "30000000"])
def test_absurd_sample_counts(place, count):
    summary = graded(place, toy.module(emu_audio_samples=f"(result i32) i32.const {count}"), f"samples{count}")
    assert summary["per_testcase"]["game"]["video_score"] == 1.0
    assert summary["per_testcase"]["game"]["audio_score"] == 0.0


def test_a_candidate_cannot_know_the_time_or_a_random_number(place):
    """It draws what WASI's clock and random give: zeros, so that two runs are byte for byte the same."""
    head = """
      (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))"""
    code = """call $frame (drop (call $random (i32.const 0x1000) (i32.const 8)))
              (drop (call $clock (i32.const 0) (i64.const 0) (i32.const 0x1008)))"""
    graded(place, toy.module(head=head, emu_run_frame=code), "fickle")
    out = place / "out" / "fickle"
    first = {p.name: p.read_bytes() for p in out.iterdir()}
    assert run(place, place / "fickle.wasm").returncode == 0
    assert {p.name: p.read_bytes() for p in out.iterdir()} == first


@pytest.mark.parametrize("rate", ["-1", "0", "384001"])
def test_an_impossible_audio_rate_of_a_reference(place, rate):
    """The first reference stops the run; the second has no opinion, and the reason is told."""
    path = place / f"rate{rate}.wasm"
    path.write_bytes(toy.module(emu_audio_rate=f"(result i32) i32.const {rate}"))
    words = f"emu_audio_rate answers {rate}; 1 to 384000 samples a second are possible"
    done = run(place, "good.wasm", "-r", str(path))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert words in done.stderr
    explaining = [sys.executable, "-m", "grader.cli", "explain", "good.wasm", "-r", path]
    explaining += ["--corpus", "corpus", "--case", "one"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    how = {"env": environment, "cwd": place, "text": True, "capture_output": True, "timeout": 120}
    done = subprocess.run(explaining, check=False, **how)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"grader: {words}")
    done = run(place, "good.wasm", "--also", str(path))
    assert done.returncode == 0, done.stderr
    summary = json.loads((place / "out" / "good" / "summary.json").read_text())
    for text in (done.stdout, (place / "out" / "good" / "report.html").read_text()):
        assert "no second opinion on 3 testcases" in text
        assert "references agree" not in text
    assert [words in entry["missing"] for entry in summary["both"]["per_testcase"].values()] == [True] * 3


def test_too_many_boot_frames(place):
    summary = graded(place, toy.module(emu_boot_frames="(result i32) i32.const 2000000000"), "boots")
    assert "at most 600 are run" in summary["per_testcase"]["one"]["skip_reason"]
