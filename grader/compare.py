"""``grader compare``: finished runs side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from abi.candidate import EmulatorError
from grader.manifest import SECTIONS
from grader.terminal import coloured, out

MOVED = 0.0005
"""Scores nearer than this count as the same."""


def read(folder: Path) -> dict[str, Any]:
    """A run's ``summary.json``; EmulatorError when the folder has none that can be read."""
    path = folder / "summary.json" if folder.is_dir() else folder
    try:
        data = json.loads(path.read_text("utf-8"))
        data["overall"] + 0.0, data["per_testcase"].items(), data["sections"].items(), data["candidate"]
    except OSError as error:
        raise EmulatorError(f"{path}: {error.strerror or error}; is {folder} the folder of a finished run?") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise EmulatorError(f"{path}: not the summary of a run") from None
    return data


def leaderboard(runs: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Runs from best to worst: name, candidate, overall and section scores."""
    rows = [
        {
            "run": name,
            "candidate": summary["candidate"],
            "overall": summary["overall"],
            "partial": bool(summary.get("partial")),
            **{section: summary["sections"].get(section, {}).get("score") for section in SECTIONS},
        }
        for name, summary in runs
    ]
    return sorted(rows, key=lambda row: (-row["overall"], row["run"]))


def moves(runs: list[tuple[str, dict[str, Any]]], everything: bool = False) -> list[dict[str, Any]]:
    """Testcase scores in which the runs differ; a run that did not do a testcase has no say in it."""
    ids: dict[str, None] = {}
    for _, summary in runs:
        ids.update(dict.fromkeys(summary["per_testcase"]))
    rows = []
    for case in ids:
        for kind, key in (("picture", "video_score"), ("sound", "audio_score")):
            scores = [summary["per_testcase"].get(case, {}).get(key) for _, summary in runs]
            known = [score for score in scores if score is not None]
            if not known:
                continue
            moved = max(known) - min(known) > MOVED
            if moved or everything:
                rows.append({"testcase": case, "kind": kind, "scores": scores, "moved": moved})
    return rows


def show(folders: list[Path], everything: bool, as_json: bool, console: Console | None = None) -> None:
    """Print the comparison."""
    runs = [(str(folder), read(folder)) for folder in folders]
    board, rows = leaderboard(runs), moves(runs, everything)
    console = console or out()
    if as_json:
        console.file.write(json.dumps({"leaderboard": board, "testcases": rows}, indent=2, sort_keys=True) + "\n")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("", "run", "candidate"):
        table.add_column(name, no_wrap=True)
    for name in ("overall", *SECTIONS):
        table.add_column(name, justify="right")
    for place, row in enumerate(board, 1):
        run = row["run"] + (" (partial)" if row["partial"] else "")
        table.add_row(str(place), run, row["candidate"], *(coloured(row[key]) for key in ("overall", *SECTIONS)))
    console.print(table)
    console.print()
    if not rows:
        console.print("no testcase moved")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("testcase", no_wrap=True)
    table.add_column("", no_wrap=True)
    for name, _ in runs:
        table.add_column(Path(name).name or name, justify="right")
    if len(runs) == 2:
        table.add_column("change", justify="right")
    for row in rows:
        cells = [coloured(score) for score in row["scores"]]
        if len(runs) == 2:
            before, after = row["scores"]
            cells.append("" if before is None or after is None else f"{after - before:+.4f}")
        table.add_row(row["testcase"], row["kind"], *cells)
    console.print(table)
