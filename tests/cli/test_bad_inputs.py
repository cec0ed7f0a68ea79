"""Damaged ROMs, states and replays: one line, exit status 2, and no output is touched."""

import os
from pathlib import Path

import pytest
from commands import PINEWOOD, files, not_permitted, refused
from small_rom import OWN, own, rom

from pynes_ref import Console


def bad_roms():
    good = own("pinewood")
    absurd = bytearray(rom())
    absurd[4], absurd[9] = 0xFF, 0x0F  # 2^63 * 7 bytes of PRG ROM
    yield "empty", b"", "empty"
    yield "truncated header", good[:9], "truncated"
    yield "truncated", good[:-1], "1 bytes short"
    yield "not iNES", b"\x7fELF" + good[4:], "not an iNES file"
    yield "zip", b"PK\x03\x04" + good, "zip"
    yield "unknown mapper", rom(mapper=90), "mapper 90 is not supported"
    yield "absurd sizes", bytes(absurd), "header is damaged"
    yield "no PRG", good[:4] + b"\0" + good[5:], "0 bytes of PRG ROM"


@pytest.mark.parametrize("command", [["run", "--frames", "2"], ["info"], ["trace"], ["test"]], ids=lambda c: c[0])
def test_bad_roms(run, tmp_path, command):
    path = tmp_path / "game.nes"
    for _, data, words in bad_roms():
        path.write_bytes(data)
        if words.startswith("mapper 90") and command[0] == "info":
            continue
        refused(run(command[0], path, *command[1:]), words)
    with path.open("wb") as file:
        file.truncate(65 << 20)
    refused(run(command[0], path, *command[1:]), "more than any cartridge", "limit 64 MiB")
    refused(run(command[0], tmp_path / "none.nes", *command[1:]), "No such file")
    refused(run(command[0], tmp_path, *command[1:]), "not a regular file")
    refused(run(command[0], path / "below", *command[1:]), "cannot read")
    assert files(tmp_path) == ["game.nes"]


def test_an_unreadable_rom(run, tmp_path, monkeypatch):
    path = tmp_path / "game.nes"
    path.write_bytes(own("pinewood"))
    path.chmod(0)
    if os.access(path, os.R_OK):  # root reads every file
        monkeypatch.setattr(Path, "open", not_permitted)
    refused(run("run", path, "--frames", 1), "Permission denied")


def test_a_refused_rom_leaves_outputs_alone(run, tmp_path):
    path, png = tmp_path / "game.nes", tmp_path / "last.png"
    path.write_bytes(b"")
    png.write_bytes(b"old")
    refused(run("run", path, "--frames", 2, "--png", png))
    assert png.read_bytes() == b"old"
    assert files(tmp_path) == ["game.nes", "last.png"]


# Faults of states and replays ---------------------------------------------


def test_bad_states(run, tmp_path):
    state, png = tmp_path / "a.state", tmp_path / "last.png"
    console = Console(PINEWOOD)
    good = console.save_state()
    png.write_bytes(b"old")
    cases = [
        (b"", "not a save state"),
        (good[:-1], "damaged"),
        (good[:100] + bytes([good[100] ^ 1]) + good[101:], "damaged"),
        (Console(OWN / "undertow.nes").save_state(), "another ROM"),
    ]
    for data, words in cases:
        state.write_bytes(data)
        refused(run("run", PINEWOOD, "--frames", 1, "--load-state", state, "--png", png), words, str(state))
    refused(run("run", PINEWOOD, "--frames", 1, "--load-state", tmp_path / "none"), "No such file")
    refused(run("run", PINEWOOD, "--frames", 1, "--load-state", tmp_path), "directory")
    assert png.read_bytes() == b"old"


@pytest.mark.parametrize(("text", "words"), [
    ("0 00\n10 zz\n", "line 2"),
    ("# comment\n\n0 00\n-5 00\n", "line 4"),
    ("0 100\n", "line 1"),
    ("0\n", "line 1"),
    ("0 00 00\n", "line 1"),
    ("99999999999 00\n", "line 1"),
    ('{"events": [[0, 1],\n oops]}', "line 2"),
    ('{"events": [[0, 256]]}', "event 0"),
    ('{"frames": []}', "events"),
    ("0 00\n\xff\xfe 00\n", "line 2"),
])  # fmt: skip
def test_malformed_replays(run, tmp_path, text, words):
    replay, png = tmp_path / "keys.txt", tmp_path / "last.png"
    replay.write_bytes(text.encode("latin-1"))
    png.write_bytes(b"old")
    refused(run("run", PINEWOOD, "--frames", 1, "--replay", replay, "--png", png), words, str(replay))
    assert png.read_bytes() == b"old"


def test_replays_that_cannot_be_read(run, tmp_path):
    refused(run("run", PINEWOOD, "--frames", 1, "--replay", tmp_path / "none.txt"), "No such file")
    refused(run("run", PINEWOOD, "--frames", 1, "--replay", tmp_path), "directory")
    if os.path.exists("/dev/zero"):
        refused(run("run", PINEWOOD, "--frames", 1, "--replay", "/dev/zero"), "too large")
