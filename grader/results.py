"""What goes into grading a testcase and what comes out: plain data, quick to import."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from abi.loader import Emulator
from grader.manifest import Case

FORMAT = 1
"""Bumped when results change meaning: ``--resume`` then starts over."""


@dataclass(frozen=True)
class Task:
    """Everything needed to grade one testcase."""

    case: Case
    candidate: Emulator
    reference: Emulator
    cache: Path
    corpus_folder: Path | None = None
    boot_frames: int = 0
    emit_video: bool = False

    def key(self, reference_sha256: str) -> str:
        """Identity of the result: same key, same bytes."""
        case = self.case
        parts = [
            FORMAT,
            self.candidate.identity,
            str(self.candidate.limits),
            reference_sha256,
            case.id,
            case.section,
            case.subsystem,
            case.audio_subsystem,
            case.rom_sha256,
            case.replay_sha256,
            case.frames,
            case.scoring_mode,
            self.boot_frames,
            self.emit_video,
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass
class Row:
    """The scores of one testcase, as ``summary.json`` has them, and what is worth knowing besides."""

    id: str
    section: str
    subsystem: str
    audio_subsystem: str | None
    video_score: float
    audio_score: float | None
    skip_reason: str | None = None
    notes: list[str] = field(default_factory=list)
    first_diverge_frame: int | None = None
    diverging_frames: int = 0
    frames: int = 0


@dataclass
class Outcome:
    """A graded testcase: its row, its files (name -> bytes) and its page of the report."""

    row: Row
    key: str
    files: dict[str, bytes]
    page: dict[str, Any]
    log: list[str] = field(default_factory=list)

    def detail(self) -> bytes:
        """``<id>.detail.json``: what ``--resume`` and the report need; not part of the published format."""
        return dump({"key": self.key, "row": vars(self.row), "page": self.page, "log": self.log})


def dump(data: Any, indent: int | None = None) -> bytes:
    """JSON with sorted keys; the same bytes for the same data."""
    separators = (",", ":") if indent is None else None
    return (json.dumps(data, sort_keys=True, indent=indent, separators=separators, allow_nan=False) + "\n").encode()


def grade_case(task: Task, progress: Callable[[int], None]) -> Outcome:
    """``grade.grade_case``, whose imports (Numba, SciPy) only the worker needs."""
    from grader.grade import grade_case as work

    return work(task, progress)
