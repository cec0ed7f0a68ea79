"""From testcases to a score.

A subsystem is the mean of its testcases, a section the weighted mean of its subsystems, the overall score the
weighted sum of the sections (``procedural`` and ``replay``: pictures; ``audio``: sound of testcases with an
``audio_subsystem`` whose reference is not silent).

In a whole corpus every weight has a testcase (``manifest`` sees to that). When only some testcases were run, the
weights of what is missing are left out and the rest scaled to 1; the summary then says ``partial``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grader.manifest import SECTIONS, Config
from grader.results import Row


def _means(values: Iterable[tuple[str, float]]) -> dict[str, float]:
    groups: dict[str, list[float]] = {}
    for name, value in values:
        groups.setdefault(name, []).append(value)
    return {name: sum(group) / len(group) for name, group in groups.items()}


def sections(rows: list[Row], config: Config, *, partial: bool = False) -> dict[str, dict[str, Any]]:
    """Every section's score, weight and subsystem means. A weight without a testcase counts as 0 unless ``partial``."""
    found = {
        "procedural": _means((r.subsystem, r.video_score) for r in rows if r.section == "procedural"),
        "replay": _means((r.subsystem, r.video_score) for r in rows if r.section == "replay"),
        "audio": _means(
            (r.audio_subsystem, r.audio_score) for r in rows if r.audio_subsystem and r.audio_score is not None
        ),
    }
    result = {}
    for section in SECTIONS:
        weights = config.subsystem_weights.get(section, {})
        means = found[section]
        names = sorted(name for name in weights if name in means or not partial)
        total = sum(weights[name] for name in names)
        score = sum(means.get(name, 0.0) * weights[name] for name in names) / total if total else 0.0
        if partial and not names:
            continue
        result[section] = {
            "score": score,
            "weight": config.section_weights.get(section, 0.0),
            "subsystems": {name: means.get(name, 0.0) for name in names},
        }
    return result


def overall(scores: dict[str, dict[str, Any]], *, partial: bool = False) -> float:
    """The weighted sum of the sections."""
    total = sum(scores[name]["weight"] * scores[name]["score"] for name in sorted(scores))
    weights = sum(scores[name]["weight"] for name in sorted(scores))
    return total / weights if partial and weights else total


def summary(label: str, sha256: str, rows: list[Row], config: Config, *, partial: bool = False) -> dict[str, Any]:
    """``summary.json``."""
    cases = {}
    for row in rows:
        entry: dict[str, Any] = {"section": row.section, "subsystem": row.subsystem, "video_score": row.video_score}
        if row.audio_score is not None:
            entry["audio_score"] = row.audio_score
        if row.skip_reason is not None:
            entry["skipped"] = True
            entry["skip_reason"] = row.skip_reason
        cases[row.id] = entry
    scores = sections(rows, config, partial=partial)
    result = {
        "candidate": label,
        "candidate_sha256": sha256,
        "overall": overall(scores, partial=partial),
        "per_testcase": cases,
        "sections": scores,
    }
    if partial:
        result["partial"] = True
    return result
