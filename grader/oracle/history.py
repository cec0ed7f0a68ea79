"""The history of a supervised run: ``history.json`` and, drawn from it, ``history.svg``."""

from __future__ import annotations

import json
import threading
from html import escape
from pathlib import Path
from typing import Any

from pynes_ref.files import atomic_write

COLOURS = {"overall": "#1b1b1b", "procedural": "#2a78b5", "replay": "#c4502e", "audio": "#3f8f4f"}
WIDTH, HEIGHT, LEFT, TOP = 760, 380, 50, 20


class History:
    """Starts, commits and checkpoints with their times (seconds since the beginning). Safe from several threads."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self.data: dict[str, Any] = {
            "status": "running", "seconds": seconds, "starts": [], "commits": [], "checkpoints": [],
        }  # fmt: skip
        self._write()

    def add(self, kind: str, row: dict[str, Any]) -> None:
        """One more."""
        with self._lock:
            self.data[kind].append(_rounded(row))
            self._write()

    def change(self, kind: str, row: dict[str, Any]) -> None:
        """More about the last one."""
        with self._lock:
            self.data[kind][-1].update(_rounded(row))
            self._write()

    def finish(self, status: str, at: float) -> None:
        """The end."""
        with self._lock:
            self.data.update(_rounded({"status": status, "ended": at}))
            self._write()

    def _write(self) -> None:
        atomic_write(self._folder / "history.json", json.dumps(self.data, indent=1).encode() + b"\n")
        atomic_write(self._folder / "history.svg", plot(self.data).encode())


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    """Times and scores to four decimals, those of sections, too."""
    return {name: _rounded_value(value) for name, value in row.items()}


def _rounded_value(value: Any) -> Any:
    if isinstance(value, dict):
        return _rounded(value)
    return round(value, 4) if isinstance(value, float) else value


def plot(data: dict[str, Any]) -> str:
    """The scores over time as SVG; grey ticks are starts of the command."""
    seconds = max(float(data.get("ended", 0.0)), float(data["seconds"]), 1e-9)
    unit, name = (3600.0, "hours") if seconds >= 3600 else (60.0, "minutes") if seconds >= 60 else (1.0, "seconds")
    wide, high = WIDTH - LEFT - 120, HEIGHT - TOP - 40

    def x(at: float) -> float:
        return round(LEFT + wide * at / seconds, 1)

    def y(score: float) -> float:
        return round(TOP + high * (1.0 - score), 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
        f'font-size="12"><rect width="100%" height="100%" fill="#fff"/>'
    ]
    for tenth in range(0, 11, 2):
        parts.append(f'<path d="M{LEFT} {y(tenth / 10)}h{wide}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y(tenth / 10) + 4}" text-anchor="end">{tenth / 10:.1f}</text>')
    for quarter in range(5):
        at = seconds * quarter / 4
        parts.append(f'<text x="{x(at)}" y="{HEIGHT - 22}" text-anchor="middle">{at / unit:.3g}</text>')
    parts.append(f'<text x="{LEFT + wide / 2}" y="{HEIGHT - 6}" text-anchor="middle">{name}</text>')
    for start in data["starts"]:
        parts.append(f'<path d="M{x(start["at"])} {TOP + high}v-6" stroke="#888"/>')
    graded = [row for row in data["checkpoints"] if "overall" in row]
    for number, (kind, colour) in enumerate(COLOURS.items()):
        scores = [(row["at"], row["overall"] if kind == "overall" else row["sections"].get(kind)) for row in graded]
        points = [(x(at), y(score)) for at, score in scores if score is not None]
        if points:
            line = " ".join(f"{px},{py}" for px, py in points)
            thick = 2.5 if kind == "overall" else 1.2
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="{thick}"/>')
            parts += [f'<circle cx="{px}" cy="{py}" r="3" fill="{colour}"/>' for px, py in points]
        place = TOP + 14 + 18 * number
        parts.append(f'<text x="{LEFT + wide + 14}" y="{place}" fill="{colour}">{escape(kind)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
