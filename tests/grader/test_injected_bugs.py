"""Our console with injected bugs against the recorded reference: the scores of the reference's own broken builds.

Evidence: METRICS.md beside the recordings, "Measured here", three decimals or more.
"""

from __future__ import annotations

import pytest

from abi.loader import resolve
from grader.grade import grade_case
from grader.manifest import load_corpus
from grader.results import Task
from pynes_ref import Console

TABLE = [
    ("no-tri-noise", "apu-mixer-square", 1, 0.9774),
    ("no-tri-noise", "apu-mixer-triangle", 1, 0.9607),
    ("no-tri-noise", "apu-mixer-noise", 1, 0.0577),
    ("no-tri-noise", "apu-mixer-dmc", 1, 0.9825),
    ("no-tri-noise", "falling-gameplay", 1, 0.1873),
    ("no-tri-noise", "minekart-madness-gameplay", 1, 0.3261),
    ("scanline", "nestest", 0, 1),
    ("scanline", "vbl-basics", 0, 1),
    ("scanline", "holy-mapperel-mmc1", 0, 1),
    ("scanline", "falling-gameplay", 0.6786, 1),
    ("scanline", "minekart-madness-gameplay", 0.0077, 1),
    ("ab-swap", "falling-gameplay", 1.0000, 1.0000),
    ("ab-swap", "minekart-madness-gameplay", 0.1303, 0.5144),
    ("broken", "falling-gameplay", 0.6786, 0.1873),
    ("broken", "minekart-madness-gameplay", 0.0061, 0.2163),
]


@pytest.mark.parametrize(("bug", "case_id", "picture", "sound"), TABLE)
def test_scores_of_injected_bugs(bug, case_id, picture, sound, shared, tmp_path):
    if bug in ("no-tri-noise", "broken") and not hasattr(Console, "mute"):
        pytest.skip("the console cannot silence single channels")
    case = load_corpus(shared / "corpus").only([case_id]).cases[0]
    task = Task(case, resolve(f"pynes_ref:{bug}"), resolve(str(shared / "recordings")), tmp_path)
    row = grade_case(task).row
    assert row.skip_reason is None
    assert row.video_score == pytest.approx(picture, abs=0.6e-4)
    assert row.audio_score == pytest.approx(sound, abs=0.6e-4)
