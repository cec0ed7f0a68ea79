"""Pipes, full devices and Ctrl-C; and what is said when a start is slow."""

import io
import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from commands import KEYS, PINEWOOD, Result, files, needs_full, refused, spawn, spawned

from pynes_ref import Console, warming


@pytest.mark.parametrize("arguments", [
    ["trace", PINEWOOD], ["info", PINEWOOD], ["run", PINEWOOD, "--frames", "3"], ["--help"],
], ids=lambda a: a[0])  # fmt: skip
def test_a_reader_that_has_gone(arguments):
    ours, theirs = os.pipe()
    os.close(ours)
    result = spawned(*arguments, stdout=theirs)
    os.close(theirs)
    assert result.code == 1
    assert [line for line in result.err.splitlines() if not line.startswith("starting")] == []


def test_trace_into_head():
    process = spawn("trace", PINEWOOD, "--instructions", 100_000)
    assert process.stdout.readline().startswith("8000")
    process.stdout.close()
    assert process.wait(timeout=120) == 1
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()


@needs_full
@pytest.mark.parametrize("arguments", [["info", PINEWOOD], ["run", PINEWOOD, "--frames", "3"]], ids=lambda a: a[0])
def test_stdout_on_a_full_device(arguments):
    with open("/dev/full", "w") as full:
        result = spawned(*arguments, stdout=full)
    refused(Result(result.code, "", result.err), "cannot write the output", "No space left")


def test_output_to_a_pipe():
    """``/dev/stdout`` is written to, not replaced."""
    done = spawned("run", PINEWOOD, "--frames", 3, "--hashes", "/dev/stdout")
    lines = done.out.splitlines()
    assert [len(line) for line in lines[:3]] == [64] * 3
    assert set(json.loads(lines[3])) == KEYS


def test_output_to_stdout_that_is_a_file(tmp_path):
    """What comes first stands first, and the summary behind it."""
    for option in ("--hashes", "--npz"):
        with (tmp_path / "out").open("wb") as file:
            file.write(b"before\n")
            file.flush()
            spawned("run", PINEWOOD, "--frames", 3, option, "/dev/stdout", stdout=file)
        written = (tmp_path / "out").read_bytes()
        assert written.startswith(b"before\n")
        assert set(json.loads(written[written.rindex(b'{"rom"') :])) == KEYS
        between = written[7 : written.rindex(b'{"rom"')]
        if option == "--npz":
            with np.load(io.BytesIO(between)) as found:
                assert found["frames"].shape == (3, 240, 256)
        else:
            assert [len(line) for line in between.splitlines()] == [64] * 3


def wait_until_started(process):
    """The command is past its own imports: LLVM is being loaded (where that can be seen)."""
    deadline = time.monotonic() + 60
    maps = Path(f"/proc/{process.pid}/maps")
    while maps.exists() and b"llvmlite" not in maps.read_bytes() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.5 if maps.exists() else 5)


@pytest.mark.parametrize("arguments", [["run", PINEWOOD, "--frames"], ["trace", PINEWOOD, "--skip"],
                                       ["test", PINEWOOD, "--frames"]], ids=lambda a: a[0])  # fmt: skip
def test_ctrl_c(tmp_path, arguments):
    outputs = []
    if arguments[0] == "run":
        outputs = ["--png", tmp_path / "a.png", "--video", tmp_path / "a.mkv", "--npz", tmp_path / "a.npz"]
        (tmp_path / "a.png").write_bytes(b"old")
    process = spawn(*arguments, 1_000_000, *outputs)
    wait_until_started(process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    # Python ends itself by the signal, which a shell calls 130 too, if it came amid an exec() of some import.
    assert process.returncode in (130, -signal.SIGINT)
    assert out == ""
    assert "Traceback" not in err
    if outputs:
        assert (tmp_path / "a.png").read_bytes() == b"old"
        assert files(tmp_path) == ["a.png"]


# Saying that it compiles --------------------------------------------------


@pytest.mark.parametrize(("warm", "words"), [(False, "compiling the console (once for this version)"),
                                             (True, "starting the console")])  # fmt: skip
def test_slow_starts_are_told(monkeypatch, capsys, warm, words):
    monkeypatch.setattr("pynes_ref.jitcache.is_warm", lambda: warm)
    for name in ("QUIET", "QUIET_WARM", "EVERY"):
        monkeypatch.setattr(warming, name, 0.02)
    with warming.warmed():
        time.sleep(0.1)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert all(line.startswith(words) and line.endswith(" s") for line in lines)


def test_quick_starts_are_not(capsys):
    with warming.warmed():
        pass
    captured = capsys.readouterr()
    assert captured.err == captured.out == ""


def test_silence_lasts_two_seconds_at_most():
    assert max(warming.QUIET, warming.QUIET_WARM, warming.EVERY) <= 2


def test_a_compiled_console_is_known_to_be(tmp_path, monkeypatch):
    from pynes_ref import jitcache

    Console(PINEWOOD)
    assert jitcache.is_warm()
    monkeypatch.setattr(jitcache, "cache_folder", lambda: tmp_path)
    assert not jitcache.is_warm()
    monkeypatch.setattr(jitcache, "cache_folder", lambda: None)
    assert not jitcache.is_warm()
