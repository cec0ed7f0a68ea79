"""The command, here and through a server: the same words, the same bytes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
import toy_emulator as toy
from oracle_server import ROOT, TOKEN, environment, oracle
from PIL import Image

ROM = str(ROOT / "test_roms" / "pinewood.nes")
REPLAY = str(ROOT / "replays" / "pinewood-gameplay.txt")


@pytest.fixture
def toy_rom(tmp_path):
    path = tmp_path / "mine.nes"
    path.write_bytes(toy.ROM)
    return str(path)


@pytest.fixture
def local(tmp_path, toy_reference):
    """The command on this machine, with the toy as the reference of ``run`` and ``session start``."""

    def run(*arguments, **options):
        more = ("--reference", toy_reference) if arguments[0] == "run" or arguments[:2] == ("session", "start") else ()
        return oracle(*arguments, *more, ORACLE_STATE=str(tmp_path / "state"), **options)

    return run


@pytest.fixture
def remote(toy_server):
    return lambda *arguments, **options: oracle(
        *arguments, ORACLE_URL=toy_server.url, ORACLE_TOKEN=TOKEN, **options
    )  # fmt: skip


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_help_is_there_at_once():
    best = 9.0
    for arguments in (["--help"], ["run", "--help"], ["serve", "--help"]):
        for _ in range(3):
            begun = time.perf_counter()
            done = oracle(*arguments)
            best = min(best, time.perf_counter() - begun)
        assert done.returncode == 0
        assert "FRAMES" in done.stdout or "session" in done.stdout or "--port" in done.stdout
    assert best < 1.0  # 0.2 s on an idle machine


def test_a_run_here_and_there(tmp_path, local, remote, toy_rom):
    replay = tmp_path / "keys.txt"
    replay.write_text("3 01\n9 00\n")
    summaries = []
    for name, run in (("here", local), ("there", remote)):
        out = tmp_path / name
        done = run(
            "run", toy_rom, "12", "--replay", str(replay), "--from", "4", "--dump-frames", str(out / "all"),
            "--dump-final", str(out / "last"), "--dump-audio", str(out / "sound.wav"),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("\n") == 1
        summaries.append({**json.loads(done.stdout), "frames_used_total": None})
    assert summaries[0] == summaries[1]
    assert summaries[0]["frames_executed"] == 12
    here, there = files(tmp_path / "here"), files(tmp_path / "there")
    assert here == there
    numbers = [f"all/frame_{n:05d}.{kind}" for n in range(4, 12) for kind in ("idx", "ppm")]
    assert sorted(here) == sorted([*numbers, "last/frame_00011.idx", "last/frame_00011.ppm", "sound.wav"])
    emulator = toy.ToyEmulator()
    emulator.rom[: len(toy.ROM)] = np.frombuffer(toy.ROM, np.uint8)
    emulator.emu_load_rom(len(toy.ROM))
    for n in range(12):
        emulator.emu_set_keys(1 if 3 <= n < 9 else 0)
        emulator.emu_run_frame()
    assert here["last/frame_00011.idx"] == emulator.frame.astype("<u2").tobytes()
    table = np.fromfile(ROOT / "abi" / "nes_palette.pal", np.uint8).reshape(512, 3)
    picture = np.asarray(Image.open(tmp_path / "here" / "last" / "frame_00011.ppm"))
    assert np.array_equal(picture.reshape(-1, 3), table[emulator.frame])
    assert len(here["sound.wav"]) == 44 + 2 * summaries[0]["audio_samples"]


def test_png(tmp_path, local, toy_rom):
    assert local("run", toy_rom, "5", "--dump-final", str(tmp_path / "a"), "--image", "png").returncode == 0
    assert local("run", toy_rom, "5", "--dump-final", str(tmp_path / "a")).returncode == 0
    image = Image.open(tmp_path / "a" / "frame_00004.png")
    assert image.mode == "RGB"
    assert np.array_equal(np.asarray(image), np.asarray(Image.open(tmp_path / "a" / "frame_00004.ppm")))


@pytest.mark.parametrize("where", ["local", "remote"])
def test_a_session(tmp_path, toy_rom, where, request):
    run = request.getfixturevalue(where)
    begun = json.loads(run("session", "start", toy_rom).stdout)
    session = begun["id"]
    assert begun["info"]["framebuffer_bytes"] == 122_880

    def ask(*arguments, **options):
        done = run("session", *arguments, **options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert json.loads(ask("run-frame", session, "3"))["cur_frame"] == 3
    assert json.loads(ask("set-keys", session, "81")) == {"ok": True, "cur_frame": 3}
    assert json.loads(ask("run-frame", session))["pending_audio_samples"] > 0
    emulator = toy.ToyEmulator()
    emulator.rom[: len(toy.ROM)] = np.frombuffer(toy.ROM, np.uint8)
    emulator.emu_load_rom(len(toy.ROM))
    for n in range(4):
        emulator.emu_set_keys(0x81 if n == 3 else 0)
        emulator.emu_run_frame()
    assert ask("framebuffer", session, binary=True) == emulator.frame.astype("<u2").tobytes()
    ask("framebuffer-rgba", session, "-o", str(tmp_path / "rgba"))
    assert (tmp_path / "rgba").stat().st_size == 245_760
    emulator.emu_audio_samples()
    assert ask("audio", session, binary=True) == emulator.emu_audio_buffer().astype("<i2").tobytes()
    state = json.loads(ask("info", session))
    assert (state["cur_frame"], state["keys"], state["pending_audio_samples"]) == (4, 0x81, 0)
    assert json.loads(ask("end", session)) == {"ok": True}
    done = run("session", "info", session)
    assert done.returncode == 2
    assert "no such session" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_local_session_of_the_real_reference_goes_on_from_its_state(tmp_path):
    """A save state between commands, and the same from power-on once that state is from another version."""
    state = str(tmp_path / "state")
    session = json.loads(oracle("session", "start", ROM, ORACLE_STATE=state).stdout)["id"]
    for keys in ("00", "08", "01"):
        oracle("session", "set-keys", session, keys, ORACLE_STATE=state)
        assert oracle("session", "run-frame", session, "40", ORACLE_STATE=state).returncode == 0
    path = tmp_path / "state" / f"{session}.npz"
    with np.load(path) as stored:
        arrays = dict(stored)
    assert "state" in arrays
    one = oracle("session", "framebuffer", session, ORACLE_STATE=state, binary=True).stdout
    replay = tmp_path / "r.txt"
    replay.write_text("40 08\n80 01\n")
    oracle("run", ROM, "120", "--replay", str(replay), "--dump-final", str(tmp_path / "o"), ORACLE_STATE=state)
    assert one == (tmp_path / "o" / "frame_00119.idx").read_bytes()
    meta = {**json.loads(arrays["meta"].tobytes()), "identity": "another"}
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    np.savez(path, **arrays)
    oracle("session", "run-frame", session, ORACLE_STATE=state)
    oracle("run", ROM, "121", "--replay", str(replay), "--dump-final", str(tmp_path / "o"), ORACLE_STATE=state)
    two = oracle("session", "framebuffer", session, ORACLE_STATE=state, binary=True).stdout
    assert two == (tmp_path / "o" / "frame_00120.idx").read_bytes()


def test_usage_is_counted_here_too(local, toy_rom):
    for total in (5, 10):
        assert json.loads(local("run", toy_rom, "5").stdout)["frames_used_total"] == total
    assert json.loads(local("info").stdout)["frames_used"] == 10


def test_faults_are_one_line(tmp_path, local, remote, toy_rom):
    bad = tmp_path / "bad.nes"
    bad.write_bytes(b"nothing")
    replay = tmp_path / "bad.txt"
    replay.write_text("1 2 3\n")
    for run in (local, remote):
        for arguments in (
            ("run", str(tmp_path / "none.nes"), "5"),
            ("run", str(bad), "5"),
            ("run", toy_rom, "5", "--replay", str(replay)),
            ("run", toy_rom, "5", "--replay", str(tmp_path / "none.txt")),
            ("run", toy_rom, "5", "--dump-audio", str(tmp_path / "no" / "folder.wav")),
            ("run", toy_rom, "5", "--dump-final", str(bad)),
            ("session", "info", "x"),
            ("session", "info", "../../../etc/passwd"),
            ("session", "start", str(bad)),
        ):
            done = run(*arguments)
            assert done.returncode == 2, (arguments, done.stdout, done.stderr)
            assert done.stderr.startswith("oracle: ")
            assert done.stderr.count("\n") == 1, done.stderr
    assert not list(tmp_path.rglob("*.tmp"))
    for url in ("http://127.0.0.1:9", "nonsense", "ftp://x", "http://[", "http://127.0.0.1:x"):
        done = oracle("info", ORACLE_URL=url, ORACLE_TOKEN=TOKEN)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), (url, done.stderr)
    assert "401" in oracle("info", ORACLE_URL=f"{url_of(remote)}", ORACLE_TOKEN="wrong").stderr


def url_of(remote):
    return next(cell.cell_contents for cell in remote.__closure__).url


def test_other_references(tmp_path, toy_rom):
    done = oracle("run", toy_rom, "5", "--reference", "nothing.wasm", ORACLE_STATE=str(tmp_path))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    (tmp_path / "x.so").write_bytes(b"\x7fELF")
    done = oracle("run", toy_rom, "5", "--reference", str(tmp_path / "x.so"), ORACLE_STATE=str(tmp_path))
    assert "--trust-native" in done.stderr
    done = oracle("run", toy_rom, "5", "--reference", "pynes_ref", ORACLE_URL="http://127.0.0.1:9")
    assert done.returncode == 2  # the server has its own


def test_serve_says_what_is_wrong(tmp_path, toy_server):
    refused = oracle("serve", str(tmp_path / "none"), ORACLE_TOKEN="")
    assert (refused.returncode, refused.stderr) == (2, f"oracle: {tmp_path / 'none'} is not a folder\n")
    assert "no such folder" in oracle("serve", "--usage", str(tmp_path / "none" / "usage.json")).stderr
    taken = oracle("serve", str(tmp_path), "--port", str(toy_server.port), "--reference", "none.wasm")
    assert f"note: no ROM (.nes) in {tmp_path}" in taken.stderr
    empty = tmp_path / "tokens"
    empty.write_text("\n")
    assert "no token in it" in oracle("serve", "--token-file", str(empty)).stderr
    done = oracle("serve", "--port", str(toy_server.port), "--reference", str(tmp_path / "none.wasm"), ORACLE_TOKEN="x")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_the_client_needs_nothing_of_this_project(tmp_path, toy_server, toy_rom):
    """As a workspace has it: one file, a bare Python."""
    script = tmp_path / "oracle"
    shutil.copyfile(ROOT / "grader" / "oracle" / "client.py", script)
    bare = {**environment(ORACLE_URL=toy_server.url, ORACLE_TOKEN=TOKEN), "PYTHONPATH": ""}
    command = [sys.executable, "-I", "-S", str(script), "run", toy_rom, "5", "--dump-final", "out"]
    done = subprocess.run(command, env=bare, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "frame_00004.idx").stat().st_size == 122_880
    assert "pynes" not in script.read_text().lower()
