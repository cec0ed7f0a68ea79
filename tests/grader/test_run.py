"""Grading end to end with the toy emulator: scores, files, resuming, candidates that fail."""

from __future__ import annotations

import dataclasses
import json
import wave
from pathlib import Path

import numpy as np
import pytest
import toy_emulator as toy
from corpus_maker import contents
from PIL import Image

from abi.candidate import EmulatorError
from abi.loader import resolve
from abi.recorded import Recording
from grader import refcache
from grader.pictures import palette
from grader.run import Options, grade


def test_a_module_against_itself(corpus, toy_wasm, tmp_path, options):
    emulator = resolve(str(toy_wasm))
    graded = grade(corpus, emulator, emulator, tmp_path / "out", options)
    assert graded.summary["overall"] == 1.0
    assert [graded.summary["sections"][s]["score"] for s in ("procedural", "replay", "audio")] == [1.0] * 3
    out = tmp_path / "out"
    assert json.loads((out / "summary.json").read_text()) == graded.summary
    assert graded.summary["candidate"] == "toy"
    assert graded.summary["candidate_sha256"] == emulator.identity
    names = set(contents(out))
    for case in ("one", "two", "game"):
        assert {f"{case}.json", f"{case}.ref.png", f"{case}.cand.png", f"{case}.ref.wav", f"{case}.cand.wav"} <= names
    result = json.loads((out / "game.json").read_text())
    assert result["n_frames"] == 90
    assert len(result["histogram"]) == len(result["audit_luma_mae_frames"]) == len(result["audio_rms_ratio"]) == 90
    assert set(result) == {
        "n_frames", "diverging_frames", "total_diff_pixels", "first_diverge_frame", "max_diff_pixels", "max_diff_frame",
        "histogram", "frame_diff_threshold", "audit_luma_mae_frames", "replay_score_deduped", "audio_score",
        "audio_diff_threshold", "audio_rms_ratio", "audio_frame_scores", "has_video",
    }  # fmt: skip
    assert result["audio_rms_ratio"][0] is None  # no samples in call 0
    assert result["audio_rms_ratio"][1] == 1.0
    with wave.open(str(out / "game.cand.wav")) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 44_100)
        assert file.getnframes() == 716 + sum(733 + (n % 5 != 0) for n in range(2, 90))


def test_the_summary_is_sorted_and_has_no_clock(corpus, toy_wasm, tmp_path, options):
    emulator = resolve(str(toy_wasm))
    grade(corpus, emulator, emulator, tmp_path / "out", options)
    text = (tmp_path / "out" / "summary.json").read_text()
    data = json.loads(text)
    assert text == json.dumps(data, sort_keys=True, indent=2) + "\n"
    assert set(data) == {"candidate", "candidate_sha256", "overall", "per_testcase", "sections"}
    assert data["per_testcase"]["one"] == {
        "section": "procedural", "subsystem": "cpu", "video_score": 1.0, "audio_score": 1.0,
    }  # fmt: skip


def test_bugs_fall_where_they_should(corpus, toy_wasm, tmp_path, options):
    reference = resolve(str(toy_wasm))

    def scores(bug):
        found = grade(corpus, resolve(f"{toy_wasm}:{bug}"), reference, tmp_path / bug, options).summary
        return [found["sections"][s]["score"] for s in ("procedural", "replay", "audio")]

    late = scores("scanline")
    assert late[0] < 0.9
    assert late[2] == 1.0
    swapped = scores("ab-swap")
    assert swapped[0] == 1.0
    assert swapped[1] < 1.0
    assert swapped[2] < 1.0
    blank = scores("blank")
    assert max(blank) < 0.05
    assert scores("early")[1] < 1.0


def test_first_divergence(corpus, toy_wasm, tmp_path, options):
    """A and B exchanged shows in the frame in which the replay first presses A: 10 (the toy reads keys at once)."""
    graded = grade(corpus, resolve(f"{toy_wasm}:ab-swap"), resolve(str(toy_wasm)), tmp_path / "out", options)
    result = json.loads((tmp_path / "out" / "game.json").read_text())
    assert result["first_diverge_frame"] == 10
    assert result["diverging_frames"] == 40  # 10 to 19 and 30 to 59
    assert graded.rows[2].first_diverge_frame == 10
    page = json.loads((tmp_path / "out" / "game.detail.json").read_text())["page"]
    assert {"9", "10", "11", "12", "13"} <= set(page["pictures"])


def test_resume(corpus, toy_wasm, tmp_path, options):
    emulator = resolve(str(toy_wasm))
    out = tmp_path / "out"
    whole = grade(corpus, emulator, emulator, out, options)
    before = contents(out)
    (out / "two.detail.json").unlink()
    (out / "game.json").unlink()
    again = grade(corpus, emulator, emulator, out, Options(jobs=0, cache=options.cache, resume=True))
    assert again.resumed == 1
    assert contents(out) == before
    assert again.summary == whole.summary
    other = resolve(f"{toy_wasm}:scanline")
    assert grade(corpus, other, emulator, out, Options(jobs=0, cache=options.cache, resume=True)).resumed == 0


@pytest.mark.parametrize("damage", ["deep", "list", "empty", "hints", "log", "video_score", "frames", "loudness"])
def test_resume_grades_again_what_is_damaged(damage, corpus, toy_wasm, tmp_path, options):
    """Neither a traceback nor a summary made of it: the run ends in the bytes of the first one."""
    emulator, out = resolve(str(toy_wasm)), tmp_path / "out"
    grade(corpus, emulator, emulator, out, options)
    before = contents(out)
    path = out / "two.detail.json"
    data = json.loads(path.read_text())
    row, page = data["row"], data["page"]
    for part, name, value in (
        (row, "hints", []),
        (row, "video_score", "x"),
        (row, "loudness", float("nan")),
        (data, "log", 5),
        (page, "frames", "x"),
    ):
        if name == damage:
            part[name] = value
    path.write_text({"deep": "[" * 100_000, "list": "[1]", "empty": ""}.get(damage, json.dumps(data)))
    again = grade(corpus, emulator, emulator, out, dataclasses.replace(options, resume=True))
    assert again.resumed == 2
    assert contents(out) == before


@pytest.mark.parametrize("side", ["ref.wav", "cand.wav", "ref.png", "diff.mp4"])
def test_resume_grades_again_what_has_lost_a_file(side, corpus, toy_wasm, tmp_path, options):
    if side.endswith("mp4"):
        pytest.importorskip("av")
    emulator, out = resolve(str(toy_wasm)), tmp_path / "out"
    some, filmed = corpus.only(["one", "two"]), dataclasses.replace(options, partial=True, emit_video="mp4" in side)
    grade(some, emulator, emulator, out, filmed)
    before = contents(out)
    (out / f"one.{side}").unlink()
    assert grade(some, emulator, emulator, out, dataclasses.replace(filmed, resume=True)).resumed == 1
    assert contents(out) == before


def test_a_rom_the_candidate_cannot_load_scores_0(corpus, tmp_path, toy_wasm, options):
    """It takes only ROMs whose byte 16 is 3: testcase two is skipped, picture and sound 0."""
    code = "(param i32) (result i32) call $power (i32.eq (i32.load8_u (i32.const 0x100010)) (i32.const 3))"
    path = tmp_path / "picky.wasm"
    path.write_bytes(toy.module(emu_load_rom=code))
    graded = grade(corpus, resolve(str(path)), resolve(str(toy_wasm)), tmp_path / "out", options)
    two = graded.summary["per_testcase"]["two"]
    assert two["skipped"] is True
    assert two["skip_reason"] == "emu_load_rom returned 0 (the emulator refuses this ROM)"
    assert (two["video_score"], two["audio_score"]) == (0.0, 0.0)
    assert graded.summary["sections"]["procedural"]["score"] == 0.5
    assert "skipped" not in graded.summary["per_testcase"]["one"]


def test_trapping_frames_keep_the_picture(corpus, tmp_path, toy_wasm, options):
    """From frame 20 on every call traps: the last picture stays, the sound stops, the testcase is scored."""
    code = "(if (i32.gt_u (global.get $n) (i32.const 19)) (then unreachable)) call $frame"
    path = tmp_path / "traps.wasm"
    path.write_bytes(toy.module(emu_run_frame=code))
    graded = grade(corpus, resolve(str(path)), resolve(str(toy_wasm)), tmp_path / "out", options)
    result = json.loads((tmp_path / "out" / "game.json").read_text())
    assert result["first_diverge_frame"] == 20
    assert 60 < result["diverging_frames"] <= 70  # stripes repeat: a frame may happen to agree
    assert graded.rows[2].notes == ["frame 20: emu_run_frame trapped: unreachable"]
    assert 0.1 < graded.rows[2].audio_score < 0.4
    reference = Recording(refcache.cache_path(options.cache, corpus.cases[2], resolve(str(toy_wasm))))
    frames = list(reference.frames())
    shown = np.array(Image.open(tmp_path / "out" / "game.cand.png").convert("RGB"))
    assert np.array_equal(shown, palette().picture(frames[19]))


def test_boot_frames_are_burnt(corpus, tmp_path, toy_wasm, options):
    """A module that says "1 boot frame" is one frame early, like the injected bug."""
    path = tmp_path / "boots.wasm"
    path.write_bytes(toy.module(emu_boot_frames="(result i32) i32.const 1"))
    booted = grade(corpus, resolve(str(path)), resolve(str(toy_wasm)), tmp_path / "a", options).summary
    early = grade(corpus, resolve(f"{toy_wasm}:early"), resolve(str(toy_wasm)), tmp_path / "b", options).summary
    assert booted["per_testcase"] == early["per_testcase"]


def test_partial_runs_say_so(corpus, toy_wasm, tmp_path, options):
    emulator = resolve(str(toy_wasm))
    some = corpus.only(["two"])
    partial = Options(jobs=0, cache=options.cache, partial=True)
    found = grade(some, emulator, emulator, tmp_path / "out", partial).summary
    assert found["partial"] is True
    assert found["overall"] == 1.0
    assert set(found["sections"]) == {"procedural"}


def test_a_module_that_cannot_start_stops_the_run_with_one_line(corpus, tmp_path, options):
    path = tmp_path / "bad.wasm"
    path.write_bytes(toy.module(emu_init="(result i32) (loop br 0) i32.const 1"))
    with pytest.raises(EmulatorError, match="fuel"):
        # The sanity check uses the corpus's budget: 20 M units here.
        grade(corpus, resolve(str(path)), resolve(str(path)), tmp_path / "out", options)
    assert not (tmp_path / "out").exists()
    assert Path(path).exists()


def test_films(corpus, toy_wasm, tmp_path, options):
    av = pytest.importorskip("av")
    emulator = resolve(str(toy_wasm))
    filmed = Options(jobs=0, cache=options.cache, emit_video=True, partial=True)
    for out in ("a", "b"):
        grade(corpus.only(["one"]), resolve(f"{toy_wasm}:scanline"), emulator, tmp_path / out, filmed)
    assert json.loads((tmp_path / "a" / "one.json").read_text())["has_video"] is True
    for side in ("ref", "cand", "diff"):
        path = tmp_path / "a" / f"one.{side}.mp4"
        with av.open(str(path)) as film:
            pictures = [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]
            assert len(film.streams.audio) == (side != "diff")
        assert len(pictures) == 40
        assert pictures[0].shape == (480, 512, 3)
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
