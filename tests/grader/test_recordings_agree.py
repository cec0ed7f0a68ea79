"""The metrics against the recorded reference: stored thresholds, and the scores measured with its broken builds.

Evidence: METRICS.md beside the recordings ("Measured here"), figures of an independent implementation.
"""

from __future__ import annotations

import pytest

from abi.bugs import Bugged
from abi.loader import resolve
from abi.recorded import Recorded, Recording
from grader import refcache
from grader.lockstep import lockstep, prepare
from grader.manifest import load_corpus
from grader.metrics import audio, video
from grader.pictures import palette

CASES = """
nestest instr-official cpu-timing instr-misc nmi-and-brk vbl-basics nmi-timing sprite0-basics sprite0-timing
sprite-overflow oam-read apu-len-ctr apu-irq-flag apu-dmc-basics mmc3-clocking holy-mapperel-mmc1 holy-mapperel-uxrom
holy-mapperel-cnrom holy-mapperel-mmc3 apu-mixer-square apu-mixer-triangle apu-mixer-noise apu-mixer-dmc
falling-gameplay minekart-madness-gameplay
""".split()


@pytest.fixture(scope="module")
def corpus(shared):
    return load_corpus(shared / "corpus")


def test_the_corpus_has_these_cases(corpus):
    assert [case.id for case in corpus.cases] == CASES
    assert sum(case.frames for case in corpus.cases) == 22_180


@pytest.mark.parametrize("case_id", CASES)
def test_thresholds_equal_the_stored_ones(case_id, shared):
    recording = Recording(shared / "recordings" / f"{case_id}.refcache")
    changes, before = [], None
    for frame in recording.frames():
        changed = video.change(palette(), before, frame) if before is not None else None
        if changed is not None:
            changes.append(changed)
        before = frame
    assert video.threshold(changes) == recording.video_tau
    found = audio.threshold(audio.spectrogram(recording.audio, recording.audio_rate))
    assert found == pytest.approx(recording.audio_tau, rel=1e-6)  # an FFT's last bits are its own; asked for: 1e-4


def run(corpus, shared, case_id, bug=None):
    case = corpus.only([case_id]).cases[0]
    reference = refcache.ensure(case, resolve(str(shared / "recordings")), shared).recording
    candidate = Recorded([reference])
    if bug:
        candidate = Bugged(candidate, bug)
    prepare(candidate, case.rom())
    compared = lockstep(reference, candidate, case.keys)
    sound = audio.score(reference.audio, compared.audio, reference.audio_rate, reference.audio_tau)
    if case.scoring_mode == "endstate":
        return video.endstate(compared.defects), sound.mean, compared
    return video.frame_mean(compared.defects, reference.video_tau), sound.mean, compared


@pytest.mark.parametrize("case_id", CASES)
def test_a_recording_against_itself_is_perfect(case_id, corpus, shared):
    picture, sound, compared = run(corpus, shared, case_id)
    assert (picture, sound) == (1.0, 1.0)
    assert not compared.differing.any()
    assert not compared.traps


@pytest.mark.parametrize(
    ("case_id", "expected"),
    [
        ("nestest", 0.0),
        ("vbl-basics", 0.0),
        ("holy-mapperel-mmc1", 0.0),
        ("falling-gameplay", 0.6786),
        ("minekart-madness-gameplay", 0.0077),
    ],
)
def test_one_scanline_late(case_id, expected, corpus, shared):
    """Line y shows y - 1's, the top line stays: the one convention (of zero, wrapped, kept) that gives all five."""
    picture, sound, _ = run(corpus, shared, case_id, "scanline")
    assert picture == pytest.approx(expected, abs=0.5e-4)
    assert sound == 1.0
