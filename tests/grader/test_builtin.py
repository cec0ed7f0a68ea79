"""The built-in corpus: complete, our own, and able to tell the injected bugs apart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from abi.loader import resolve
from grader import builtin, sensitivity
from grader.manifest import load_corpus
from pynes_ref import bundled

FOLDER = Path(builtin.__file__).parent / "corpus"


@pytest.fixture(scope="module")
def corpus():
    return load_corpus(builtin.folder())


def test_it_has_no_faults_and_covers_everything(corpus):
    assert not corpus.notes
    covered = {(case.section, case.subsystem) for case in corpus.cases}
    covered |= {("audio", case.audio_subsystem) for case in corpus.cases if case.audio_subsystem}
    weights = corpus.config.subsystem_weights
    assert covered == {(section, name) for section in weights for name in weights[section]}
    assert corpus.config.section_weights == {"procedural": 0.2, "replay": 0.6, "audio": 0.2}
    games = {case.rom_name for case in corpus.cases if case.section == "replay" and case.frames >= 1800}
    assert len(games) >= 3


def test_every_rom_and_replay_of_ours_is_in_it(corpus):
    roms = {path.name for path in bundled.folder("test_roms").glob("*.nes")}
    assert {case.rom_name for case in corpus.cases} == roms
    assert {case.rom_path.parent for case in corpus.cases} == {bundled.folder("test_roms")}
    replays = {path.name for path in bundled.folder("replays").glob("*.txt")}
    assert {case.replay for case in corpus.cases} - {""} == replays


def tables():
    """The README's numbers: {(testcase, bug): (picture, sound)} and {bug: overall and section scores}."""
    text = (FOLDER / "README.md").read_text("utf-8").split("## Beside RustyNES")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    at = next(n for n, row in enumerate(rows) if row[0] == "picture / sound")
    bugs = rows[at][1:]
    cases = {
        (row[0], bug): tuple(map(float, re.findall(r"[\d.]+", cell)))
        for row in rows[at + 2 :]
        for bug, cell in zip(bugs, row[1:], strict=True)
    }
    sections = {row[0]: [float(cell) for cell in row[1:]] for row in rows[:at] if row[0] in ("none", *bugs)}
    return cases, sections


def test_the_bugs_show_where_the_readme_says(corpus, tmp_path):
    """A short version of ``grader sensitivity``: a third of the testcases, every bug."""
    part = corpus.only(["selftest-apu", "pinewood-title", "selftest-cpu", "undertow-gameplay", "pinewood-errands"])
    emulator = resolve("pynes_ref")
    results = sensitivity.measure(part, emulator, "pynes_ref", jobs=0, cache=tmp_path, partial=True)
    assert sensitivity.faults(results) == []
    cases, sections = tables()
    assert set(sections) == {bug or "none" for bug in results}
    for bug, summary in results.items():
        for case in part.cases:
            entry = summary["per_testcase"][case.id]
            picture, sound = cases[case.id, bug] if bug else (1, 1)
            assert entry["video_score"] == pytest.approx(picture, abs=0.6e-4), (bug, case.id)
            assert entry["audio_score"] == pytest.approx(sound, abs=0.6e-4), (bug, case.id)


def test_the_readme_tables_agree_with_each_other(corpus):
    """Section scores are what the testcases' add up to."""
    cases, sections = tables()
    weights = corpus.config
    for bug in {bug for _, bug in cases}:
        totals = []
        for section in ("procedural", "replay", "audio"):
            score = 0.0
            for subsystem, weight in weights.subsystem_weights[section].items():
                values = [
                    cases[case.id, bug][section == "audio"]
                    for case in corpus.cases
                    if (case.audio_subsystem if section == "audio" else case.subsystem) == subsystem
                    and section in (case.section, "audio")
                ]
                score += weight * sum(values) / len(values)
            totals.append(score)
        overall = 0.2 * totals[0] + 0.6 * totals[1] + 0.2 * totals[2]
        assert [overall, *totals] == pytest.approx(sections[bug], abs=2e-4), bug


def test_faults_are_told(corpus):
    """A corpus that cannot tell two bugs apart, or that a bug does not touch, is called so."""

    def summary(procedural, replay, audio):
        scores = {"procedural": procedural, "replay": replay, "audio": audio}
        return {"overall": 0.5, "sections": {name: {"score": score} for name, score in scores.items()}}

    good = {"": summary(1, 1, 1), "scanline": summary(0, 0.5, 1), "early": summary(0.8, 0.5, 0.9)}
    assert sensitivity.faults(good) == []
    loud = {**good, "scanline": summary(0, 0.5, 0.9)}
    assert sensitivity.faults(loud) == ["scanline: audio should stay 1 and is 0.9000"]
    assert "early: replay should fall" in sensitivity.faults({**good, "early": summary(0.8, 1, 0.9)})[0]
    assert sensitivity.faults({**good, "broken": summary(0.8, 0.5, 0.9)}) == ["early and broken get the same scores"]
    assert "blank: a screen" in sensitivity.faults({"": summary(1, 1, 1), "blank": summary(0, 0, 0)})[0]
