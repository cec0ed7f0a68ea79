"""Numbers beside the score, which never change it: the strict score and the judgement by two references.

**Strict** (``--strict``). The sound metric compares the shape of spectra and does not hear loudness. The strict score
multiplies a testcase's sound score by its *loudness term*, the mean over all emulated frames in which the reference's
RMS is above 100 of

    1        if 0.5 <= r <= 2          r = RMS of the candidate / RMS of the reference in that frame
    2 r      if r < 0.5
    2 / r    if r > 2

so it lies in 0..1, is 1 for anything within a factor of two, and one bad frame costs no more than its share. Nothing
else changes: pictures, weights and sections are those of the score.

**Both references** (``--reference A --also B``). B is graded against A like a candidate. Where it scores under 0.9999,
with its pictures or with its sound, the two references differ and nobody can say who is right: that picture or sound
is left out of the *both* score, and its weight goes to the rest of its subsystem (if nothing is left of that, of its
section, and else to the other sections), for every candidate alike. So it costs nobody points. How the candidate
compares with each reference is shown beside it. A testcase that B cannot play, or that its recordings lack, is judged
by A alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grader import aggregate
from grader.manifest import Config
from grader.results import Row, number

AGREE = 0.9999


def loudness(ratios: list[float | None]) -> float:
    """The loudness term from the RMS ratios of the frames; 1 when there is none to judge."""
    terms = [min(1.0, 2.0 * r, 2.0 / max(r, 1.0)) for r in ratios if r is not None]
    return sum(terms) / len(terms) if terms else 1.0


def strict(rows: list[Row], config: Config, partial: bool) -> dict[str, Any]:
    """``summary["strict"]``."""
    changed = [
        row if row.audio_score is None else replace(row, audio_score=row.audio_score * row.loudness) for row in rows
    ]
    scores = aggregate.sections(changed, config, partial=partial)
    return {
        "overall": aggregate.overall(scores, partial=partial),
        "sections": scores,
        "per_testcase": {
            row.id: {"audio_strict_score": row.audio_score, "loudness": before.loudness}
            for before, row in zip(rows, changed, strict=True)
            if row.audio_score is not None
        },
    }


def both(rows: list[Row], config: Config, also: str, partial: bool) -> dict[str, Any]:
    """``summary["both"]``: scores without what the references dispute, and what that is.

    ``overall`` is None when nothing is undisputed.
    """
    judged, differ = [], {}
    for row in rows:
        other = row.also or {}
        picture, sound = disputed(row)
        if picture or sound or "missing" in other:
            differ[row.id] = other
        # A section of its own keeps a disputed picture out of every mean.
        section = "disputed" if picture else row.section
        judged.append(replace(row, section=section, audio_score=None if sound else row.audio_score))
    before, after = _covered(rows, config), _covered(judged, config)
    # A subsystem that has lost every testcase gives up its weight; one that never had any counts as in the score.
    weights = {
        section: {name: weight for name, weight in of.items() if (section, name) not in before - after}
        for section, of in config.subsystem_weights.items()
    }
    scores = aggregate.sections(judged, replace(config, subsystem_weights=weights), partial=partial)
    lost = {section for section, _ in before} - {section for section, _ in after}
    for section in lost:
        scores.pop(section, None)
    return {
        "also": also,
        "overall": aggregate.overall(scores, partial=partial or bool(lost)) if scores else None,
        "sections": scores,
        "per_testcase": differ,
    }


def _covered(rows: list[Row], config: Config) -> set[tuple[str, str]]:
    """Sections and subsystems with a weight and a testcase."""
    found = aggregate.sections(rows, config, partial=True)
    return {(section, name) for section, of in found.items() for name in of["subsystems"]}


def disputed(row: Row) -> tuple[bool, bool]:
    """Do the references differ in the picture, and in the sound?"""
    other = row.also or {}
    return not other.get("picture_agrees", True), not other.get("sound_agrees", True)


def verdict(summary: dict[str, Any], names: bool = False) -> str:
    """How far ``summary["both"]`` could go by two references, in a few words.

    ``names``: the disputed testcases by name, not by number.
    """
    entries = summary["both"]["per_testcase"]
    differ = [name for name, entry in entries.items() if "missing" not in entry]
    missing = len(entries) - len(differ)
    parts = []
    if differ:
        what = ", ".join(differ) if names else _count(len(differ))
        parts.append(f"without what the references dispute in {what}")
    elif missing < len(summary["per_testcase"]):
        parts.append("the references agree elsewhere" if missing else "the references agree")
    if missing:
        parts.append(f"no second opinion on {_count(missing)}")
    return "; ".join(parts)


def _count(testcases: int) -> str:
    return "1 testcase" if testcases == 1 else f"{testcases} testcases"


def remark(row: Row) -> str:
    """What the tables say of a testcase on which the references differ; empty when they agree."""
    other = row.also or {}
    if "missing" in other:
        return f"judged by one reference: {other['missing']}"
    picture, sound = disputed(row)
    parts = []
    if picture:
        parts.append(f"picture {number(row.video_score)} and {number(other.get('video_score'))}")
    if sound:
        parts.append(f"sound {number(row.audio_score)} and {number(other.get('audio_score'))}")
    return f"references differ: {', '.join(parts)}" if parts else ""
