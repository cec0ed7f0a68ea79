"""``pynes-ref run ROM --frames N``: every file it writes and what it says."""

import hashlib
import json
import os
import pty
import wave
from pathlib import Path

import numpy as np
import pytest
from commands import KEYS, PINEWOOD, REPLAY, Result, environment, files, refused, sha, spawn, straight, summary
from small_rom import JAM, rom

from pynes_ref import Button, Console
from pynes_ref.movie import load


def test_every_output_at_once(run, tmp_path):
    from PIL import Image

    names = {name: tmp_path / f"out.{name}" for name in ("png", "wav", "npz", "mp4", "txt", "state")}
    result = run("run", PINEWOOD, "--frames", 230, "--replay", REPLAY, "--from", 170, "--png", names["png"],
                 "--wav", names["wav"], "--npz", names["npz"], "--video", names["mp4"], "--hashes", names["txt"],
                 "--save-state", names["state"])  # fmt: skip
    console, pictures, colours, sound = straight(230, 170)
    audio = np.concatenate(sound)

    said = summary(result)
    assert set(said) == KEYS
    assert said["rom"] == str(PINEWOOD)
    assert said["sha256"] == hashlib.sha256(PINEWOOD.read_bytes()).hexdigest()
    assert (said["mapper"], said["board"], said["frames"], said["jammed"]) == (0, "NROM", 230, False)
    assert said["cpu_cycles"] == console.cycles
    assert said["last_frame_sha256"] == sha(pictures[-1])
    assert said["audio_sha256"] == sha(audio)
    assert said["seconds"] > 0
    assert said["fps"] == pytest.approx(230 / said["seconds"], rel=0.2)

    assert files(tmp_path) == sorted(path.name for path in names.values())
    with Image.open(names["png"]) as image:
        assert image.mode == "RGB"
        assert np.array_equal(np.asarray(image), colours[-1])
    with wave.open(str(names["wav"])) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 44_100)
        assert np.array_equal(np.frombuffer(file.readframes(1 << 30), "<i2"), audio)
    with np.load(names["npz"]) as arrays:
        assert sorted(arrays) == ["audio", "frames", "samples_per_frame"]
        assert (arrays["frames"].dtype, arrays["frames"].shape) == (np.uint16, (60, 240, 256))
        assert np.array_equal(arrays["frames"], np.stack(pictures))
        assert arrays["audio"].dtype == np.int16
        assert np.array_equal(arrays["audio"], audio)
        assert arrays["samples_per_frame"].dtype == np.uint32
        assert list(arrays["samples_per_frame"]) == [len(samples) for samples in sound]
    assert names["txt"].read_text() == "".join(f"{sha(picture)}\n" for picture in pictures)
    loaded = Console(PINEWOOD)
    loaded.load_state(names["state"].read_bytes())
    assert np.array_equal(loaded.snapshot(), console.snapshot())


@pytest.mark.parametrize("kind", ["mp4", "mkv"])
def test_video(run, tmp_path, kind):
    av = pytest.importorskip("av")
    path = tmp_path / f"clip.{kind}"
    summary(run("run", PINEWOOD, "--frames", 200, "--replay", REPLAY, "--from", 140, "--video", path))
    _, _, colours, sound = straight(200, 140)
    with av.open(str(path)) as file:
        picture, track = file.streams.video[0], file.streams.audio[0]
        assert (picture.width, picture.height) == (512, 480)
        assert float(picture.average_rate) == pytest.approx(60.0988, abs=0.01)
        assert track.rate == 44_100
        frames = [frame.to_ndarray(format="rgb24") for frame in file.decode(video=0)]
    assert len(frames) == 60
    for number in (0, 30, 59):
        assert np.abs(frames[number][::2, ::2].astype(int) - colours[number]).mean() < 12
    with av.open(str(path)) as file:
        heard = np.concatenate([frame.to_ndarray().reshape(-1) for frame in file.decode(audio=0)])
    samples = np.concatenate(sound)
    assert len(samples) <= len(heard) <= len(samples) + 4096
    assert np.sqrt((heard**2).mean()) == pytest.approx(np.sqrt(((samples / 32768) ** 2).mean()), rel=0.2, abs=0.01)
    assert files(tmp_path) == [path.name]


def test_a_state_is_where_the_next_run_begins(run, tmp_path):
    state, movie = tmp_path / "a.state", tmp_path / "keys.txt"
    summary(run("run", PINEWOOD, "--frames", 60, "--save-state", state))
    movie.write_text("0 80\n")
    said = summary(run("run", PINEWOOD, "--frames", 40, "--replay", movie, "--load-state", state,
                       "--save-state", state))  # fmt: skip
    console = Console(PINEWOOD)
    console.run_frames(60)
    console.drain_audio()
    console.run_frames(40, Button.RIGHT)
    assert said["last_frame_sha256"] == sha(console.frame)
    assert said["cpu_cycles"] == console.cycles
    loaded = Console(PINEWOOD)
    loaded.load_state(state.read_bytes())
    assert loaded.cycles == console.cycles


def test_replays_in_both_forms(run, tmp_path):
    as_json = tmp_path / "keys.json"
    as_json.write_text(json.dumps({"events": [list(event) for event in load(REPLAY).events]}))
    one = summary(run("run", PINEWOOD, "--frames", 200, "--replay", REPLAY))
    two = summary(run("run", PINEWOOD, "--frames", 200, "--replay", as_json))
    nothing = summary(run("run", PINEWOOD, "--frames", 200))
    assert one["last_frame_sha256"] == two["last_frame_sha256"] != nothing["last_frame_sha256"]
    assert one["audio_sha256"] == two["audio_sha256"]


def test_no_frames_and_nothing_from_them(run, tmp_path):
    names = [tmp_path / f"out.{name}" for name in ("png", "wav", "npz", "txt", "state")]
    options = [item for option, path in zip(("--png", "--wav", "--npz", "--hashes", "--save-state"), names)
               for item in (option, path)]  # fmt: skip
    for frames, start in ((0, 0), (5, 9)):
        said = summary(run("run", PINEWOOD, "--frames", frames, "--from", start, *options))
        assert said["frames"] == frames
        assert said["audio_sha256"] == hashlib.sha256().hexdigest()
        assert names[3].read_text() == ""
        with np.load(names[2]) as arrays:
            assert arrays["frames"].shape == (0, 240, 256)
        with wave.open(str(names[1])) as file:
            assert file.getnframes() == 0


def test_our_own_game_is_the_default(run):
    said = summary(run("run", "--frames", 2))
    assert Path(said["rom"]).name == "pinewood.nes"


def test_submapper(run, tmp_path):
    path = tmp_path / "a.nes"
    path.write_bytes(rom(mapper=4, prg=2))
    assert summary(run("run", path, "--frames", 1))["board"] == "TxROM (MMC3, Sharp)"
    assert summary(run("run", path, "--frames", 1, "--submapper", 4))["board"] == "TxROM (MMC3, NEC)"
    refused(run("run", path, "--frames", 1, "--submapper", 9), "submapper 9")


def test_a_jam_is_told(run, tmp_path):
    (tmp_path / "a.nes").write_bytes(rom(JAM))
    assert summary(run("run", tmp_path / "a.nes", "--frames", 5))["jammed"] is True


def test_progress_goes_to_a_terminal_only(tmp_path):
    ours, theirs = pty.openpty()
    process = spawn("run", PINEWOOD, "--frames", 400, stderr=theirs, env=environment(TERM="xterm"))
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # Linux says so when the other side has gone
        pass
    out = process.stdout.read()
    assert process.wait(timeout=60) == 0
    os.close(ours)
    summary(Result(0, out, ""))
    assert b"frames" in shown
    assert b"400" in shown
