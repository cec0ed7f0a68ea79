"""One testcase graded: a function of a task alone, so that it can run in any process or on any machine.

``grade_case`` never raises for what a candidate does: a candidate that cannot be set up or loaded scores 0 with
a reason. What it returns is complete (files as bytes), and depends on nothing but the task: no clock, no order.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abi.candidate import CandidateError, EmulatorError
from abi.recorded import Recorded, Recording, RecordingError
from grader import beyond, pictures, refcache
from grader.lockstep import Comparison, Pair, lockstep, prepare
from grader.manifest import Case
from grader.metrics import audio as audio_metric
from grader.metrics import video as video_metric
from grader.results import Outcome, Row, Task, dump

WAVE_BINS = 800
SPECTRUM_COLUMNS = 400


def _short(values: NDArray[np.float32]) -> list[float]:
    """float32 values as the shortest decimals that give them back."""
    short: dict[int, float] = {}  # by bits, which tell -0 from 0: most frames have the same few values
    result = []
    for value, bits in zip(values, values.view(np.uint32).tolist(), strict=True):
        if bits not in short:
            short[bits] = float(str(value))
        result.append(short[bits])
    return result


def grade_case(task: Task, progress: Callable[[int], None] | None = None) -> Outcome:
    """Grade one testcase. EmulatorError only for faults of the reference."""
    try:
        found = refcache.ensure(task.case, task.reference, task.cache, task.corpus_folder, lazily=True)
        return _grade(task, found, progress)
    except RecordingError:  # damage behind the header: look again, closely, and record again if that may be
        found = refcache.ensure(task.case, task.reference, task.cache, task.corpus_folder)
        return _grade(task, found, progress)


def _grade(task: Task, found: refcache.Found, progress: Callable[[int], None] | None) -> Outcome:
    case, recording = task.case, found.recording
    log = [found.note] if found.note else []
    candidate = None
    try:
        candidate = task.candidate.open(refcache.case_key(case))
        prepare(candidate, case.rom(), task.boot_frames)
    except (CandidateError, EmulatorError) as error:
        _close(candidate)
        return _skipped(task, recording, str(error), log)
    sink = None
    if task.emit_video:
        from grader.film import Film

        sink = Film(case.id, recording.audio_rate)
    try:
        run = lockstep(recording, candidate, case.keys, progress=progress, video=sink and sink.frame)
    finally:
        _close(candidate)
    sound = audio_metric.score(recording.audio, run.audio, recording.audio_rate, recording.audio_tau)
    result = _result(case, recording, run, sound)
    files = _files(case, recording, run, sound is not None)
    if sink is not None:
        films, problem = sink.finish(recording.audio, run.audio)
        files.update(films)
        result["has_video"] = not problem
        log.extend([problem] if problem else [])
    files[f"{case.id}.json"] = dump(result)
    video_score = _video_score(case, run, recording.video_tau)
    row = Row(
        case.id,
        case.section,
        case.subsystem,
        case.audio_subsystem,
        video_score,
        sound.mean if sound is not None else None,
        notes=list(run.notes),
        first_diverge_frame=result["first_diverge_frame"],
        diverging_frames=result["diverging_frames"],
        frames=case.frames,
        loudness=beyond.loudness(result["audio_rms_ratio"]),
        also=_also(task, recording, log),
    )
    if task.hints:
        from grader import hints  # SciPy

        row.hints = hints.of_testcase(case, recording, run, row)
    page = _page(case, recording, run, sound, files)
    return Outcome(row, task.key(), files, page, log)


def _close(candidate: Any) -> None:
    close = getattr(candidate, "close", None)
    if close is not None:
        close()


def _also(task: Task, first: Recording, log: list[str], played: bool = True) -> dict[str, Any] | None:
    """``Row.also``: is the second reference like the first, and if not, how does the candidate compare with it?

    ``missing``: why there is no second opinion. Otherwise ``picture_agrees`` and ``sound_agrees``, the scores of the
    second reference against the first, ``references_video_score`` and ``references_audio_score``, and, when it
    differs and the candidate ``played``, the candidate's ``video_score`` and ``audio_score`` against the second.
    """
    case = task.case
    if task.also is None:
        return None
    try:
        found = refcache.ensure(case, task.also, task.cache, task.corpus_folder)
    except EmulatorError as error:
        return {"missing": str(error)}
    log.extend([found.note] if found.note else [])
    picture, sound = _scores(case, first, Recorded([found.recording]))
    result: dict[str, Any] = {
        "picture_agrees": picture >= beyond.AGREE,
        "sound_agrees": sound is None or sound >= beyond.AGREE,
        "references_video_score": picture,
        "references_audio_score": sound,
    }
    if played and not (result["picture_agrees"] and result["sound_agrees"]):
        candidate = None
        try:
            candidate = task.candidate.open(refcache.case_key(case))
            result["video_score"], result["audio_score"] = _scores(case, found.recording, candidate, task.boot_frames)
        except (CandidateError, EmulatorError) as error:  # only now: it answers differently each run
            log.append(f"{case.id} beside the second reference: {error}")
        finally:
            _close(candidate)
    return result


def _scores(case: Case, reference: Recording, candidate: Any, boot_frames: int = 0) -> tuple[float, float | None]:
    """Picture and sound score of an emulator, and nothing else."""
    prepare(candidate, case.rom(), boot_frames)
    run = lockstep(reference, candidate, case.keys)
    sound = audio_metric.score(reference.audio, run.audio, reference.audio_rate, reference.audio_tau)
    return _video_score(case, run, reference.video_tau), sound and sound.mean


def _skipped(task: Task, recording: Recording, reason: str, log: list[str]) -> Outcome:
    """A candidate that cannot play this testcase: 0 for the picture, and 0 for the sound where there is any."""
    case = task.case
    heard = None if audio_metric.is_silent(recording.audio, recording.audio_rate) else 0.0
    row = Row(case.id, case.section, case.subsystem, case.audio_subsystem, 0.0, heard, reason, frames=case.frames)
    row.also = _also(task, recording, log, played=False)
    return Outcome(row, task.key(), {}, {}, log)


def _video_score(case: Case, run: Comparison, tau: float) -> float:
    if case.scoring_mode == "endstate":
        return video_metric.endstate(run.defects)
    return video_metric.frame_mean(run.defects, tau)


def _result(case: Case, recording: Recording, run: Comparison, sound: audio_metric.Score | None) -> dict[str, Any]:
    """``<id>.json``. What does not apply (sound of a silent reference) is left out."""
    diverging = np.flatnonzero(run.differing > video_metric.NOISE_PIXELS)
    worst = int(diverging[np.argmax(run.differing[diverging])]) if diverging.size else None
    result = {
        "n_frames": case.frames,
        "diverging_frames": int(diverging.size),
        "total_diff_pixels": int(run.differing[diverging].sum()),
        "first_diverge_frame": int(diverging[0]) if diverging.size else None,
        "max_diff_pixels": int(run.differing[worst]) if worst is not None else 0,
        "max_diff_frame": worst,
        "histogram": _short(run.defects),
        "frame_diff_threshold": float(str(np.float32(recording.video_tau))),
        "audit_luma_mae_frames": _short(run.luma_errors),
        "replay_score_deduped": video_metric.collapsed(run.defects, run.starts_run, recording.video_tau),
        "audio_diff_threshold": float(str(np.float32(recording.audio_tau))),
        "audio_rms_ratio": audio_metric.rms_ratios(recording.audio, recording.samples, run.audio, run.samples),
        "has_video": False,
    }
    if sound is not None:
        scores = _short(sound.frames.astype(np.float32))
        result["audio_score"] = sound.mean
        result["audio_frame_scores"] = [None if math.isnan(s) else s for s in scores]
    return result


def _pair(pair: Pair) -> tuple[bytes, bytes]:
    """Both pictures as PNG; mostly they are one."""
    ref = pictures.png(pair[0])
    return ref, ref if np.array_equal(*pair) else pictures.png(pair[1])


def _files(case: Case, recording: Recording, run: Comparison, audible: bool) -> dict[str, bytes]:
    ref, cand = _pair(run.last)
    files = {f"{case.id}.ref.png": ref, f"{case.id}.cand.png": cand}
    if audible:
        heard = pictures.wav(recording.audio, recording.audio_rate)
        files[f"{case.id}.ref.wav"] = files[f"{case.id}.cand.wav"] = heard  # one object travels from the worker once
        if not np.array_equal(recording.audio, run.audio):
            files[f"{case.id}.cand.wav"] = pictures.wav(run.audio, recording.audio_rate)
    return files


# ---- the report's data -----------------------------------------------------------------------------------------------


def _page(
    case: Case, recording: Recording, run: Comparison, sound: audio_metric.Score | None, files: dict[str, bytes]
) -> dict[str, Any]:
    """What the report shows of a testcase: quantised timelines and a few pictures, small enough to embed."""
    page: dict[str, Any] = {
        "description": case.description,
        "rom": case.rom_name,
        "replay": case.replay,
        "mode": case.scoring_mode,
        "frames": case.frames,
        "video": _bytes(_quantised(video_metric.scores(run.defects, recording.video_tau))),
        "differing": _bytes(np.minimum(run.differing, 65535).astype("<u2").view(np.uint8)),
        "keys": _bytes(np.frombuffer(case.keys, np.uint8)),
        "video_tau": float(str(np.float32(recording.video_tau))),
        "audio_tau": float(str(np.float32(recording.audio_tau))),
        "traps": run.traps,
        "pictures": {str(f): [_text(image) for image in _pair(pair)] for f, pair in run.kept.items()},
        "last": [_text(files[f"{case.id}.{side}.png"]) for side in ("ref", "cand")],
    }
    if sound is not None:
        page["audio"] = _bytes(np.where(np.isnan(sound.frames), 255, np.round(_clean(sound.frames) * 254)))
        page["wave_ref"] = _bytes(_envelope(recording.audio))
        page["wave_cand"] = _bytes(_envelope(run.audio))
        if sound.ref is not None and sound.cand is not None:
            page["spectrum_ref"] = _spectrum(sound.ref.logmel)
            page["spectrum_cand"] = _spectrum(sound.cand.logmel)
    return page


def _clean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.nan_to_num(values)


def _quantised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.floor(scores * 255)  # 255 only for exactly 1


def _bytes(values: NDArray[Any]) -> str:
    """Bytes as the report reads them: deflated, base64."""
    return _text(zlib.compress(np.asarray(values).astype(np.uint8).tobytes(), 9))


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _envelope(samples: NDArray[np.int16]) -> NDArray[np.uint8]:
    """Lowest and highest sample of up to 800 stretches, 128 = zero: [lowest, highest] pairs."""
    if not samples.size:
        return np.zeros(0, np.uint8)
    edges = np.linspace(0, samples.size, min(WAVE_BINS, samples.size) + 1).astype(np.int64)[:-1]
    low = np.minimum.reduceat(samples, edges) // 256 + 128
    high = np.maximum.reduceat(samples, edges) // 256 + 128
    return np.stack([low, high], axis=1).astype(np.uint8).reshape(-1)


def _spectrum(logmel: NDArray[np.float64]) -> str:
    """Log-mel picture, low bands at the bottom, time thinned to 400 columns; e^9 is black, e^27 white."""
    if not len(logmel):
        return ""
    columns = np.linspace(0, len(logmel) - 1, min(SPECTRUM_COLUMNS, len(logmel))).astype(np.int64)
    level = np.clip((logmel[columns].T[::-1] - 9.0) / 18.0, 0.0, 1.0)
    red, green, blue = level**0.8, level**1.7, np.sin(level * np.pi) * 0.55 + level**6 * 0.45
    image = (np.stack([red, green, blue], axis=2) * 255).astype(np.uint8)
    return _text(pictures.rgb_png(image))
