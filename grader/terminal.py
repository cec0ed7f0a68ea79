"""What the command line shows: progress on stderr, tables on stdout."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from grader.beyond import remark, verdict
from grader.manifest import SECTIONS
from grader.results import Row, number
from grader.run import Listener


def out(wide: bool = False) -> Console:
    """stdout; tables keep their width when it is a file (``wide``: as wide as it takes)."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 250 if wide else 120, soft_wrap=False)


def err() -> Console:
    """stderr."""
    return Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else 200)


class Live(Listener):
    """A progress bar over all frames with the time left; one line a testcase when stderr is no terminal."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.console = err()
        self.progress: Progress | None = None
        self.ids: Sequence[str] = ()
        self.frames: Sequence[int] = ()
        self._left: set[int] = set()

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *_: Any) -> None:
        if self.progress is not None:
            self.progress.stop()

    def begin(self, ids: Sequence[str], frames: Sequence[int], resumed: int) -> None:
        self.ids, self.frames = ids, frames
        self._left = set(range(len(ids)))
        if resumed:
            self.console.print(f"{resumed} testcases taken over from the earlier run")
        if self.console.is_terminal and ids:
            self.progress = Progress(
                TextColumn(self.title),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("frames"),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                TextColumn("{task.fields[now]}", style="dim"),
                console=self.console,
                transient=True,
            )
            self.bar = self.progress.add_task("", total=sum(frames), now="starting")
            self.progress.start()

    def tick(self, done: Sequence[int]) -> None:
        if self.progress is None:
            return
        ran = sum(self.frames[n] if n not in self._left else min(done[n], self.frames[n]) for n in range(len(self.ids)))
        now = [self.ids[n] for n in sorted(self._left) if done[n]]
        self.progress.update(self.bar, completed=ran, now=", ".join(now[:3]))

    def finished(self, number: int, row: Row) -> None:
        self._left.discard(number)
        if self.progress is None:
            self.console.print(f"{row.id}: {_scores(row)}")

    def note(self, text: str) -> None:
        (self.progress.console if self.progress else self.console).print(f"note: {text}", markup=False)


def _scores(row: Row) -> str:
    if row.skip_reason:
        return f"0, skipped: {row.skip_reason}"
    sound = "" if row.audio_score is None else f", sound {number(row.audio_score)}"
    return f"picture {number(row.video_score)}{sound}"


def coloured(value: float | None) -> str:
    if value is None:
        return "[dim]-[/dim]"
    colour = "green" if value > 0.999 else "yellow" if value > 0.5 else "red"
    return f"[{colour}]{number(value)}[/{colour}]"


def summary_table(console: Console, summary: dict[str, Any], rows: Sequence[Row]) -> None:
    """A row a testcase, then the sections."""
    table = Table(title=None, box=None, pad_edge=False, header_style="bold")
    table.add_column("testcase", no_wrap=True)
    table.add_column("section", no_wrap=True)
    for name in ("picture", "sound", "diverging", "first"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("remark", overflow="fold")
    for row in rows:
        said = row.skip_reason or remark(row) or (row.notes[0] if row.notes else "")
        table.add_row(
            row.id,
            f"{row.section}/{row.subsystem}",
            coloured(row.video_score),
            coloured(row.audio_score),
            f"{row.diverging_frames}/{row.frames}" if row.diverging_frames else "",
            "" if row.first_diverge_frame is None else str(row.first_diverge_frame),
            said.replace("[", r"\["),
        )
    console.print(table)
    console.print()
    for name in SECTIONS:
        section = summary["sections"].get(name)
        if section is not None:
            parts = ", ".join(f"{sub} {number(value)}" for sub, value in sorted(section["subsystems"].items()))
            console.print(f"{name:<11}{coloured(section['score'])}  x {section['weight']:.2f}   [dim]{parts}[/dim]")
    partial = "   (only some testcases)" if summary.get("partial") else ""
    console.print(f"[bold]{'overall':<11}{number(summary['overall'])}[/bold]{partial}")
    if "strict" in summary:
        sound = summary["strict"]["sections"].get("audio", {}).get("score")
        console.print(f"{'strict':<11}{number(summary['strict']['overall'])}   [dim]audio {number(sound)}[/dim]")
    if "both" in summary:
        console.print(f"{'both':<11}{number(summary['both']['overall'])}   [dim]{verdict(summary)}[/dim]")
    if "hints" in summary:
        from grader.hints import lines

        console.print()
        for line in lines(summary["hints"]["subsystems"]):
            console.print(line, markup=False, soft_wrap=True)
