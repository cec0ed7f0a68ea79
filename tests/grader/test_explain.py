"""``grader explain`` finds the injected fault: the right first frame, and the right words for it."""

from __future__ import annotations

import numpy as np
import pytest
import toy_emulator as toy
from explaining import REFERENCE, ROMS, Faulty, explained, faulty, job, kinds, pictures, recorded

from abi.candidate import EmulatorError
from abi.loader import Emulator, resolve
from grader import explain, explain_guess, explain_html, explain_text
from grader.explain_run import Job


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


def test_the_plot_of_the_sound_is_as_wide_as_its_picture():
    """A difference at sample 0 has nothing before it: what follows takes the whole width, beside numbered axes."""
    left, right, top, bottom = explain_html.PLOT
    waves = [np.linspace(-1000.0, 1000.0, 440), np.zeros(300)]
    drawn = explain_html.wave_plot(waves, 0, 0)
    ref, cand = (line.split('points="')[1].split('"')[0].split() for line in drawn.split("<polyline")[1:])
    assert (ref[0], ref[-1]) == (f"{left}.0,{bottom}.0", f"{right}.0,{top}.0")
    assert len(cand) == 300
    for text in (">-1000<", ">0<", ">1000<", ">100<", ">400<"):
        assert text in drawn
    result = explained(faulty(wave=lambda sound: sound // 2), job(frames=60))
    assert "Samples 0 to 439, " in explain_html.page(result)
