"""Files that cannot be written: found before the run where possible, and the old file stays."""

import errno
import os
import subprocess
import sys

import pytest
from commands import PINEWOOD, Result, environment, files, needs_full, not_permitted, refused
from small_rom import own

from pynes_ref import Console
from pynes_ref.files import unwritable

OPTIONS = ["--png", "--wav", "--npz", "--video", "--hashes", "--save-state"]


@pytest.mark.parametrize("option", OPTIONS)
def test_outputs_in_places_that_cannot_be(run, tmp_path, option):
    (tmp_path / "file").write_bytes(b"old")
    for path, words in [
        (tmp_path / "none" / "out.mp4", "make it first"),
        (tmp_path / "file" / "out.mp4", "is not a folder"),
        (tmp_path, "is a folder"),
        (tmp_path / ("x" * 300), "name too long"),
    ]:
        refused(run("run", PINEWOOD, "--frames", 2, option, path), words)
    assert files(tmp_path) == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"


def test_a_folder_that_must_not_be_written(run, tmp_path, monkeypatch):
    folder = tmp_path / "folder"
    folder.mkdir()
    folder.chmod(0o500)
    if os.access(folder, os.W_OK):  # root writes everywhere
        monkeypatch.setattr("pynes_ref.files._temporary", not_permitted)
    refused(run("run", PINEWOOD, "--frames", 2, "--png", folder / "a.png"), "Permission denied")


def test_outputs_replace_no_input_and_not_each_other(run, tmp_path):
    path, replay = tmp_path / "game.nes", tmp_path / "keys.txt"
    path.write_bytes(own("pinewood"))
    replay.write_text("0 00\n")
    for output in (path, replay):
        refused(run("run", path, "--frames", 2, "--replay", replay, "--png", output), "would replace the input")
    link = tmp_path / "link.nes"
    link.symlink_to(path)
    refused(run("run", path, "--frames", 2, "--wav", link), "would replace the input")
    refused(run("run", path, "--frames", 2, "--png", tmp_path / "a", "--wav", tmp_path / "a"), "another output")
    assert path.read_bytes() == own("pinewood")
    assert files(tmp_path) == ["game.nes", "keys.txt", "link.nes"]


@pytest.mark.parametrize("option", OPTIONS)
def test_only_the_new_state_replaces_the_state_that_is_loaded(run, tmp_path, option):
    state = tmp_path / "s.png"
    console = Console(PINEWOOD)
    console.run_frames(3)
    state.write_bytes(console.save_state())
    link = tmp_path / "link.png"
    link.symlink_to(state)
    for output in (state, link):
        result = run("run", PINEWOOD, "--frames", 1, "--load-state", state, option, output)
        if option == "--save-state":
            assert result.code == 0
            console.run_frame()
            console.drain_audio()
            assert state.read_bytes() == console.save_state()
        else:
            refused(result, "would replace the input")
            assert state.read_bytes() == console.save_state()
    if option != "--save-state":
        also = ["--save-state", state, option, state]
        refused(run("run", PINEWOOD, "--frames", 1, "--load-state", state, *also), "would replace the input")
    assert files(tmp_path) == ["link.png", "s.png"]


@pytest.mark.parametrize("number", ["99999999999999999999", "987654321", "4294967297"])
def test_an_open_file_that_is_none(run, number):
    refused(run("run", PINEWOOD, "--frames", 1, "--hashes", f"/dev/fd/{number}"), "Bad file descriptor")


def test_only_a_full_disk_is_told_to_be_freed(run, tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path in (loop, "/dev/fd/987654321"):
        assert "free some space" not in run("run", PINEWOOD, "--frames", 1, "--hashes", path).err
    for number, hint in [(errno.ENOSPC, True), (errno.EDQUOT, True), (errno.EPIPE, False), (errno.EACCES, False)]:
        said = str(unwritable("x", OSError(number, os.strerror(number))))
        assert ("free some space there" in said) == hint
        assert len(said.splitlines()) == 1


@pytest.mark.parametrize("name", ["a.qqq", "a.gif", "a.webm", "a"])
def test_a_video_of_no_known_kind(run, tmp_path, name):
    refused(run("run", PINEWOOD, "--frames", 2, "--video", tmp_path / name), ".mp4 or .mkv")
    assert files(tmp_path) == []


def test_a_picture_that_is_no_png(run, tmp_path):
    for name in ("a.jpg", "a"):
        refused(run("run", PINEWOOD, "--frames", 2, "--png", tmp_path / name), "ends in .png")
    assert files(tmp_path) == []


@needs_full
@pytest.mark.parametrize("option", [option for option in OPTIONS if option != "--video"])
def test_a_full_device(run, option):
    refused(run("run", PINEWOOD, "--frames", 2, option, "/dev/full"), "/dev/full", "No space left")
    assert not os.path.isfile("/dev/full")  # not replaced by a file


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from pynes_ref.cli import main
from pynes_ref.warming import compile_all
compile_all()
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
main()
"""


def test_a_full_disk_keeps_the_old_files(tmp_path):
    """A limit on the size of files stands in for the disk."""
    for option in ("--npz", "--video", "--save-state", "--wav"):
        path = tmp_path / f"out{option}.mkv"
        path.write_bytes(b"old")
        done = subprocess.run(
            [sys.executable, "-c", LIMITED, "run", str(PINEWOOD), "--frames", "300", option, str(path)],
            capture_output=True, text=True, env=environment(), timeout=240,
        )  # fmt: skip
        refused(Result(done.returncode, done.stdout, done.stderr), str(path), "File too large")
        assert path.read_bytes() == b"old"
        assert files(tmp_path) == [path.name]
        path.unlink()
