"""``--strict`` and ``--also``: what they add, and that they never touch the score.

The toy emulator stands in for the console (``toy_emulator``); what its injected bugs change is told in ``abi.bugs``:
``scanline`` every picture and no sound, ``ab-swap`` what the one testcase with buttons, ``game``, shows and plays.
"""

from __future__ import annotations

import dataclasses
import json

import pytest
import toy_emulator as toy
from corpus_maker import contents

from abi.candidate import EmulatorError
from abi.loader import Emulator, resolve
from abi.recorded import Header
from grader import beyond, parallel, refcache
from grader.aggregate import overall, sections
from grader.manifest import Config
from grader.results import Row
from grader.run import Options, grade


@pytest.fixture
def reference(toy_wasm):
    return resolve(str(toy_wasm))


def bugged(reference, bug):
    return resolve(f"{reference.path}:{bug}")


# ---- strict ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratio", "term"),
    [(0.0, 0.0), (0.1, 0.2), (0.25, 0.5), (0.5, 1.0), (0.8, 1.0), (1.0, 1.0), (2.0, 1.0), (4.0, 0.5), (20.0, 0.1)],
)
def test_the_loudness_term_of_a_frame(ratio, term):
    """By hand: 2r under a half, 1 up to two, 2/r above (METRICS.md: ratios outside [0.5, 2] are penalised)."""
    assert beyond.loudness([ratio]) == pytest.approx(term, abs=1e-12)


def test_the_loudness_term_is_the_mean_of_the_frames_that_count():
    """By hand: (1 + 0.5 + 0.5 + 0) / 4. Frames with a quiet reference, which have no ratio, do not count."""
    assert beyond.loudness([None, 1.0, 0.25, None, 4.0, 0.0]) == 0.5
    assert beyond.loudness([None, None]) == 1.0


class Scaled(toy.ToyEmulator):
    """The toy, ``gain`` times as loud."""

    def __init__(self, gain):
        super().__init__()
        self.gain = gain

    def emu_audio_buffer(self):
        return (super().emu_audio_buffer() * self.gain).astype("int16")


@pytest.mark.parametrize(("gain", "term"), [(1.0, 1.0), (0.5, 1.0), (0.25, 0.5), (0.1, 0.2), (2.0, 1.0), (4.0, 0.5)])
def test_a_candidate_of_another_loudness(gain, term, corpus, reference, tmp_path, options):
    """The toy plays a square wave of +-6000, so a factor on its samples is the RMS ratio of every frame (the formula).

    The sound metric subtracts each spectrum's mean, which takes any factor away: without --strict it costs nothing.
    """
    candidate = Emulator("scaled", "python", f"{gain}", opener=lambda: Scaled(gain))
    found = grade(corpus, candidate, reference, tmp_path / "out", dataclasses.replace(options, strict=True)).summary
    assert found["overall"] == pytest.approx(1.0, abs=1e-6)
    for case in ("one", "two", "game"):
        assert found["strict"]["per_testcase"][case]["loudness"] == pytest.approx(term, rel=1e-3)
    assert found["strict"]["sections"]["audio"]["score"] == pytest.approx(term, rel=1e-3)
    assert found["strict"]["overall"] == pytest.approx(0.2 + 0.6 + 0.2 * term, rel=1e-3)  # the corpus's weights
    for section in ("procedural", "replay"):
        assert found["strict"]["sections"][section] == found["sections"][section]


# ---- both ------------------------------------------------------------------------------------------------------------


def judged(corpus, candidate, reference, also, out, options):
    return grade(corpus, candidate, reference, out, dataclasses.replace(options, also=also)).summary


@pytest.mark.parametrize(
    ("bug", "pictures", "sounds", "left"),
    [
        ("scanline", {"one", "two", "game"}, set(), {"audio"}),
        ("ab-swap", {"game"}, {"game"}, {"procedural"}),
        ("blank", {"one", "two", "game"}, {"one", "two", "game"}, set()),
    ],
)
def test_a_reference_with_a_bug_costs_neither_side_points(
    bug, pictures, sounds, left, corpus, reference, tmp_path, options
):
    """Exactly what the bug changes is disputed (``abi.bugs``); who is like either reference has everything else."""
    also = bugged(reference, bug)
    for name, candidate in (("first", reference), ("second", also)):
        found = judged(corpus, candidate, reference, also, tmp_path / name, options)
        told = found["both"]["per_testcase"]
        assert {case for case, entry in told.items() if not entry["picture_agrees"]} == pictures
        assert {case for case, entry in told.items() if not entry["sound_agrees"]} == sounds
        assert set(told) == pictures | sounds
        assert set(found["both"]["sections"]) == left
        assert found["both"]["overall"] == (1.0 if left else None)
        heard = None if bug == "blank" else 1.0  # beside a silent reference no sound is scored
        for entry in told.values():
            scores = (entry["video_score"], entry["audio_score"])
            assert (scores == (1.0, heard)) == (name == "second")
    assert found["overall"] < 0.9  # the score itself knows only the first reference


def test_what_is_not_disputed_still_counts(corpus, reference, tmp_path, options):
    """Beside a reference that differs in ``game`` alone, a picture one line low fails in both other testcases."""
    found = judged(corpus, bugged(reference, "scanline"), reference, bugged(reference, "ab-swap"), tmp_path, options)
    parts = found["sections"]["procedural"]
    assert found["both"]["sections"] == {"procedural": parts}
    assert found["both"]["overall"] == parts["score"]
    assert parts["score"] < 0.1


def test_references_that_agree_change_nothing(corpus, reference, tmp_path, options):
    other = dataclasses.replace(reference, kind="python", identity="1" * 64, opener=toy.ToyEmulator)
    found = judged(corpus, bugged(reference, "ab-swap"), reference, other, tmp_path, options)
    assert found["both"]["per_testcase"] == {}
    assert found["both"]["overall"] == found["overall"]
    assert found["both"]["sections"] == found["sections"]


def test_a_disputed_testcase_that_a_candidate_cannot_load_costs_it_nothing(corpus, reference, tmp_path, options):
    """The module refuses the ROM of ``two`` (its byte 16 is 5); the references dispute every picture."""
    code = "(param i32) (result i32) call $power (i32.eq (i32.load8_u (i32.const 0x100010)) (i32.const 3))"
    path = tmp_path / "picky.wasm"
    path.write_bytes(toy.module(emu_load_rom=code))
    found = judged(corpus, resolve(str(path)), reference, bugged(reference, "scanline"), tmp_path / "out", options)
    assert found["per_testcase"]["two"]["skipped"] is True
    assert found["sections"]["procedural"]["score"] == 0.5
    entry = found["both"]["per_testcase"]["two"]
    assert entry["picture_agrees"] is False
    assert "video_score" not in entry
    assert found["both"]["overall"] == 1.0


def test_without_a_second_opinion_the_first_reference_judges(corpus, reference, tmp_path, options):
    """Recordings of ``one`` alone: the two other testcases say what is missing and count as in the score."""
    refcache.record(tmp_path / "rec" / "one.refcache", corpus.cases[0], bugged(reference, "scanline"))
    also = resolve(str(tmp_path / "rec"))
    found = judged(corpus, bugged(reference, "blank"), reference, also, tmp_path / "out", options)
    told = found["both"]["per_testcase"]
    assert {case: "missing" in entry for case, entry in told.items()} == {"one": False, "two": True, "game": True}
    assert "no recording of two" in told["two"]["missing"]
    expected = {"procedural": {"ppu": found["per_testcase"]["two"]["video_score"]}}
    for section in ("replay", "audio"):
        expected[section] = found["sections"][section]["subsystems"]
    assert {section: entry["subsystems"] for section, entry in found["both"]["sections"].items()} == expected


def test_agreement_is_told_only_of_what_the_second_reference_judged():
    """None missing, all missing, some missing; and the disputed in number or by name."""

    def told(names=False, **entries):
        summary = {"per_testcase": dict.fromkeys("abc"), "both": {"per_testcase": entries}}
        return beyond.verdict(summary, names)

    gone = {"missing": "no recording"}
    assert told() == "the references agree"
    assert told(a=gone, b=gone, c=gone) == "no second opinion on 3 testcases"
    assert told(a=gone) == "the references agree elsewhere; no second opinion on 1 testcase"
    assert told(a=gone, b={}) == "without what the references dispute in 1 testcase; no second opinion on 1 testcase"
    assert told(True, b={}, c={}) == "without what the references dispute in b, c"


def test_a_second_reference_that_cannot_start_stops_the_run_with_one_line(corpus, reference, tmp_path, options):
    path = tmp_path / "bad.wasm"
    path.write_bytes(toy.module(emu_init="(result i32) i32.const 0"))
    with pytest.raises(EmulatorError, match=r"bad\.wasm"):
        judged(corpus, reference, reference, resolve(str(path)), tmp_path / "out", options)
    assert not (tmp_path / "out").exists()


def disputed(picture=True, sound=True):
    return {"picture_agrees": not picture, "sound_agrees": not sound}


def test_where_the_weight_of_what_is_disputed_goes():
    """By hand, with the weights of METRICS.md: cpu .35 ppu .30 apu .15 mapper .20; apu .5 game_audio .5; .2 .6 .2."""
    rows = [
        Row("a", "procedural", "cpu", None, 0.0, None, also=disputed()),
        Row("b", "procedural", "cpu", None, 0.5, None, also=disputed(False, False)),
        Row("c", "procedural", "ppu", None, 0.0, None, also=disputed()),
        Row("d", "procedural", "apu", "apu", 1.0, 0.0, also=disputed(False, True)),
        Row("e", "procedural", "mapper", None, 0.4, None, also={"missing": "it stopped"}),
        Row("f", "replay", "gameplay", "game_audio", 0.0, 0.8, also=disputed(True, False)),
    ]
    found = beyond.both(rows, Config(), "other", partial=False)
    assert found["sections"]["procedural"]["subsystems"] == {"cpu": 0.5, "apu": 1.0, "mapper": 0.4}
    procedural = (0.35 * 0.5 + 0.15 * 1.0 + 0.20 * 0.4) / (0.35 + 0.15 + 0.20)
    assert found["sections"]["procedural"]["score"] == pytest.approx(procedural)
    assert found["sections"]["audio"]["score"] == pytest.approx(0.8)
    assert "replay" not in found["sections"]
    assert found["overall"] == pytest.approx((0.2 * procedural + 0.2 * 0.8) / 0.4)
    assert set(found["per_testcase"]) == {"a", "c", "d", "e", "f"}


def test_a_weight_without_a_testcase_counts_as_in_the_score():
    """METRICS.md: it counts as 0. Only what a dispute takes away gives up its weight."""
    rows = [
        Row("a", "procedural", "cpu", None, 1.0, None, also=disputed(False, False)),
        Row("b", "procedural", "ppu", None, 1.0, None, also=disputed()),
    ]
    found = beyond.both(rows, Config(), "other", partial=False)
    assert found["sections"]["procedural"]["score"] == pytest.approx(0.35 / 0.70)
    assert found["overall"] == pytest.approx(0.2 * 0.35 / 0.70)
    rows[1].also = disputed(False, False)
    scores = sections(rows, Config())
    assert beyond.both(rows, Config(), "other", partial=False)["overall"] == overall(scores)


# ---- beside the score ------------------------------------------------------------------------------------------------


@pytest.fixture
def everything(options, reference):
    return dataclasses.replace(options, strict=True, hints=True, also=bugged(reference, "ab-swap"))


def test_the_options_change_no_score_and_no_other_file(corpus, reference, tmp_path, options, everything):
    """Without what they add the summary is that of a run without them, byte for byte, and so are the figures."""
    candidate = bugged(reference, "scanline")
    grade(corpus, candidate, reference, tmp_path / "plain", options)
    grade(corpus, candidate, reference, tmp_path / "more", everything)
    plain, more = contents(tmp_path / "plain"), contents(tmp_path / "more")
    summary = json.loads(more.pop("summary.json"))
    assert {summary.pop(key) is None for key in ("strict", "both", "hints")} == {False}
    text = plain.pop("summary.json").decode()
    assert text == json.dumps(summary, sort_keys=True, indent=2) + "\n"
    assert set(plain) == set(more)
    for name, data in plain.items():
        if name != "report.html" and not name.endswith(".detail.json"):
            assert more[name] == data, name
    for words in ("Strict, with loudness", "second reference", "<h2>Hints</h2>"):
        assert words not in plain["report.html"].decode()
        assert words in more["report.html"].decode()


def test_any_number_of_processes_gives_the_same_bytes(corpus, reference, tmp_path, everything):
    candidate = bugged(reference, "scanline")
    grade(corpus, candidate, reference, tmp_path / "0", everything)
    for jobs in (0, 1, 3):
        options = dataclasses.replace(everything, jobs=jobs, cache=tmp_path / f"cache{jobs}")
        grade(corpus, candidate, reference, tmp_path / "again", options)
        assert contents(tmp_path / "again") == contents(tmp_path / "0")


def test_on_a_dask_cluster(corpus, reference, tmp_path, everything):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    candidate = bugged(reference, "scanline")
    grade(corpus, candidate, reference, tmp_path / "here", everything)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        executor = parallel.choose("dask://" + cluster.scheduler_address.removeprefix("tcp://"))
        grade(corpus, candidate, reference, tmp_path / "there", everything, executor=executor)
    assert contents(tmp_path / "here") == contents(tmp_path / "there")


@pytest.mark.parametrize(("option", "kept"), [("strict", 3), ("hints", 0), ("also", 0)])
def test_resuming_with_other_options(option, kept, corpus, reference, tmp_path, options, everything):
    """A run taken up with an option, or without it, ends in the bytes of a fresh one; strict needs no testcase again.

    Taken up once more as it is, nothing runs.
    """
    candidate = bugged(reference, "scanline")
    other = dataclasses.replace(options, **{option: getattr(everything, option)})
    grade(corpus, candidate, reference, tmp_path / "plain", options)
    grade(corpus, candidate, reference, tmp_path / "fresh", other)
    assert contents(tmp_path / "plain") != contents(tmp_path / "fresh")
    grade(corpus, candidate, reference, tmp_path / "out", options)
    for wanted, setting, resumed in (
        ("fresh", other, kept),
        ("fresh", other, 3),
        ("plain", options, kept),
        ("plain", options, 3),
    ):
        again = dataclasses.replace(setting, resume=True)
        assert grade(corpus, candidate, reference, tmp_path / "out", again).resumed == resumed
        assert contents(tmp_path / "out") == contents(tmp_path / wanted)


def test_another_second_reference_is_asked_again(corpus, reference, tmp_path, options):
    """One folder, now with recordings of something else: what an earlier run took from it does not count."""
    folder = tmp_path / "rec"
    for case in corpus.cases:
        refcache.record(folder / f"{case.id}.refcache", case, reference)
    first = judged(corpus, reference, reference, resolve(str(folder)), tmp_path / "out", options)
    assert first["both"]["per_testcase"] == {}
    case, other = corpus.cases[0], bugged(reference, "blank")
    header = Header(other.identity, case.rom_sha256, case.replay_sha256, case.frames, 44_100)
    refcache.write(folder / "one.refcache", header, refcache.run_reference(other.open(), case))
    again = dataclasses.replace(options, also=resolve(str(folder)), resume=True)
    graded = grade(corpus, reference, reference, tmp_path / "out", again)
    assert graded.resumed == 2
    assert set(graded.summary["both"]["per_testcase"]) == {"one"}


def test_a_partial_run(corpus, reference, tmp_path):
    """Of one testcase: the weights of the others are left out, of a disputed one, too."""
    options = Options(jobs=0, cache=tmp_path / "cache", partial=True, strict=True, also=bugged(reference, "ab-swap"))
    found = grade(corpus.only(["two"]), reference, reference, tmp_path / "two", options).summary
    assert found["both"]["overall"] == found["strict"]["overall"] == 1.0
    found = grade(corpus.only(["game"]), reference, reference, tmp_path / "game", options).summary
    assert found["strict"]["overall"] == 1.0
    assert found["both"]["overall"] is None
