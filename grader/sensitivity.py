"""``grader sensitivity``: what a corpus makes of every injected bug.

A corpus is worth something only if each bug costs points where it should: a picture one line late fails every
self-checking ROM and no sound, missing channels cost sound alone, swapped buttons only what is played.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from rich.table import Table

from abi.bugs import BUGS
from abi.candidate import EmulatorError
from abi.loader import Emulator, resolve
from grader import run, terminal
from grader.manifest import SECTIONS, Corpus


def measure(
    corpus: Corpus,
    reference: Emulator,
    base: str,
    bugs: list[str] | None = None,
    *,
    jobs: int = 1,
    cache: Path | None = None,
    trust_native: bool = False,
    partial: bool = False,
    listener: run.Listener | None = None,
) -> dict[str, dict[str, Any]]:
    """Summaries by bug; "" is the emulator without one."""
    unknown = [bug for bug in bugs or () if bug not in BUGS]
    if unknown:
        raise EmulatorError(f"there is no bug named {unknown[0]!r}; choose from {', '.join(BUGS)}")
    results = {}
    for bug in ["", *(bugs or BUGS)]:
        candidate = resolve(f"{base}:{bug}" if bug else base, trust_native=trust_native)
        with tempfile.TemporaryDirectory(prefix="grader-sensitivity-") as folder:
            options = run.Options(jobs=jobs, cache=cache, partial=partial, report=False)
            results[bug] = run.grade(corpus, candidate, reference, Path(folder), options, listener).summary
    return results


def show(
    corpus: Corpus,
    reference: Emulator,
    base: str,
    bugs: list[str] | None,
    jobs: int,
    cache: Path | None,
    as_json: bool,
    trust_native: bool = False,
    partial: bool = False,
) -> None:
    """Measure and print: one table of sections, one of testcases."""
    with terminal.Live("sensitivity") as live:
        results = measure(
            corpus,
            reference,
            base,
            bugs,
            jobs=jobs,
            cache=cache,
            trust_native=trust_native,
            partial=partial,
            listener=_Quiet(live),
        )
    console = terminal.out(wide=True)
    if as_json:
        named = {bug or "none": summary for bug, summary in results.items()}
        console.file.write(json.dumps(named, indent=2, sort_keys=True) + "\n")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("bug", no_wrap=True)
    for name in ("overall", *SECTIONS):
        table.add_column(name, justify="right")
    for bug, summary in results.items():
        scores = [summary["sections"].get(section, {}).get("score") for section in SECTIONS]
        table.add_row(bug or "none", *(terminal.coloured(value) for value in (summary["overall"], *scores)))
    console.print(table)
    console.print()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("testcase: picture / sound", no_wrap=True)
    for bug in results:
        table.add_column(bug or "none", justify="right", no_wrap=True)
    for case in corpus.cases:
        table.add_row(case.id, *(_cell(summary["per_testcase"][case.id]) for summary in results.values()))
    console.print(table)
    console.print()
    for line in faults(results) or ["every bug costs what it should and nothing else"]:
        console.print(line)


# Bug: sections it must cost points in, and sections it must leave alone ("broken" and "blank" spare nothing for sure).
EXPECTED = {
    "scanline": (("procedural", "replay"), ("audio",)),
    "ab-swap": (("replay", "audio"), ("procedural",)),
    "no-tri-noise": (("audio",), ("procedural", "replay")),
    "broken": (("procedural", "replay", "audio"), ()),
    "early": (("procedural", "replay", "audio"), ()),
    "blank": (("procedural", "replay", "audio"), ()),
}
ENOUGH = 0.02
"""A section has noticed a bug when it costs at least this."""


def faults(results: dict[str, dict[str, Any]]) -> list[str]:
    """Where a corpus does not tell a bug from its absence, or from another bug: one line each."""

    def score(bug: str, section: str) -> float | None:
        return results[bug]["sections"].get(section, {}).get("score")

    found = []
    for bug in results:
        falls, stays = EXPECTED.get(bug, ((), ()))
        for section in falls:
            value = score(bug, section)
            if value is not None and value > 1.0 - ENOUGH:
                found.append(f"{bug}: {section} should fall and is {terminal.number(value)}")
        for section in stays:
            value = score(bug, section)
            if value is not None and value != 1.0:
                found.append(f"{bug}: {section} should stay 1 and is {terminal.number(value)}")
    if "blank" in results and results["blank"]["overall"] > 0.05:
        found.append(f"blank: a screen that shows nothing scores {terminal.number(results['blank']['overall'])}")
    names = [bug for bug in results if bug]
    for place, one in enumerate(names):
        for two in names[place + 1 :]:
            pairs = [(score(one, section), score(two, section)) for section in SECTIONS]
            if all(a is None or b is None or abs(a - b) < 0.001 for a, b in pairs):
                found.append(f"{one} and {two} get the same scores")
    return found


def _cell(entry: dict[str, Any]) -> str:
    if entry.get("skipped"):
        return "skipped"
    return f"{terminal.number(entry['video_score'])} / {terminal.number(entry.get('audio_score'))}"


class _Quiet(run.Listener):
    """Progress without a line a testcase."""

    def __init__(self, live: terminal.Live) -> None:
        self.live = live

    def note(self, text: str) -> None:
        self.live.note(text)
