"""``report.html``: one page that shows a whole run, offline.

The page is this package's template with style, script and data put in; nothing is loaded from anywhere. The table is
plain HTML, so that the scores show even without scripts; pictures, timelines and sound are drawn when a testcase is
opened. The same run gives the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

from grader.beyond import remark, verdict
from grader.manifest import SECTIONS
from grader.results import Outcome, Row, number


def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def grade_of(value: float | None) -> str:
    """CSS class of a score."""
    if value is None:
        return "none"
    return "good" if value > 0.999 else "fair" if value > 0.5 else "poor"


def _score(value: float | None, label: str) -> str:
    return f'<span class="score {grade_of(value)}" aria-label="{label} {number(value)}">{number(value)}</span>'


def _sections(summary: dict[str, Any]) -> str:
    out = []
    for name in SECTIONS:
        section = summary["sections"].get(name)
        if section is None:
            continue
        parts = "".join(
            f"<li><span>{escape(sub)}</span>{_score(value, sub)}</li>" for sub, value in section["subsystems"].items()
        )
        out.append(
            f'<section class="card"><h2>{escape(name)} <small>weight {section["weight"]:.2f}</small></h2>'
            f"{_score(section['score'], name)}<meter min=0 max=1 value={section['score']:.6f}></meter>"
            f"<ul>{parts}</ul></section>"
        )
    return "".join(out)


def _beside(summary: dict[str, Any]) -> str:
    """What was asked for beside the score: strict, both references, hints."""
    out = []
    if "strict" in summary:
        strict = summary["strict"]
        sound = strict["sections"].get("audio", {}).get("score")
        overall = _score(strict["overall"], "strict")
        out.append(f"<p>Strict, with loudness: {overall}, sound {_score(sound, 'strict sound')}</p>")
    if "both" in summary:
        both = summary["both"]
        out.append(
            f"<p>Beside the second reference, {escape(both['also'])}: {_score(both['overall'], 'both references')} "
            f"({escape(verdict(summary, names=True))})</p>"
        )
    if "hints" in summary:
        from grader.hints import lines

        found = "".join(f"<li>{escape(line)}</li>" for line in lines(summary["hints"]["subsystems"]))
        out.append(f"<h2>Hints</h2><ul>{found or '<li>nothing to say</li>'}</ul>")
    return f'<section class="beside">{"".join(out)}</section>' if out else ""


def _case(row: Row, page: dict[str, Any], place: int) -> str:
    perfect = row.video_score == 1.0 and row.audio_score in (None, 1.0) and not row.skip_reason
    said = row.skip_reason or remark(row) or (row.notes[0] if row.notes else "")
    if not said and row.first_diverge_frame is not None:
        said = f"{row.diverging_frames} of {row.frames} frames diverge, the first is {row.first_diverge_frame}"
    audio = row.audio_score
    worst = min(row.video_score, 1.0 if audio is None else audio)
    # The remark counts frames that have no say in such a testcase's score.
    last = " <small>last picture</small>" if page.get("mode") == "endstate" else ""
    body = '<div class="body"></div>' if page else f'<div class="body"><p>{escape(row.skip_reason or "")}</p></div>'
    return (
        f'<details class="case" id="case-{escape(row.id)}" data-place="{place}" data-perfect="{int(perfect)}" '
        f'data-worst="{worst:.6f}"><summary>'
        f'<span class="id">{escape(row.id)}</span>'
        f'<span class="sub">{escape(row.section)}/{escape(row.subsystem)}{last}</span>'
        f"{_score(row.video_score, 'picture')}{_score(audio, 'sound')}"
        f'<span class="remark">{escape(said)}</span></summary>{body}</details>'
    )


def _said(row: Row) -> list[str]:
    hints = [*row.hints.get("picture", []), *row.hints.get("sound", [])]
    channels = row.hints.get("channels")
    if channels:
        ratios = ", ".join(f"{name} {ratio:.2f}" for name, ratio in channels.items())
        hints.append(f"channels beside the reference's, roughly, as the mixer is not linear: {ratios}")
    return [f"hint: {text}" for text in hints]


def render(summary: dict[str, Any], outcomes: Sequence[Outcome], reference: str) -> bytes:
    """The page, UTF-8."""
    data = [
        {**outcome.page, "id": row.id, "notes": row.notes + _said(row)} if outcome.page else None
        for outcome in outcomes
        for row in [outcome.row]
    ]
    skipped = sum(outcome.row.skip_reason is not None for outcome in outcomes)
    facts = [
        f"{len(outcomes)} testcases",
        f"{sum(outcome.row.frames for outcome in outcomes)} frames",
        f"reference {escape(reference)}",
        f"candidate <code title='SHA-256'>{escape(summary['candidate_sha256'][:16])}</code>",
    ]
    if skipped:
        facts.append(f"{skipped} skipped")
    if summary.get("partial"):
        facts.append("only some testcases of the corpus")
    # No "<" may appear inside a script element's data.
    embedded = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c")
    values = {
        "TITLE": f"{escape(summary['candidate'])} {number(summary['overall'])}",
        "CANDIDATE": escape(summary["candidate"]),
        "OVERALL": _score(summary["overall"], "overall"),
        "FACTS": " · ".join(facts),
        "SECTIONS": _sections(summary),
        "BESIDE": _beside(summary),
        "CASES": "\n".join(_case(outcome.row, outcome.page, n) for n, outcome in enumerate(outcomes)),
        "STYLE": _part("report.css"),
        "SCRIPT": _part("report.js"),
        "DATA": embedded,
    }
    # One pass: what is put in is never searched for placeholders again.
    return re.sub(r"\{\{([A-Z]+)\}\}", lambda match: values[match[1]], _part("template.html")).encode()
