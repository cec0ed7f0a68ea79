"""The ``pynes-ref`` command: what it writes, prints and refuses."""

import errno
import hashlib
import json
import os
import pty
import signal
import subprocess
import sys
import time
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from small_rom import JAM, OWN, own, rom

from pynes_ref import Button, Console, cli, warming
from pynes_ref.movie import load

ROOT = Path(__file__).parent.parent
PINEWOOD = OWN / "pinewood.nes"
REPLAY = ROOT / "replays" / "pinewood-gameplay.txt"
KEYS = {"rom", "sha256", "mapper", "board", "frames", "cpu_cycles", "seconds", "fps", "last_frame_sha256",
        "audio_sha256", "jammed"}  # fmt: skip


@dataclass
class Result:
    """What a command left: exit status and both streams."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch, capfd):
    """``run("info", path)`` runs the command in this process."""

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["pynes-ref", *map(str, arguments)])
        capfd.readouterr()
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        return Result(code, *capfd.readouterr())

    return command


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


# Headless runs ------------------------------------------------------------


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


# The other commands -------------------------------------------------------


@pytest.mark.parametrize(("name", "facts"), [
    ("pinewood", ["iNES", "NROM", "32 KiB", "8 KiB", "vertical"]),
    ("kittiwake", ["1, submapper 0", "SxROM", "64 KiB", "CHR ROM    none", "battery    yes, 8 KiB"]),
    ("undertow", ["4, submapper 0", "MMC3", "mapper-controlled"]),
])  # fmt: skip
def test_info(run, name, facts):
    result = run("info", OWN / f"{name}.nes")
    assert (result.code, result.err) == (0, "")
    assert hashlib.sha256(own(name)).hexdigest() in result.out
    assert "supported  yes" in result.out
    for fact in facts:
        assert fact in result.out


def test_info_says_what_is_unsupported(run, tmp_path):
    path = tmp_path / "a.nes"
    path.write_bytes(rom(mapper=90))
    result = run("info", path)
    assert (result.code, result.err) == (0, "")
    assert "UNSUPPORTED" in result.out
    assert "mapper 90" in result.out
    refused(run("run", path, "--frames", 1), "mapper 90", "supported: 0 (NROM)")


def test_trace(run):
    result = run("trace", PINEWOOD, "--instructions", 50)
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert len(lines) == 50
    assert lines[0].startswith("8000  78        SEI")
    assert lines[0].endswith("A:00 X:00 Y:00 P:24 SP:FD PPU:  0, 21 CYC:7")
    for pc in ("8003", "$8003", "0x8003"):
        assert run("trace", PINEWOOD, "--instructions", 1, "--pc", pc).out.startswith("8003  ")
    assert run("trace", PINEWOOD, "--instructions", 0).out == ""
    later = run("trace", PINEWOOD, "--instructions", 1, "--skip", 20).out
    assert int(later.rsplit("CYC:", 1)[1]) > 19 * 29_780
    for pc in ("10000", "-1", "here"):
        refused(run("trace", PINEWOOD, "--pc", pc), "0 to FFFF")


def test_trace_ends_at_a_jam(run, tmp_path):
    (tmp_path / "a.nes").write_bytes(rom(JAM))
    lines = run("trace", tmp_path / "a.nes").out.splitlines()
    assert [line[16:19] for line in lines] == ["LDA", "STA", "JAM"]


def verdict_rom(status, text=b"", again=b""):
    """Writes the $6000 protocol's signature, a text and a status, then waits."""
    code = b""
    signature = [(0x6001, 0xDE), (0x6002, 0xB0), (0x6003, 0x61)]
    for at, value in [*signature, *enumerate(text + b"\0", 0x6004), (0x6000, status)]:
        code += bytes([0xA9, value, 0x8D]) + at.to_bytes(2, "little")
    code = again + code
    end = 0xC000 + len(code)
    return rom(code + b"\x4c" + end.to_bytes(2, "little"))


def test_test_passes_and_fails(run, tmp_path):
    for name in ("selftest_cpu", "selftest_mmc3"):
        result = run("test", OWN / f"{name}.nes")
        assert (result.code, result.err) == (0, "")
        assert "passed after" in result.out
        assert "[6000]" in result.out
    path = tmp_path / "fail.nes"
    path.write_bytes(verdict_rom(3, b"too bad"))
    result = run("test", path)
    assert (result.code, result.err) == (1, "")
    assert result.out.splitlines()[0] == "too bad"
    assert "FAILED (code 3)" in result.out


def test_test_presses_reset_when_asked(run, tmp_path):
    # After a reset RAM at $0700 is still $A5: then passed; before, ask for it.
    # LDA $0700, CMP #$A5, BNE +19 -> ask; else write 0 to $6000 and wait.
    passed = bytes.fromhex("a900 8d0060 4c")
    again = bytes.fromhex("ad0007 c9a5 d008") + passed + (0xC000 + 7 + 5).to_bytes(2, "little")
    again += bytes.fromhex("a9a5 8d0007")
    path = tmp_path / "reset.nes"
    path.write_bytes(verdict_rom(0x81, b"press reset", again))
    result = run("test", path)
    assert "passed" in result.out
    assert result.code == 0


def test_test_without_a_verdict(run, tmp_path):
    path = tmp_path / "a.nes"
    path.write_bytes(rom())
    result = run("test", path, "--frames", 100)
    assert result.code == 1
    assert "no verdict after 100 frames [screen]" in result.out
    refused(run("test", path, "--protocol", "morse"), "auto, 6000 and screen")


def test_warm_and_version(run):
    result = run("warm")
    assert result.code == 0
    assert "compiled; kept in " in result.out
    assert Path(result.out.split("kept in ")[1].strip()).is_dir()
    result = run("version")
    assert result.code == 0
    assert result.out.startswith("pynes-ref ")


def test_usage(run):
    assert run("--help").code == 0
    for command in ("run", "info", "trace", "test", "warm", "version"):
        result = run(command, "--help")
        assert result.code == 0
        assert f"pynes-ref {command}" in result.out
    headless = ["run", PINEWOOD, "--frames"]
    for wrong in (["fly"], ["info"], [*headless, 1, "--nothing"], [*headless, "-1"], [*headless, "many"],
                  [*headless, 1, "--submapper", 16]):  # fmt: skip
        result = run(*wrong)
        assert result.code == 2
        assert result.out == ""
        assert "Traceback" not in result.err
    refused(run("run", PINEWOOD, "--png", "a.png"), "--frames N")
    refused(run("run", PINEWOOD, "--frames", 1, "--record", "a.txt"), "--record")


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom pynes_ref.cli import main\nsys.argv[1:] = sys.argv[1:] or ['--help']\n"
        "try: main()\nfinally: print([m for m in sys.modules if m.split('.')[0] in "
        "('numba', 'llvmlite', 'numpy', 'scipy', 'skimage', 'av', 'pygame', 'PIL', 'zstandard', 'wasmtime')])"
    )
    for arguments in (["--help"], ["run", "--help"], ["version"], ["info", str(PINEWOOD)]):
        command = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment())
        assert done.stdout.splitlines()[-1] == "[]", arguments


# Faults of a ROM ----------------------------------------------------------


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


def not_permitted(*arguments, **options):
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "somewhere")


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


# Faults of outputs --------------------------------------------------------

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


@pytest.mark.parametrize("name", ["a.qqq", "a.gif", "a.webm", "a"])
def test_a_video_of_no_known_kind(run, tmp_path, name):
    refused(run("run", PINEWOOD, "--frames", 2, "--video", tmp_path / name), ".mp4 or .mkv")
    assert files(tmp_path) == []


needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")


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


# Streams and signals ------------------------------------------------------


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
        outputs = ["--png", tmp_path / "a.png", "--video", tmp_path / "a.mkv", "--wav", tmp_path / "a.wav"]
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
