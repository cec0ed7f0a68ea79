"""``--hints`` names the fault that was put in, and says nothing where there is none.

Our console is reference and, with a fault, candidate; it plays the built-in corpus.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
from corpus_maker import contents
from explaining import faulty

from abi.inprocess import PynesRef
from abi.loader import Emulator, resolve
from grader import builtin, hints
from grader.grade import grade_case
from grader.manifest import load_corpus
from grader.results import Row, Task
from grader.run import Options, grade

REFERENCE = resolve("pynes_ref")
CHANNELS = ("pulse1", "pulse2", "triangle", "noise", "dmc")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@functools.cache
def case(case_id, frames):
    """A testcase of the built-in corpus, its beginning."""
    whole = next(case for case in load_corpus(builtin.folder()).cases if case.id == case_id)
    return dataclasses.replace(whole, frames=frames, keys=whole.keys[:frames])


GAME = ("pinewood-gameplay", 420)
MUSIC = ("pinewood-gameplay", 900)
CHANNEL_TEST = ("selftest-apu", 300)  # at its end every channel sounds in turn


@pytest.fixture(autouse=True, scope="module")
def _channels_once():
    """A testcase's channels are played once for all tests here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hints, "_powers_alone", functools.cache(hints._powers_alone))
        yield


def row(candidate, which, cache):
    candidate = resolve(f"pynes_ref:{candidate}") if isinstance(candidate, str) else candidate
    return grade_case(Task(case(*which), candidate, REFERENCE, cache, hints=True)).row


# ---- nothing to say --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", [GAME, CHANNEL_TEST])
def test_no_hints_for_a_perfect_candidate(which, cache):
    found = row(REFERENCE, which, cache)
    assert (found.video_score, found.audio_score) == (1.0, 1.0)
    assert found.hints == {}
    assert hints.by_subsystem([found]) == []


# ---- pictures --------------------------------------------------------------------------------------------------------


class Late(PynesRef):
    """Our console behind a call that runs nothing."""

    def __init__(self):
        super().__init__()
        self._idle = True

    def emu_run_frame(self):
        if not self._idle:
            super().emu_run_frame()
        self._idle = False


def drawn(change):
    return faulty(draw=lambda frame, call: change(frame))


def put(frame, where, value):
    frame[where] = value
    return frame


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("scanline", "the picture is 1 line low"),
        ("broken", "the picture is 1 line low"),
        ("blank", "the picture is blank"),
        ("early", "the picture is one frame early (60 of the first 60 diverging frames)"),
        (Emulator("late", "python", "", opener=Late), "the picture is one frame late (60 of the first 60 diverging "),
        (drawn(lambda f: np.roll(f, (-2, 3), (0, 1))), "the picture is 2 lines high and 3 pixels to the right"),
        (drawn(lambda f: f ^ 0x1C0), "only the colour emphasis differs (PPUMASK bits 5 to 7)"),
        (drawn(lambda f: f & 0x1F0), "greyscale is on where it should be off (PPUMASK bit 0)"),
        (drawn(lambda f: put(f, np.s_[:, :8], 0x16)), "only the leftmost 8 pixels differ: clipping"),
        (drawn(lambda f: put(f, np.s_[100:110, 20:], 0x16)), "only scanlines 100 to 109 differ: "),
    ],
)
def test_a_fault_of_the_picture_is_named(fault, words, cache):
    found = row(fault, GAME, cache).hints["picture"]
    assert len(found) == 1
    assert found[0].startswith(words)


def test_a_fault_that_leads_the_game_another_way(cache):
    """``broken`` plays with A and B exchanged, which parts the games after some hundred frames; its first pictures
    are one line low."""
    found = row("broken", ("pinewood-gameplay", 900), cache).hints["picture"]
    assert found == ["the first pictures that differ are 1 line low"]


def test_greyscale_that_is_ignored(cache):
    """The reference shows the hardware's greyscale (the palette index's low four bits are 0), the candidate colours."""
    grey = dataclasses.replace(drawn(lambda f: f & 0x1F0), identity="1" * 64)
    found = grade_case(Task(case(*GAME), REFERENCE, grey, cache, hints=True)).row
    assert found.hints["picture"] == ["greyscale is off where it should be on (PPUMASK bit 0)"]


def test_no_guess_where_nothing_fits(cache):
    """Noise all over the picture: no hint, and the points lost are told by subsystem."""
    noise = np.random.default_rng(5).integers(0, 64, (240, 256)).astype(np.uint16)
    found = row(drawn(lambda f: f ^ noise), GAME, cache)
    assert found.video_score < 0.1
    assert found.hints == {}
    assert hints.by_subsystem([found]) == [
        {"subsystem": "replay/gameplay", "text": "1 of 1 testcases lose points", "testcases": ["pinewood-gameplay"]}
    ]


# ---- sound -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", [MUSIC, CHANNEL_TEST])
def test_the_missing_channels_are_named(which, cache):
    """``no-tri-noise`` silences two channels (``abi.bugs``).

    The mixer is not linear: the DMC, which shares an output pin with those two, is a little louder without them.
    """
    found = row("no-tri-noise", which, cache).hints
    assert found["sound"] == ["the triangle channel is missing", "the noise channel is missing"]
    assert "picture" not in found
    assert set(found["channels"]) == set(CHANNELS)
    for channel in ("pulse1", "pulse2"):
        assert found["channels"][channel] == pytest.approx(1.0, abs=0.03)
    assert 1.0 <= found["channels"]["dmc"] < 1.4
    assert max(found["channels"]["triangle"], found["channels"]["noise"]) < 0.25


def test_a_missing_channel_makes_its_neighbours_louder_and_they_are_not_blamed():
    """By hand, at the mixer's limits."""
    missing = ["the triangle channel is missing", "the noise channel is missing"]
    ratios = {"pulse1": 1.0, "pulse2": 1.0, "triangle": 0.1, "noise": 0.1, "dmc": 1.71}
    assert hints.wrong_channels(ratios) == missing
    assert hints.wrong_channels({**ratios, "dmc": 2.5})[2:] == [
        "the DMC channel is too loud beside the others (2.5 times as loud)"
    ]
    other_pin = "the pulse 2 channel is too loud beside the others (1.7 times as loud)"
    assert hints.wrong_channels({**ratios, "dmc": 1.0, "pulse2": 1.71}) == [other_pin, *missing]


class Quieter(PynesRef):
    """Our console with one channel silent, or ``gain`` times as loud."""

    def __init__(self, channel, gain=0.0):
        super().__init__()
        self._gain = gain
        self._without = PynesRef()
        self._without.mute((channel,))

    def emu_load_rom(self, length):
        self._without.emu_rom_buffer()[:length] = self.emu_rom_buffer()[:length]
        return super().emu_load_rom(length) and self._without.emu_load_rom(length)

    def emu_set_keys(self, keys):
        super().emu_set_keys(keys)
        self._without.emu_set_keys(keys)

    def emu_run_frame(self):
        super().emu_run_frame()
        self._without.emu_run_frame()

    def emu_audio_samples(self):
        count = super().emu_audio_samples()
        assert self._without.emu_audio_samples() == count
        without = self._without.emu_audio_buffer().astype(np.float64)
        self._audio = np.round(without + self._gain * (self._audio - without)).astype(np.int16)
        return count


SPOKEN = {"pulse1": "pulse 1", "pulse2": "pulse 2", "triangle": "triangle", "noise": "noise", "dmc": "DMC"}


@pytest.mark.parametrize(
    ("channel", "gain", "hint"),
    [
        *((channel, 0.0, "is missing") for channel in CHANNELS),
        *((channel, 0.4, "is too quiet beside the others (0.4") for channel in CHANNELS),
        *((channel, 2.5, "is too loud beside the others (2.") for channel in CHANNELS if channel != "dmc"),
    ],
)
def test_one_wrong_channel(channel, gain, hint, cache):
    """One channel at ``gain`` times its loudness is named, and its loudness measured to a tenth; no other is blamed.

    (The DMC is not made louder here: beyond 1.5 times its opposite, which it gives to triangle and noise through
    their common pin, takes those away.)
    """
    candidate = Emulator("quieter", "python", "", opener=lambda: Quieter(channel, gain))
    found = row(candidate, MUSIC, cache).hints
    named = [text for text in found["sound"] if "channel" in text]
    assert len(named) == 1
    assert named[0].startswith(f"the {SPOKEN[channel]} channel {hint}")
    if gain:
        assert found["channels"][channel] == pytest.approx(gain, rel=0.1)


@pytest.mark.parametrize(("gain", "words"), [(0.2, ["the sound is too quiet (0.2 times as loud)"]), (1.6, [])])
def test_a_loudness_that_the_score_does_not_hear(gain, words, cache):
    """Within a factor of two nothing is said; beyond it, although the score stays near 1 (METRICS.md: shape)."""
    found = row(faulty(wave=lambda sound: np.round(sound * gain).astype(np.int16)), CHANNEL_TEST, cache)
    assert found.audio_score > 0.99
    assert found.hints.get("sound", []) == words


def test_a_sound_that_is_not_centred(cache):
    """A constant of 4000 on every sample."""
    candidate = faulty(wave=lambda sound: np.clip(sound.astype(np.int32) + 4000, -32768, 32767).astype(np.int16))
    assert row(candidate, CHANNEL_TEST, cache).hints["sound"][0].startswith("the sound is not centred on zero")


def test_no_sound(cache):
    assert row("blank", CHANNEL_TEST, cache).hints["sound"] == ["there is no sound"]


def test_another_tune(cache):
    """White noise throughout: no loudness of the channels makes that."""
    rng = np.random.default_rng(3)
    candidate = faulty(wave=lambda sound: rng.integers(-3000, 3000, sound.size).astype(np.int16))
    found = row(candidate, CHANNEL_TEST, cache).hints
    assert found["sound"] == ["the sound is not what the channels play: another tune or tempo, or out of step"]
    assert "channels" not in found


def test_the_fit_is_a_least_squares_fit_without_negative_parts():
    """A sum gives its factors back. By hand: of parts that do not overlap only those wanted count, and a third of the
    power is in a band that none of them has."""
    parts = np.random.default_rng(7).uniform(0.0, 1.0, (5, 40, 40))
    gains, rest = hints._fit(parts, np.tensordot([1.0, 0.0, 0.5, 2.0, 0.25], parts, 1))
    assert gains == pytest.approx([1.0, 0.0, 0.5, 2.0, 0.25], abs=1e-4)
    assert rest < 1e-4
    apart = np.zeros((5, 1, 6))
    apart[np.arange(5), 0, np.arange(5)] = 1.0
    gains, rest = hints._fit(apart, np.array([[1.0, 1.0, 0.0, 0.0, 0.0, 1.0]]))
    assert gains == pytest.approx([1.0, 1.0, 0.0, 0.0, 0.0], abs=1e-6)
    assert rest == pytest.approx(1.0 / 3.0)
    # By hand: without the bound the factors would be 2 and -1; with it the second is 0 and the first 3/2.
    apart[0, 0, :2], apart[1, 0, :2] = (1.0, 1.0), (0.0, 1.0)
    gains, _ = hints._fit(apart, np.array([[2.0, 1.0, 0.0, 0.0, 0.0, 0.0]]))
    assert gains == pytest.approx([1.5, 0.0, 0.0, 0.0, 0.0], abs=1e-6)


# ---- by subsystem ----------------------------------------------------------------------------------------------------


def test_by_subsystem():
    """By hand: sections in the order of the score, hints by how many testcases they are of, numbers left out."""
    early = "the picture is one frame early"
    rows = [
        Row("a", "procedural", "cpu", None, 1.0, None),
        Row("b", "procedural", "cpu", None, 0.5, 0.1, hints={"picture": [f"{early} (9 of the first 9)"]}),
        Row("c", "procedural", "cpu", "apu", 0.0, 0.0, "it refuses this ROM"),
        Row("d", "procedural", "cpu", None, 0.9, None, hints={"picture": [f"{early} (7 of the first 9)"]}),
        Row("e", "replay", "gameplay", "game_audio", 1.0, 1.0, hints={"sound": ["the sound is too quiet (0.2 times)"]}),
        Row("f", "replay", "gameplay", "game_audio", 1.0, 1.0),
    ]
    assert hints.lines(hints.by_subsystem(rows)) == [
        "procedural/cpu: 3 of 4 testcases lose points (b, c, d)",
        f"procedural/cpu: {early} (b, d)",
        "procedural/cpu: it refuses this ROM (c)",
        "audio/apu: 1 of 1 testcases lose points (c)",
        "audio/apu: it refuses this ROM (c)",
        "audio/game_audio: the sound is too quiet (e)",
    ]


def test_any_number_of_processes_gives_the_same_bytes(tmp_path):
    """In this process SciPy and NumPy may use several threads, in a worker one."""
    corpus = load_corpus(builtin.folder()).only(["selftest-apu"])
    for jobs in (0, 2):
        options = Options(jobs=jobs, cache=tmp_path / "cache", partial=True, hints=True, strict=True)
        grade(corpus, resolve("pynes_ref:no-tri-noise"), REFERENCE, tmp_path / f"{jobs}", options)
    assert contents(tmp_path / "0") == contents(tmp_path / "2")
    assert b"the triangle channel is missing" in contents(tmp_path / "0")["summary.json"]
