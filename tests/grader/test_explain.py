"""``grader explain`` finds the injected fault: the right first frame, the right words, the right register access."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import toy_emulator as toy

from abi.candidate import EmulatorError
from abi.inprocess import PynesRef
from abi.loader import Emulator, resolve
from abi.recorded import Header
from grader import explain, explain_guess, explain_text, refcache
from grader.explain_run import Job, Side
from grader.explain_watch import Step, Watcher, back, collapsed
from pynes_ref import Console
from pynes_ref.bundled import folder

ROMS = folder("test_roms")
REPLAYS = folder("replays")
REFERENCE = resolve("pynes_ref")


@functools.cache
def job(name="pinewood", frames=420):
    replay = REPLAYS / f"{name}-gameplay.txt"
    return explain.job_of_rom(ROMS / f"{name}.nes", replay if replay.is_file() else None, frames)


class Faulty(PynesRef):
    """Our console with a fault put on its picture (``frame``, ``call``) or its sound (``wave``)."""

    def __init__(self, draw=None, wave=None, before=None):
        super().__init__()
        self._draw, self._wave, self._before = draw, wave, before
        self._calls = 0

    def emu_run_frame(self):
        if self._before:
            self._before(self.console, self._calls)
        super().emu_run_frame()
        self._calls += 1

    def emu_framebuffer(self):
        frame = super().emu_framebuffer()
        return self._draw(frame.reshape(240, 256).copy(), self._calls - 1).reshape(-1) if self._draw else frame

    def emu_audio_samples(self):
        count = super().emu_audio_samples()
        if self._wave and count:
            self._audio = self._wave(self._audio)
        return len(self._audio)


def faulty(**faults):
    return Emulator("faulty", "python", "", opener=lambda: Faulty(**faults))


def explained(candidate, which=None, reference=REFERENCE, **options):
    which = which or job()
    return explain.explain(which, resolve(candidate) if isinstance(candidate, str) else candidate, reference, **options)


def kinds(result):
    return [guess.kind for guess in result.guesses]


@functools.cache
def pictures():
    nes = Console(job().rom)
    return [nes.run_frame(held).copy() for held in job().keys]


def first_unlike(changed):
    """The first frame whose picture ``changed(pictures, frame)`` differs from."""
    return next(n for n, p in enumerate(pictures()) if not np.array_equal(changed(n), p))


def test_equal_emulators():
    result = explained("pynes_ref")
    assert result.equal
    assert not result.guesses
    assert explain_text.headline(result)[0].startswith("No difference: 420 frames")


# ---- Faults of the picture -------------------------------------------------------------------------------------------


def test_one_scanline_late():
    result = explained("pynes_ref:scanline")
    assert kinds(result)[0] == "scanline"
    assert "line y shows the reference's line y - 1" in result.guesses[0].text
    assert result.parting.first_frame == first_unlike(lambda n: np.vstack((pictures()[n][:1], pictures()[n][:-1])))
    assert result.parting.first_sample is None
    assert result.witness == "reference"


def test_one_frame_early():
    result = explained("pynes_ref:early")
    assert kinds(result)[0] == "early"
    assert "Call 0" in result.guesses[0].text
    assert result.parting.first_frame == first_unlike(lambda n: pictures()[min(n + 1, len(pictures()) - 1)])
    assert result.parting.first_counts == 0


class Late(Faulty):
    def emu_load_rom(self, length):
        done = super().emu_load_rom(length)
        self._waiting = 1
        return done

    def emu_run_frame(self):
        if self._waiting:
            self._waiting -= 1
        else:
            super().emu_run_frame()


def test_one_frame_late():
    result = explained(Emulator("late", "python", "", opener=Late))
    assert kinds(result)[0] == "late"
    assert "emu_boot_frames" in result.guesses[0].text


def test_blank():
    result = explained("pynes_ref:blank")
    assert kinds(result)[:1] == ["blank"]
    assert "silent" in kinds(result)


def test_frozen():
    kept = {}

    def draw(frame, call):
        return kept.setdefault("frame", frame) if call >= 300 else frame

    result = explained(faulty(draw=draw))
    assert kinds(result)[0] == "frozen"
    assert result.parting.first_frame == next(
        n for n in range(301, 420) if not np.array_equal(pictures()[n], pictures()[300])
    )


def test_other_colours():
    colour = int(np.bincount(pictures()[300].reshape(-1)).argmax())

    def draw(frame, call):
        frame[frame == colour] = colour ^ 0x11
        return frame

    result = explained(faulty(draw=draw))
    assert kinds(result)[0] == "palette"
    assert f"${colour:02X} -> ${colour ^ 0x11:02X}" in result.guesses[0].text


def test_emphasis():
    result = explained(faulty(draw=lambda frame, call: frame | 0x40 if call >= 300 else frame))
    assert kinds(result)[0] == "emphasis"
    assert result.parting.first_frame == 300


def test_a_split_that_does_not_happen():
    def draw(frame, call):
        if call >= 300:
            frame[80:, :-6] = frame[80:, 6:]
        return frame

    result = explained(faulty(draw=draw))
    assert kinds(result)[0] == "split"
    assert result.parting.first_frame == 300
    assert "6 pixels to the left" in result.guesses[0].text
    assert result.region.first[0] >= 80


def test_sprites():
    def hide(console, call):
        if call >= 350:
            console.oam[4::4] = 0xFF  # but not sprite 0, which splits the screen

    result = explained(faulty(before=hide))
    assert "sprites" in kinds(result)
    assert result.parting.first_frame == 350
    assert result.sprites


def test_a_change_that_comes_some_dots_late():
    """One run of pixels on one line still shows what was before."""
    picture = pictures()[300]
    y, x = next((y, x) for y in range(40, 200) for x in range(60, 200) if len(set(picture[y, x : x + 9])) == 2
                and picture[y, x - 1] not in picture[y, x : x + 9])  # fmt: skip

    def draw(frame, call):
        if call >= 300:
            frame[y, x : x + 9] = frame[y, x - 1]
        return frame

    result = explained(faulty(draw=draw))
    assert kinds(result)[0] == "dot-late"
    assert result.region.first == (y, x)
    assert "9 dots late" in result.guesses[0].text


# ---- Faults of the input ---------------------------------------------------------------------------------------------


def recorded(emulator, which, path):
    """``emulator`` playing ``which``, as a recording."""
    side = Side(resolve(emulator), which)
    header = Header("0" * 64, which.rom_sha256, which.replay_sha256, len(which.keys), 44_100)
    refcache.write(path, header, (side.frame(held) for held in which.keys))
    return resolve(str(path))


@pytest.mark.parametrize("which_side", ["none", "reference", "candidate"])
def test_a_and_b_swapped(which_side, tmp_path):
    """Found by experiment, on whichever side can run."""
    which = job()
    candidate, reference = resolve("pynes_ref:ab-swap"), REFERENCE
    if which_side == "reference":
        reference = recorded("pynes_ref", which, tmp_path / "r.refcache")
    if which_side == "candidate":
        candidate = recorded("pynes_ref:ab-swap", which, tmp_path / "c.refcache")
    result = explained(candidate, which, reference)
    assert result.parting.first_frame == 331  # the first press of A in the replay is one frame before
    assert kinds(result)[0] == "ab-swap"
    assert any(line.startswith("Held in that frame") for line in explain_text.headline(result))


def test_two_recordings_allow_no_experiment(tmp_path):
    which = job()
    one = recorded("pynes_ref", which, tmp_path / "one.refcache")
    other = recorded("pynes_ref:ab-swap", which, tmp_path / "other.refcache")
    result = explained(other, which, one)
    assert result.parting.first_frame is not None
    assert "ab-swap" not in kinds(result)
    assert result.witness == "reference"


# ---- Faults of the sound ---------------------------------------------------------------------------------------------


def test_missing_channels():
    result = explained("pynes_ref:no-tri-noise")
    assert kinds(result)[0] == "sound-only"
    assert "missing-channels" in kinds(result)
    text = next(g.text for g in result.guesses if g.kind == "missing-channels")
    assert text.startswith("Triangle")
    assert "pulse" not in text.lower()


@pytest.mark.parametrize(
    ("wave", "kind"),
    [
        (lambda s: s // 2, "gain"),
        (lambda s: -s, "inverted"),
        (lambda s: s + (np.arange(s.size) % 50 == 0).astype(np.int16), "rounding"),
        (lambda s: s * 0, "silent"),
    ],
)
def test_sound(wave, kind):
    result = explained(faulty(wave=lambda s: wave(s).astype(np.int16)))
    assert kind in kinds(result)
    assert result.parting.first_frame is None


class Delayed(Faulty):
    """Its sound comes 40 samples later."""

    _rest = np.zeros(40, np.int16)

    def emu_audio_samples(self):
        count = super().emu_audio_samples()
        joined = np.concatenate((self._rest, self._audio))
        self._audio, self._rest = joined[:count], joined[count:]
        return count


def test_delayed_sound():
    result = explained(Emulator("delayed", "python", "", opener=Delayed))
    assert "lag" in kinds(result)
    assert "40 samples" in next(g.text for g in result.guesses if g.kind == "lag")


# ---- The neighbourhood -----------------------------------------------------------------------------------------------


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


# ---- Emulators that fail ---------------------------------------------------------------------------------------------


def test_neither_is_ours():
    """Two modules: no trace of a ROM that is none, but the pictures and the sound are compared."""
    which = Job("toy", toy.ROM, bytes(60), "", "")
    one = Emulator("one", "python", "", opener=toy.ToyEmulator)

    class Other(toy.ToyEmulator):
        def emu_framebuffer(self):
            frame = super().emu_framebuffer().copy()
            if self.calls > 20:
                frame[256 * 7 + 9] ^= 1
            return frame

    result = explain.explain(which, Emulator("other", "python", "", opener=Other), one)
    assert result.parting.first_frame == 20
    assert result.parting.first_diverging is None
    assert result.region.first == (7, 9)
    assert any("no trace" in note for note in result.notes)


def test_a_recording_of_something_else(tmp_path):
    recording = recorded("pynes_ref", job("kittiwake", 5), tmp_path / "r.refcache")
    with pytest.raises(EmulatorError, match="another ROM"):
        explained(recording)
    with pytest.raises(EmulatorError, match="other input"):
        explained(recording, explain.job_of_rom(ROMS / "kittiwake.nes", None, 5))


def test_shift_in_space_needs_the_whole_picture():
    random = np.random.default_rng(5)
    ref = random.integers(0, 64, (240, 256), dtype=np.uint16)
    assert explain_guess.shift_in_space(ref, np.roll(ref, (0, 3), (0, 1))) == (0, 3)
    assert explain_guess.shift_in_space(ref, np.roll(ref, (-2, 0), (0, 1))) == (-2, 0)
    assert explain_guess.shift_in_space(ref, random.integers(0, 64, (240, 256), dtype=np.uint16)) is None


# ---- The command -----------------------------------------------------------------------------------------------------


def grader(*arguments):
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "grader.cli", "explain", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(root), "COLUMNS": "140"}
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
