"""20 000 damaged, random and hostile ROMs: each is refused with RomError or runs; nothing crashes or hangs.

The inputs are tried in processes of their own (fuzz_worker.py), because what is
feared most is compiled code that ends the process.
"""

import os
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

WORKER = Path(__file__).with_name("fuzz_worker.py")
PARTS = 8
PART = 2500
START_BUDGET = 300  # seconds: a first run compiles
INPUT_BUDGET = 60  # for one input, which takes milliseconds; CI may be busy
LEAST_ACCEPTED = PART // 2


def command(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(WORKER.parent.parent), "PYTHONFAULTHANDLER": "1"}
    return subprocess.Popen(
        [sys.executable, str(WORKER), *map(str, arguments)],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def position(progress):
    return struct.unpack("<q", progress.read_bytes()[:8])[0]


def watch(process, progress):
    """Wait for the end; what went wrong, in words, or None."""
    seen, since = -1, time.monotonic()
    while True:
        try:
            process.wait(timeout=0.5)
            break
        except subprocess.TimeoutExpired:
            now = position(progress)
            if now != seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > (START_BUDGET if now < 0 else INPUT_BUDGET):
                process.kill()
                return f"input {now} hangs"
    if process.returncode:
        return f"input {position(progress)} ends the process with status {process.returncode}"
    return None


@pytest.mark.parametrize("part", range(PARTS))
def test_damaged_roms(tmp_path, part):
    progress = tmp_path / "progress"
    progress.write_bytes(struct.pack("<q", -1))
    first = part * PART
    process = command("run", first, PART, progress)
    problem = watch(process, progress)
    out, err = process.communicate()
    assert problem is None, f"{problem} (repeat: python {WORKER} one {position(progress)})\n{err}"
    assert position(progress) == first + PART - 1
    assert LEAST_ACCEPTED < int(out) < PART


def test_roms_that_hypothesis_makes():
    process = command("hypothesis", 300)
    try:
        out, err = process.communicate(timeout=START_BUDGET + INPUT_BUDGET)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert out == "done\n"


def test_a_dead_or_stuck_child_is_noticed(tmp_path, monkeypatch):
    """The watchdog itself."""
    progress = tmp_path / "progress"
    progress.write_bytes(struct.pack("<q", 41))
    killed = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    stuck = "import time; time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", killed]) as child:
        assert watch(child, progress) == "input 41 ends the process with status -11"
    monkeypatch.setattr("test_fuzz.INPUT_BUDGET", 0.5)
    with subprocess.Popen([sys.executable, "-c", stuck]) as child:
        assert watch(child, progress) == "input 41 hangs"
