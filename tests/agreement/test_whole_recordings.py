"""Every frame and every sample of the recorded reference, reproduced.

Zero differing pixels, the same number of samples in every call, every sample within 1 (rounding).
"""

from __future__ import annotations

import json

import pytest
from agreement_tools import whole
from places import SHARED, missing

from abi.recorded import Recording
from grader.manifest import load_corpus

MANIFEST = SHARED / "corpus" / "testcases.json"
CASES = [case["id"] for case in json.loads(MANIFEST.read_text("utf-8"))["testcases"]] if MANIFEST.is_file() else []


@pytest.fixture(scope="module")
def cases():
    if not CASES:
        missing(f"no corpus in {SHARED / 'corpus'}")
    return {case.id: case for case in load_corpus(SHARED / "corpus").cases}


def test_every_recording_has_a_case(recordings, cases):
    assert sorted(path.stem for path in recordings.glob("*.refcache")) == sorted(cases)


@pytest.mark.parametrize("case_id", CASES)
def test_recording(case_id, recordings, cases, report):
    case = cases[case_id]
    path = recordings / f"{case_id}.refcache"
    recording = Recording(path)
    assert (recording.header.rom_sha256, recording.header.replay_sha256) == (case.rom_sha256, case.replay_sha256)
    found = whole(case.rom(), case.keys, recording)
    report("whole", found)
    assert not found.faults, (
        f"{case_id}:\n{found.told()}\n"
        f"see: grader explain pynes_ref --reference {recordings} --case {case_id} --corpus {SHARED / 'corpus'}"
    )
