"""Running the ``pynes-ref`` command, in a process of its own, and what its results are held against."""

import errno
import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from places import ROOT
from small_rom import OWN

from pynes_ref import Console
from pynes_ref.movie import load

PINEWOOD = OWN / "pinewood.nes"
REPLAY = ROOT / "replays" / "pinewood-gameplay.txt"
KEYS = {"rom", "sha256", "mapper", "board", "frames", "cpu_cycles", "seconds", "fps", "last_frame_sha256",
        "audio_sha256", "jammed"}  # fmt: skip

needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")


@dataclass
class Result:
    """What a command left: exit status and both streams."""

    code: int
    out: str
    err: str


def environment(**more):
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "", **more}


def spawn(*arguments, **options):
    """The command in a process of its own."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment(), **options}
    return subprocess.Popen([sys.executable, "-m", "pynes_ref.cli", *map(str, arguments)], **options)


def spawned(*arguments, **options):
    process = spawn(*arguments, **options)
    out, err = process.communicate(timeout=240)
    return Result(process.returncode, out, err)


def summary(result):
    """The one JSON object on stdout."""
    assert result.code == 0, result.err
    assert result.out.endswith("}\n")
    assert result.out.count("\n") == 1
    return json.loads(result.out)


def refused(result, *words):
    """One line that says what is wrong, exit status 2, nothing on stdout."""
    assert result.code == 2
    assert result.out == ""
    lines = [line for line in result.err.splitlines() if not line.startswith(("starting the", "compiling the"))]
    assert len(lines) == 1, result.err
    assert lines[0].startswith("pynes-ref: ")
    for word in words:
        assert word in lines[0]
    return lines[0]


def straight(frames, start=0, movie=None):
    """Pictures, their colours and the sound of a run, without the command."""
    console = Console(PINEWOOD)
    movie = movie or load(REPLAY)
    pictures, colours, sound = [], [], []
    for n in range(frames):
        console.run_frame(movie.keys_at(n))
        samples = console.drain_audio()
        if n >= start:
            pictures.append(console.frame.copy())
            colours.append(console.rgb())
            sound.append(samples)
    return console, pictures, colours, sound


def sha(data):
    return hashlib.sha256(np.ascontiguousarray(data)).hexdigest()


def files(folder):
    return sorted(path.name for path in folder.rglob("*"))


def not_permitted(*arguments, **options):
    """For what root may do all the same."""
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "somewhere")
