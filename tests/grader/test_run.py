"""Grading end to end with the toy emulator: scores, files, determinism, resuming, the reference cache."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import wave
from pathlib import Path

import corpus_maker
import numpy as np
import pytest
import toy_emulator as toy
from PIL import Image

from abi.candidate import EmulatorError
from abi.loader import resolve
from abi.recorded import Recording
from grader import determinism, parallel, refcache
from grader.aggregate import overall, sections, summary
from grader.manifest import Config, load_corpus
from grader.pictures import difference, palette, png, rgb_png, wav
from grader.results import Row
from grader.run import Options, grade


@pytest.fixture
def corpus(tmp_path):
    return load_corpus(corpus_maker.make(tmp_path / "corpus"))


@pytest.fixture
def toy_wasm(tmp_path):
    path = tmp_path / "toy.wasm"
    path.write_bytes(toy.module())
    return path


@pytest.fixture
def options(tmp_path):
    return Options(jobs=0, cache=tmp_path / "cache")


def contents(folder):
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


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


def test_any_number_of_processes_gives_the_same_bytes(corpus, toy_wasm, tmp_path, options):
    reference, candidate = resolve(str(toy_wasm)), resolve(f"{toy_wasm}:broken".replace("broken", "ab-swap"))
    grade(corpus, candidate, reference, tmp_path / "a", options)
    for jobs in (1, 2, 3):
        grade(corpus, candidate, reference, tmp_path / "b", Options(jobs=jobs, cache=tmp_path / f"cache{jobs}"))
        assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_the_gate(corpus, toy_wasm):
    emulator = resolve(str(toy_wasm))
    assert determinism.gate(corpus.only(["one"]), emulator, emulator, 0, lambda text: None) == []


def test_the_gate_finds_an_emulator_that_differs_each_run(corpus, tmp_path):
    """Native code can ask for the time; wasm cannot, so a Python opener stands in here."""
    emulator = resolve("pynes_ref")
    import dataclasses

    fickle = dataclasses.replace(emulator, kind="python", opener=Fickle)
    found = determinism.gate(corpus.only(["one"]), fickle, fickle, 0, lambda text: None)
    assert "recording one.refcache" in found
    assert "result one.json" in found


class Fickle(toy.ToyEmulator):
    made = 0

    def __init__(self):
        Fickle.made += 1
        super().__init__()

    def emu_framebuffer(self):
        return (self.frame + Fickle.made * (self.calls > 5)) & 63


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


def test_reference_cache(corpus, toy_wasm, tmp_path):
    emulator, case, cache = resolve(str(toy_wasm)), corpus.cases[0], tmp_path / "cache"
    first = refcache.ensure(case, emulator, cache)
    path = refcache.cache_path(cache, case, emulator)
    assert first.made
    data = path.read_bytes()
    again = refcache.ensure(case, emulator, cache)
    assert (again.made, again.note) == (False, "")
    path.write_bytes(data[: len(data) // 2])  # damaged: noticed, told, mended
    mended = refcache.ensure(case, emulator, cache)
    assert mended.made
    assert "recorded again" in mended.note
    assert path.read_bytes() == data
    assert [p.name for p in cache.iterdir()] == [path.name]
    # Another reference, ROM, replay or length has a file of its own.
    others = [refcache.cache_path(cache, c, emulator) for c in corpus.cases]
    others.append(refcache.cache_path(cache, case, resolve(f"{toy_wasm}:blank")))
    assert len(set(others)) == 4


def test_a_corpus_may_bring_its_recordings(corpus, toy_wasm, tmp_path):
    emulator, case = resolve(str(toy_wasm)), corpus.cases[0]
    brought = corpus.folder / "reference-cache" / "one.refcache"
    refcache.record(brought, case, emulator)
    found = refcache.ensure(case, emulator, tmp_path / "cache", corpus.folder)
    assert not found.made
    assert found.recording.path == brought
    other = resolve(f"{toy_wasm}:blank")  # not of this reference: recorded afresh
    assert refcache.ensure(case, other, tmp_path / "cache", corpus.folder).made


def _record(arguments):
    refcache.record(*arguments)


def test_two_graders_at_once(corpus, toy_wasm, tmp_path):
    emulator, case = resolve(str(toy_wasm)), corpus.cases[0]
    path = tmp_path / "cache" / "x.refcache"
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        pool.map(_record, [(path, case, emulator)] * 8)
    assert Recording(path).frame_count == 40
    assert [p.name for p in path.parent.iterdir()] == ["x.refcache"]


def test_recordings_as_reference(corpus, toy_wasm, tmp_path, options):
    emulator = resolve(str(toy_wasm))
    folder = tmp_path / "recordings"
    for case in corpus.cases:
        refcache.record(folder / f"{case.id}.refcache", case, emulator)
    graded = grade(corpus, emulator, resolve(str(folder)), tmp_path / "out", options)
    assert graded.summary["overall"] == 1.0
    (folder / "two.refcache").rename(folder / "swap")
    (folder / "one.refcache").rename(folder / "two.refcache")
    with pytest.raises(EmulatorError, match=r"two\.refcache is no recording of two: it is of another ROM"):
        grade(corpus.only(["two"]), emulator, resolve(str(folder)), tmp_path / "out", options)


def test_partial_runs_say_so(corpus, toy_wasm, tmp_path, options):
    emulator = resolve(str(toy_wasm))
    some = corpus.only(["two"])
    partial = Options(jobs=0, cache=options.cache, partial=True)
    found = grade(some, emulator, emulator, tmp_path / "out", partial).summary
    assert found["partial"] is True
    assert found["overall"] == 1.0
    assert set(found["sections"]) == {"procedural"}


def test_a_dead_worker_takes_no_other_task_along():
    outcomes = {}
    parallel.run(_die_or_double, [1, 2, 3, -1, 5], [1] * 5, jobs=2, finished=outcomes.__setitem__)
    assert isinstance(outcomes.pop(3), parallel.WorkerDied)
    assert outcomes == {0: 2, 1: 4, 2: 6, 4: 10}


def _die_or_double(task, progress):
    if task < 0:
        time.sleep(0.3)
        os._exit(9)
    return task * 2


def test_a_fault_in_a_worker_is_raised():
    with pytest.raises(EmulatorError, match="as planned"):
        parallel.run(_fail, [1, 2], [1, 1], jobs=2, finished=lambda number, outcome: None)


def _fail(task, progress):
    raise EmulatorError("as planned")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_keeps_what_is_finished(tmp_path):
    """Interrupted in the long testcase: exit 130, one line, the short ones on disk, no process left behind."""
    cases = corpus_maker.entries()
    cases[2]["frames"] = 30_000
    folder = corpus_maker.make(tmp_path / "corpus", cases)
    path = tmp_path / "toy.wasm"
    path.write_bytes(toy.module())
    recordings = tmp_path / "recordings"
    emulator = resolve(str(path))
    for case in load_corpus(folder).cases[:2]:
        refcache.record(recordings / f"{case.id}.refcache", case, emulator)
    command = [
        sys.executable,
        "-m",
        "grader.cli",
        "--reference",
        str(path),
        str(path),
        str(folder),
        str(tmp_path / "out"),
    ]
    environment = {**os.environ, "PYNES_REF_CACHE": str(tmp_path / "cache"), "PYTHONPATH": os.getcwd()}
    process = subprocess.Popen(
        [*command, "--jobs", "2"], env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    out = tmp_path / "out"
    deadline = time.time() + 60
    while time.time() < deadline and not ((out / "one.detail.json").exists() and (out / "two.detail.json").exists()):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    errors = process.communicate(timeout=30)[1]
    assert process.returncode == 130, errors
    assert "--resume continues" in errors
    assert "Traceback" not in errors
    assert not (out / "summary.json").exists()
    assert _gone(process.pid)
    assert not [p for p in out.iterdir() if p.suffix == ".tmp"]


def _gone(group):
    for _ in range(50):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_aggregate_by_hand():
    """Subsystem = mean of its testcases, section = weighted mean, overall = weighted sum."""
    rows = [
        Row("a", "procedural", "cpu", None, 1.0, 0.3),  # sound without an audio_subsystem does not count
        Row("b", "procedural", "cpu", None, 0.5, None),
        Row("c", "procedural", "ppu", "apu", 0.2, 0.8),
        Row("d", "procedural", "apu", None, 0.0, None),
        Row("e", "procedural", "mapper", None, 1.0, None),
        Row("f", "replay", "gameplay", "game_audio", 0.4, 0.6),
        Row("g", "replay", "gameplay", "game_audio", 0.6, None),
    ]
    found = sections(rows, Config())
    assert found["procedural"]["subsystems"] == {"cpu": 0.75, "ppu": 0.2, "apu": 0.0, "mapper": 1.0}
    assert found["procedural"]["score"] == pytest.approx(0.35 * 0.75 + 0.30 * 0.2 + 0.20)
    assert found["replay"]["score"] == pytest.approx(0.5)
    assert found["audio"]["score"] == pytest.approx(0.5 * 0.8 + 0.5 * 0.6)
    expected = 0.2 * (0.35 * 0.75 + 0.06 + 0.2) + 0.6 * 0.5 + 0.2 * 0.7
    assert overall(found) == pytest.approx(expected)
    assert summary("x", "00", rows, Config())["overall"] == overall(found)


def test_published_scores_add_up():
    """0.20 procedural + 0.60 replay + 0.20 audio gives NES Eval's published totals to their last digit."""
    for total, *parts in (
        (0.3257, 0.0, 0.2095, 1.0),
        (0.5389, 1.0, 0.3282, 0.7100),
        (0.9452, 1.0, 1.0, 0.7261),
        (0.1948, 0.0, 0.1500, 0.5241),
        (0.0039, 0.0, 0.0065, 0.0),
        (0.5811, 0.83, 0.4569, 0.7050),
    ):
        weights = zip((0.2, 0.6, 0.2), parts, strict=True)
        found = overall({str(n): {"weight": w, "score": s} for n, (w, s) in enumerate(weights)})
        assert found == pytest.approx(total, abs=1e-4)


def test_pictures():
    few = np.random.default_rng(1).integers(0, 200, (240, 256)).astype(np.uint16)
    many = np.random.default_rng(2).integers(0, 512, (240, 256)).astype(np.uint16)
    for frame in (few, many, np.zeros((240, 256), np.uint16)):
        with Image.open(io.BytesIO(png(frame))) as image:
            assert np.array_equal(np.array(image.convert("RGB")), palette().picture(frame))
    shown = difference(few, few)
    assert (shown[..., 0] == shown[..., 1]).all()
    other = few.copy()
    other[5, 7] = 0x30 if palette().identity[few[5, 7]] != palette().identity[0x30] else 0x0F
    assert difference(few, other)[5, 7].tolist() == [255, 48, 64]
    with Image.open(io.BytesIO(rgb_png(shown))) as image:
        assert np.array_equal(np.array(image), shown)
    assert len(wav(np.zeros(30_000_000, np.int16), 44_100)) == 20 * 1024 * 1024 + 44


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


def test_on_a_dask_cluster(corpus, toy_wasm, tmp_path, options):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    reference, candidate = resolve(str(toy_wasm)), resolve(f"{toy_wasm}:ab-swap")
    grade(corpus, candidate, reference, tmp_path / "here", options)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address.removeprefix("tcp://")
        grade(corpus, candidate, reference, tmp_path / "there", options, executor=parallel.choose(f"dask://{address}"))
    assert contents(tmp_path / "here") == contents(tmp_path / "there")


def test_no_dask_scheduler(corpus, toy_wasm, tmp_path, options):
    emulator = resolve(str(toy_wasm))
    with pytest.raises(EmulatorError, match="Dask"):
        grade(corpus, emulator, emulator, tmp_path / "x", options, executor=parallel.choose("dask://127.0.0.1:9"))
